"""The terminal is shared: with a shell before and after, with whoever stops the program, with lines that are slow or noisy."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator

import pytest

from .test_slow_terminal import ANSWER, QUESTION, Line
from .test_terminal import PATIENCE, PROGRAM

LATE = 0.4  # seconds; longer than the driver takes to leave a terminal that has nothing more to say
SHELL = PROGRAM.replace("    sys.exit(", "    code = (").replace(
    "except KtuiError",
    """    import os, select, termios, tty
    tty.setcbreak(0, termios.TCSANOW)
    left = b""
    while select.select([0], [], [], 1.0)[0]:
        left += os.read(0, 100)
    print("LEFT", left.hex() or "nothing", flush=True)
    sys.exit(code)
except KtuiError""",
)


class Far(Line):
    """Its answers come late."""

    def __init__(self, program: str) -> None:
        self._due: list[float] = []
        super().__init__(program)

    def _read(self) -> None:
        super(Line, self)._read()
        while self._answered + len(self._due) < self.questions:
            self._due.append(time.monotonic() + LATE)
        while self._due and self._due[0] <= time.monotonic():
            self._due.pop(0)
            self._answered += 1
            os.write(self._file, ANSWER)


@pytest.fixture
def begin() -> Iterator[Callable[[Line], Line]]:
    begun: list[Line] = []

    def settled(line: Line) -> Line:
        begun.append(line)
        line.until("gpu-node-1")
        line.settle()
        return line

    yield settled
    for line in begun:
        line.close()


Begin = Callable[[Line], Line]


def _echoes(line: Line) -> bool:
    return bool(termios.tcgetattr(line._file)[3] & termios.ECHO)


def _resize(line: Line, lines: int, columns: int) -> None:
    fcntl.ioctl(line._file, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def test_no_answer_is_left_for_the_shell(begin: Begin) -> None:
    line = begin(Far(SHELL))
    line.read_until(lambda: line._answered > 0)
    line.type(b"8")
    line.until("8 Pods(?s:.)*POD")
    line.type(b"5")
    line.until("SOURCE")
    line.type(b"q")
    line.read_until(lambda: b"LEFT" in line.output)
    assert line.output.rstrip().endswith(b"LEFT nothing")


def test_the_shell_writes_with_its_own_pen(begin: Begin) -> None:
    """Not all terminals keep one for each screen."""
    line = begin(Line(PROGRAM))
    line.type(b"q")
    assert line.exit_code() == 0
    pens = re.findall(rb"\x1b\[([\d;]*)m", line.output[: line.output.rindex(b"\x1b[?1049l")])
    assert pens[-1] in (b"", b"0")


def test_a_part_of_an_answer_is_no_key(begin: Begin) -> None:
    line = begin(Line(PROGRAM))
    before = len(line.output)
    line.type(b"\x1b[8")
    line.settle()
    assert len(line.output) == before
    line.type(b";5R")
    line.settle()
    assert len(line.output) == before


def test_bytes_that_are_no_text_change_nothing(begin: Begin) -> None:
    line = begin(Line(PROGRAM))
    line.type(b"\xff\xfe\x80")
    line.settle()
    line.type(b"8")
    line.until("8 Pods(?s:.)*POD")
    line.type(b"q")
    assert line.exit_code() == 0


def test_a_terminal_that_had_another_size_for_a_moment_is_drawn_anew(begin: Begin) -> None:
    line = begin(Line(PROGRAM))
    shown = line.screen
    for size in ((24, 80), (40, 120)):
        _resize(line, *size)
    line._emulator.erase_in_display(2)  # what did not fit is gone
    line.until("gpu-node-1")
    line.settle()
    assert line.screen == shown


def test_it_can_be_stopped_and_goes_on(begin: Begin) -> None:
    line = begin(Line(PROGRAM))
    shown, before = line.screen, len(line.output)
    line.signal(signal.SIGTSTP)
    _, status = _stopped(line)
    assert os.WIFSTOPPED(status)
    line._read()
    assert b"\x1b[?1049l" in line.output[before:]
    assert _echoes(line)
    line._emulator.reset()
    line.signal(signal.SIGCONT)
    line.read_until(lambda: not _echoes(line))
    line.until("gpu-node-1")
    line.settle()
    assert line.screen == shown
    line.type(b"q")
    assert line.exit_code() == 0
    assert _echoes(line)


@pytest.mark.parametrize("stops", [True, False])
def test_it_goes_on_after_what_it_could_not_prepare_for(begin: Begin, stops: bool) -> None:
    """SIGSTOP cannot be handled; SIGCONT may come to a program that runs."""
    line = begin(Line(PROGRAM))
    shown = line.screen
    if stops:
        line.signal(signal.SIGSTOP)
        _stopped(line)
        line._emulator.reset()
    asked = line.questions
    line.signal(signal.SIGCONT)
    line.read_until(lambda: line.questions > asked)
    line.settle()
    assert line.screen == shown
    for key in b"35353535":
        line.type(bytes([key]))
    line.until("5 Taints(?s:.)*SOURCE")
    line.type(b"q")
    assert line.exit_code() == 0
    assert _echoes(line), "as it was, not as it was while the screens were there"


def _stopped(line: Line) -> tuple[int, int]:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        pid, status = os.waitpid(line.pid, os.WNOHANG | os.WUNTRACED)
        if pid:
            return pid, status
        select.select([], [], [], 0.02)
        line._read()
    raise AssertionError("it did not stop")


def test_the_last_question_is_asked_after_the_mouse_is_off(begin: Begin) -> None:
    """So its answer follows the last report of the mouse."""
    line = begin(Line(PROGRAM))
    before = len(line.output)
    line.type(b"q")
    assert line.exit_code() == 0
    left = line.output[before:]
    assert left.index(b"\x1b[?1003l") < left.rindex(QUESTION) < left.index(b"\x1b[?1049l")

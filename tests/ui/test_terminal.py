"""The application on a real pseudo-terminal: how it leaves, and what a terminal that does not read does to it."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 30.0  # seconds
PROGRAM = """
import sys
from ktui.settings import Settings
from ktui.ui import launch
from ktui.errors import KtuiError
from tests.ui.world import ScriptedOpener, example
try:
    sys.exit(launch.run(ScriptedOpener(example()), Settings()))
except KtuiError as error:
    sys.exit(f"ktui: {error}")
"""
CRASH = PROGRAM.replace(
    "try:",
    "import ktui.ui.bars, ktui.cli, ktui.commands.tui\n"
    "def broken(*_): secret = 'hunter2'; raise ValueError('gone \\x1b[2J')\n"
    "ktui.ui.bars.state = broken\n"
    "ktui.commands.tui.run = lambda _: launch.run(ScriptedOpener(example()), Settings())\ntry:",
).replace("launch.run(ScriptedOpener(example()), Settings()))", "ktui.cli.main([]))")

TOLD = PROGRAM.replace(
    "launch.run(ScriptedOpener(example()), Settings())",
    "launch.run(Telling(example()), Settings())",
).replace(
    "try:",
    """class Telling(ScriptedOpener):
    def title(self):
        import os
        from textual import constants
        names = ("ESCDELAY", "TEXTUAL_ANIMATIONS", "TEXTUAL_FPS")
        told = [name for name in names if name in os.environ]
        return f"told {constants.MAX_FPS}, {constants.ESCAPE_DELAY}, {constants.TEXTUAL_ANIMATIONS}, {told}"
    async def open(self, context=""):
        raise KtuiError(self.title())
try:""",
)


class Terminal:
    """A child on a pseudo-terminal. What it wrote is in `output`."""

    def __init__(self, program: str, **environment: str) -> None:
        self.output = b""
        self.pid, self._file = pty.fork()
        if not self.pid:
            os.chdir(ROOT)
            variables = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT), **environment}
            os.execve(sys.executable, [sys.executable, "-c", program], variables)
        fcntl.ioctl(self._file, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def read_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, self.output[-2000:]
            self._read()

    def _read(self) -> None:
        try:
            if select.select([self._file], [], [], 0.05)[0]:
                self.output += os.read(self._file, 65536)
        except OSError:  # the child has closed its side
            time.sleep(0.01)

    def type(self, keys: bytes) -> None:
        os.write(self._file, keys)

    def signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def exit_code(self, *, reading: bool = True) -> int:
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                if reading:
                    self._read()
                return os.waitstatus_to_exitcode(status)
            if reading:
                self._read()
            else:
                time.sleep(0.02)
        raise AssertionError("it did not leave")

    def close(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
        os.close(self._file)

    @property
    def is_put_back(self) -> bool:
        """Normal screen, visible cursor, no mouse reports, no bracketed paste."""
        return all(code in self.output for code in (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?2004l"))


@pytest.fixture
def start() -> Iterator[Callable[..., Terminal]]:
    started: list[Terminal] = []

    def begin(program: str = PROGRAM, **environment: str) -> Terminal:
        started.append(Terminal(program, **environment))
        return started[-1]

    yield begin
    for terminal in started:
        terminal.close()


Start = Callable[..., Terminal]


def shown(terminal: Terminal, text: bytes = b"gpu-node-1") -> Terminal:
    terminal.read_until(lambda: text in terminal.output)
    return terminal


@pytest.mark.parametrize(
    ("leave", "code"),
    [
        (lambda terminal: terminal.type(b"q"), 0),
        (lambda terminal: terminal.signal(signal.SIGTERM), 143),
        (lambda terminal: terminal.signal(signal.SIGHUP), 129),
    ],
    ids=["q", "SIGTERM", "SIGHUP"],
)
def test_it_leaves_the_terminal_as_it_was(start: Start, leave: Callable[[Terminal], None], code: int) -> None:
    """X17."""
    terminal = shown(start())
    leave(terminal)
    assert terminal.exit_code() == code
    assert terminal.is_put_back


def test_a_terminal_that_hangs_up_ends_it_where_no_signal_does() -> None:
    """It is not the controlling one there: nobody would ever end the watches."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
    variables = {**os.environ, "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=ROOT,
        env=variables,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        output = b""
        while b"gpu-node-1" not in output:
            assert select.select([ours], [], [], PATIENCE)[0], output[-2000:]
            output += os.read(ours, 65536)
        os.close(ours)
        assert program.wait(PATIENCE) in (129, 120)  # the latter is Python's own, for what it could not write any more
    finally:
        program.kill()
        program.wait()


def test_a_crash_restores_the_terminal_and_shows_no_values(start: Start, tmp_path: Path) -> None:
    """X16."""
    terminal = start(CRASH, XDG_STATE_HOME=str(tmp_path))
    assert terminal.exit_code() == 1
    terminal.read_until(lambda: b"ValueError" in terminal.output)
    after = terminal.output[terminal.output.rindex(b"\x1b[?1049l") :]
    assert terminal.is_put_back
    assert b"ValueError: gone" in after
    assert b"\x1b[2J" not in after
    assert b"hunter2" not in after


def test_a_terminal_that_reads_nothing_does_not_stop_it(start: Start) -> None:
    """The event loop still answers a signal while far more was drawn than the terminal takes."""
    terminal = shown(start())
    for _ in range(60):
        terminal.type(b"38")
        time.sleep(0.02)
    terminal.signal(signal.SIGTERM)
    assert terminal.exit_code(reading=False) == 143


def test_what_textual_is_told_no_other_program_is(start: Start) -> None:
    """Plug-ins may be written with it, too. What a person says holds, for all of them."""
    shown(start(TOLD), b"told 200, 0.025, none, []")
    shown(start(TOLD, TEXTUAL_FPS="30"), b"told 30, 0.025, none, ['TEXTUAL_FPS']")


def test_no_color_draws_without_colours(start: Start) -> None:
    terminal = shown(start(NO_COLOR="1"))
    colours = {code for codes in re.findall(rb"\x1b\[([\d;]+)m", terminal.output) for code in _colours(codes)}
    assert colours <= GREYS, colours


def _colours(codes: bytes) -> list[bytes]:
    return re.findall(rb"[34]8;(?:5;\d+|2;\d+;\d+;\d+)", codes)


GREYS = {
    f"{ground}8;{form}".encode()
    for ground in (3, 4)
    for form in (
        *(f"5;{n}" for n in (0, 15, 16, 231, *range(232, 256), 59, 102, 145, 188)),
        *(f"2;{n};{n};{n}" for n in range(256)),
    )
}


@pytest.mark.parametrize("name", ["dumb", "unknown", ""])
def test_a_dumb_terminal_is_refused_in_one_line(start: Start, name: str) -> None:
    """X15."""
    terminal = start(TERM=name)
    assert terminal.exit_code() == 1
    assert terminal.output.count(b"\n") == 1
    assert f"TERM={name or 'dumb'}".encode() in terminal.output


@pytest.mark.parametrize("size", [(5, 20), (200, 500)])
def test_any_size(start: Start, size: tuple[int, int]) -> None:
    """X15: a screen too small for anything, and one larger than any."""
    terminal = start()
    fcntl.ioctl(terminal._file, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
    shown(terminal, b"\x1b[?1049h")
    for key in (b"3", b"m", b"8", b"\r", b"?", b"\x1b", b"q"):
        terminal.type(key)
        terminal._read()
    terminal.type(b"qqq")
    assert terminal.exit_code() == 0

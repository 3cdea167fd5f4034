"""A terminal at the end of a slow line: what is sent to it is little, bounded, and the newest.

What is counted is bytes; nothing is timed.
"""

from __future__ import annotations

import os
import re
import select
from collections.abc import Iterator

import pyte
import pytest
from textual.events import Key

from ktui.ui.driver import parted

from .test_terminal import PROGRAM, Terminal

SIZE = (120, 40)  # of the terminals in test_terminal
QUESTION = b"\x1b[6n"
ANSWER = b"\x1b[1;1R"
KERNEL = 80_000  # bytes that the kernel keeps for a terminal that reads nothing, at most
ONE_FRAME = 20_000  # bytes of a whole screen, with room to spare
QUIET = 0.4  # seconds without output after which there is none to come
SWITCHES = b"38" * 100


class Line(Terminal):
    """A terminal that says where its cursor is when it is asked, as long as it is `answering`."""

    def __init__(self, program: str) -> None:
        super().__init__(program)
        self.answering = True
        self._answered = 0
        self._emulator = pyte.Screen(*SIZE)
        self._stream = pyte.ByteStream(self._emulator)
        self._drawn = 0

    @property
    def screen(self) -> str:
        output, self._drawn = self.output[self._drawn :], len(self.output)
        self._stream.feed(output)
        return "\n".join(line.rstrip() for line in self._emulator.display)

    @property
    def questions(self) -> int:
        return self.output.count(QUESTION)

    def until(self, pattern: str) -> None:
        self.read_until(lambda: re.search(pattern, self.screen) is not None)

    def settle(self) -> None:
        """Read until nothing comes any more."""
        while select.select([self._file], [], [], QUIET)[0]:
            self._read()

    def _read(self) -> None:
        super()._read()
        while self.answering and self._answered < self.questions:
            self._answered += 1
            os.write(self._file, ANSWER)


@pytest.fixture
def line() -> Iterator[Line]:
    terminal = Line(PROGRAM)
    terminal.until("gpu-node-1")
    terminal.settle()
    yield terminal
    terminal.close()


def _sent(line: Line, keys: bytes) -> int:
    before = len(line.output)
    line.type(keys)
    line.settle()
    return len(line.output) - before


def test_what_the_terminal_shows_already_is_not_sent_again(line: Line) -> None:
    _sent(line, b"8")
    assert 0 < _sent(line, b"j") < 800, "two rows, and what the detail says"
    assert _sent(line, b"8") < 100, "the view is shown already"


def test_a_terminal_that_does_not_acknowledge_is_sent_one_frame_more_and_then_the_newest(line: Line) -> None:
    assert line.questions, "it was asked"
    line.answering = False
    assert _sent(line, SWITCHES) < ONE_FRAME, "200 changes of the view were drawn meanwhile"
    line.answering = True
    assert _sent(line, b"5") < 2 * ONE_FRAME
    line.until("5 Taints.*(?s:.)*\\bSOURCE\\b")


def test_a_terminal_that_reads_nothing_finds_the_newest_when_it_reads_on(line: Line) -> None:
    """All that waits is what the kernel took, and one frame."""
    line.answering = False
    before = len(line.output)
    for key in SWITCHES + b"5":
        line.type(bytes([key]))
        select.select([], [], [], 0.005)
    line.answering = True
    line.settle()
    line.until("5 Taints.*(?s:.)*\\bSOURCE\\b")
    assert len(line.output) - before < KERNEL + 2 * ONE_FRAME


def test_the_screen_is_written_anew_when_a_person_asks_for_it(line: Line) -> None:
    shown = line.screen
    line._emulator.erase_in_display(2)
    line.type(b"\x0c")
    line.until("gpu-node-1")
    line.settle()
    assert line.screen == shown


def test_escape_and_a_key_that_arrive_together_are_two_keys(line: Line) -> None:
    """What was typed one after the other may be read at once, which is how a terminal sends a key with alt."""
    line.type(b"8")
    line.until("8 Pods(?s:.)*POD")
    line.type(b"?")
    line.until("Reverse the order")
    line.settle()
    line.type(b"\x1b5")
    line.until("5 Taints.*(?s:.)*\\bSOURCE\\b")


@pytest.mark.parametrize("bound", [True, False])
def test_a_key_with_alt_is_one_key_where_it_means_something(bound: bool) -> None:
    pressed = Key("alt+x", "x")
    found = [
        message.key for message in parted(pressed, frozenset({"alt+x"} if bound else ())) if isinstance(message, Key)
    ]
    assert found == (["alt+x"] if bound else ["escape", "x"])


def test_a_terminal_that_never_answers_is_sent_everything(line: Line) -> None:
    terminal = Line(PROGRAM)
    terminal.answering = False
    try:
        terminal.until("gpu-node-1")
        terminal.type(b"8")
        terminal.until("8 Pods(?s:.)*RESTARTS|POD")
        terminal.type(b"5")
        terminal.until("5 Taints.*(?s:.)*\\bSOURCE\\b")
    finally:
        terminal.close()

"""What a terminal sends is handed on by the event loop itself, in whole messages."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable

import pytest
from textual.events import CursorPosition, Key
from textual.message import Message

from ktui.ui.listener import Listener

PATIENCE = 20.0  # seconds


class Line:
    """A pipe in the place of a terminal, and what was heard."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe()
        self.heard: list[Message] = []
        self.threads: set[int] = set()
        self.ends = 0
        self.listener = Listener(self.reading, self._hear, self._end)

    def _hear(self, message: Message) -> None:
        self.heard.append(message)
        self.threads.add(threading.get_ident())

    def _end(self) -> None:
        self.ends += 1

    @property
    def keys(self) -> list[str]:
        return [message.key for message in self.heard if isinstance(message, Key)]

    def send(self, data: bytes) -> None:
        os.write(self.writing, data)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.005)


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    made = Line()
    yield made
    made.listener.stop()
    os.close(made.reading)
    if made.writing >= 0:
        os.close(made.writing)


async def test_keys_are_handed_on_by_the_loop(line: Line) -> None:
    line.send(b"jk")
    await line.until(lambda: len(line.keys) == 2)
    assert line.keys == ["j", "k"]
    assert line.threads == {threading.get_ident()}


async def test_an_escape_that_nothing_follows_is_a_key(line: Line) -> None:
    line.send(b"\x1b")
    await line.until(lambda: line.keys == ["escape"])


async def test_half_an_answer_is_waited_for(line: Line) -> None:
    line.send(b"\x1b[12;")
    await asyncio.sleep(0.15)
    assert line.heard == []
    line.send(b"34R")
    await line.until(lambda: [type(message) for message in line.heard] == [CursorPosition])


async def test_it_does_nothing_while_nothing_comes(line: Line) -> None:
    """No timer is left running: an idle program is not woken up to look."""
    line.send(b"j")
    await line.until(lambda: line.keys == ["j"])
    assert line.listener._pause is None


async def test_a_terminal_that_hangs_up_is_left_alone_and_told_of_once(line: Line) -> None:
    line.send(b"q")
    os.close(line.writing)
    line.writing = -1
    await line.until(lambda: not line.listener.is_listening)
    await line.until(lambda: bool(line.ends))
    assert (line.keys, line.ends) == (["q"], 1)


async def test_a_key_that_another_program_took_is_not_the_end(line: Line) -> None:
    """The terminal is shared, and so is whether reading there waits."""
    os.set_blocking(line.reading, False)
    line.listener._listen()  # as if there had been a key a moment ago
    line.send(b"j")
    await line.until(lambda: line.keys == ["j"])
    assert not line.ends


async def test_what_comes_after_the_end_is_heard_out(line: Line) -> None:
    line.listener.stop()
    line.send(b"\x1b[1;1R")
    line.listener.hear_out(lambda: bool(line.heard), PATIENCE)
    assert [type(message) for message in line.heard] == [CursorPosition]


async def test_nothing_is_waited_for_that_has_come_already(line: Line) -> None:
    line.listener.stop()
    line.listener.hear_out(lambda: True, PATIENCE)
    line.listener.hear_out(lambda: False, 0.0)
    assert line.heard == []

"""Reads what the terminal sends, in the event loop.

A thread would wait for the interpreter's lock whenever the loop is busy, which is when people wait for their keys.
"""

from __future__ import annotations

import asyncio
import os
import select
import time
from collections.abc import Callable
from typing import Final

from textual.message import Message

from ktui.ui.typed import Reader

_SIZE: Final = 4096  # bytes that are read at once


class Listener:
    """Hands messages on from when it is made until it is stopped. `file` is a terminal's, or a pipe's; `hung_up` is called when
    nothing can ever come from it again."""

    def __init__(
        self, file: int, hand_on: Callable[[Message], None], hung_up: Callable[[], None], *, debug: bool = False
    ) -> None:
        self._file = file
        self._hand_on = hand_on
        self._hung_up = hung_up
        self._reader = Reader(time.monotonic, debug=debug)
        self._loop = asyncio.get_running_loop()
        self._pause: asyncio.TimerHandle | None = None
        self.is_listening = True
        self._loop.add_reader(file, self._listen)

    def stop(self) -> None:
        """What comes from now on is not read, or by `hear_out`."""
        if self.is_listening:
            self.is_listening = False
            self._loop.remove_reader(self._file)
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None

    def hear_out(self, is_enough: Callable[[], bool], seconds: float) -> None:
        """Once it is stopped: hand on what the terminal still has to say, and wait for it so long."""
        deadline = time.monotonic() + seconds
        while not is_enough() and (left := deadline - time.monotonic()) > 0:
            data = _read(self._file) if select.select((self._file,), (), (), left)[0] else b""
            if not data:
                return
            for message in self._reader.read(data):
                self._hand_on(message)

    def _listen(self) -> None:
        data = _read(self._file)
        if data:
            self._hear(data)
        elif data is not None:
            self.stop()
            self._hung_up()

    def _hear(self, data: bytes = b"") -> None:
        """What is complete may be told by nothing more coming."""
        if self._pause is not None:
            self._pause.cancel()
            self._pause = None
        for message in self._reader.read(data):
            self._hand_on(message)
        if (pause := self._reader.pause) is not None and self.is_listening:
            self._pause = self._loop.call_later(pause, self._hear)


def _read(file: int) -> bytes | None:
    """What there is, b"" at its end; a terminal that has hung up is at its end. None where another program that reads there was
    quicker: whoever shares a terminal may have set it to say so instead of waiting."""
    try:
        return os.read(file, _SIZE)
    except BlockingIOError:
        return None
    except OSError:
        return b""

"""Whose turn it is in the event loop. May be imported from everywhere.

Long work goes on in slices, between which everything else has a turn. A key is handed from task to task before its answer is
drawn, and would wait for a slice each time: so long work waits while a key is being answered, but never for long.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

_LONGEST: Final = 0.012  # seconds that one key may hold up long work; most are answered in a fourth of it


class Turns:
    """Of one terminal: keys come one after the other."""

    def __init__(self) -> None:
        self._until = 0.0
        self._waiting: list[asyncio.Future[None]] = []

    def key_came(self) -> None:
        """It is being answered from now on, unless one before it is."""
        now = time.monotonic()
        if now >= self._until:
            self._until = now + _LONGEST

    def key_answered(self) -> None:
        """What it changed is on the screen."""
        self._until = 0.0
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            if not each.done():
                each.set_result(None)

    async def give_way(self) -> None:
        """Between two slices of long work."""
        await asyncio.sleep(0)
        left = self._until - time.monotonic()
        if left > 0:
            loop = asyncio.get_running_loop()
            waiter = loop.create_future()
            self._waiting.append(waiter)
            timer = loop.call_later(left, self.key_answered)
            try:
                await waiter
            finally:
                timer.cancel()


TURNS: Final = Turns()

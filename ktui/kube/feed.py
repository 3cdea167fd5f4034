"""One open watch as lines: when bytes came, how silent it is, what was too large to keep."""

from __future__ import annotations

import asyncio

from ktui.kube.lines import LineSplitter
from ktui.kube.timers import Clock
from ktui.kube.transport import Stream


class Feed:
    def __init__(self, stream: Stream, clock: Clock) -> None:
        self._stream = stream
        self._clock = clock
        self._splitter = LineSplitter()
        self._returned: list[bytes] = []
        self.opened_at = self.last_bytes_at = clock.monotonic()

    async def lines(self, timeout: float) -> list[bytes] | None:
        """The next complete lines (perhaps none yet); None at a clean end. Raises TimeoutError after silence, Unreachable."""
        if self._returned:
            lines, self._returned = self._returned, []
            return lines
        if timeout <= 0.0:
            raise TimeoutError  # also when there is data at once: a server that never pauses would never be late
        async with asyncio.timeout(timeout):
            chunk = await self._stream.read()
        self.last_bytes_at = self._clock.monotonic()
        return self._splitter.feed(chunk) if chunk else None

    def give_back(self, lines: list[bytes]) -> None:
        """Lines that the next caller of `lines` is to have."""
        self._returned = lines

    @property
    def silence(self) -> float:
        return self._clock.monotonic() - self.last_bytes_at

    @property
    def age(self) -> float:
        return self._clock.monotonic() - self.opened_at

    @property
    def outdated(self) -> bool:
        return self._stream.outdated

    @property
    def packed(self) -> bool:
        """Compressed: each event would be a gzip member of its own."""
        return self._stream.packed

    @property
    def dropped(self) -> int:
        """Lines over the size limit, skipped so far."""
        return self._splitter.dropped

    def abort(self) -> None:
        self._stream.abort()

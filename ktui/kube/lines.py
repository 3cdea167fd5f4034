"""Bytes of a watch → lines. The cap on a line is ours: aiohttp's own reader gives up at a few hundred KiB."""

from __future__ import annotations

from typing import Final

MAX_LINE: Final = 32 * 1024 * 1024
"""etcd stores objects of up to 1.5 MiB; their JSON may be several times larger."""


class LineSplitter:
    """Feed chunks of any size, get the complete lines among them, without line ends; blank lines are dropped.

    A line over the cap is skipped and counted in `dropped`. What is left at the end of a stream is half a line: the
    server sends that event again, so nothing is lost by forgetting it.
    """

    def __init__(self, cap: int = MAX_LINE) -> None:
        self._cap = cap
        self._parts: list[bytes] = []
        self._size = 0
        self._skipping = False
        self.dropped = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        first, *complete = chunk.split(b"\n")
        self._keep(first)
        if not complete:
            return []
        lines = [] if self._skipping else [b"".join(self._parts)]
        self._clear()
        tail = complete.pop()
        for line in complete:
            if len(line) > self._cap:
                self.dropped += 1
            else:
                lines.append(line)
        self._keep(tail)
        return [line for line in lines if line and not line.isspace()]

    def _keep(self, part: bytes) -> None:
        if self._skipping or not part:
            return
        self._size += len(part)
        if self._size > self._cap:
            self.dropped += 1
            self._parts.clear()
            self._skipping = True
        else:
            self._parts.append(part)

    def _clear(self) -> None:
        self._parts.clear()
        self._size = 0
        self._skipping = False

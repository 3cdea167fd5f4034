"""Bodies of answers, unpacked here: what came over the network can be counted, and all members of a gzip stream are read."""

from __future__ import annotations

import zlib
from typing import Final

_GZIP: Final = 16 + zlib.MAX_WBITS
_SMALL: Final = 64 * 1024
"""Bytes that headers and trailers of the members of a small body may take."""


class CannotUnpack(Exception):
    """The body is not what its Content-Encoding says, or larger than it may be; one line."""


class Plain:
    """A body as it is; more than `most` bytes of it are not taken."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0

    def feed(self, part: bytes) -> bytes:
        """What a part of the body is, unpacked. Raises CannotUnpack."""
        self._size += len(part)
        if self._size > self._most:
            raise CannotUnpack(f"more than {self._most} bytes")
        return part

    def finish(self) -> None:
        """At the end of the body. Raises CannotUnpack when it is not complete."""


class Gzip(Plain):
    """Of a bomb no more is unpacked than may be taken; nor is more read than could become that much: members may be empty."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._packed = Plain(most + most // 64 + _SMALL)
        self._member = zlib.decompressobj(_GZIP)
        self._begun = False

    def feed(self, part: bytes) -> bytes:
        found: list[bytes] = []
        self._packed.feed(part)
        while part:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP)
            self._begun = True
            try:
                out = self._member.decompress(part, self._most - self._size + 1)
            except zlib.error:
                raise CannotUnpack("what is said to be gzip is not") from None
            found.append(super().feed(out))
            part = self._member.unused_data or self._member.unconsumed_tail
        return found[0] if len(found) == 1 else b"".join(found)

    def finish(self) -> None:
        if self._begun and not self._member.eof:
            raise CannotUnpack("the gzip body is not complete")


def unpacking(encoding: str, most: int) -> Plain:
    """For a body with this Content-Encoding. Raises CannotUnpack for one that was not asked for."""
    match encoding.strip().lower():
        case "" | "identity":
            return Plain(most)
        case "gzip" | "x-gzip":
            return Gzip(most)
        case _:
            raise CannotUnpack(f"compressed in a way that was not asked for, {encoding[:20]!r}")

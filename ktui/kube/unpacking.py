"""Answers, unpacked here: what came over the network can be counted, and all members of a gzip stream are read."""

from __future__ import annotations

import zlib
from typing import Final

_GZIP: Final = 16 + zlib.MAX_WBITS
PIECE: Final = 128 * 1024
"""Bytes that are unpacked at once: a few kilobytes may become megabytes, and others are to have their turn."""
_BITE: Final = 16 * 1024
"""Bytes that a member is given at a time: what is left of them after its end is copied, and members may be small and many."""
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


class Members:
    """The members of a gzip stream, one after the other; it may have no end. What is put in comes out a piece at a time."""

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP)
        self._packed = b""
        self._at = 0  # up to here it is unpacked
        self._begun = False

    def feed(self, part: bytes) -> None:
        """Put in what came."""
        self._packed, self._at = self._packed[self._at :] + part, 0

    def take(self) -> bytes:
        """The next bytes, b"" when more has to come first. Raises CannotUnpack."""
        while bite := self._packed[self._at : self._at + _BITE]:
            if self._member.eof:
                self._member = zlib.decompressobj(_GZIP)
            self._begun = True
            try:
                out = self._member.decompress(bite, PIECE)
            except zlib.error:
                raise CannotUnpack("what is said to be gzip is not") from None
            self._at += len(bite) - len(self._member.unused_data or self._member.unconsumed_tail)
            if out:
                return out
        self._packed, self._at = b"", 0
        return b""

    def finish(self) -> None:
        """At the end. Raises CannotUnpack in the middle of a member."""
        if self._begun and not self._member.eof:
            raise CannotUnpack("the gzip body is not complete")


class Passing:
    """The same of a stream that is not packed."""

    def __init__(self) -> None:
        self._part = b""

    def feed(self, part: bytes) -> None:
        self._part += part

    def take(self) -> bytes:
        part, self._part = self._part, b""
        return part

    def finish(self) -> None:
        """It may end anywhere."""


class Gzip(Plain):
    """Of a bomb no more is unpacked than may be taken; nor is more read than could become that much: members may be empty."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._packed = Plain(most + most // 64 + _SMALL)
        self._members = Members()

    def feed(self, part: bytes) -> bytes:
        self._members.feed(self._packed.feed(part))
        found = [super(Gzip, self).feed(out) for out in iter(self._members.take, b"")]
        return found[0] if len(found) == 1 else b"".join(found)

    def finish(self) -> None:
        self._members.finish()


def unpacking(encoding: str, most: int) -> Plain:
    """For a body with this Content-Encoding. Raises CannotUnpack for one that was not asked for."""
    return Gzip(most) if is_packed(encoding) else Plain(most)


def flowing(encoding: str) -> Members | Passing:
    """For a stream with this Content-Encoding. Raises CannotUnpack for one that was not asked for."""
    return Members() if is_packed(encoding) else Passing()


def is_packed(encoding: str) -> bool:
    """Raises CannotUnpack for what is neither gzip nor as it is."""
    match encoding.strip().lower():
        case "" | "identity":
            return False
        case "gzip" | "x-gzip":
            return True
        case _:
            raise CannotUnpack(f"compressed in a way that was not asked for, {encoding[:20]!r}")

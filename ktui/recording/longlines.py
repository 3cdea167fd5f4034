"""The lines of a recording, a long list in pieces: one line may hold a hundred thousand objects, too much to have all of its text
in memory, and to decode it while a key waits.

Where a piece may end is found, not guessed: a text that begins with a whole object and is a JSON array once it is put in brackets
ends with a whole object too, because JSON is read from left to right. Where no end is found, the piece grows up to the line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, Final

import msgspec

from ktui.model.decode import NOT_DECODED

PIECE: Final = 2**18
"""Bytes that are read, and decoded, at one go: two milliseconds."""

_OPENING: Final = (b'"items":[', b'"items": [')
_FARTHEST: Final = 4_096  # bytes before the items
_SIGNATURE: Final = 12  # bytes of an object that tell where another one begins
_ATTEMPTS: Final = 8  # ends that are tried before more is read: of text made to mislead, each costs a piece


class TooLongError(Exception):
    """A line longer than is allowed. What was read of it is lost."""


class LongList:
    """A line of which only the beginning was read. `head` is the JSON of the line without its items."""

    def __init__(self, stream: IO[bytes], line: bytes, start: int, longest: int) -> None:
        self.head = line[:start] + b"]}"
        self._text = line[start:]  # items that were read and not given yet
        self._stream = stream
        self._room = longest - len(line)  # bytes that may still come

    def pieces(self) -> Iterator[bytes]:
        """Arrays of items, in order, and at last the rest of the line as a JSON object, whose items are the last ones."""
        signature, wanted = self._text.lstrip()[:_SIGNATURE], PIECE
        while self._fill(wanted):
            end = _end(self._text, signature)
            if end is None:
                wanted = len(self._text) * 2
            else:
                piece, self._text, wanted = self._text[:end], self._text[end:].lstrip()[1:], PIECE
                yield b"[" + piece + b"]"
        yield b'{"items":[' + self._text

    def skip(self) -> None:
        """Go to the next line."""
        while self._fill(PIECE):
            self._text = b""

    def whole(self) -> bytes:
        """All of the line; before anything else is asked for."""
        while self._fill(2 * len(self._text)):
            pass
        return self.head[:-2] + self._text

    def _fill(self, wanted: int) -> bool:
        """Read until there are so many bytes; False when the line ends before."""
        while len(self._text) < wanted and not self._text.endswith(b"\n"):
            more = self._stream.readline(min(self._room + 1, wanted - len(self._text)))
            self._room -= len(more)
            if self._room < 0:
                raise TooLongError
            if not more:
                return False
            self._text += more
        return len(self._text) >= wanted and not self._text.endswith(b"\n")


def read_line(stream: IO[bytes], longest: int) -> bytes | LongList:
    """The next line, b"" at the end. A long list is to be read or skipped before the next line. Raises TooLongError."""
    line = stream.readline(PIECE)
    if len(line) < PIECE or line.endswith(b"\n"):
        return line
    start = _items(line)
    if start is not None:
        return LongList(stream, line, start, longest)
    line += stream.readline(longest + 1 - len(line))
    if len(line) > longest:
        raise TooLongError
    return line


def _items(line: bytes) -> int | None:
    """Where the items begin, None when the line's beginning is no object with nothing open but its items."""
    for opening in _OPENING:
        start = line.find(opening, 0, _FARTHEST) + len(opening)
        if start >= len(opening):
            return start if _is_json(line[:start] + b"]}") else None
    return None


def _end(text: bytes, signature: bytes) -> int | None:
    """Where the last whole object ends that another one follows."""
    limit = len(text)
    for _ in range(_ATTEMPTS):
        limit = max(text.rfind(b"}" + comma + signature, 0, limit) for comma in (b",", b", "))
        if limit < 0:
            return None
        if _is_json(b"[" + text[: limit + 1] + b"]"):
            return limit + 1
        limit += 1
    return None


def _is_json(text: bytes) -> bool:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except NOT_DECODED:
        return False
    return True

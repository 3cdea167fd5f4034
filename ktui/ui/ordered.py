"""Values in ascending order, in blocks: one more or one less costs two short searches, however many there are."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain
from typing import Any, Final, Generic, Protocol, TypeVar


class Comparable(Protocol):
    def __lt__(self, other: Any, /) -> bool: ...


T = TypeVar("T", bound=Comparable)

_BLOCK: Final = 512  # values in a full block; one of twice as many is parted


class Ordered(Generic[T]):
    """Values that compare and differ. Where each stands is worked out again when it is asked for after a change, by block."""

    def __init__(self, ascending: Iterable[T] = ()) -> None:
        """`ascending`: the first values, in order."""
        values = list(ascending)
        self._blocks = [values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK)]
        self._lasts: list[Any] = [block[-1] for block in self._blocks]
        self._ends: list[int] | None = None  # how many values there are up to the end of each block
        self._size = len(values)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[T]:
        return chain.from_iterable(self._blocks)

    def __getitem__(self, position: int) -> T:
        """The value at a position, counted from 0."""
        ends = self._ends_of_blocks()
        at = bisect_right(ends, position)
        return self._blocks[at][position - (ends[at - 1] if at else 0)]

    def position(self, value: T) -> int | None:
        """Where the value is; None when it is not there."""
        at, offset = self._find(value)
        if at == len(self._blocks) or self._blocks[at][offset] is not value:
            return None
        return (self._ends_of_blocks()[at - 1] if at else 0) + offset

    def before(self, reaches: Callable[[T], bool]) -> int:
        """How many values come before the first one that `reaches`: all that follow it have to."""
        at = bisect_left(self._lasts, True, key=reaches)
        if at == len(self._blocks):
            return self._size
        return (self._ends_of_blocks()[at - 1] if at else 0) + bisect_left(self._blocks[at], True, key=reaches)

    def add(self, value: T) -> None:
        self._size += 1
        self._ends = None
        if not self._blocks:
            self._blocks, self._lasts = [[value]], [value]
            return
        at = min(bisect_left(self._lasts, value), len(self._blocks) - 1)
        block = self._blocks[at]
        insort(block, value)
        if len(block) >= 2 * _BLOCK:
            self._blocks[at : at + 1] = [block[:_BLOCK], block[_BLOCK:]]
            self._lasts.insert(at, block[_BLOCK - 1])
            at += 1
        self._lasts[at] = self._blocks[at][-1]

    def remove(self, value: T) -> None:
        """Nothing happens where it is not there."""
        at, offset = self._find(value)
        if at == len(self._blocks) or self._blocks[at][offset] is not value:
            return
        self._size -= 1
        self._ends = None
        block = self._blocks[at]
        del block[offset]
        if block:
            self._lasts[at] = block[-1]
        else:
            del self._blocks[at], self._lasts[at]

    def _find(self, value: T) -> tuple[int, int]:
        """The block that the value belongs in, and where in it; behind all blocks where it is greater than every value."""
        at = bisect_left(self._lasts, value)
        return (at, bisect_left(self._blocks[at], value)) if at < len(self._blocks) else (at, 0)

    def _ends_of_blocks(self) -> list[int]:
        if self._ends is None:
            self._ends = list(accumulate(map(len, self._blocks)))
        return self._ends

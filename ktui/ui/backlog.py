"""The keys whose rows wait to be computed, in which order that is done."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView
from operator import length_hint

from ktui.views.base import RowKey

_TOP = 64  # rows: a screenful
_LOOKED_AT = 2_000  # keys at one go, most of which have rows already: half a millisecond


class Backlog:
    """Single keys first, the latest before all others; then whole tables, whose keys are looked at only as their turn comes: a
    hundred thousand of them take a tenth of a second to be found and sorted.

    `known` tells of a key whether it has a row.
    """

    def __init__(self, known: Callable[[RowKey], bool]) -> None:
        self._known = known
        self._single: dict[RowKey, None] = {}
        self._top: list[RowKey] = []  # of the keys in `_all`
        self._present: Iterator[RowKey] = iter(())
        self._all: Iterator[RowKey] = iter(())
        self._unknown = 0  # of the keys in `_all`, as far as that can be told
        self._through = True  # with whole tables

    def add(self, keys: Iterable[RowKey]) -> None:
        self._single.update(dict.fromkeys(keys))

    def prefer(self, keys: KeysView[RowKey]) -> None:
        """Those of the single keys come before all others."""
        for key in keys & self._single.keys():
            self._single[key] = self._single.pop(key)

    def begin(self, present: Collection[RowKey], keys: Iterable[RowKey]) -> None:
        """Instead of the whole table that was under way, this one: the rows that there are, and all that `keys` may bring. Where
        these are more than a screenful, the first of them come first."""
        self._present, self._all, self._through = iter(present), iter(keys), False
        self._top, self._unknown = [], 0
        if isinstance(keys, Collection):
            self._top = heapq.nsmallest(_TOP, keys)[::-1]
            self._unknown = max(0, len(keys) - len(present))

    @property
    def through(self) -> bool:
        """Whether the table that was begun is done; single keys may wait."""
        return self._through

    def __len__(self) -> int:
        """About how many; 0 only when there is none."""
        if self._through:
            return len(self._single)
        return max(1, len(self._single) + length_hint(self._present) + min(self._unknown, length_hint(self._all)))

    def take(self, most: int) -> Iterator[RowKey]:
        """The next keys. None, although there are more, where many have rows already."""
        for _ in range(most):
            if self._single:
                yield self._single.popitem()[0]
            elif self._top:
                self._unknown -= 1
                yield self._top.pop()
            elif (key := next(self._present, None)) is not None:
                yield key
            else:
                yield from self._new(most)
                return

    def _new(self, most: int) -> Iterator[RowKey]:
        for looked_at, key in enumerate(self._all, 1):
            if not self._known(key):
                self._unknown -= 1
                most -= 1
                yield key
            if not most or looked_at == _LOOKED_AT:
                return
        self._through = True

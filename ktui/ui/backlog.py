"""The keys of which something wants to be known, in which order that is found out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, KeysView
from operator import length_hint

from ktui.views.base import RowKey

_LOOKED_AT = 2_000  # keys at one go, of most of which nothing is wanted: half a millisecond


class Backlog:
    """Single keys first, the latest before all others; then a pass over whole tables, whose keys are looked at only as their turn
    comes: a hundred thousand of them take a tenth of a second to be found and sorted.

    `wants` tells of a key of a table whether there is anything to be found out about it.
    """

    def __init__(self, wants: Callable[[RowKey], bool]) -> None:
        self._wants = wants
        self._single: dict[RowKey, None] = {}
        self._stages: deque[tuple[Iterator[RowKey | None], Callable[[RowKey], bool]]] = deque()
        self._left = 0  # of the keys in tables, as far as that can be told

    def add(self, keys: Iterable[RowKey]) -> None:
        self._single.update(dict.fromkeys(keys))

    def prefer(self, keys: KeysView[RowKey]) -> None:
        """Those of the single keys come before all others."""
        for key in keys & self._single.keys():
            self._single[key] = self._single.pop(key)

    def begin(self, tables: Iterable[Iterable[RowKey | None]], about: int) -> None:
        """Instead of the pass that was under way, this one: over one table after the other, `about` so many keys. A table may
        have None for the next key where that takes a while to be found."""
        self._stages = deque((iter(table), self._wants) for table in tables)
        self._left = about

    def begin_with(self, keys: Iterable[RowKey], likely: Callable[[RowKey], bool]) -> None:
        """In the pass that was begun, the likely ones of these come before all others."""
        self._stages.appendleft((iter(keys), lambda key: likely(key) and self._wants(key)))

    @property
    def through(self) -> bool:
        """Whether the pass that was begun is done; single keys may wait."""
        return not self._stages

    def __len__(self) -> int:
        """About how many; 0 only when there is none."""
        if not self._stages:
            return len(self._single)
        looked_at = sum(length_hint(table) for table, _ in self._stages)
        return max(1, len(self._single) + min(self._left, looked_at))

    def take(self, most: int) -> Iterator[RowKey]:
        """The next keys. None, although there are more, where of many nothing is wanted."""
        while self._single and most:
            most -= 1
            yield self._single.popitem()[0]
        if most and self._stages:
            yield from self._of_table(most)

    def _of_table(self, most: int) -> Iterator[RowKey]:
        table, wanted = self._stages[0]
        for looked_at, key in enumerate(table, 1):
            if key is None:
                return
            if wanted(key):
                self._left -= 1
                most -= 1
                yield key
            if not most or looked_at == _LOOKED_AT:
                return
        self._stages.popleft()

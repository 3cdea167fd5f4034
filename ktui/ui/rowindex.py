"""The order of a table's rows: sorted and filtered, kept up to date one row at a time.

It holds what ordering and filtering need of every row and nothing of what is painted: cells are made for visible rows
only. One change costs a binary search and a memory move, so 100,000 rows follow thousands of changes a second; a full
sort happens only when the sort column changes or a batch is large.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias, cast

from msgspec import Struct

from ktui.views.base import Column, Row, RowKey, SortValue, search_text

# (twice the part, one more for a word; value; key; what the filter looks at: text in lower case, namespace, whether a problem).
# Numbers come before words, so that the two are never compared. Keys of one view compare, and differ. The filter finds what
# it looks at here: a hundred thousand look-ups by key would take it three times as long.
_Place: TypeAlias = tuple[int, Any, Any, str, str, bool]

_BATCH = 20  # a batch of more than a twentieth of all rows is sorted in at once: cheaper than single insertions


class _Entry(Struct, gc=False):
    uid: str
    sort: tuple[SortValue, ...]
    part: int
    place: _Place


class Filter(Struct, frozen=True):
    """Which rows are shown: all of these must hold. `text` is a substring, compared without case."""

    text: str = ""
    problems_only: bool = False
    namespace: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.problems_only or self.namespace)


class RowIndex:
    """Rows by key, in the order of one column, ties by key; parts stay one below the other whatever the order."""

    def __init__(self, columns: Sequence[Column] = ()) -> None:
        """`columns` of the rows."""
        self._columns = columns
        self._entries: dict[RowKey, _Entry] = {}
        self._all: list[_Place] = []
        self._shown: list[_Place] = self._all  # the same list while nothing is filtered out
        self._column = 0
        self._descending = False
        self._filter = Filter()

    # --- what is shown ---

    def __len__(self) -> int:
        """How many rows pass the filter."""
        return len(self._shown)

    @property
    def total(self) -> int:
        return len(self._all)

    @property
    def column(self) -> int:
        return self._column

    @property
    def descending(self) -> bool:
        return self._descending

    @property
    def filter(self) -> Filter:
        return self._filter

    def keys(self) -> list[RowKey]:
        """Every key, filtered out or not, in no order."""
        return list(self._entries)

    def namespaces(self) -> list[str]:
        """The namespaces that rows are in."""
        return sorted({place[4] for place in self._all} - {""})

    def __contains__(self, key: RowKey) -> bool:
        """Whether there is a row, filtered out or not."""
        return key in self._entries

    def key_at(self, position: int) -> RowKey:
        """The key of the row at a position counted from the top."""
        place = self._shown[len(self._shown) - 1 - position if self._descending else position]
        return cast("RowKey", place[2])

    def position(self, key: RowKey) -> int | None:
        """Where the row is, None when it is gone or filtered out."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        found = bisect_left(self._shown, entry.place)
        if found == len(self._shown) or self._shown[found] != entry.place:
            return None
        return len(self._shown) - 1 - found if self._descending else found

    def starts(self, parts: int) -> tuple[int, ...]:
        """Where each of so many parts begins among the rows that are shown."""
        if self._descending:
            return tuple(len(self._shown) - bisect_left(self._shown, (2 - 2 * part,)) for part in range(parts))
        return tuple(bisect_left(self._shown, (2 * part,)) for part in range(parts))

    def sizes(self, parts: int) -> tuple[int, ...]:
        """How many rows each of so many parts has, filtered out or not."""
        sign = -1 if self._descending else 1
        firsts = ((bisect_left(self._all, (2 * sign * part + end,)) for end in (0, 2)) for part in range(parts))
        return tuple(end - first for first, end in firsts)

    def uid(self, key: RowKey) -> str | None:
        entry = self._entries.get(key)
        return entry.uid if entry else None

    def is_problem(self, key: RowKey) -> bool:
        entry = self._entries.get(key)
        return entry is not None and entry.place[5]

    # --- changes ---

    def update(self, changes: Iterable[tuple[RowKey, Row | None]]) -> None:
        """Take rows in: new, changed, or None for gone."""
        batch = dict(changes)
        if len(batch) * _BATCH > len(self._all):
            self._merge(batch)
            return
        for key, row in batch.items():
            self._change(key, row)

    def sort_by(self, column: int, *, descending: bool = False) -> None:
        """Order by a column's sort value."""
        turned = descending != self._descending and any(entry.part for entry in self._entries.values())
        again = column != self._column or turned
        self._column, self._descending = column, descending
        if again:
            for entry in self._entries.values():
                entry.place = (*self._order(entry.sort, entry.part), *entry.place[2:])
            self._rebuild()

    def narrow(self, wanted: Filter) -> None:
        """Show only what passes the filter. As it is typed, only what passed so far is looked at."""
        within = self._shown if _is_narrower(wanted, self._filter) else self._all
        self._filter = wanted
        self._show(within)

    # --- inner ---

    def _change(self, key: RowKey, row: Row | None) -> None:
        old = self._entries.get(key)
        new = self._enter(key, row)
        moved = old is None or new is None or new.place is not old.place
        if old is not None and moved:
            _remove(self._all, old.place)
        if new is not None and moved:
            insort(self._all, new.place)
        if self._shown is self._all:
            return
        if old is not None:
            _remove(self._shown, old.place)
        if new is not None and _passes(new.place, self._filter, self._filter.text.lower()):
            insort(self._shown, new.place)

    def _merge(self, batch: dict[RowKey, Row | None]) -> None:
        entries = self._entries
        before = {key: entries[key].place for key in batch if key in entries}
        entered = [entry for key, row in batch.items() if (entry := self._enter(key, row)) is not None]
        places = [p for p in self._all if (entry := entries.get(p[2])) is not None and entry.place is p]
        places += [entry.place for entry in entered if entry.place is not before.get(entry.place[2])]
        places.sort()  # nearly sorted already
        self._all = places
        self._show()

    def _enter(self, key: RowKey, row: Row | None) -> _Entry | None:
        """Keep what is needed of the row; a place that did not change stays the same object."""
        if row is None:
            self._entries.pop(key, None)
            return None
        place = (*self._order(row.sort, row.part), key, search_text(row, self._columns), row.namespace, row.problem)
        old = self._entries.get(key)
        if old is not None and old.place == place:
            place = old.place
        entry = self._entries[key] = _Entry(row.uid, row.sort, row.part, place)
        return entry

    def _order(self, sort: tuple[SortValue, ...], part: int) -> tuple[int, SortValue]:
        """Read backwards, when descending, the parts stay in their order."""
        value = sort[self._column]
        return (2 * (-part if self._descending else part) + isinstance(value, str), value)

    def _rebuild(self) -> None:
        self._all = sorted(entry.place for entry in self._entries.values())
        self._show()

    def _show(self, within: list[_Place] | None = None) -> None:
        """`within`: places of which all that pass are among."""
        within, wanted = self._all if within is None else within, self._filter
        text = wanted.text.lower()
        if not wanted:
            self._shown = self._all
        elif wanted.problems_only or wanted.namespace:
            self._shown = [place for place in within if _passes(place, wanted, text)]
        else:
            self._shown = [place for place in within if text in place[3]]


def _passes(place: _Place, wanted: Filter, text: str) -> bool:
    """`text` is the filter's in lower case."""
    return (
        (not wanted.problems_only or place[5])
        and (not wanted.namespace or place[4] == wanted.namespace)
        and text in place[3]
    )


def _is_narrower(wanted: Filter, than: Filter) -> bool:
    """Whether all that passes the one certainly passes the other."""
    return (
        than.text.lower() in wanted.text.lower()
        and wanted.problems_only >= than.problems_only
        and than.namespace in ("", wanted.namespace)
    )


def _remove(places: list[_Place], place: _Place) -> None:
    found = bisect_left(places, place)
    if found < len(places) and places[found] == place:
        del places[found]

"""The order of a table's rows: sorted and filtered, kept up to date one row at a time.

Of every row it knows the place: what orders it, whose it is. What filters look at is known of those rows only that were made.
Nothing of what is painted is here. A change costs a few short searches, however many rows there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct

from ktui.ui.ordered import Ordered
from ktui.views.base import Column, Place, Row, RowKey, SortValue, search_text


class _Known(Struct, frozen=True, gc=False):
    """What a row says, once it was made. `text` is what a filter looks in."""

    text: str
    problem: bool
    sort: tuple[SortValue, ...]
    part: int


class _Entry(Struct, order=True, gc=False):
    """A row in the order, by the first three: keys of one view compare, and differ. `rank` is twice the part, and one more where
    the value is a word: numbers come before words, so that the two are never compared."""

    rank: int
    value: Any
    key: Any
    uid: str
    namespace: str
    known: _Known | None


class Filter(Struct, frozen=True):
    """Which rows are shown: all of these must hold. `text` is a substring, compared without case."""

    text: str = ""
    problems_only: bool = False
    namespace: str = ""

    def __bool__(self) -> bool:
        return bool(self.text or self.problems_only or self.namespace)

    @property
    def reads_rows(self) -> bool:
        """Whether a row has to be made to tell if it passes."""
        return bool(self.text) or self.problems_only


class RowIndex:
    """Rows by key, in the order of one column, ties by key; parts stay one below the other whatever the order."""

    def __init__(self, columns: Sequence[Column] = (), column: int = 0, *, descending: bool = False) -> None:
        """`columns` of the rows; they are ordered by the one at `column`."""
        self._columns = columns
        self._entries: dict[RowKey, _Entry] = {}
        self._all: Ordered[_Entry] = Ordered()
        self._shown = self._all  # the same while nothing is filtered out
        self._column = column
        self._descending = descending
        self._parted = False  # whether there was ever a row in another part than the first
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
        return sorted({entry.namespace for entry in self._all} - {""})

    def __contains__(self, key: RowKey) -> bool:
        """Whether there is a row, filtered out or not."""
        return key in self._entries

    def key_at(self, position: int) -> RowKey:
        """The key of the row at a position counted from the top."""
        found: RowKey = self._shown[len(self._shown) - 1 - position if self._descending else position].key
        return found

    def position(self, key: RowKey) -> int | None:
        """Where the row is, None when it is gone or filtered out."""
        entry = self._entries.get(key)
        found = self._shown.position(entry) if entry is not None else None
        return len(self._shown) - 1 - found if found is not None and self._descending else found

    def starts(self, parts: int) -> tuple[int, ...]:
        """Where each of so many parts begins among the rows that are shown."""
        if self._descending:
            return tuple(len(self._shown) - _below(self._shown, 2 - 2 * part) for part in range(parts))
        return tuple(_below(self._shown, 2 * part) for part in range(parts))

    def sizes(self, parts: int) -> tuple[int, ...]:
        """How many rows each of so many parts has, filtered out or not."""
        sign = -1 if self._descending else 1
        firsts = (2 * sign * part for part in range(parts))
        return tuple(_below(self._all, first + 2) - _below(self._all, first) for first in firsts)

    def uid(self, key: RowKey) -> str | None:
        entry = self._entries.get(key)
        return entry.uid if entry else None

    def is_problem(self, key: RowKey) -> bool:
        """Whether the row needs a person, as far as that is known."""
        entry = self._entries.get(key)
        return entry is not None and entry.known is not None and entry.known.problem

    # --- changes ---

    def update(self, changes: Iterable[tuple[RowKey, Row | None]]) -> None:
        """Take rows in: new, changed, or None for gone."""
        for key, row in changes:
            if row is None:
                self._drop(key)
            else:
                known = _Known(search_text(row, self._columns), row.problem, row.sort, row.part)
                self._enter(self._entry(row.sort[self._column], key, row.uid, row.namespace, known))

    def put(self, key: RowKey, place: Place | None) -> None:
        """Take in where a row is, None for gone; its value is of the column that orders. What the row said when it was made last
        stays."""
        if place is None:
            self._drop(key)
        else:
            old = self._entries.get(key)
            known = old.known if old is not None else None
            self._enter(self._entry(place.value, key, place.uid, place.namespace, known))

    def take_over(self, key: RowKey, other: RowIndex) -> None:
        """What another index of the same rows knows of one that was made; it goes where that is gone."""
        entry = other._entries.get(key)
        if entry is None:
            self._drop(key)
        elif (known := entry.known) is not None:
            self._enter(self._entry(known.sort[self._column], key, entry.uid, entry.namespace, known))

    def sort_by(self, column: int, *, descending: bool = False) -> None:
        """Order by a column's sort value: by another one only where all rows were made."""
        turned = descending != self._descending and self._parted
        again = column != self._column or turned
        self._column, self._descending = column, descending
        if again:
            known = ((entry, entry.known) for entry in self._all if entry.known is not None)
            entries = [self._entry(says.sort[column], e.key, e.uid, e.namespace, says) for e, says in known]
            self._entries = {entry.key: entry for entry in entries}
            self._all = Ordered(sorted(entries))
            self._show(self._all)

    def narrow(self, wanted: Filter) -> None:
        """Show only what passes the filter, as far as rows were made. As it is typed, only what passed so far is looked at."""
        within = self._shown if _is_narrower(wanted, self._filter) else self._all
        self._filter = wanted
        self._show(within)

    # --- inner ---

    def _entry(self, value: SortValue, key: RowKey, uid: str, namespace: str, known: _Known | None) -> _Entry:
        """Read backwards, when descending, the parts stay in their order."""
        part = known.part if known is not None else 0
        self._parted = self._parted or part > 0
        rank = 2 * (-part if self._descending else part) + isinstance(value, str)
        return _Entry(rank, value, key, uid, namespace, known)

    def _enter(self, new: _Entry) -> None:
        old = self._entries.get(new.key)
        if old is not None and old.rank == new.rank and old.value == new.value:
            passed = self._passes(old)
            old.uid, old.namespace, old.known = new.uid, new.namespace, new.known
            if self._shown is not self._all and passed != self._passes(old):
                (self._shown.remove if passed else self._shown.add)(old)
            return
        self._drop(new.key)
        self._entries[new.key] = new
        self._all.add(new)
        if self._shown is not self._all and self._passes(new):
            self._shown.add(new)

    def _drop(self, key: RowKey) -> None:
        old = self._entries.pop(key, None)
        if old is not None:
            self._all.remove(old)
            if self._shown is not self._all:
                self._shown.remove(old)

    def _show(self, within: Iterable[_Entry]) -> None:
        """`within`: rows that all that pass are among. All of them are looked at, so nothing is called for each."""
        wanted, text = self._filter, self._filter.text.lower()
        if wanted.namespace:
            within = [entry for entry in within if entry.namespace == wanted.namespace]
        if wanted.reads_rows:
            least = wanted.problems_only
            within = [
                e for e in within if (known := e.known) is not None and known.problem >= least and text in known.text
            ]
        self._shown = Ordered(within) if wanted else self._all

    def _passes(self, entry: _Entry) -> bool:
        wanted, known = self._filter, entry.known
        if wanted.namespace and entry.namespace != wanted.namespace:
            return False
        if not wanted.reads_rows:
            return True
        return known is not None and known.problem >= wanted.problems_only and wanted.text.lower() in known.text


def _below(entries: Ordered[_Entry], rank: int) -> int:
    """How many have a lower rank."""
    return entries.before(lambda entry: entry.rank >= rank)


def _is_narrower(wanted: Filter, than: Filter) -> bool:
    """Whether all that passes the one certainly passes the other."""
    return (
        than.text.lower() in wanted.text.lower()
        and wanted.problems_only >= than.problems_only
        and than.namespace in ("", wanted.namespace)
    )

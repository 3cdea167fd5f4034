"""The order of a tree's rows: roots as any table's rows (`ktui.ui.rowindex`), and below each what is unfolded of it.

Only what is unfolded is kept, so a cluster of folded trees costs what its roots cost. A change costs the rows of the one tree
that are shown. Where rows stand is worked out again when it is asked for after a change, from the trees that are open.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import Any, Final, cast

from msgspec import structs

from ktui.ui.rowindex import Filter, RowIndex
from ktui.views.base import Branch, Row, RowKey, search_text

MOST_UNFOLDED: Final = 200
"""Trees that are unfolded by themselves: on a cluster where everything is in trouble, one long list of pods says less than the
roots do, and costs more."""

_MOST_FOUND: Final = 50
"""Trees that are unfolded for what a filter finds in them, the first ones: more than a screen shows, less than a key may cost."""


class TreeIndex(RowIndex):
    """`grow` gives the tree of a root. What a person folds or unfolds stays so; other trees are unfolded while they say so."""

    def __init__(self, grow: Callable[[RowKey], Branch | None]) -> None:
        super().__init__()
        self._grow = grow
        self._chosen: dict[RowKey, bool] = {}  # unfolded or not, by a person
        self._unfolded: dict[RowKey, None] = {}  # roots that are unfolded by themselves
        self._below: dict[RowKey, list[Row]] = {}  # what is shown below a root, in order
        self._offsets: dict[RowKey, dict[RowKey, int]] = {}  # of each of these, its place below the root
        self._starts: list[int] = []  # positions, among the roots, of those that are open
        self._sums: list[int] = []  # how many rows are below those up to each of them
        self._moved = True

    # --- what is shown ---

    def __len__(self) -> int:
        self._lay_out()
        return super().__len__() + (self._sums[-1] if self._sums else 0)

    @property
    def trees(self) -> int:
        """How many roots pass the filter."""
        return super().__len__()

    def key_at(self, position: int) -> RowKey:
        root, offset = self._place_of(position)
        key = super().key_at(root)
        return key if offset < 0 else self._below[key][offset].key

    def position(self, key: RowKey) -> int | None:
        self._lay_out()
        root = root_of(key)
        place = super().position(root)
        if place is None:
            return None
        start = place + self._rows_before(place)
        if key == root:
            return start
        offset = self._offsets.get(root, {}).get(key)
        return start + 1 + offset if offset is not None else None

    def uid(self, key: RowKey) -> str | None:
        row = self.row(key)
        return row.uid if row is not None else super().uid(key)

    def row(self, key: RowKey) -> Row | None:
        """A row below a root, None where it is not shown."""
        root = root_of(key)
        offset = self._offsets.get(root, {}).get(key)
        return self._below[root][offset] if offset is not None else None

    def is_unfolded(self, row: Row) -> bool:
        """Whether what is below the row is shown."""
        return row.folds and (self._forced(row) or self._chosen.get(row.key, self._by_itself(row)))

    def shown_above(self, key: RowKey) -> RowKey:
        """The row itself or, where it is folded away, the nearest one above it that is there."""
        way = cast("tuple[object, ...]", key)
        while len(way) > 1 and self.row(way) is None:
            way = way[:-1]
        return way

    # --- changes ---

    def fold(self, row: Row, unfolded: bool) -> None:
        """As a person wants it."""
        self._chosen[row.key] = unfolded
        self._spread(root_of(row.key))

    def reveal(self, key: RowKey) -> None:
        """Unfold all that is above the row."""
        way = cast("tuple[object, ...]", key)
        self._chosen.update((way[:depth], True) for depth in range(1, len(way)))
        self._spread(root_of(key))

    def update(self, changes: Iterable[tuple[RowKey, Row | None]]) -> None:
        batch = dict(changes)
        super().update((key, _searchable(row)) for key, row in batch.items())
        for key, row in batch.items():
            if row is None:
                self._chosen = {chosen: how for chosen, how in self._chosen.items() if root_of(chosen) != key}
            self._spread(key)

    def sort_by(self, column: int, *, descending: bool = False) -> None:
        super().sort_by(column, descending=descending)
        self._spread_all()

    def narrow(self, wanted: Filter) -> None:
        super().narrow(wanted)
        self._spread_all()

    # --- inner ---

    def _spread_all(self) -> None:
        open_ones = (*self._below, *self._unfolded, *map(root_of, self._chosen), *self._matches())
        for root in dict.fromkeys(open_ones):
            self._spread(root)
        self._moved = True

    def _matches(self) -> Iterator[RowKey]:
        """Roots that may be shown for what is below them."""
        if not self.filter.text:
            return
        for place in range(min(super().__len__(), _MOST_FOUND)):
            yield super().key_at(place)

    def _spread(self, root: RowKey) -> None:
        """Work out what is shown below a root."""
        before = {row.key: row for row in self._below.pop(root, ())}
        self._offsets.pop(root, None)
        self._moved = True
        self._choose(root)
        if super().position(root) is None:
            return
        if not (self._chosen.get(root, root in self._unfolded) or self.filter.text):
            return
        grown = self._grow(root)
        if grown is None:
            return
        rows = list(self._leading(grown) if self._forced(grown.row) else self._shown_below(grown))
        if rows:
            self._below[root] = [known if (known := before.get(row.key)) == row else row for row in rows]
            self._offsets[root] = {row.key: offset for offset, row in enumerate(rows)}

    def _choose(self, root: RowKey) -> None:
        """Whether the root is unfolded by itself: while it is in trouble, and not too many others are."""
        if not self.is_problem(root):
            self._unfolded.pop(root, None)
        elif len(self._unfolded) < MOST_UNFOLDED:
            self._unfolded[root] = None

    def _by_itself(self, row: Row) -> bool:
        return row.key in self._unfolded or (row.unfolded and row.key != root_of(row.key))

    def _forced(self, row: Row) -> bool:
        """Whether the row is there only for what is below it."""
        return row.key not in self._chosen and self._hides(row)

    def _leads(self, row: Row) -> bool:
        """Whether what the filter looks for is below the row, and not folded away by a person."""
        return self.filter.text.lower() in row.within.lower() and self._forced(row)

    def _hides(self, row: Row) -> bool:
        wanted = self.filter.text.lower()
        return bool(wanted) and wanted not in search_text(row)

    def _shown_below(self, branch: Branch) -> Iterator[Row]:
        if not self.is_unfolded(branch.row):
            return
        for each in self._sorted(branch.below()):
            if each.row.problem or not self.filter.problems_only:
                yield each.row
                yield from self._shown_below(each)

    def _leading(self, branch: Branch) -> Iterator[Row]:
        """What the filter looks for, with what is above it."""
        for each in self._sorted(branch.below()):
            if self.filter.problems_only and not each.row.problem:
                continue
            if not self._hides(each.row):
                yield each.row
                yield from self._shown_below(each)
            elif self._leads(each.row) and (found := list(self._leading(each))):
                yield each.row
                yield from found

    def _sorted(self, branches: Iterable[Branch]) -> list[Branch]:
        """Of equal ones, those that the view has first come first."""

        def place(branch: Branch) -> tuple[bool, Any]:
            value = branch.row.sort[self.column]
            return (isinstance(value, str), value)

        return sorted(branches, key=place, reverse=self.descending)

    def _lay_out(self) -> None:
        if not self._moved:
            return
        self._moved = False
        places = ((super(TreeIndex, self).position(root), len(rows)) for root, rows in self._below.items())
        found = sorted((place, count) for place, count in places if place is not None)
        self._starts = [place for place, _ in found]
        self._sums = list(accumulate(count for _, count in found))

    def _rows_before(self, root: int) -> int:
        """How many rows are below the roots that come before the one at this place."""
        before = bisect_left(self._starts, root)
        return self._sums[before - 1] if before else 0

    def _place_of(self, position: int) -> tuple[int, int]:
        """The root at or above a position, by its place among the roots, and the place below it; -1 for the root itself."""
        self._lay_out()
        heads = bisect_right(range(len(self._starts)), position, key=self._head) - 1
        if heads < 0:
            return position, -1
        start, count = self._starts[heads], self._sums[heads] - (self._sums[heads - 1] if heads else 0)
        offset = position - self._head(heads) - 1
        return (start, offset) if offset < count else (start + 1 + offset - count, -1)

    def _head(self, heads: int) -> int:
        """The position of an open root."""
        return self._starts[heads] + (self._sums[heads - 1] if heads else 0)


def above_of(key: RowKey) -> RowKey:
    """The key of the row above in the tree; that of a root is its own."""
    way = cast("tuple[object, ...]", key)
    return way[:-1] or way


def depth_of(key: RowKey) -> int:
    """How many rows are above it."""
    return len(cast("tuple[object, ...]", key)) - 1


def root_of(key: RowKey) -> RowKey:
    """The key of the tree that the row is in."""
    return cast("tuple[object, ...]", key)[:1]


def _searchable(row: Row | None) -> Row | None:
    """A root is found by the names of what is below it, too: they are added to the last text that a filter looks in."""
    if row is None:
        return None
    return structs.replace(
        row, cells=(*row.cells[:-1], structs.replace(row.cells[-1], text=f"{row.cells[-1].text} {row.within}"))
    )

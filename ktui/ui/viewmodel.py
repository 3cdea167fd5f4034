"""One view as a table shows it: its rows, their order, the cursor and the marks. Knows nothing of Textual.

A row is made when it is looked at. Of all others the place in the order is known, and no more, unless what is wanted can only be
told from rows: a filter's text, problems only, the order of a column that follows from other objects. Small views, and trees,
are made as a whole.

The cluster says which keys changed; `work` finds out what is wanted of them, a slice at a time.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable
from typing import cast

from ktui.cluster.state import Cluster
from ktui.cluster.usage import offers
from ktui.model.kinds import KINDS
from ktui.ui.backlog import Backlog
from ktui.ui.rowindex import Filter, RowIndex
from ktui.ui.treeindex import TreeIndex, above_of, root_of
from ktui.views.base import Large, Parted, Row, RowKey, Tree, View

_ROWS = 4  # made between two looks at the clock: one of a large gang takes a millisecond
_PLACES = 64  # found out between two looks at the clock
_TOP = 64  # rows that come first: a screenful
_KEPT_ROWS = 1024  # several screens


class ViewModel:
    """`index` is the order that is shown. Of a large view another order is worked out beside it, and takes its place when it is
    complete."""

    def __init__(self, view: View, cluster: Cluster) -> None:
        self.view = view
        self.marks: dict[RowKey, str] = {}
        self._cluster = cluster
        self._large = view if isinstance(view, Large) else None
        self.parted = (
            view if isinstance(view, Parted) else None
        )  # found out once: it is asked for whenever something is drawn
        order = next((i for i, column in enumerate(view.columns) if column.id == view.order), 0)
        self.index = RowIndex(view.columns, order)
        self.trunk: int | None = None  # the column in which the rows of a tree are indented
        if isinstance(view, Tree):
            self.trunk = view.trunk
            self.index = TreeIndex(lambda root: view.branch(self._cluster, root))
            self.index.sort_by(order)
        self._next: RowIndex | None = None  # the other order
        self._made: set[RowKey] = set()  # keys of which the index knows the row as it is now
        self._rows: dict[RowKey, Row] = {}  # that were looked at
        self._doubted: set[RowKey] = set()  # of these, those that may be others by now
        self._needs_rows = self._follows_from_rows()
        self._backlog = Backlog(self._wants)
        self._reading: frozenset[str] = frozenset()  # kinds because of which rows are computed again
        self._cursor: RowKey | None = None
        self._cursor_position = 0
        self._find(self._keys())

    # --- rows ---

    def invalidate(self, keys: Iterable[RowKey]) -> None:
        """These rows may have changed, appeared or gone. Those that were painted come first."""
        changed = keys if isinstance(keys, set) else set(keys)
        self._made -= changed
        self._doubted |= self._rows.keys() & changed
        self._backlog.add(changed)
        self._backlog.prefer(self._rows.keys())

    def reread(self, kinds: frozenset[str]) -> None:
        """Any of these kinds can be read now, or no longer: find out again what follows from them."""
        view = self.view
        if isinstance(view, Parted):
            self._reading = kinds if self._backlog.through else self._reading | kinds
            self.invalidate(self.index.keys())
            self._find(view.keys_reading(self._cluster, self._reading))
        elif kinds.intersection((*view.kinds, *view.joins)) or (isinstance(view, Tree) and view.reads(kinds)):
            if self._large is not None:
                self._doubted.update(self._rows)
                self._work_out(self.column, descending=self.descending, anew=True)
            else:
                self.invalidate(self.index.keys())
                self._find(self._keys())

    def refigure(self) -> None:
        """Other figures of what is used: painted rows are made anew when they are looked at, the others only where the order
        follows from figures."""
        columns = self.view.columns
        if any(column.needs for column in columns):
            self._rows.clear()
            if columns[self.column].needs:
                self._work_out(self.column, descending=self.descending, anew=True)

    @property
    def hidden(self) -> frozenset[int]:
        """Columns of figures that this cluster does not have."""
        columns = enumerate(self.view.columns)
        return frozenset(i for i, column in columns if column.needs and not offers(self._cluster, column.needs))

    @property
    def behind(self) -> int:
        """About how many rows wait to be computed; 0 only when there is none."""
        return len(self._backlog)

    def work(self, may_go_on: Callable[[], bool]) -> bool:
        """Find out what is wanted while `may_go_on`, at least one slice. Returns whether anything was taken in."""
        worked = False
        while self._backlog:
            for key in self._backlog.take(_ROWS if self._needs_rows else _PLACES):
                self._take_in(key)
                worked = True
            if self._next is not None and self._backlog.through:
                self.index, self._next = self._next, None
                self._needs_rows = self._follows_from_rows()
            if not may_go_on():
                break
        return worked

    def row(self, key: RowKey) -> Row | None:
        """The row for painting; the same object until it changes."""
        row = self.tree.row(key) if self.tree is not None else None
        return row or self._make(key, keep=True)

    # --- what is known of rows ---

    @property
    def _indexes(self) -> tuple[RowIndex, ...]:
        return (self.index,) if self._next is None else (self.index, self._next)

    def _follows_from_rows(self) -> bool:
        """Whether rows have to be made that nobody looks at, for their order or for the filter."""
        if self._large is None or self.index.filter.reads_rows:
            return True
        return any(self.view.columns[index.column].id not in self._large.places for index in self._indexes)

    def _wants(self, key: RowKey) -> bool:
        """Whether less is known of the row than there should be."""
        if key not in self.index or (self._needs_rows and key not in self._made):
            return True
        return self._next is not None and key not in self._next

    def _keys(self) -> Iterable[RowKey | None]:
        if self.parted is not None:
            return self.parted.keys_reading(self._cluster, frozenset(KINDS))
        return self._large.keys_unsorted(self._cluster) if self._large else self.view.keys(self._cluster)

    def _find(self, keys: Iterable[RowKey | None]) -> None:
        """Take in what there is no row of yet; where that is more than a screenful, the first of them first."""
        if isinstance(keys, Collection):
            first = heapq.nsmallest(_TOP, keys) if not self.index.total else ()
            self._backlog.begin((first, keys), len(keys) - self.index.total)
        else:
            self._backlog.begin((keys,), 0)

    def _complete(self) -> None:
        """Go over all rows for what is not known of them, first over those that a filter is likely to let pass."""
        present = self.index.keys()
        self._backlog.begin((present, self._keys()), len(present) if self._next else len(present) - len(self._made))
        if self._large is not None and (text := self.index.filter.text.lower()):
            self._backlog.begin_with(present, lambda key: text in " ".join(cast("tuple[str, ...]", key)))

    def _take_in(self, key: RowKey) -> None:
        if self._needs_rows and key not in self._made:
            row = self._make(key)
            self.index.update([(key, row)])
            if row is not None:
                self._made.add(key)
        if self._next is not None:
            self._next.take_over(key, self.index)
        if self._large is not None and not self._needs_rows:
            for index in self._indexes:
                index.put(key, self._large.place(self._cluster, key, self.view.columns[index.column].id))
        if key in self.marks and self.marks[key] != self.index.uid(key):
            del self.marks[key]  # a new object under an old name is not the one that was marked

    def _make(self, key: RowKey, *, keep: bool = False) -> Row | None:
        """The row as it is now, without making again what was looked at and did not change; `keep` it as such."""
        known = self._rows.get(key)
        if known is not None and key not in self._doubted:
            return known
        self._doubted.discard(key)
        row = self.view.row(self._cluster, key)
        if row is None:
            self._rows.pop(key, None)
        elif row == known:
            return known
        elif keep or known is not None:
            if len(self._rows) >= _KEPT_ROWS:
                self._rows.clear()
                self._doubted.clear()
            self._rows[key] = row
        return row

    # --- trees ---

    @property
    def tree(self) -> TreeIndex | None:
        """The index, where rows stand below each other."""
        return self.index if isinstance(self.index, TreeIndex) else None

    def unfold(self) -> None:
        """Show what is below the cursor's row; where it is shown, go there."""
        tree, key = self.tree, self.cursor
        row = self.row(key) if key is not None else None
        if tree is None or row is None or not row.folds:
            return
        if tree.is_unfolded(row):
            self.move_to(self.locate_cursor() + 1)
        else:
            self._fold(tree, row, unfolded=True)

    def fold(self) -> None:
        """Hide what is below the cursor's row; where nothing is shown of it, go to the row above it in the tree."""
        tree, key = self.tree, self.cursor
        row = self.row(key) if key is not None else None
        if tree is None or row is None:
            return
        if tree.is_unfolded(row):
            self._fold(tree, row, unfolded=False)
        elif (above := tree.position(above_of(row.key))) is not None:
            self.move_to(above)

    def toggle(self) -> None:
        """Fold or unfold the cursor's row."""
        tree, key = self.tree, self.cursor
        row = self.row(key) if key is not None else None
        if tree is not None and row is not None and row.folds:
            self._fold(tree, row, unfolded=not tree.is_unfolded(row))

    def _fold(self, tree: TreeIndex, row: Row, *, unfolded: bool) -> None:
        self.move_to(self.locate_cursor())  # it stays on the row from here on, wherever that goes
        tree.fold(row, unfolded)

    # --- order ---

    @property
    def column(self) -> int:
        """The column whose order is wanted."""
        return self._indexes[-1].column

    @property
    def descending(self) -> bool:
        return self._indexes[-1].descending

    def narrow(self, wanted: Filter) -> None:
        """Show what passes the filter: at once as far as that is known."""
        for index in self._indexes:
            index.narrow(wanted)
        self._look_again()
        if self._needs_rows:
            self._backlog.add(self._rows.keys() - self._made)  # they are there already
            if self._cursor in self.index:
                self._take_in(self._cursor)  # whose row may pass: the cursor stays on it

    def sort_by(self, column: int, *, descending: bool) -> None:
        """Order by a column. A large view stays as it is until the new order is worked out."""
        if self._large is None or column == self.column:
            self._indexes[-1].sort_by(column, descending=descending)
        else:
            figures = bool(self.view.columns[column].needs)  # rows that were made have those of then
            self._work_out(column, descending=descending, anew=figures)

    def _work_out(self, column: int, *, descending: bool, anew: bool) -> None:
        """The order of a column, beside the one that is shown; `anew` from rows as they are now."""
        if anew:
            self._made.clear()
        self._next = RowIndex(self.view.columns, column, descending=descending)
        self._next.narrow(self.index.filter)
        self._look_again()

    def _look_again(self) -> None:
        """After something else was wanted."""
        self._needs_rows = self._follows_from_rows()
        if self._next is not None or (self._needs_rows and len(self._made) < self.index.total):
            self._complete()

    # --- cursor: follows its row; when the row goes, it stays where it was ---

    @property
    def cursor(self) -> RowKey | None:
        """The key under the cursor, None in an empty table."""
        return self.index.key_at(self.locate_cursor()) if len(self.index) else None

    def locate_cursor(self) -> int:
        """The cursor's position now. Until a person moves it, it stays at the top, whatever row that is."""
        if self._cursor is None or not len(self.index):
            return 0
        if self.tree is not None:
            self._cursor = self._shown_in(self.tree, self._cursor)
        position = self.index.position(self._cursor)
        if position is None:
            position = min(self._cursor_position, len(self.index) - 1)
            self._cursor = self.index.key_at(position)
        self._cursor_position = position
        return position

    def _shown_in(self, tree: TreeIndex, key: RowKey) -> RowKey:
        """The row itself, wherever it is by now in its tree; where it is folded away, the nearest one above it."""
        if tree.position(key) is None and isinstance(self.view, Tree):
            now = self.view.now_at(self._cluster, key)
            if now != key and self.go_to(now):
                return now
        return tree.shown_above(key)

    def move_to(self, position: int) -> None:
        if len(self.index):
            self._cursor_position = max(0, min(position, len(self.index) - 1))
            self._cursor = self.index.key_at(self._cursor_position)

    def go_to(self, key: RowKey) -> bool:
        """Put the cursor on a row; whether there is one and the filter lets it pass."""
        if self.tree is not None:
            root = root_of(key)
            self.index.update([(root, self.view.row(self._cluster, root))])
            self.tree.reveal(key)
        else:
            self._take_in(key)
        position = self.index.position(key)
        if position is not None:
            self.move_to(position)
        return position is not None

    # --- marks: of one object, not of its name ---

    def toggle_mark(self) -> None:
        key = self.cursor
        if key is None:
            return
        if self.marks.pop(key, None) is None:
            self.marks[key] = self.index.uid(key) or ""

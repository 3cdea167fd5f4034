"""One view as a table shows it: its rows, their order, the cursor and the marks. Knows nothing of Textual.

The cluster says which keys changed; `work` turns them into rows a slice at a time. Cells are kept only for the rows last
painted: the other rows cost what their order needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ktui.cluster.state import Cluster
from ktui.cluster.usage import offers
from ktui.ui.backlog import Backlog
from ktui.ui.rowindex import Filter, RowIndex
from ktui.ui.treeindex import TreeIndex, above_of, root_of
from ktui.views.base import Large, Parted, Row, RowKey, Tree, View

_SLICE = 4  # rows between two looks at the clock: one of a large gang takes a millisecond
_KEPT_ROWS = 1024  # several screens


class ViewModel:
    def __init__(self, view: View, cluster: Cluster) -> None:
        self.view = view
        self.index = RowIndex(view.columns)
        self.marks: dict[RowKey, str] = {}
        self._cluster = cluster
        self.trunk: int | None = None  # the column in which the rows of a tree are indented
        if isinstance(view, Tree):
            self.trunk = view.trunk
            self.index = TreeIndex(lambda root: view.branch(self._cluster, root))
        self._rows: dict[RowKey, Row] = {}
        self._backlog = Backlog(lambda key: key in self.index)
        self._reading: frozenset[str] = frozenset()  # kinds because of which rows are computed again
        self._cursor: RowKey | None = None
        self._cursor_position = 0
        self.index.sort_by(next((i for i, column in enumerate(view.columns) if column.id == view.order), 0))
        self.rebase(cluster)

    # --- rows ---

    def invalidate(self, keys: Iterable[RowKey]) -> None:
        """These rows may have changed, appeared or gone. Those that were painted are computed first."""
        self._backlog.add(keys)
        self._backlog.prefer(self._rows.keys())

    def rebase(self, cluster: Cluster) -> None:
        """Take the rows from another state; cursor, order and marks stay."""
        self._cluster = cluster
        view = self.view
        keys = view.keys_unsorted(cluster) if isinstance(view, Large) else view.keys(cluster)
        self._backlog.begin(self.index.keys(), keys)

    def reread(self, kinds: frozenset[str]) -> None:
        """Any of these kinds can be read now, or no longer: compute again what shows something of them."""
        view = self.view
        if isinstance(view, Parted):
            self._reading = kinds if self._backlog.through else self._reading | kinds
            self._backlog.begin(self.index.keys(), view.keys_reading(self._cluster, self._reading))
        elif kinds.intersection((*view.kinds, *view.joins)) or (isinstance(view, Tree) and view.reads(kinds)):
            self.rebase(self._cluster)

    def refigure(self) -> None:
        """Other figures of what is used: painted rows are made anew when they are looked at, the others only where the order
        follows from figures."""
        if any(column.needs for column in self.view.columns):
            self._rows.clear()
            if self.view.columns[self.index.column].needs:
                self.invalidate(self.index.keys())

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
        """Compute dirty rows while `may_go_on`, at least one slice. Returns whether anything was taken in."""
        changes: list[tuple[RowKey, Row | None]] = []
        while self._backlog:
            for key in self._backlog.take(_SLICE):
                row = self.view.row(self._cluster, key)
                self._remember(key, row)
                changes.append((key, row))
            if not may_go_on():
                break
        if not changes:
            return False
        self.index.update(changes)
        self._forget_marks(key for key, _ in changes)
        return True

    def row(self, key: RowKey) -> Row | None:
        """The row for painting; the same object until it changes."""
        row = self.tree.row(key) if self.tree is not None else None
        row = row or self._rows.get(key)
        if row is None:
            row = self.view.row(self._cluster, key)
            if row is not None:
                if len(self._rows) >= _KEPT_ROWS:
                    self._rows.clear()
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

    def _remember(self, key: RowKey, row: Row | None) -> None:
        known = self._rows.get(key)
        if known is None or known == row:
            return
        if row is None:
            del self._rows[key]
        else:
            self._rows[key] = row

    # --- order ---

    def narrow(self, wanted: Filter) -> None:
        self.index.narrow(wanted)

    def sort_by(self, column: int, *, descending: bool) -> None:
        self.index.sort_by(column, descending=descending)
        if self.view.columns[column].needs:
            self.invalidate(self.index.keys())  # rows that nobody looked at have figures of long ago

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
            self._cursor = self.tree.shown_above(self._cursor)
        position = self.index.position(self._cursor)
        if position is None:
            position = min(self._cursor_position, len(self.index) - 1)
            self._cursor = self.index.key_at(position)
        self._cursor_position = position
        return position

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
        elif self.index.uid(key) is None:
            row = self.view.row(self._cluster, key)  # not computed yet
            self.index.update([(key, row)])
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

    def _forget_marks(self, keys: Iterable[RowKey]) -> None:
        """A new object under an old name is not the one that was marked."""
        if self.marks:
            for key in keys:
                if key in self.marks and self.marks[key] != self.index.uid(key):
                    del self.marks[key]

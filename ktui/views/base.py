"""What a view is: columns, rows, details, and the shape of its JSON.

A view is a module-level object that computes plain values from the state. Screens ask it for single rows of changed keys;
commands ask for all of them. Texts are raw: they pass `safe()` at the border to a terminal, and styles are names, not colours.
To add a column: one `Column` and one cell in the view's module. To add a view: a module here and a line in `views.VIEWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

if TYPE_CHECKING:  # widgets need cells before the first paint, and nothing of the state
    from ktui.cluster.dirty import Entity
    from ktui.cluster.state import Cluster

Style = Literal["", "dim", "ok", "warn", "bad", "accent"]
RowKey: TypeAlias = Hashable
SortValue: TypeAlias = str | float


class Cell(Struct, frozen=True, gc=False):
    """One text with a style name."""

    text: str
    style: Style = ""


class Column(Struct, frozen=True):
    """`width` is the least, `weight` the share of what is left over; when it gets narrow, the column with the lowest
    `priority` goes first. An "age" column shows the time since `Row.since`; its cell is only its style. One that `needs` figures
    of what is used is there only where they are to be had (`ktui.cluster.usage`); nobody says which rows they change."""

    id: str
    title: str
    width: int
    weight: int = 0
    priority: int = 5
    kind: Literal["text", "number", "age"] = "text"
    wide: bool = False  # only with -o wide, and on screens that have room
    needs: Literal["", "metrics", "gpus"] = ""


class Row(Struct, frozen=True):
    """One line of a view. `sort` has a value for each column; `uid` tells a new object under an old name. `part` is the place of
    the row's part in a view that has several (see `Parted`). Of a tree (see `Tree`): `within` are names below, by which a filter
    finds the row; `folds` says that there are rows below, `unfolded` that they are shown until a person folds them."""

    key: RowKey
    cells: tuple[Cell, ...]
    sort: tuple[SortValue, ...]
    uid: str = ""
    namespace: str = ""
    since: float | None = None  # Unix seconds
    problem: bool = False
    part: int = 0
    within: str = ""
    folds: bool = False
    unfolded: bool = False


class Place(Struct, frozen=True, gc=False):
    """Where a row stands in the order of one column, and whose it is: what can be told without making it. `value` is its sort
    value in that column; `uid` and `namespace` are those of the row."""

    value: SortValue
    uid: str = ""
    namespace: str = ""


Line: TypeAlias = tuple[Cell, ...]


class Section(Struct, frozen=True):
    """A titled block of the detail pane."""

    title: str
    lines: tuple[Line, ...]


Document: TypeAlias = dict[str, Any]


class View(Protocol):
    """Pure functions of the state."""

    @property
    def id(self) -> Entity: ...

    @property
    def title(self) -> str: ...

    @property
    def columns(self) -> tuple[Column, ...]: ...

    @property
    def order(self) -> str:
        """Id of the column that a screen sorts by at first: what needs a person comes first."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """Kinds it cannot do without: it says "empty" only when all of them are synced."""
        ...

    @property
    def joins(self) -> tuple[str, ...]:
        """Kinds that add to its rows when they can be read."""
        ...

    @property
    def makers(self) -> tuple[str, ...]:
        """Those that it joins without which there would be other rows."""
        ...

    @property
    def unseen(self) -> tuple[str, ...]:
        """Those that it joins which no column shows, only details and JSON."""
        ...

    @property
    def labelled(self) -> str:
        """The kind whose labels `labels` are, where a row shows nothing of other objects of that kind: `-l` may be left to the
        server. Else ""."""
        ...

    @property
    def named(self) -> str:
        """The same for the name: the kind of which a row is the one object that `names` gives the name of, and shows no other."""
        ...

    def keys(self, cluster: Cluster) -> Iterable[RowKey]:
        """All row keys in the view's own order."""
        ...

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        """The row now; None when it is gone."""
        ...

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        """What the detail pane shows; () when the row is gone."""
        ...

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        """The row as `get -o json` gives it."""
        ...

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:
        """What a person may call the row on the command line; the first is its own name."""
        ...

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        """Labels that `-l` selects by."""
        ...


class Part(Struct, frozen=True):
    """One part of a view: rows under a heading of their own, and the kinds that they cannot do without. `title` is of what is
    listed, `noun` of everything that is looked at for it."""

    title: str
    noun: str
    kinds: tuple[str, ...]


@runtime_checkable
class Parted(View, Protocol):
    """A view whose rows stand in parts, one below the other, and that shows only those that need a person."""

    @property
    def parts(self) -> tuple[Part, ...]: ...

    def totals(self, cluster: Cluster) -> tuple[int, ...]:
        """How many things were looked at, part by part."""
        ...

    def keys_reading(self, cluster: Cluster, kinds: frozenset[str]) -> Iterable[RowKey | None]:
        """The keys, out of all, whose rows show something of one of the kinds; None wherever many were looked at in vain."""
        ...


class Branch(Struct, frozen=True):
    """A row of a tree; what is below it is worked out when it is asked for. One that `sums_up` what is below says enough where
    the whole tree is printed."""

    row: Row
    below: Callable[[], tuple[Branch, ...]]
    sums_up: bool = False


@runtime_checkable
class Tree(View, Protocol):
    """A view whose rows stand below each other. Keys are ways from the root: tuples that begin with the key of the row above.
    `keys` are those of the roots, and whatever changes in a tree is told of its root."""

    @property
    def trunk(self) -> int:
        """The column in which rows are indented."""
        ...

    def branch(self, cluster: Cluster, root: RowKey) -> Branch | None:
        """The whole tree of a root; None when it is gone."""
        ...

    def now_at(self, cluster: Cluster, key: RowKey) -> RowKey:
        """Where the row of this key is by now, if something came above it, or went."""
        ...

    def subjects(self, cluster: Cluster) -> Iterable[RowKey]:
        """The rows that commands list: those that `names`, `labels` and `item` are about."""
        ...

    def reads(self, kinds: frozenset[str]) -> bool:
        """Whether rows show whether one of these kinds can be read, beside those that it joins."""
        ...


@runtime_checkable
class Large(View, Protocol):
    """A view that may have a hundred thousand rows: most of them are never made, only their places are known. Keys are tuples of
    names that rows show."""

    @property
    def places(self) -> Collection[str]:
        """Ids of the columns in whose order `place` can tell where a row stands: for a small part of what the row costs, and as
        the row itself would."""
        ...

    def place(self, cluster: Cluster, key: RowKey, column: str) -> Place | None:
        """Where the row stands now; None when it is gone."""
        ...

    def keys_unsorted(self, cluster: Cluster) -> Iterable[RowKey]:
        """All row keys, in no order, some more than once. The state may change between two of them: what comes then need not be
        among them, and what goes may be."""
        ...


def text(value: object, style: Style = "") -> Cell:
    return Cell("" if value is None else str(value), style)


def search_text(row: Row, columns: Sequence[Column] = ()) -> str:
    """What a filter looks in: all cells, lower case, without figures of what is used, which are others every moment."""
    if any(column.needs for column in columns):
        return " ".join(cell.text for column, cell in zip(columns, row.cells, strict=True) if not column.needs).lower()
    return " ".join(cell.text for cell in row.cells).lower()


def pairs(*items: tuple[str, object] | tuple[str, object, Style]) -> tuple[Line, ...]:
    """Lines of "name  value"; those without a value are left out."""
    lines = []
    for name, value, *style in items:
        if value not in (None, ""):
            lines.append((Cell(f"{name:<13} ", "dim"), Cell(str(value), style[0] if style else "")))
    return tuple(lines)

"""Trees as lines of a table, the way `kubectl tree` draws them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from msgspec import structs

from ktui.cluster.state import Cluster
from ktui.views.base import Branch, Cell, Row, RowKey, Tree

_Way = tuple[object, ...]


def drawn(view: Tree, cluster: Cluster, wanted: Iterable[RowKey]) -> Iterator[Row]:
    """The rows of the trees in which the wanted ones are: these with what is above and below them."""
    ways = [cast("_Way", key) for key in wanted]
    by_root: dict[RowKey, list[_Way]] = {}
    for way in ways:
        by_root.setdefault(way[:1], []).append(way)
    for root, inside in by_root.items():
        found = view.branch(cluster, root)
        if found is not None:
            yield found.row
            yield from _below(view.trunk, found, "", inside)


def _below(trunk: int, branch: Branch, lead: str, wanted: list[_Way]) -> Iterator[Row]:
    if branch.sums_up:
        return
    below = [each for each in branch.below() if _is_on_the_way(cast("_Way", each.row.key), wanted)]
    for place, each in enumerate(below, 1):
        last = place == len(below)
        cells = list(each.row.cells)
        text = f"{lead}{'└─' if last else '├─'}{cells[trunk].text}"
        cells[trunk] = Cell(text, cells[trunk].style)
        yield structs.replace(each.row, cells=tuple(cells))
        yield from _below(trunk, each, lead + ("  " if last else "│ "), wanted)


def _is_on_the_way(key: _Way, wanted: list[_Way]) -> bool:
    return any(key[: len(way)] == way[: len(key)] for way in wanted)

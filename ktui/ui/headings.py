"""What is said above the parts of a view that shows only what needs a person, and instead of them when nothing does.

That nothing needs anybody is only said when everything that could has been read.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ktui.cluster.moment import Stream
from ktui.cluster.state import Cluster
from ktui.ui.lines import Heading
from ktui.ui.rowindex import RowIndex
from ktui.ui.streams import describe, worst
from ktui.views.base import Cell, Line, Parted

_CURRENT: Final = frozenset(("watching", "quiet", "polling", "absent"))


def headings(view: Parted, index: RowIndex, cluster: Cluster, now: float) -> list[Heading]:
    """For each part: how many of how many, or what is not read of it."""
    sizes, totals = index.sizes(len(view.parts)), view.totals(cluster)
    found = []
    for part, size, total in zip(view.parts, sizes, totals, strict=True):
        unread = worst(_unread(cluster, part.kinds))
        said = describe(unread, now) if unread is not None else Cell(f"{size:,} of {total:,}", "dim")
        found.append(Heading(part.title, said))
    return found


def nothing(view: Parted, cluster: Cluster, now: float) -> tuple[Line, ...]:
    """What stands there when no row does."""
    kinds = tuple(dict.fromkeys(kind for part in view.parts for kind in part.kinds))
    unread = _unread(cluster, kinds)
    counted = ", ".join(
        _counted(total, part.noun) for part, total in zip(view.parts, view.totals(cluster), strict=True)
    )
    absent = [stream for stream in cluster.streams_of(kinds) if stream.phase == "absent"]
    if unread or not cluster.synced(*kinds):
        words = _words(unread, now) or ["connecting"]
        return ((Cell("Not everything is read yet.", "warn"),), *((Cell(word, "dim"),) for word in words))
    if late := [stream for stream in cluster.streams_of(kinds) if stream.phase not in _CURRENT]:
        return (
            (Cell("Nothing needed you when it was last read.", "warn"),),
            *((Cell(word, "dim"),) for word in _words(late, now)),
        )
    return (
        (Cell("Nothing needs you.", "ok"),),
        (Cell(f"{counted}: all is well.", "dim"),),
        *((Cell(word, "dim"),) for word in _words(absent, now)),
    )


def _unread(cluster: Cluster, kinds: Iterable[str]) -> list[Stream]:
    """Sources of which no complete list has come, unless the cluster has nothing of the kind."""
    return [stream for stream in cluster.streams_of(kinds) if not stream.synced and stream.phase != "absent"]


def _words(streams: Sequence[Stream], now: float) -> list[str]:
    return list(dict.fromkeys(describe(stream, now).text for stream in streams))


def _counted(total: int, noun: str) -> str:
    return f"{total:,} {noun.removesuffix('s') if total == 1 else noun}"

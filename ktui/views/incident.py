"""A recording as an incident: what changed between two moments, and how the gangs are at the end. Facts; what they are for is
worded where they are written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, cast

from msgspec import Struct

from ktui.cluster.changes import Chronicler
from ktui.cluster.gangs import GangState
from ktui.cluster.state import Cluster
from ktui.cluster.timeline import Change, Timeline, What
from ktui.model.frame import Frame
from ktui.views.gangs import VIEW as GANGS
from ktui.views.gangs import WORST_FIRST
from ktui.views.timeline import VIEW as TIMELINE

MOST: Final = 20_000  # changes that are kept; nobody reads as many


class Entry(Struct, frozen=True):
    """One change, with what people call its subject. `offset` is in seconds since the recording began."""

    offset: float
    change: Change
    kind: str
    namespace: str
    name: str


class GangThen(Struct, frozen=True):
    """A gang as its row says it; `pods` as "7 of 8"."""

    namespace: str
    name: str
    state: GangState
    pods: str
    why: str


class Incident(Struct):
    """`end` is in seconds since the recording began. `left_out` changes came after the first MOST. `gangs`: the worst first."""

    entries: list[Entry]
    left_out: int
    counts: Counter[What]
    end: float
    gangs: list[GangThen]


def incident(frames: Iterable[tuple[float, Frame]], started: float, since: float, until: float) -> Incident:
    """`frames` with their times, and `since` and `until`, in seconds since `started`, which is in Unix seconds."""
    cluster = Cluster()
    cluster.timeline = Timeline()
    chronicler = Chronicler(cluster, cluster.timeline)
    found = Incident([], 0, Counter(), 0.0, [])

    def look() -> None:
        """Often enough that the timeline has forgotten nothing meanwhile."""
        for number in sorted(cluster.timeline.take_fresh()):
            _add(found, cluster, number, started, since)

    for t, frame in frames:
        if t > until:
            found.end = until
            break
        for _ in chronicler.steps(frame, started + t):
            look()
        found.end = t
    chronicler.settle()
    look()
    found.gangs = _gangs(cluster)
    return found


def _add(found: Incident, cluster: Cluster, number: int, started: float, since: float) -> None:
    change, item = cluster.timeline.get(number), TIMELINE.item(cluster, number)
    if change is None or item is None:
        return
    offset = max(0.0, change.at - started)
    if offset < since:
        return
    found.counts[change.what] += 1
    if len(found.entries) >= MOST:
        found.left_out += 1
        return
    found.entries.append(Entry(offset, change, item["kind"], item["namespace"] or "", item["name"] or ""))


def _gangs(cluster: Cluster) -> list[GangThen]:
    rows = [row for key in GANGS.keys(cluster) if (row := GANGS.row(cluster, key)) is not None]
    cells = ({c.id: cell.text for c, cell in zip(GANGS.columns, row.cells, strict=True)} for row in rows)
    gangs = [
        GangThen(cell["namespace"], cell["gang"], cast("GangState", cell["state"]), cell["pods"], cell["why"])
        for cell in cells
    ]
    return sorted(gangs, key=lambda gang: WORST_FIRST.index(gang.state))

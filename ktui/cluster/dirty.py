"""Which rows a change touches, by what they are rows of: what `ktui.cluster.state` tells views."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, Literal

from msgspec import Struct, field

from ktui.cluster.lineage import TreeKey
from ktui.model.meta import Key
from ktui.model.resourceslice import DeviceId, PoolId

Entity = Literal["triage", "gangs", "devices", "claims", "taints", "autoscalers", "workloads", "pods", "timeline"]
"""What views show a row of. Keys: (namespace, name), except devices: DeviceId, taints: see `taints.TaintKey`, timeline: the
number of the change, triage: see `TriageKey`, workloads: the roots of trees, see `TreeKey`."""

TriageKey = tuple[Literal["gangs", "devices", "pools", "taints", "autoscalers"], tuple[str, ...]]
"""A row of another view with its key there, or a pool of devices with its PoolId."""


ROWS: Final = ("gangs", "devices", "pools", "claims", "taints", "autoscalers", "workloads", "pods", "timeline")
"""The fields of `Dirty` that are keys of rows."""

_OF_TRIAGE: Final = ("gangs", "devices", "pools", "taints", "autoscalers")


class Dirty(Struct):
    """Rows to recompute, by entity; `streams` when a source changed its state. Rows also say whether a kind can be read at
    all: when `Cluster.readable` changes for one, they are all to be computed again. `figures`: of `Cluster.usage`, of no matter
    which rows."""

    gangs: set[Key] = field(default_factory=set)
    devices: set[DeviceId] = field(default_factory=set)
    pools: set[PoolId] = field(default_factory=set)
    claims: set[Key] = field(default_factory=set)
    taints: set[tuple[str, ...]] = field(default_factory=set)
    autoscalers: set[Key] = field(default_factory=set)
    workloads: set[TreeKey] = field(default_factory=set)
    pods: set[Key] = field(default_factory=set)
    timeline: set[int] = field(default_factory=set)
    streams: bool = False
    figures: bool = False

    def merge(self, other: Dirty, only: Collection[str] = ROWS) -> None:
        """Take in what the other says; of rows, what it says of those in the fields `only`."""
        for name in only:
            if found := getattr(other, name):
                getattr(self, name).update(found)
        self.streams |= other.streams
        self.figures |= other.figures

    def __bool__(self) -> bool:
        return self.streams or self.figures or any(getattr(self, name) for name in ROWS)

    @property
    def triage(self) -> set[TriageKey]:
        """Of the triage, whose rows are those of other views."""
        return {
            *(("gangs", key) for key in self.gangs),
            *(("devices", key) for key in self.devices),
            *(("pools", key) for key in self.pools),
            *(("taints", key) for key in self.taints if key[0] == "rule"),
            *(("autoscalers", key) for key in self.autoscalers),
        }


def rows_of(views: Iterable[Entity]) -> tuple[str, ...]:
    """The fields of `Dirty` in which the rows of these views are."""
    wanted = {name for view in views for name in (_OF_TRIAGE if view == "triage" else (view,))}
    return tuple(name for name in ROWS if name in wanted)

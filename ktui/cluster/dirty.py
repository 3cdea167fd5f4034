"""Which rows a change touches, by what they are rows of: what `ktui.cluster.state` tells views."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from ktui.cluster.lineage import TreeKey
from ktui.model.meta import Key
from ktui.model.resourceslice import DeviceId, PoolId

Entity = Literal["triage", "gangs", "devices", "claims", "taints", "autoscalers", "workloads", "pods", "timeline"]
"""What views show a row of. Keys: (namespace, name), except devices: DeviceId, taints: see `taints.TaintKey`, timeline: the
number of the change, triage: see `TriageKey`, workloads: the roots of trees, see `TreeKey`."""

TriageKey = tuple[Literal["gangs", "devices", "pools", "taints", "autoscalers"], tuple[str, ...]]
"""A row of another view with its key there, or a pool of devices with its PoolId."""


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

    def merge(self, other: Dirty) -> None:
        self.gangs |= other.gangs
        self.devices |= other.devices
        self.pools |= other.pools
        self.claims |= other.claims
        self.taints |= other.taints
        self.autoscalers |= other.autoscalers
        self.workloads |= other.workloads
        self.pods |= other.pods
        self.timeline |= other.timeline
        self.streams |= other.streams
        self.figures |= other.figures

    def __bool__(self) -> bool:
        rows = (
            self.gangs,
            self.devices,
            self.pools,
            self.claims,
            self.taints,
            self.autoscalers,
            self.workloads,
            self.pods,
        )
        return self.streams or self.figures or bool(self.timeline) or any(rows)

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

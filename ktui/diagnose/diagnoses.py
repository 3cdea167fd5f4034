"""The diagnoses of a cluster's gangs, kept until something they follow from changes.

What a gang says of itself is looked at again when its own objects change. What nodes and devices say is found out once for all
gangs that ask for the same, and looked at again when a node or a device changes; the gangs concerned are then told apart by
whether the answer became another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

from msgspec import Struct, field

from ktui.cluster.gangs import gang, gang_keys
from ktui.cluster.state import Cluster
from ktui.diagnose.demand import ClaimDemand, GangDemand, waiting_pods
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import Tried, conclude, look_at
from ktui.diagnose.room import Obstacle
from ktui.diagnose.supply import Supply
from ktui.diagnose.verdict import Verdict, judge
from ktui.model.meta import Key

_READ = (
    *("Pod", "PodGroup", "Workload", "ResourceClaim", "ResourceClaimTemplate"),
    *("Node", "ResourceSlice", "DeviceClass", "DeviceTaintRule"),
    *("KueueWorkload", "KueueLocalQueue", "KueueClusterQueue", "VolcanoPodGroup", "VolcanoQueue"),
)


def diagnoses_of(cluster: Cluster) -> Diagnoses:
    """The diagnoses that are kept for a cluster."""
    return cluster.derived(Diagnoses)


class _Asked(Struct):
    """Gangs that ask for the same, and what is true of all of them."""

    demand: GangDemand
    named: frozenset[Obstacle]
    verdict: Verdict
    gangs: dict[Key, Tried] = field(default_factory=dict)


class Asking(NamedTuple):
    """Gangs that were tried in vain and ask for the same; `placeable` as in a verdict."""

    demand: GangDemand
    placeable: bool | None
    gangs: tuple[Key, ...]


class Diagnoses:
    """Not thread-safe, like the cluster it is about.

    Nodes and devices are looked at again whenever something is asked; with `patient`, when `take_stale` or `up_to_date` is
    called. What is said of a gang may be as old as that, but for what its own objects say and for what can be read at all; and
    of a large cluster it is said what is being looked at until `prepare` is through.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.patient = False
        self._cluster = cluster
        self._supply = Supply(cluster)
        self._sight = cluster.sight
        self._position = cluster.gang_journal.position
        self._revision, self._epoch = self._supply.revision, self._supply.epoch
        self._read = self._readable()
        self._kept: dict[Key, Diagnosis] = {}
        self._asked: dict[object, _Asked] = {}
        self._asks: dict[Key, object] = {}
        self._stale: set[Key] = set()
        self._unprepared: dict[Key, Tried] = {}  # gangs for which the devices are still to be looked at
        self._in_hurry = False  # somebody needs the whole answer at once
        self._unseen: set[Key] | None = None  # gangs that `asking` has to look at, None for all of them

    @property
    def supply(self) -> Supply:
        """What is to be had."""
        self._sync()
        return self._supply

    def up_to_date(self) -> Self:
        """The same, as patient as it may be: nothing that is said next is older than now."""
        self._hurry()
        self._sync(look=True)
        return self

    def _hurry(self) -> None:
        """Until stale ones are taken the next time, nobody is told that something is still looked at."""
        self._in_hurry = True
        for key in self._unprepared:
            self._kept.pop(key, None)
        self._unprepared.clear()

    def asking(self) -> Iterator[Asking]:
        """What gangs that were tried in vain ask for. Every gang with pods that wait is looked at once, and again when
        something of it changed."""
        self._hurry()
        self._sync()
        unseen = gang_keys(self._cluster) if self._unseen is None else self._unseen
        self._unseen = set()
        for key in unseen:
            if waiting_pods(self._cluster.members(key)):  # nobody else asks for anything, and most gangs run
                self.of(key)
        for asked in self._asked.values():
            yield Asking(asked.demand, asked.verdict.placeable, tuple(asked.gangs))

    def of(self, key: Key) -> Diagnosis | None:
        """The diagnosis of a gang, None when there is no such gang."""
        self._sync()
        known = self._kept.get(key)
        if known is None:
            found = gang(self._cluster, key)
            if found is None:
                return None
            looked = look_at(self._cluster, found)
            known = looked if isinstance(looked, Diagnosis) else self._conclude(key, looked)
            self._kept[key] = known
        return known

    def at(self, key: Key) -> Diagnosis:
        """The diagnosis of a gang that is there."""
        found = self.of(key)
        if found is None:
            raise KeyError(key)
        return found

    @property
    def unprepared(self) -> bool:
        """Whether `prepare` has anything to do."""
        return bool(self._unprepared)

    def prepare(self) -> Iterator[None]:
        """Look at the devices and nodes of a large cluster for those gangs that wait for it, a little at a time; the state may
        change meanwhile. Those gangs are stale then."""
        for key, tried in list(self._unprepared.items()):
            for claims in _claims(tried.demand):
                yield from self._supply.prepare(claims)
            for part in tried.demand.parts:
                yield from self._supply.look_at_nodes(part)
            if self._unprepared.pop(key, None) is not None:
                self._kept.pop(key, None)
                self._stale.add(key)

    def take_stale(self) -> set[Key]:
        """The gangs that were diagnosed and of which something else may be true since the last call."""
        self._in_hurry = False
        self._sync(look=True)
        stale, self._stale = self._stale, set()
        return stale

    def _sync(self, *, look: bool = False) -> None:
        """`look` at nodes and devices also when patient."""
        self._position, changed = self._cluster.gang_journal.since(self._position)
        turned = self._readable_turned()
        if look or turned or not self.patient:
            self._supply.sync()
        if changed is None or turned or self._supply.epoch != self._epoch:
            self._stale.update(self._kept)
            self._kept.clear()
            self._asked.clear()
            self._asks.clear()
            self._unprepared.clear()
            self._unseen = None
        elif changed:
            if self._unseen is not None:
                self._unseen |= changed
            for key in changed:
                self._forget(key)
        if self._supply.revision != self._revision:
            self._judge_again()
        self._revision, self._epoch = self._supply.revision, self._supply.epoch

    def _readable_turned(self) -> bool:
        """Whether other kinds can be read than the last time, and what can be said not to be there with them."""
        if self._sight == self._cluster.sight:
            return False
        self._sight = self._cluster.sight
        before, self._read = self._read, self._readable()
        return self._read != before

    def _readable(self) -> tuple[tuple[bool, bool, bool], ...]:
        cluster = self._cluster
        return tuple((cluster.synced(kind), cluster.readable(kind), cluster.sees_all(kind)) for kind in _READ)

    def _judge_again(self) -> None:
        for asked in self._asked.values():
            verdict = judge(self._supply, asked.demand, asked.named)
            if verdict != asked.verdict:
                asked.verdict = verdict
                self._stale.update(asked.gangs)
                for key, tried in asked.gangs.items():
                    self._kept[key] = conclude(tried, verdict)

    def _conclude(self, key: Key, tried: Tried) -> Diagnosis:
        if self.patient and not self._in_hurry and not all(map(self._supply.is_ready, _claims(tried.demand))):
            self._unprepared[key] = tried
            return Diagnosis(tried.state, None, f"{tried.prefix}looking at the devices", {}, tried.evidence)
        ask = (tried.demand.key, tried.named)
        asked = self._asked.get(ask)
        if asked is None:
            asked = self._asked[ask] = _Asked(tried.demand, tried.named, judge(self._supply, tried.demand, tried.named))
        asked.gangs[key] = tried
        self._asks[key] = ask
        return conclude(tried, asked.verdict)

    def _forget(self, key: Key) -> None:
        self._unprepared.pop(key, None)
        if self._kept.pop(key, None) is not None:
            self._stale.add(key)
        ask = self._asks.pop(key, None)
        if ask is not None:
            asked = self._asked[ask]
            del asked.gangs[key]
            if not asked.gangs:
                del self._asked[ask]


def _claims(demand: GangDemand) -> Iterator[tuple[ClaimDemand, ...]]:
    """What its pods ask of devices, by themselves and all of them together."""
    yield from (part.demand.claims for part in demand.parts if part.demand.claims)
    if demand.claims:
        yield demand.claims

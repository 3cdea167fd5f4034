"""The devices of the cluster, sorted by what can be asked of them.

A fleet has tens of thousands of devices and a handful of kinds: two devices are of one kind when everything that the demands
look at is the same for both. What a node offers is a room made of kinds, so thousands of nodes share a few hundred rooms, and
a change of one device makes one room anew.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from ktui.cel.reading import Read
from ktui.cluster.counters import compatibility_groups
from ktui.cluster.pools import Pool, PublishedDevice
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, taints_of
from ktui.diagnose.demand import ClaimDemand, Want
from ktui.diagnose.room import Counts, Kind, Kinds, PoolRoom, Room, Unit, Without
from ktui.diagnose.selection import Reads, Selection
from ktui.model.meta import Key
from ktui.model.node import NodeSelector
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import Attribute, Device, DeviceId, DeviceTaint, PoolId

Draws = tuple[tuple[str, str, Decimal], ...]
Reach = str | NodeSelector | None
"""From where a device can be used: a node's name ("": from nowhere), the nodes a selector matches, None for every node."""

_BLOCKING = ("NoSchedule", "NoExecute")


class Edits(NamedTuple):
    """What is imagined to be different: devices whose taints are lifted, claims (by key) that are given back, pods (by key)
    that are gone, and devices that have these taints instead of their own."""

    untainted: frozenset[DeviceId] = frozenset()
    released: frozenset[Key] = frozenset()
    gone: frozenset[Key] = frozenset()
    taints: Mapping[DeviceId, tuple[DeviceTaint, ...]] = {}


class Catalog:
    """Kinds and rooms for everything that looks at no more than `reads`. Empty until `fill` is through."""

    def __init__(self, cluster: Cluster, reads: Reads, selection: Selection, edits: Edits) -> None:
        self._cluster = cluster
        self._sees_all = any(read.kind == "attributes" and read.name is None for read in reads[0])
        self._names = sorted({*(_name(r) for r in reads[0] if r.kind == "attributes"), *map(_split, reads[1])})
        self._edits = edits
        self._kinds: list[Kind] = []
        self._numbers: dict[object, int] = {}
        self.kinds = Kinds(self._kinds, selection.matches)
        self._rooms: list[Room] = []
        self._room_numbers: dict[Room, int] = {}
        self._pools_of: dict[str, dict[PoolId, None]] = {}
        self.on_node: dict[str, int] = {}  # node → number of its room
        self.nodes_with: dict[int, dict[str, None]] = {}  # number of a room → the nodes that have it
        self.floating: dict[PoolId, tuple[PoolRoom, tuple[Reach, ...]]] = {}
        self.capacities: dict[tuple[tuple[ClaimDemand, ...], Without], dict[int, int | str]] = {}
        """Pods with these claims that a room takes, or why that is not known; filled by the supply, as is `counted`."""
        self.counted: dict[tuple[int, Want], Counts] = {}
        self._look_for_rules()

    def room(self, number: int) -> Room:
        return self._rooms[number]

    def room_of(self, node: str) -> Room:
        """What is published for this node alone."""
        number = self.on_node.get(node)
        return self._rooms[number] if number is not None else ()

    def pool_order(self, node: str) -> list[PoolId]:
        """The pools of `room_of`, in its order."""
        return sorted(self._pools_of.get(node, ()))

    def units(self, pool_id: PoolId) -> tuple[Unit, ...]:
        """The devices of a pool as they are."""
        pool = self._cluster.pool(pool_id)
        return self._pool_room(pool).units if pool else ()

    def floating_kinds(self) -> set[int]:
        return {unit.kind for pool, _ in self.floating.values() for unit in pool.units}

    def fill(self) -> Iterator[None]:
        """Look at all devices, some at a time: of 100,000 it takes a second. What changes meanwhile is to be told of (`update`,
        `update_floating`) when it is through."""
        for pool in self._cluster.pools():
            if pool.node:
                self._pools_of.setdefault(pool.node, {})[pool.id] = None
            else:
                self._float(pool)
            yield
        for node in list(self._pools_of):
            self._set(node)
            yield

    def _look_for_rules(self) -> None:
        """Whether there are any: to look for those of one device is worth while only then."""
        self._has_rules = bool(self._cluster.stores["DeviceTaintRule"].objects)

    def update(self, node: str) -> None:
        """Look at a node's devices again."""
        self._look_for_rules()
        ids = {s.pool_id for s in self._cluster.slices_on(node)}
        pools = (pool for pool_id in ids if (pool := self._cluster.pool(pool_id)) is not None)
        if found := {pool.id: None for pool in pools if pool.node == node}:
            self._pools_of[node] = found
            self._set(node)
        elif self._pools_of.pop(node, None) is not None:
            self._unset(node)

    def edited(self, edits: Edits, nodes: Iterable[str]) -> Catalog:
        """The same with other edits, of which only these nodes, and what several nodes reach, are concerned. Kinds and rooms
        are shared: their numbers mean the same in both."""
        other = copy.copy(self)
        other._edits = edits
        other.on_node, other.floating = dict(self.on_node), {}
        other.nodes_with = {number: dict(there) for number, there in self.nodes_with.items()}
        other.update_floating()
        for node in nodes:
            if node in other.on_node:
                other._set(node)
        return other

    def update_floating(self) -> None:
        """Look again at the pools that several nodes reach."""
        self.floating.clear()
        for pool in self._cluster.pools():
            if not pool.node:
                self._float(pool)

    def _set(self, node: str) -> None:
        pools = (self._cluster.pool(pool_id) for pool_id in sorted(self._pools_of[node]))
        number = self._number(tuple(self._pool_room(pool) for pool in pools if pool is not None))
        self._unset(node)
        self.on_node[node] = number
        self.nodes_with.setdefault(number, {})[node] = None

    def _unset(self, node: str) -> None:
        before = self.on_node.pop(node, None)
        if before is not None:
            del self.nodes_with[before][node]
            if not self.nodes_with[before]:
                del self.nodes_with[before]

    def _number(self, room: Room) -> int:
        number = self._room_numbers.get(room)
        if number is None:
            number = self._room_numbers[room] = len(self._rooms)
            self._rooms.append(room)
        return number

    def _float(self, pool: Pool) -> None:
        reach = tuple(_reach(device) for device in pool.devices.values())
        self.floating[pool.id] = (self._pool_room(pool), reach)

    def _pool_room(self, pool: Pool) -> PoolRoom:
        units = tuple([self._unit(pool.id, published.device) for published in pool.devices.values()])
        return PoolRoom(pool.status == "ok", units, tuple(self._counters(pool)) if pool.counters else ())

    def _unit(self, pool: PoolId, device: Device) -> Unit:
        device_id = (pool[0], pool[1], device.name)
        number = self._kind(pool[0], device)
        taints = self._taints(device_id) if device.taints or self._has_rules or self._edits.taints else ()
        if device_id not in self._cluster.claims_by_device:
            return Unit(number, False, taints)
        if not device.allow_multiple_allocations:
            return Unit(number, self._is_held(device_id), taints)
        shares = self._results(device_id)
        return Unit(number, False, taints, tuple(sorted(_sum(shares).items())), bool(shares))

    def _is_held(self, device: DeviceId) -> bool:
        """Whether a claim has the device, administrators apart."""
        driver, pool, name = device
        claims, released = self._cluster.stores["ResourceClaim"].objects, self._edits.released
        for key in self._cluster.claims_by_device[device]:
            claim = claims.get(key)
            if claim is None or key in released:
                continue
            for r in claim.results:  # type: ignore[attr-defined]  # a store holds one kind
                if r.device == name and r.pool == pool and r.driver == driver and not r.admin_access:
                    return True
        return False

    def _results(self, device: DeviceId) -> list[dict[str, str | int]]:
        """What each claim that has the device took of it; administrators do not count."""
        found = []
        for key in self._cluster.claims_by_device[device]:
            claim = self._cluster.claim(key)
            if claim is not None and key not in self._edits.released:
                found += [r.consumed_capacity or {} for r in claim.results if r.id == device and not r.admin_access]
        return found

    def _taints(self, device_id: DeviceId) -> tuple[DeviceTaint, ...]:
        if device_id in self._edits.untainted:
            return ()
        if (instead := self._edits.taints.get(device_id)) is not None:
            return tuple(taint for taint in instead if taint.effect in _BLOCKING)
        return tuple(_plain(t) for t in taints_of(self._cluster, device_id) if t.effect in _BLOCKING)

    def _counters(self, pool: Pool) -> Iterator[tuple[str, str, Decimal, Decimal]]:
        used: Counter[tuple[str, str]] = Counter()
        for name, published in pool.devices.items():
            if published.device.consumes_counters and self._is_held((*pool.id, name)):
                for counter_set, counter, amount in _draws(published.device):
                    used[counter_set, counter] += amount  # type: ignore[assignment]  # a Counter adds any number
        for counter_set, counters in pool.counters.items():
            for counter, total in counters.items():
                there = parse_quantity(total.value) or Decimal(0)
                yield counter_set, counter, there, there - used[counter_set, counter]

    def _kind(self, driver: str, device: Device) -> int:
        """The number of the device's kind. Capacity counts whole; of the attributes, those that are looked at."""
        attributes, capacity = device.attributes or {}, device.capacity
        draws = _draws(device) if device.consumes_counters else ()
        key = (
            driver,
            tuple(sorted(attributes.items())) if self._sees_all else self._seen(driver, attributes),
            tuple(sorted(capacity.items())) if capacity else (),
            device.allow_multiple_allocations,
            draws,
            bool(draws and compatibility_groups(device)),
        )
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._kinds)
            self._kinds.append(Kind(number, driver, device, draws))
        return number

    def _seen(self, driver: str, attributes: dict[str, Attribute]) -> tuple[Attribute | None, ...]:
        """The values of the attributes that are looked at. A driver may leave out its own domain."""
        return tuple(
            [
                attributes.get(full) or (attributes.get(name) if domain == driver else None)
                for full, domain, name in self._names
            ]
        )


def _name(read: Read) -> tuple[str, str, str]:
    return f"{read.domain}/{read.name}", read.domain or "", read.name or ""


def _split(name: str) -> tuple[str, str, str]:
    domain, _, own = name.partition("/")
    return name, domain, own


def _plain(taint: EffectiveTaint) -> DeviceTaint:
    """The taint without its time, which no toleration looks at when a device is allocated."""
    return DeviceTaint(taint.taint.key, taint.taint.value, taint.taint.effect)


def _reach(published: PublishedDevice) -> Reach:
    return published.node or published.selector or (None if published.all_nodes else "")


def _draws(device: Device) -> Draws:
    return tuple(
        (consumption.counter_set, counter, parse_quantity(amount.value) or Decimal(0))
        for consumption in device.consumes_counters or ()
        for counter, amount in sorted((consumption.counters or {}).items())
    )


def _sum(shares: Iterable[dict[str, str | int]]) -> dict[str, Decimal]:
    total: dict[str, Decimal] = {}
    for consumed in shares:
        for name, amount in consumed.items():
            total[name] = total.get(name, Decimal(0)) + (parse_quantity(amount) or Decimal(0))
    return total

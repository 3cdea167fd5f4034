"""Where the pods of a gang go: all of them or none. Pure: what pods want and what nodes have in, a plan out.

A selector matches a device when its CEL expression is true of it; where it fails, or cannot be judged, it does not match. (The
real scheduler gives a pod up for the time being when an expression fails.)
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from ktui.cel.selector import Matches, match_all
from ktui.demo.mvcc import JSON, Key
from ktui.model import resourceslice
from ktui.model.resourceslice import DeviceId

NO_DEVICES: Final = "cannot allocate all claims"
UNTOLERATED: Final = "node(s) had untolerated taint(s)"
_TRIES: Final = 20_000  # combinations of devices, before a node is given up
_CHOICES: Final = 64  # combinations of alternatives, likewise
_MOST: Final = 32  # devices in one claim (resource.k8s.io AllocationResultsMaxSize)


class Device(Struct, frozen=True):
    """A free device, as its driver publishes it. `taints` are all that count for it: its driver's and those of rules."""

    id: DeviceId
    published: resourceslice.Device
    taints: Sequence[JSON] = ()


class Request(Struct, frozen=True):
    """What one request of a claim asks for: `count` devices, or `all` that match on the node. With `alternatives` it asks for the
    first of these that can be had, and its own wishes do not count (firstAvailable); each is called REQUEST/ALTERNATIVE."""

    claim: Key
    name: str
    count: int = 1
    selectors: tuple[str, ...] = ()
    tolerations: Sequence[JSON] = ()
    all: bool = False
    alternatives: tuple[Request, ...] = ()

    @property
    def options(self) -> tuple[Request, ...]:
        """Any one of these will do, the first best."""
        return self.alternatives or (self,)


class Constraint(Struct, frozen=True):
    """What the devices of some requests of a claim (of all, when none is named) have in common: the value of an attribute, or
    that no two have the same when it is to be `distinct`. A device without the attribute can be none of them."""

    claim: Key
    attribute: str
    requests: frozenset[str] = frozenset()
    distinct: bool = False

    def covers(self, request: Request) -> bool:
        names = {request.name, request.name.partition("/")[0]}
        return request.claim == self.claim and (not self.requests or not names.isdisjoint(self.requests))


class Wish(Struct, frozen=True):
    """What one pod wants. cpu is in cores, memory in bytes."""

    pod: Key
    cpu: float = 0.0
    memory: float = 0.0
    labels: Mapping[str, str] = {}
    requests: tuple[Request, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    tolerations: Sequence[JSON] = ()

    @property
    def wants_all(self) -> Request | None:
        """The first request, or alternative of one, for all devices that match."""
        return next((each for request in self.requests for each in request.options if each.all), None)


class Room(Struct, frozen=True):
    """What one node has left. `others` are its devices that are in use. `incomplete` is DRIVER/POOL of a pool there of which a
    slice is missing, "" when there is none: nobody gets its devices."""

    node: str
    cpu: float
    memory: float
    labels: Mapping[str, str] = {}
    devices: tuple[Device, ...] = ()
    taints: Sequence[JSON] = ()
    cordoned: bool = False
    others: tuple[Device, ...] = ()
    incomplete: str = ""


class Spot(Struct, frozen=True):
    """Where one pod goes, and the (request, device) pairs of each of its claims."""

    node: str
    devices: dict[Key, list[tuple[str, DeviceId]]] = field(default_factory=dict)


class Plan(Struct, frozen=True):
    """`spots` by pod. When not enough fit: the pod that was tried last and why each node refused it, or the `error` that ended
    the search, whatever other nodes have."""

    spots: dict[Key, Spot]
    refused: Key | None = None
    why: Counter[str] = field(default_factory=Counter)
    error: str = ""


def place(wishes: Sequence[Wish], needed: int, rooms: Iterable[Room]) -> Plan:
    """Find nodes for at least `needed` of the pods, in their order; it ends with the first that makes that impossible.

    Pods go where the fewest devices are free, so that whole nodes stay free for those who need them.
    """
    left = sorted(rooms, key=lambda room: (len(room.devices), room.node))
    spots: dict[Key, Spot] = {}
    last: tuple[Key | None, Counter[str]] = (None, Counter())
    for tried, wish in enumerate(wishes, 1):
        why: Counter[str] = Counter()
        if error := _error(wish, left):
            return Plan({}, wish.pod, why, error)
        for index, room in enumerate(left):
            found = _fit(wish, room)
            if isinstance(found, Spot):
                spots[wish.pod] = found
                left[index] = _without(room, wish, found)
                break
            why[found] += 1
        else:
            last = (wish.pod, why)
            if len(spots) + len(wishes) - tried < needed:
                break
    return Plan(spots, *last)


def _error(wish: Wish, rooms: Iterable[Room]) -> str:
    """Who asks for all devices gets none anywhere while a pool of any node that would do otherwise lacks a slice: how many all
    are is not known then. "" when nothing is wrong."""
    wanted = wish.wants_all
    if wanted is None:
        return ""
    pool = next((room.incomplete for room in rooms if room.incomplete and not _refusal_of_node(wish, room)), "")
    where = f"claim {'/'.join(wanted.claim)}, request {wanted.name}"
    why = f"asks for all devices, but resource pool {pool} is currently being updated"
    return f'running "DynamicResources" filter plugin: {where}: {why}' if pool else ""


def _fit(wish: Wish, room: Room) -> Spot | str:
    """The pod's place on the node, or the scheduler's words for why not."""
    if refused := _refusal_of_node(wish, room):
        return refused
    found = allocate(wish.requests, wish.constraints, room.devices, room.others)
    if found is None:
        return NO_DEVICES
    devices: dict[Key, list[tuple[str, DeviceId]]] = defaultdict(list)
    for request, device in found:
        devices[request.claim].append((request.name, device))
    return Spot(room.node, dict(devices))


def _refusal_of_node(wish: Wish, room: Room) -> str:
    """Why the node will not do, whatever devices it has, in the scheduler's words; "" when it will."""
    if room.cordoned:
        return "node(s) were unschedulable"
    if _kept_out(room.taints, wish.tolerations):
        return UNTOLERATED
    if any(room.labels.get(name) != value for name, value in wish.labels.items()):
        return "node(s) didn't match Pod's node affinity/selector"
    if wish.cpu > room.cpu:
        return "Insufficient cpu"
    if wish.memory > room.memory:
        return "Insufficient memory"
    return ""


def allocate(
    requests: Sequence[Request],
    constraints: Sequence[Constraint],
    free: Sequence[Device],
    others: Sequence[Device] = (),
) -> list[tuple[Request, DeviceId]] | None:
    """Devices for all requests of a pod; None when there are not enough that match, are not tainted and go together. `others` are
    devices of the node that are in use, which matters to who wants all."""
    choices = itertools.product(*(request.options for request in requests))
    for chosen in itertools.islice(choices, _CHOICES):
        wanted = [request for request in chosen for _ in range(_number(request, free, others))]
        complete = all(not request.all or request in wanted for request in chosen)
        if complete and len(wanted) <= len(free) and (found := _Search(wanted, constraints, free).found()) is not None:
            return found
    return None


def _number(request: Request, free: Sequence[Device], others: Sequence[Device]) -> int:
    """How many devices it has to get; 0 for one that wants all and cannot have them."""
    if not request.all:
        return request.count
    if any(matches(request.selectors, device) for device in others):
        return 0
    number = sum(matches(request.selectors, device) for device in free)
    return number if number <= _MOST else 0


class _Search:
    """Tries devices for one request after the other and takes back what leads nowhere."""

    def __init__(self, wanted: Sequence[Request], constraints: Sequence[Constraint], free: Sequence[Device]) -> None:
        self._wanted = wanted
        self._constraints = [[each for each in constraints if each.covers(request)] for request in wanted]
        self._candidates = {id(request): self._usable(request, constraints, free) for request in wanted}
        self._chosen: list[Device] = []
        self._tries = 0

    def found(self) -> list[tuple[Request, DeviceId]] | None:
        if not self._extend(0):
            return None
        return [(request, device.id) for request, device in zip(self._wanted, self._chosen, strict=True)]

    def _usable(self, request: Request, constraints: Iterable[Constraint], free: Iterable[Device]) -> list[Device]:
        """In the order in which they are tried: those first whose common value few others have, so that large sets stay whole."""
        usable = [
            device
            for device in free
            if matches(request.selectors, device) and not _kept_out(device.taints, request.tolerations)
        ]
        for constraint in constraints:
            if constraint.covers(request) and not constraint.distinct:
                sizes = Counter(_value(device, constraint.attribute) for device in usable)
                usable.sort(key=lambda device: sizes[_value(device, constraint.attribute)])
                break
        return usable

    def _extend(self, start: int) -> bool:
        """Choose for all that are left. Of one request, devices are tried in one order only: `start` is where it goes on."""
        place = len(self._chosen)
        if place == len(self._wanted):
            return True
        candidates = self._candidates[id(self._wanted[place])]
        for number in range(start, len(candidates)):
            self._tries += 1
            if self._tries > _TRIES:
                return False
            device = candidates[number]
            if device not in self._chosen and self._goes_with(device, place):
                self._chosen.append(device)
                same = place + 1 < len(self._wanted) and self._wanted[place + 1] is self._wanted[place]
                if self._extend(number + 1 if same else 0):
                    return True
                self._chosen.pop()
        return False

    def _goes_with(self, device: Device, place: int) -> bool:
        for constraint in self._constraints[place]:
            value = _value(device, constraint.attribute)
            if value is None:
                return False
            others = (
                _value(chosen, constraint.attribute)
                for request, chosen in zip(self._wanted, self._chosen, strict=False)
                if constraint.covers(request)
            )
            if any((value == other) is constraint.distinct for other in others):
                return False
        return True


def _value(device: Device, attribute: str) -> object:
    """With its type: 1 and true are not the same."""
    value = resourceslice.attribute_value(resourceslice.attribute(device.published, device.id[0], attribute))
    return None if value is None else (type(value), value)


def matches(selectors: Iterable[str], device: Device) -> bool:
    """Whether all the CEL expressions are true for the device."""
    return isinstance(match_all(selectors, device.id[0], device.published), Matches)


def _kept_out(taints: Iterable[JSON], tolerations: Sequence[JSON]) -> bool:
    """Of a device as of a node: whether one of the taints that keep something out is not tolerated."""
    effective = [taint for taint in taints if taint.get("effect") in ("NoSchedule", "NoExecute")]
    return any(not any(tolerates(each, taint) for each in tolerations) for taint in effective)


def tolerates(toleration: JSON, taint: JSON) -> bool:
    """resource.k8s.io/v1 ToleratesTaint and the same of core/v1, for allocation: an empty effect stands for every effect."""
    if toleration.get("effect") and toleration["effect"] != taint.get("effect"):
        return False
    if toleration.get("key") and toleration["key"] != taint.get("key"):
        return False
    exists = toleration.get("operator") == "Exists"
    return exists or (bool(toleration.get("key")) and toleration.get("value", "") == taint.get("value", ""))


def _without(room: Room, wish: Wish, spot: Spot) -> Room:
    taken = {device for pairs in spot.devices.values() for _, device in pairs}
    devices = tuple(device for device in room.devices if device.id not in taken)
    return replace(room, cpu=room.cpu - wish.cpu, memory=room.memory - wish.memory, devices=devices)


def refusal(why: Counter[str], nodes: int) -> str:
    """The scheduler's message about a pod that no node has room for."""
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(why.items()) if count)
    return f"0/{nodes} nodes are available: {reasons}."


def group_refusal(needed: int, scheduled: int, remaining: int) -> str:
    return f"minCount ({needed}) cannot be satisfied: {scheduled} scheduled, {remaining} remaining"

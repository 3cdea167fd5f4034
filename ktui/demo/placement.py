"""Where the pods of a gang go: all of them or none. Pure: what pods want and what nodes have in, a plan out.

Devices are matched by the simple forms of CEL that device classes commonly use: equalities of the driver or of an attribute,
joined by &&. A selector in any other form matches nothing.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct, field
from msgspec.structs import replace

from ktui.demo.mvcc import JSON, Key
from ktui.model.resourceslice import DeviceId

NO_DEVICES: Final = "cannot allocate all claims"
UNTOLERATED: Final = "node(s) had untolerated taint(s)"

_DRIVER: Final = re.compile(r"device\.driver\s*==\s*(['\"])(?P<value>[^'\"]*)\1\Z")
_ATTRIBUTE: Final = re.compile(
    r"device\.attributes\[(['\"])(?P<domain>[^'\"]+)\1\]\.(?P<name>\w+)\s*==\s*(?P<value>'[^']*'|\"[^\"]*\"|-?\d+|true|false)\Z"
)


class Device(Struct, frozen=True):
    """A free device. `taints` are all that count for it: its driver's and those of rules."""

    id: DeviceId
    attributes: JSON
    taints: Sequence[JSON] = ()


class Request(Struct, frozen=True):
    """What one request of a claim asks for. `same` is the attribute that all its devices must share, "" for none."""

    claim: Key
    name: str
    count: int
    selectors: tuple[str, ...]
    tolerations: Sequence[JSON] = ()
    same: str = ""


class Wish(Struct, frozen=True):
    """What one pod wants. cpu is in cores, memory in bytes."""

    pod: Key
    cpu: float = 0.0
    memory: float = 0.0
    labels: Mapping[str, str] = {}
    requests: tuple[Request, ...] = ()
    tolerations: Sequence[JSON] = ()


class Room(Struct, frozen=True):
    """What one node has left."""

    node: str
    cpu: float
    memory: float
    labels: Mapping[str, str] = {}
    devices: tuple[Device, ...] = ()
    taints: Sequence[JSON] = ()
    cordoned: bool = False


class Spot(Struct, frozen=True):
    """Where one pod goes, and the (request, device) pairs of each of its claims."""

    node: str
    devices: dict[Key, list[tuple[str, DeviceId]]] = field(default_factory=dict)


class Plan(Struct, frozen=True):
    """`spots` by pod. When not enough fit: the pod that was tried last and why each node refused it."""

    spots: dict[Key, Spot]
    refused: Key | None = None
    why: Counter[str] = field(default_factory=Counter)


def place(wishes: Sequence[Wish], needed: int, rooms: Iterable[Room]) -> Plan:
    """Find nodes for at least `needed` of the pods, in their order; it ends with the first that makes that impossible.

    Pods go where the fewest devices are free, so that whole nodes stay free for those who need them.
    """
    left = sorted(rooms, key=lambda room: (len(room.devices), room.node))
    spots: dict[Key, Spot] = {}
    last: tuple[Key | None, Counter[str]] = (None, Counter())
    for tried, wish in enumerate(wishes, 1):
        why: Counter[str] = Counter()
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


def _fit(wish: Wish, room: Room) -> Spot | str:
    """The pod's place on the node, or the scheduler's words for why not."""
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
    taken: set[DeviceId] = set()
    devices: dict[Key, list[tuple[str, DeviceId]]] = defaultdict(list)
    for request in wish.requests:
        chosen = choose(request, [device for device in room.devices if device.id not in taken])
        if chosen is None:
            return NO_DEVICES
        taken.update(chosen)
        devices[request.claim] += [(request.name, device) for device in chosen]
    return Spot(room.node, dict(devices))


def choose(request: Request, free: Iterable[Device]) -> list[DeviceId] | None:
    """Devices for one request; None when there are not enough that match, are not tainted and go together."""
    sets: dict[object, list[DeviceId]] = defaultdict(list)
    for device in free:
        if matches(request.selectors, device) and not _kept_out(device.taints, request.tolerations):
            if request.same and request.same not in device.attributes:
                continue
            shared = repr(device.attributes[request.same]) if request.same else None
            sets[shared].append(device.id)
    enough = [found for found in sets.values() if len(found) >= request.count]
    return min(enough, key=len)[: request.count] if enough else None


def matches(selectors: Iterable[str], device: Device) -> bool:
    """Whether all the CEL expressions are true for the device."""
    return all(_true(term.strip(), device) for text in selectors for term in text.split("&&"))


def _true(term: str, device: Device) -> bool:
    if found := _DRIVER.match(term):
        return device.id[0] == found["value"]
    if not (found := _ATTRIBUTE.match(term)):
        return False
    names = [f"{found['domain']}/{found['name']}"]
    if found["domain"] == device.id[0]:
        names.append(found["name"])  # an attribute without a domain is in its driver's
    value: JSON = next((device.attributes[name] for name in names if name in device.attributes), {})
    return _literal(found["value"]) in value.values()


def _literal(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return text[1:-1] if text[0] in "'\"" else int(text)


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

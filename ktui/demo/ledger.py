"""What the demo's controllers look up: who belongs to whom, and which devices are free. Kept up to date change by change, so
that no step costs time in proportion to the cluster."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Final, Generic, Protocol, TypeVar

import msgspec

from ktui.demo.gangs import group_of
from ktui.demo.mvcc import JSON, Database, Key
from ktui.demo.objects import controller_uid
from ktui.demo.placement import Device, Room
from ktui.model import resourceslice
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import DeviceId

V = TypeVar("V", bound=Hashable)


class Resting(Protocol):
    """Objects that belong together and need no controller before one of them changes, as nearly all of a large fleet."""

    @property
    def names(self) -> Iterable[Hashable]:
        """What they are found by: the key of a gang, the uid of a Job, the name of a node or pool."""
        ...

    def objects(self) -> Iterator[tuple[str, Key, JSON]]:
        """(kind, key, object) of each, as they were laid."""
        ...


class Lookup(Generic[V]):
    """Value → keys of the objects that have it, in the order they came. `asked` hears every question before it is answered."""

    def __init__(self, values: Callable[[JSON], Iterable[V]], asked: Callable[[V], None]) -> None:
        self._values = values
        self._asked = asked
        self._keys: dict[V, dict[Key, None]] = {}

    def update(self, key: Key, old: JSON | None, new: JSON | None) -> None:
        for value in self._values(old) if old is not None else ():
            keys = self._keys[value]
            del keys[key]
            if not keys:
                del self._keys[value]
        for value in self._values(new) if new is not None else ():
            self._keys.setdefault(value, {})[key] = None

    def __getitem__(self, value: V) -> list[Key]:
        self._asked(value)
        return list(self._keys.get(value, ()))

    def __contains__(self, value: V) -> bool:
        self._asked(value)
        return value in self._keys


def results(claim: JSON | None) -> list[JSON]:
    """The allocation's results; none when the claim is not allocated."""
    allocation = ((claim or {}).get("status") or {}).get("allocation") or {}
    return list((allocation.get("devices") or {}).get("results") or ())


def device_of(result: JSON) -> DeviceId:
    return (result["driver"], result["pool"], result["device"])


def claim_names(pod: JSON) -> dict[str, str]:
    """Entry of pod.spec.resourceClaims → the claim's name; without those that are still to be made."""
    made = {
        each["name"]: each["resourceClaimName"]
        for each in (pod.get("status") or {}).get("resourceClaimStatuses") or ()
        if each.get("resourceClaimName")
    }
    direct = {
        entry["name"]: entry["resourceClaimName"]
        for entry in pod["spec"].get("resourceClaims") or ()
        if entry.get("resourceClaimName")
    }
    return made | direct


def users(claim: JSON) -> list[JSON]:
    """The claim's reservedFor."""
    return list((claim.get("status") or {}).get("reservedFor") or ())


def terminating(obj: JSON) -> bool:
    return "deletionTimestamp" in obj["metadata"]


def finished(pod: JSON) -> bool:
    return (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")


def _names(kind: str, obj: JSON) -> list[Hashable]:
    """What rests together with an object, if anything does."""
    match kind:
        case "Pod":
            return [group_of(obj), obj["spec"].get("nodeName")]
        case "ResourceClaim":
            return [device_of(result)[1] for result in results(obj)]
        case _:
            return [_pool_of(obj)[1]]


def _pool_of(slice_: JSON) -> tuple[str, str]:
    return (slice_["spec"]["driver"], slice_["spec"]["pool"]["name"])


class Ledger:
    """`record` is told of every change, in order."""

    KINDS: Final = ("Pod", "ResourceClaim", "ResourceSlice")

    def __init__(self, database: Database, resting: Iterable[Resting] = ()) -> None:
        """What rests is looked at when somebody asks for it, or when it changes."""
        self._database = database
        self._resting = {name: each for each in resting for name in each.names}
        wake = self._wake
        self.members: Lookup[Key] = Lookup(lambda pod: [group] if (group := group_of(pod)) else [], wake)
        self.on_node: Lookup[str] = Lookup(lambda pod: [node] if (node := pod["spec"].get("nodeName")) else [], wake)
        self.pods_of: Lookup[str] = Lookup(lambda pod: [uid] if (uid := controller_uid(pod)) else [], wake)
        self.claims_of: Lookup[str] = Lookup(lambda claim: [uid] if (uid := controller_uid(claim)) else [], wake)
        self.holders: Lookup[DeviceId] = Lookup(
            lambda claim: {device_of(result) for result in results(claim)}, lambda device: wake(device[1])
        )
        self.waiting: dict[Key, None] = {}
        """Pods that have no node yet."""
        self._slices: Lookup[tuple[str, str]] = Lookup(lambda slice_: [_pool_of(slice_)], lambda pool: wake(pool[1]))
        self._devices: dict[DeviceId, tuple[str, JSON, resourceslice.Device]] = {}  # with their node
        self._pools: dict[tuple[str, str], list[DeviceId]] = {}
        self._complete: set[tuple[str, str]] = set()
        self._free: dict[str, dict[DeviceId, None]] = defaultdict(dict)
        self._on_node: dict[str, dict[DeviceId, None]] = defaultdict(dict)  # published, whoever has them
        for kind in self.KINDS:
            found = database.active(kind) if self._resting else database.objects(kind)
            for key, obj in found.items():
                self._record(kind, key, None, obj)

    def record(self, kind: str, key: Key, old: JSON | None, new: JSON | None) -> None:
        for each in (old, new):
            for name in _names(kind, each) if each is not None else ():
                self._wake(name)
        self._record(kind, key, old, new)

    def _wake(self, name: Hashable) -> None:
        """Look at what rests under a name. Its objects have not changed since they were laid, or this was called before."""
        if (found := self._resting.get(name)) is not None:
            for each in found.names:
                self._resting.pop(each)
            for kind, key, obj in found.objects():
                if kind in self.KINDS:
                    self._record(kind, key, None, obj)

    def _record(self, kind: str, key: Key, old: JSON | None, new: JSON | None) -> None:
        match kind:
            case "Pod":
                for lookup in (self.members, self.on_node, self.pods_of):
                    lookup.update(key, old, new)
                if new is not None and not new["spec"].get("nodeName") and not finished(new):
                    self.waiting[key] = None
                else:
                    self.waiting.pop(key, None)
            case "ResourceClaim":
                self.claims_of.update(key, old, new)
                self.holders.update(key, old, new)
                for result in (*results(old), *results(new)):
                    self._note(device_of(result))
            case "ResourceSlice":
                self._slices.update(key, old, new)
                for pool in {_pool_of(each) for each in (old, new) if each is not None}:
                    self._publish(pool)

    def device(self, device: DeviceId) -> JSON | None:
        """A device that its pool's newest generation publishes, whether the pool is complete or not."""
        self._wake(device[1])
        return self._devices[device][1] if device in self._devices else None

    def complete(self, pool: tuple[str, str]) -> bool:
        """Whether every slice of the pool's newest generation is there. Only then are its devices given to anybody."""
        self._wake(pool[1])
        return pool in self._complete

    def published(self, rule: JSON) -> int:
        """How many published devices a DeviceTaintRule's spec selects."""
        selector = rule.get("deviceSelector") or {}
        exact = (selector.get("driver", ""), selector.get("pool", ""), selector.get("device", ""))
        if all(exact):
            return int(self.device(exact) is not None)
        for name in list(self._resting):
            self._wake(name)
        return sum(1 for device in self._devices if selects(rule, device))

    def taints(self, device: DeviceId) -> list[JSON]:
        """The taints that count for a device: its driver's and those of all rules that select it."""
        published = self.device(device) or {}
        rules = [rule["spec"] for rule in self._database.objects("DeviceTaintRule").values()]
        return [*published.get("taints", ()), *(spec["taint"] for spec in rules if selects(spec, device))]

    def rooms(self, *, with_devices: bool, with_others: bool = False) -> Iterator[Room]:
        """What is left on the nodes: on those with free devices when such are wanted, otherwise on those that do not rest.
        `with_others`: on those with any devices, and with those that nobody can have."""
        nodes = self._database.objects("Node")
        if with_others:
            names = [name for name in self._on_node if self._on_node[name] and ("", name) in nodes]
        elif with_devices:
            names = [name for name in self._free if self._free[name] and ("", name) in nodes]
        else:
            names = [name for _, name in nodes if name not in self._resting]
        for name in names:
            node = nodes["", name]
            usage = [requests_of(pod) for key in self.on_node[name] if (pod := self._database.get("Pod", key))]
            has = node["status"]["allocatable"]
            free = self._free.get(name, {})
            devices = tuple(Device(device, self._devices[device][2], self.taints(device)) for device in free)
            others = [each for each in self._on_node.get(name, ()) if each not in free] if with_others else ()
            incomplete = next((each[:2] for each in others if each[:2] not in self._complete), ())
            spec = node.get("spec") or {}
            yield Room(
                name,
                _amount(has.get("cpu")) - sum(cpu for cpu, _ in usage),
                _amount(has.get("memory")) - sum(memory for _, memory in usage),
                node["metadata"].get("labels") or {},
                devices,
                spec.get("taints") or (),
                cordoned=bool(spec.get("unschedulable")),
                others=tuple(Device(device, self._devices[device][2]) for device in others),
                incomplete="/".join(incomplete),
            )

    def _note(self, device: DeviceId) -> None:
        """Free or not, as the claims have it now."""
        if device in self._devices and device[:2] in self._complete:
            free = self._free[self._devices[device][0]]
            if device in self.holders:
                free.pop(device, None)
            else:
                free[device] = None

    def _publish(self, pool: tuple[str, str]) -> None:
        """Only slices of the newest generation count (resource.k8s.io/v1 ResourcePool)."""
        for device in self._pools.pop(pool, ()):
            node, *_ = self._devices.pop(device)
            self._free[node].pop(device, None)
            self._on_node[node].pop(device, None)
        slices = [obj["spec"] for key in self._slices[pool] if (obj := self._database.get("ResourceSlice", key))]
        newest = max((spec["pool"].get("generation", 0) for spec in slices), default=0)
        current = [spec for spec in slices if spec["pool"].get("generation", 0) == newest]
        if current and len(current) == current[0]["pool"].get("resourceSliceCount", 1):
            self._complete.add(pool)
        else:
            self._complete.discard(pool)
        found = {
            (*pool, device["name"]): (spec.get("nodeName", ""), device, msgspec.convert(device, resourceslice.Device))
            for spec in current
            for device in spec.get("devices") or ()
        }
        self._devices |= found
        self._pools[pool] = list(found)
        for device, (node, *_) in found.items():
            self._on_node[node][device] = None
            self._note(device)


def selects(spec: JSON, device: DeviceId) -> bool:
    """Whether a DeviceTaintRule's spec is about the device. One without a selector is about none."""
    selector = spec.get("deviceSelector")
    if selector is None:
        return False
    names = zip(("driver", "pool", "device"), device, strict=True)
    return all(selector.get(field) in (None, "", value) for field, value in names)


def requests_of(pod: JSON) -> tuple[float, float]:
    """cpu in cores, memory in bytes; of a finished pod none."""
    if finished(pod):
        return 0.0, 0.0
    asked = [(each.get("resources") or {}).get("requests") or {} for each in pod["spec"].get("containers") or ()]
    return sum(_amount(each.get("cpu")) for each in asked), sum(_amount(each.get("memory")) for each in asked)


def _amount(text: str | None) -> float:
    return float(parse_quantity(text) or 0)

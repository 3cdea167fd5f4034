"""The state of one cluster: stores, indexes, and which rows a change touches.

`apply` is the only way in. Indexes change one object at a time and the rows to recompute are found through them, so no event
costs time in proportion to the cluster. Joins (`allocation`, `taints`, `pools`, `gangs`) are computed from here on demand,
never from the order of events, so any order of the same frames gives the same state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeVar, cast

from msgspec import Struct, field

from ktui.cluster.index import Index
from ktui.cluster.pools import Pool, PublishedDevice, assemble
from ktui.cluster.store import Delta, Store
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.claim import ResourceClaim
from ktui.model.event import Event
from ktui.model.frame import ActionTaken, Changed, Frame, Listed, Mark, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS
from ktui.model.meta import Key, Object, condition
from ktui.model.pod import DEFAULT_SCHEDULER, Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import DeviceId, PoolId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.workload import Workload

O = TypeVar("O", bound=Object)  # noqa: E741 - the conventional name of an object type

Entity = Literal["gangs", "devices", "claims", "taints", "autoscalers", "workloads", "pods"]
"""What views show a row of. Keys: (namespace, name), except devices: DeviceId, taints: see `taints.TaintKey`."""


class Dirty(Struct):
    """Rows to recompute, by entity; `streams` when a source changed its state."""

    gangs: set[Key] = field(default_factory=set)
    devices: set[DeviceId] = field(default_factory=set)
    claims: set[Key] = field(default_factory=set)
    taints: set[tuple[str, ...]] = field(default_factory=set)
    autoscalers: set[Key] = field(default_factory=set)
    workloads: set[Key] = field(default_factory=set)
    pods: set[Key] = field(default_factory=set)
    streams: bool = False

    def merge(self, other: Dirty) -> None:
        self.gangs |= other.gangs
        self.devices |= other.devices
        self.claims |= other.claims
        self.taints |= other.taints
        self.autoscalers |= other.autoscalers
        self.workloads |= other.workloads
        self.pods |= other.pods
        self.streams |= other.streams

    def __bool__(self) -> bool:
        return self.streams or any(
            (self.gangs, self.devices, self.claims, self.taints, self.autoscalers, self.workloads, self.pods)
        )


class Stream(Struct):
    """How one source is doing. `synced` once a complete list arrived; rows stay when the phase turns bad later."""

    source: Source
    phase: StreamPhase = "listing"
    message: str = ""
    until: float | None = None
    progress: tuple[int, int] | None = None
    synced: bool = False


class Cluster:
    """Everything known of one cluster. Not thread-safe: one event loop feeds and reads it."""

    def __init__(self) -> None:
        self.stores: dict[str, Store] = {name: Store(name) for name in KINDS}
        self.streams: dict[tuple[str, str, str], Stream] = {}
        self.pods_by_group: Index[Key] = Index(_pod_group)
        self.pods_by_replicated_group: Index[Key] = Index(_replicated_group)
        self.pods_by_claim: Index[Key] = Index(pod_claims)
        self.attempts_by_scheduler: Index[str] = Index(_attempted_by)
        self.claims_by_device: Index[DeviceId] = Index(_claim_devices)
        self.slices_by_pool: Index[PoolId] = Index(_slice_pool)
        self.groups_by_workload: Index[Key] = Index(_group_workload)
        self.groups_by_claim: Index[Key] = Index(_group_claims)
        self.events_by_uid: Index[str] = Index(_event_uid)
        self._pools: dict[PoolId, Pool | None] = {}

    # --- in ---

    def apply(self, frame: Frame) -> Dirty:
        """Take one frame; returns the rows it touches."""
        dirty = Dirty()
        match frame:
            case Changed():
                self._deltas(self._store(frame.source).change(frame), dirty)
            case Listed():
                self._deltas(self._store(frame.source).replace(frame), dirty)
                stream = self._stream(frame.source)
                stream.synced, stream.progress = True, None
                if stream.phase == "listing":
                    stream.phase, stream.message = "watching", ""
                dirty.streams = True
            case StreamState():
                stream = self._stream(frame.source)
                stream.phase, stream.message = frame.phase, frame.message
                stream.until, stream.progress = frame.until, frame.progress
                dirty.streams = True
            case Mark() | ActionTaken():
                pass
        return dirty

    def _store(self, source: Source) -> Store:
        if source.kind not in self.stores:
            self.stores[source.kind] = Store(source.kind)
        return self.stores[source.kind]

    def _stream(self, source: Source) -> Stream:
        stream = self.streams.get(source.id)
        if stream is None:
            stream = self.streams[source.id] = Stream(source)
        stream.source = source  # its path follows the served version
        return stream

    def _deltas(self, deltas: Iterable[Delta], dirty: Dirty) -> None:
        for delta in deltas:
            for obj in (delta.old, delta.new):
                if obj is not None:
                    self._touch(obj, dirty)
            self._reindex(delta)
            if delta.new is not None:
                self._touch(delta.new, dirty)

    def _reindex(self, delta: Delta) -> None:
        key, old, new = delta.key, delta.old, delta.new
        match delta.kind:
            case "Pod":
                self.pods_by_group.update(key, old, new)
                self.pods_by_replicated_group.update(key, old, new)
                self.pods_by_claim.update(key, old, new)
                self.attempts_by_scheduler.update(key, old, new)
            case "ResourceClaim":
                self.claims_by_device.update(key, old, new)
            case "ResourceSlice":
                self.slices_by_pool.update(key, old, new)
                for obj in (old, new):
                    if isinstance(obj, ResourceSlice):
                        self._pools.pop(obj.pool_id, None)
            case "PodGroup":
                self.groups_by_workload.update(key, old, new)
                self.groups_by_claim.update(key, old, new)
            case "Event":
                self.events_by_uid.update(key, old, new)

    def _touch(self, obj: Object, dirty: Dirty) -> None:
        """Mark the rows that show something of `obj`, as the indexes know them now (asked before and after they change)."""
        match obj:
            case Pod():
                self._touch_pod(obj, dirty)
            case PodGroup():
                dirty.gangs.add(obj.key)
                dirty.workloads.update(_group_workload(obj))
                dirty.pods.update(self.pods_by_group[obj.key])
                dirty.claims.update(_group_claims(obj))
            case Workload():
                dirty.workloads.add(obj.key)
                dirty.gangs.update(self.groups_by_workload[obj.key])
                dirty.gangs.update((obj.namespace, f"{obj.name}/{group.name}") for group in obj.spec.pod_groups or ())
            case ResourceClaim():
                self._touch_claim(obj.key, dirty)
                dirty.devices.update(_claim_devices(obj))
            case ResourceSlice():
                self._touch_pool(obj, dirty)
            case DeviceTaintRule():
                dirty.taints.add(("rule", obj.name))
                self._touch_devices(self.devices_of_rule(obj), dirty)
            case HorizontalPodAutoscaler():
                dirty.autoscalers.add(obj.key)
            case _:
                pass

    def _touch_pod(self, pod: Pod, dirty: Dirty) -> None:
        dirty.pods.add(pod.key)
        if group := pod.group:
            dirty.gangs.add((pod.namespace, group))
            dirty.gangs.update(_replicated_group(pod))
            owner = self.group((pod.namespace, group))
            dirty.workloads.update(_group_workload(owner) if owner else ((pod.namespace, group.partition("/")[0]),))
        for claim_key in pod_claims(pod):
            dirty.claims.add(claim_key)
            claim = self.claim(claim_key)
            if claim is not None:
                dirty.devices.update(_claim_devices(claim))

    def _touch_claim(self, key: Key, dirty: Dirty) -> None:
        dirty.claims.add(key)
        for pod_key in self.pods_by_claim[key]:
            dirty.pods.add(pod_key)
            pod = self.pod(pod_key)
            if pod is not None and pod.group:
                dirty.gangs.add((pod.namespace, pod.group))
        dirty.gangs.update(self.groups_by_claim[key])

    def _touch_pool(self, piece: ResourceSlice, dirty: Dirty) -> None:
        """A slice may change which generation counts, so every device and driver taint of its pool may look different."""
        pool = self.pool(piece.pool_id)
        if pool is not None:
            self._touch_devices(((*piece.pool_id, name) for name in pool.devices), dirty)
        for other in (piece, *self._slices(piece.pool_id)):
            for device in other.spec.devices or ():
                dirty.devices.add((*other.pool_id, device.name))
                for taint in device.taints or ():
                    dirty.taints.add(("slice", *other.pool_id, device.name, taint.key, taint.value or "", taint.effect))

    def _touch_devices(self, devices: Iterable[DeviceId], dirty: Dirty) -> None:
        for device in devices:
            dirty.devices.add(device)
            for claim_key in self.claims_by_device[device]:
                self._touch_claim(claim_key, dirty)

    # --- out ---

    def pod(self, key: Key) -> Pod | None:
        return cast("Pod | None", self.stores["Pod"].get(key))

    def claim(self, key: Key) -> ResourceClaim | None:
        return cast("ResourceClaim | None", self.stores["ResourceClaim"].get(key))

    def group(self, key: Key) -> PodGroup | None:
        return cast("PodGroup | None", self.stores["PodGroup"].get(key))

    def workload(self, key: Key) -> Workload | None:
        return cast("Workload | None", self.stores["Workload"].get(key))

    def all(self, kind: type[O]) -> Iterable[O]:
        """Every object of a kind, in the order they came."""
        return cast("Iterable[O]", self.stores[kind.__name__].objects.values())

    def members(self, gang: Key) -> Iterator[Pod]:
        """The pods that name the gang."""
        return (pod for key in self.pods_by_group[gang] if (pod := self.pod(key)) is not None)

    def pool(self, pool_id: PoolId) -> Pool | None:
        """The pool as its slices tell it; kept until one of them changes."""
        if pool_id not in self._pools:
            self._pools[pool_id] = assemble(pool_id, self._slices(pool_id))
        return self._pools[pool_id]

    def _slices(self, pool_id: PoolId) -> Iterator[ResourceSlice]:
        store = self.stores["ResourceSlice"]
        return (s for key in self.slices_by_pool[pool_id] if isinstance(s := store.get(key), ResourceSlice))

    def pools(self) -> Iterator[Pool]:
        return (pool for pool_id in list(self.slices_by_pool.values()) if (pool := self.pool(pool_id)) is not None)

    def device(self, device_id: DeviceId) -> PublishedDevice | None:
        """The device as published, None when no current slice has it."""
        pool = self.pool(device_id[:2])
        return pool.devices.get(device_id[2]) if pool else None

    def devices_of_rule(self, rule: DeviceTaintRule) -> Iterator[DeviceId]:
        """Every device the rule taints: published ones, and allocated ones that are published no longer."""
        selector = rule.spec.device_selector
        if selector is None:
            return
        if exact := rule.exact:
            yield exact
            return
        seen: set[DeviceId] = set()
        for pool_id in list(self.slices_by_pool.values()):
            if (selector.driver or pool_id[0], selector.pool or pool_id[1]) == pool_id and (pool := self.pool(pool_id)):
                seen.update(d for name in pool.devices if rule.matches(d := (*pool_id, name)))
        seen.update(device for device in self.claims_by_device.values() if rule.matches(device))
        yield from sorted(seen)

    def events_of(self, uid: str) -> Iterator[Event]:
        """Events about the object with this uid, as stored (unordered)."""
        store = self.stores["Event"]
        return (event for key in self.events_by_uid[uid] if isinstance(event := store.get(key), Event))

    def streams_of(self, kinds: Iterable[str]) -> list[Stream]:
        wanted = frozenset(kinds)
        return [stream for stream in self.streams.values() if stream.source.kind in wanted]

    def synced(self, *kinds: str) -> bool:
        """Whether a complete list of every kind has arrived at least once, or the cluster does not serve the kind at all."""
        return all(
            (streams := self.streams_of((kind,))) and all(s.synced or s.phase == "absent" for s in streams)
            for kind in kinds
        )

    def readable(self, kind: str) -> bool:
        """Whether the state of the kind is known and current enough to say that something does not exist."""
        streams = self.streams_of((kind,))
        return bool(streams) and all(s.synced and s.phase in ("watching", "quiet", "polling") for s in streams)


# --- which values an object has in the indexes ---


def _pod_group(obj: Object) -> Iterable[Key]:
    if isinstance(obj, Pod) and (group := obj.group):
        yield (obj.namespace, group)


def _replicated_group(obj: Object) -> Iterable[Key]:
    """1.35: the group of which the pod's group is one replica."""
    if isinstance(obj, Pod) and (ref := obj.spec.workload_ref) is not None and ref.pod_group_replica_key:
        yield (obj.namespace, f"{ref.name}/{ref.pod_group}")


def _attempted_by(obj: Object) -> Iterable[str]:
    """The scheduler, other than the default one, that has placed or refused the pod."""
    if not isinstance(obj, Pod):
        return
    scheduler = obj.spec.scheduler_name or DEFAULT_SCHEDULER
    if scheduler != DEFAULT_SCHEDULER and (obj.spec.node_name or condition(obj.status.conditions, "PodScheduled")):
        yield scheduler


def pod_claims(obj: Object) -> Iterable[Key]:
    """Keys of the claims a pod uses: by name, made from templates, and the scheduler's for extended resources."""
    if not isinstance(obj, Pod):
        return
    made = {s.name: s.resource_claim_name for s in obj.status.resource_claim_statuses or ()}
    for claim in obj.spec.resource_claims or ():
        if name := claim.resource_claim_name or made.get(claim.name):
            yield (obj.namespace, name)
    extended = obj.status.extended_resource_claim_status
    if extended is not None and extended.resource_claim_name:
        yield (obj.namespace, extended.resource_claim_name)


def _claim_devices(obj: Object) -> Iterable[DeviceId]:
    if isinstance(obj, ResourceClaim):
        for result in obj.results:
            yield result.id


def _slice_pool(obj: Object) -> Iterable[PoolId]:
    if isinstance(obj, ResourceSlice):
        yield obj.pool_id


def _group_workload(obj: Object) -> Iterable[Key]:
    if isinstance(obj, PodGroup) and (ref := obj.spec.workload_ref) is not None and ref.workload_name:
        yield (obj.namespace, ref.workload_name)


def _group_claims(obj: Object) -> Iterable[Key]:
    if not isinstance(obj, PodGroup):
        return
    made = {s.name: s.resource_claim_name for s in obj.status.resource_claim_statuses or ()}
    for claim in obj.spec.resource_claims or ():
        if name := claim.resource_claim_name or made.get(claim.name):
            yield (obj.namespace, name)


def _event_uid(obj: Object) -> Iterable[str]:
    if isinstance(obj, Event) and obj.involved_object.uid:
        yield obj.involved_object.uid

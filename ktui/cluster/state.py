"""The state of one cluster: stores, indexes, and which rows a change touches.

`apply` is the only way in. Indexes change one object at a time and the rows to recompute are found through them, so no event
costs time in proportion to the cluster. Joins (`allocation`, `taints`, `pools`, `gangs`) are computed from here on demand,
never from the order of events, so any order of the same frames gives the same state.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal, TypeVar, cast

from msgspec import Struct, field

from ktui.cluster import joins
from ktui.cluster.index import Index
from ktui.cluster.joins import Selection
from ktui.cluster.journal import EVERYWHERE, Journal
from ktui.cluster.lineage import Lineage, TreeKey
from ktui.cluster.moment import Moment, Stream
from ktui.cluster.pools import Pool, PublishedDevice, assemble
from ktui.cluster.sources import gang_key
from ktui.cluster.store import Delta
from ktui.cluster.timeline import Timeline
from ktui.cluster.usage import Usage
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.claim import ResourceClaim, ResourceClaimTemplate
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.deployment import Deployment
from ktui.model.event import PREEMPTED, Event
from ktui.model.frame import Frame, Listed, StreamState
from ktui.model.job import Job
from ktui.model.kueue import KueueClusterQueue, KueueLocalQueue, KueueWorkload
from ktui.model.meta import Key, Object
from ktui.model.node import Node
from ktui.model.owner import Owner
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import Device, DeviceId, PoolId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.usage import UsageReport
from ktui.model.volcano import VolcanoPodGroup, VolcanoQueue
from ktui.model.workload import Workload

_STEP = 128  # changes of a list between two turns for others: about two milliseconds
_PAIR = (
    2  # where it matters whether there is one or more: a group is called after its owner only while it is the only one
)

D = TypeVar("D")
O = TypeVar("O", bound=Object)  # noqa: E741 - the conventional name of an object type

Entity = Literal["triage", "gangs", "devices", "claims", "taints", "autoscalers", "workloads", "pods", "timeline"]
"""What views show a row of. Keys: (namespace, name), except devices: DeviceId, taints: see `taints.TaintKey`, timeline: the
number of the change, triage: see `TriageKey`, workloads: the roots of trees, see `TreeKey`."""

TriageKey = tuple[Literal["gangs", "devices", "pools", "taints", "autoscalers"], tuple[str, ...]]
"""A row of another view with its key there, or a pool of devices with its PoolId."""

_TELLING = ("FailedScheduling", "FailedCreate", "SuccessfulCreate", "FailedResourceClaimCreation")
"""Reasons of events that tell why a gang waits."""

_QUEUES = ("KueueClusterQueue", "KueueLocalQueue", "VolcanoQueue")


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


class Cluster:
    """Everything known of one cluster. Not thread-safe: one event loop feeds and reads it."""

    def __init__(self) -> None:
        self._moment = Moment()
        self.stores = self._moment.stores
        self.streams = self._moment.streams
        self.pods_by_group: Index[Key] = Index(joins.pod_group)
        self.pods_by_replicated_group: Index[Key] = Index(joins.replicated_group)
        self.pods_by_workload: Index[Key] = Index(joins.pod_workload)
        self.pods_by_claim: Index[Key] = Index(joins.pod_claims)
        self.pods_by_node: Index[str] = Index(joins.pod_node)
        self.pods_by_owner: Index[str] = Index(joins.pod_owner)
        self.exporters_by_node: Index[str] = Index(joins.exporter_node)
        self.pods_by_awaited_template: Index[Key] = Index(joins.awaited_templates)
        self.pods_by_scheduler: Index[str] = Index(joins.other_scheduler)
        self.attempts_by_scheduler: Index[str] = Index(joins.attempted_by)
        self.claims_by_device: Index[DeviceId] = Index(joins.claim_devices)
        self.slices_by_pool: Index[PoolId] = Index(joins.slice_pool)
        self.slices_by_node: Index[str] = Index(joins.slice_node)
        self.groups_by_workload: Index[Key] = Index(joins.group_workload)
        self.composites_by_workload: Index[Key] = Index(joins.group_workload)
        self.workloads_by_job: Index[Key] = Index(joins.workload_job)
        self.groups_by_claim: Index[Key] = Index(joins.group_claims)
        self.groups_by_owner: Index[str] = Index(joins.group_owner)
        self.events_by_uid: Index[str] = Index(joins.event_uid)
        self.events_by_preemptor: Index[str] = Index(joins.event_preemptor)
        self.rules_by_selection: Index[Selection] = Index(joins.rule_selection)
        self.rules_by_exactness: Index[bool] = Index(joins.rule_is_exact)  # True: of one device
        self.kueue_by_owner: Index[str] = Index(joins.kueue_owners)
        self.kueue_waiting_by_queue: Index[Key] = Index(joins.kueue_waiting)
        self.local_queues_by_cluster_queue: Index[str] = Index(joins.queue_behind)
        self.volcano_waiting_by_queue: Index[str] = Index(joins.volcano_waiting)
        self._indexes: dict[str, tuple[Index[Any], ...]] = {
            "Pod": (
                self.pods_by_group,
                self.pods_by_replicated_group,
                self.pods_by_workload,
                self.pods_by_claim,
                self.pods_by_node,
                self.pods_by_owner,
                self.exporters_by_node,
                self.pods_by_awaited_template,
                self.pods_by_scheduler,
                self.attempts_by_scheduler,
            ),
            "ResourceClaim": (self.claims_by_device,),
            "ResourceSlice": (self.slices_by_pool, self.slices_by_node),
            "Workload": (self.workloads_by_job,),
            "PodGroup": (self.groups_by_workload, self.groups_by_claim, self.groups_by_owner),
            "CompositePodGroup": (self.composites_by_workload,),
            "Event": (self.events_by_uid, self.events_by_preemptor),
            "DeviceTaintRule": (self.rules_by_selection, self.rules_by_exactness),
            "KueueWorkload": (self.kueue_by_owner, self.kueue_waiting_by_queue),
            "KueueLocalQueue": (self.local_queues_by_cluster_queue,),
            "VolcanoPodGroup": (self.volcano_waiting_by_queue,),
        }
        self.lineage = Lineage(self.stores)
        self._pools: dict[PoolId, Pool | None] = {}
        self.free_by_node: dict[str, dict[str, int]] = {}  # filled by `noderesources`, emptied here
        self.journal: Journal[str] = Journal()  # nodes on which there is more or less to be had
        self.revision = 0  # another number whenever anything is different
        self.gang_journal: Journal[Key] = Journal()  # gangs of which a row may look different
        self.workload_journal: Journal[Key] = Journal()  # Workloads of which, or below which, something changed
        self.pool_journal: Journal[PoolId] = Journal()  # pools of which a slice changed
        self.timeline = Timeline()  # filled by whoever knows the time
        self.usage = Usage()  # filled by whoever asks for it
        self._derived: dict[object, object] = {}
        self.sight = 0  # another number whenever other kinds may be readable

    # --- in ---

    def apply(self, frame: Frame) -> Dirty:
        """Take one frame; returns the rows it touches."""
        dirty = Dirty()
        for part in self.steps(frame):
            dirty.merge(part)
        return dirty

    def steps(self, frame: Frame, see: Callable[[Delta], object] | None = None) -> Iterator[Dirty]:
        """Take one frame a little at a time: a long list gives several parts, between which others may have their turn. The
        state is consistent at each of them, but no other frame may be applied before the last. `see` is shown each change."""
        yield from self._take_all(self._moment.deltas(frame), see, streams=isinstance(frame, Listed | StreamState))

    def measure(self, report: UsageReport) -> Dirty:
        """Take figures of what is used."""
        self.usage.take(report)
        return Dirty(figures=True)

    def become(self, moment: Moment) -> Iterator[Dirty]:
        """Go to another moment, a little at a time as in `steps`; going to yet another one may begin before the last part."""
        return self._take_all(self._moment.become(moment), None, streams=True)

    def _take_all(
        self, deltas: Iterator[Delta | None], see: Callable[[Delta], object] | None, *, streams: bool
    ) -> Iterator[Dirty]:
        dirty = Dirty()
        for count, delta in enumerate(deltas, 1):
            if delta is not None:
                self._take(delta, dirty)
                if see is not None:
                    see(delta)
            if count % _STEP == 0 or delta is None:
                self.sight += streams
                yield self._noted(dirty)
                dirty = Dirty()
        self.sight += streams
        dirty.streams = streams
        yield self._noted(dirty)

    def _noted(self, dirty: Dirty) -> Dirty:
        self.revision += 1
        for key in dirty.gangs:
            self.gang_journal.note(key)
        for pool in dirty.pools:
            self.pool_journal.note(pool)
        return dirty

    def _take(self, delta: Delta, dirty: Dirty) -> None:
        """Rows are found by the values that the object had and by those that it has, each while the indexes know them."""
        old, new = delta.old, delta.new
        if _taints_as_before(delta):
            dirty.taints.add(("rule", delta.key[1]))
        elif _queues_as_before(delta):
            pass
        elif old is not None and new is not None and joins.alike(old, new):
            self._note_supplied(self._supplied(delta))
            if isinstance(old, Pod) and isinstance(new, Pod) and old.health == new.health:
                self._touch_pod(new, dirty)  # the commonest change of all: what it uses looks as it did
            else:
                self._touch(new, dirty)
        else:
            if old is not None:
                self._touch(old, dirty)
            self._touch_trees(delta, dirty)
            supplied = self._supplied(delta)
            if isinstance(old, Pod) or isinstance(new, Pod):
                self._reindex_pod(delta, dirty)
            else:
                self._reindex(delta)
            if delta.kind == "ResourceSlice":  # which slices of a pool count may have changed with it
                supplied = (*supplied, *self._supplied(delta))
            self._note_supplied(supplied)
            if new is not None:
                self._touch(new, dirty)
            self._touch_trees(delta, dirty)

    def _touch_trees(self, delta: Delta, dirty: Dirty) -> None:
        """Of what owns Workloads, and of groups of groups, the trees that it is in."""
        for obj in (delta.old, delta.new):
            if isinstance(obj, Job | Deployment | Owner):
                dirty.workloads.update(self.lineage.roots_of(delta.kind, delta.key))
            elif isinstance(obj, CompositePodGroup):
                self._touch_workloads(joins.group_workload(obj), dirty)

    def _touch_workloads(self, workloads: Iterable[Key], dirty: Dirty) -> None:
        for workload in workloads:
            self.workload_journal.note(workload)
            dirty.workloads.add(self.lineage.root(workload))

    def _note_supplied(self, nodes: Iterable[str]) -> None:
        for node in nodes:
            self.free_by_node.pop(node, None)
            self.journal.note(node)

    def _reindex_pod(self, delta: Delta, dirty: Dirty) -> None:
        """With a scheduler's first attempt, and its last, all gangs that wait for it look different."""
        schedulers = {s for pod in (delta.old, delta.new) if isinstance(pod, Pod) for s in joins.other_scheduler(pod)}
        tried = {s for s in schedulers if s in self.attempts_by_scheduler}
        self._reindex(delta)
        for scheduler in schedulers:
            if (scheduler in self.attempts_by_scheduler) != (scheduler in tried):
                self._touch_gangs_of(self.pods_by_scheduler[scheduler], dirty)

    def _reindex(self, delta: Delta) -> None:
        for index in self._indexes.get(delta.kind, ()):
            index.update(delta.key, delta.old, delta.new)
        self.lineage.update(delta)
        for obj in (delta.old, delta.new):
            if isinstance(obj, ResourceSlice):
                self._pools.pop(obj.pool_id, None)

    def _supplied(self, delta: Delta) -> tuple[str, ...]:
        """Nodes on which the change may make more or less of something free, as the pools tell them now; `EVERYWHERE` where
        that is not one node."""
        old, new = delta.old, delta.new
        if isinstance(old, Pod) and isinstance(new, Pod):
            return () if old.takes_like(new) else (*joins.pod_node(old), *joins.pod_node(new))
        if isinstance(old, ResourceClaim) and isinstance(new, ResourceClaim) and old.results == new.results:
            return ()
        if isinstance(old, Node) and isinstance(new, Node):
            return (new.name,) if _offers(old) != _offers(new) else ()
        return tuple(dict.fromkeys(node for obj in (old, new) if obj is not None for node in self._nodes_of(obj)))

    def _nodes_of(self, obj: Object) -> Iterable[str]:
        match obj:
            case Node():
                yield obj.name
            case Pod():
                yield from joins.pod_node(obj)
            case ResourceClaim():
                for device in joins.claim_devices(obj):
                    yield from self._nodes_of_device(device)
            case ResourceSlice():
                if (pool := self.pool(obj.pool_id)) is not None:
                    yield pool.node
            case DeviceTaintRule() if exact := obj.exact:
                yield from self._nodes_of_device(exact)
            case DeviceTaintRule() if obj.spec.device_selector is not None:
                yield EVERYWHERE
            case _:
                pass

    def _nodes_of_device(self, device: DeviceId) -> Iterable[str]:
        """The node of a published device; everywhere, too, when devices of other nodes draw on the same counters."""
        if (published := self.device(device)) is not None:
            yield published.node
            pool = self.pool(device[:2])
            if published.device.consumes_counters and pool is not None and not pool.node:
                yield EVERYWHERE

    def _touch(self, obj: Object, dirty: Dirty) -> None:
        """Mark the rows that show something of `obj`, as the indexes know them now (asked before and after they change)."""
        match obj:
            case Pod():
                self._touch_pod(obj, dirty)
                self._touch_used(obj, dirty)
            case PodGroup():
                self._touch_group(obj, dirty)
            case Workload():
                self._touch_workloads((obj.key,), dirty)
                dirty.gangs.update(self.groups_by_workload[obj.key])
                dirty.gangs.update((obj.namespace, f"{obj.name}/{group.name}") for group in obj.spec.pod_groups or ())
                self._touch_gangs_of(self.pods_by_workload[obj.key], dirty)
            case ResourceClaim():
                self._touch_claim(obj.key, dirty)
                devices = joins.claim_devices(obj)
                self._touch_devices(devices, dirty)
                dirty.devices.update(self._sharing_counters(devices))
            case ResourceClaimTemplate():
                self._touch_gangs_of(self.pods_by_awaited_template[obj.key], dirty)
            case ResourceSlice():
                self._touch_pool(obj, dirty)
            case DeviceTaintRule():
                dirty.taints.add(("rule", obj.name))
                for device in self.devices_of_rule(obj):
                    dirty.devices.add(device)
                    self._touch_holders(device, dirty)
            case HorizontalPodAutoscaler():
                dirty.autoscalers.add(obj.key)
            case Event() if obj.reason in _TELLING:
                self._touch_event(obj, dirty)
            case Event() if obj.reason == PREEMPTED:
                self._touch_preemption(obj, dirty)
            case Job():
                self._touch_owned(obj.metadata.uid, dirty)
                self._touch_gangs_of_job(obj.key, dirty)
            case KueueWorkload() | KueueLocalQueue() | KueueClusterQueue() | VolcanoPodGroup() | VolcanoQueue():
                self._touch_beside(obj, dirty)
            case _:
                pass

    def _touch_beside(
        self, obj: KueueWorkload | KueueLocalQueue | KueueClusterQueue | VolcanoPodGroup | VolcanoQueue, dirty: Dirty
    ) -> None:
        gangs = set(self._gangs_beside(obj))
        dirty.gangs.update(gangs)
        if isinstance(obj, KueueWorkload | VolcanoPodGroup):  # its pods call it by its owner's name
            dirty.pods.update(pod for gang in gangs for pod in self.pods_by_group[gang])

    def _gangs_beside(
        self, obj: KueueWorkload | KueueLocalQueue | KueueClusterQueue | VolcanoPodGroup | VolcanoQueue
    ) -> Iterator[Key]:
        """Gangs of Kueue and Volcano that say something of the object, and groups that name a gang of Kueue as theirs."""
        match obj:
            case KueueWorkload():
                yield gang_key("kueue", *obj.key)
                for uid in joins.kueue_owners(obj):
                    yield from self.groups_by_owner[uid]
            case KueueLocalQueue():
                yield from (gang_key("kueue", *key) for key in self.kueue_waiting_by_queue[obj.key])
            case KueueClusterQueue():
                for queue in self.local_queues_by_cluster_queue[obj.name]:
                    yield from (gang_key("kueue", *key) for key in self.kueue_waiting_by_queue[queue])
            case VolcanoPodGroup():
                yield gang_key("volcano", *obj.key)
            case VolcanoQueue():
                yield from (gang_key("volcano", *key) for key in self.volcano_waiting_by_queue[obj.name])

    def _touch_pod(self, pod: Pod, dirty: Dirty) -> None:
        dirty.pods.add(pod.key)
        for gang in joins.pod_group(pod):
            dirty.gangs.add(gang)
            dirty.gangs.update(joins.replicated_group(pod))
            owner = self.group(gang)
            workloads = joins.group_workload(owner) if owner else joins.pod_workload(pod)
            self._touch_workloads(workloads, dirty)

    def _touch_used(self, pod: Pod, dirty: Dirty) -> None:
        """Claims and devices of the pod: they show who uses them, and what it says of their health."""
        for claim_key in joins.pod_claims(pod):
            dirty.claims.add(claim_key)
            if self.pods_by_claim.count(claim_key) <= _PAIR:  # whether its users share it may be another answer now
                self._touch_gangs_of(self.pods_by_claim[claim_key], dirty)
            claim = self.claim(claim_key)
            if claim is not None:
                self._touch_devices(joins.claim_devices(claim), dirty)

    def _touch_group(self, group: PodGroup, dirty: Dirty) -> None:
        dirty.gangs.add(group.key)
        dirty.pods.update(self.pods_by_group[group.key])
        dirty.claims.update(joins.group_claims(group))
        for uid in joins.group_owner(group):
            dirty.gangs.update(gang_key("kueue", *key) for key in self.kueue_by_owner[uid])
        for workload in joins.group_workload(group):
            self._touch_workloads((workload,), dirty)
            if self.groups_by_workload.count(workload) <= _PAIR:
                for sibling in self.groups_by_workload[workload]:
                    dirty.gangs.add(sibling)
                    dirty.pods.update(self.pods_by_group[sibling])

    def _touch_event(self, event: Event, dirty: Dirty) -> None:
        """Gangs whose pods the scheduler refused, or whose pods or claims cannot be made."""
        about = event.involved_object
        key = (about.namespace, about.name)
        if about.kind == "Pod":
            self._touch_gangs_of((key,), dirty)
        elif about.kind == "PodGroup":
            dirty.gangs.add(key)
        else:
            self._touch_owned(about.uid, dirty)
            self._touch_gangs_of_job(key, dirty)

    def _touch_preemption(self, event: Event, dirty: Dirty) -> None:
        """The victim, and what it goes for: a pod or a group."""
        for about in (event.involved_object, *((event.related,) if event.related else ())):
            key = (about.namespace, about.name)
            if about.kind == "Pod":
                dirty.pods.add(key)
                self._touch_gangs_of((key,), dirty)
            elif about.kind == "PodGroup":
                dirty.gangs.add(key)

    def _touch_owned(self, uid: str, dirty: Dirty) -> None:
        dirty.gangs.update(self.groups_by_owner[uid])
        dirty.gangs.update(gang_key("kueue", *key) for key in self.kueue_by_owner[uid])
        self._touch_gangs_of(self.pods_by_owner[uid], dirty)

    def _touch_gangs_of_job(self, job: Key, dirty: Dirty) -> None:
        """Groups whose Workload names the Job as its controller: a reference by name."""
        for workload in self.workloads_by_job[job]:
            dirty.gangs.update(self._gangs_of_workload(workload))
            self._touch_gangs_of(self.pods_by_workload[workload], dirty)

    def _gangs_of_workload(self, workload: Key) -> Iterator[Key]:
        yield from self.groups_by_workload[workload]
        if (found := self.workload(workload)) is not None:
            yield from ((found.namespace, f"{found.name}/{group.name}") for group in found.spec.pod_groups or ())

    def _touch_gangs_of(self, pod_keys: Iterable[Key], dirty: Dirty) -> None:
        pods = (self.pod(key) for key in pod_keys)
        dirty.gangs.update(gang for pod in pods if pod is not None for gang in joins.pod_group(pod))

    def _touch_claim(self, key: Key, dirty: Dirty) -> None:
        dirty.claims.add(key)
        users = self.pods_by_claim[key]
        dirty.pods.update(users)
        self._touch_gangs_of(users, dirty)
        dirty.gangs.update(self.groups_by_claim[key])

    def _touch_pool(self, piece: ResourceSlice, dirty: Dirty) -> None:
        """A slice may change which generation counts, so every device and driver taint of its pool may look different."""
        dirty.pools.add(piece.pool_id)
        for other in (piece, *self._slices(piece.pool_id)):
            for device in other.spec.devices or ():
                device_id = (*other.pool_id, device.name)
                self._touch_devices((device_id,), dirty)
                self._touch_holders(device_id, dirty)
                dirty.taints.update(_slice_taints(device_id, device))

    def _touch_devices(self, devices: Iterable[DeviceId], dirty: Dirty) -> None:
        """Devices whose users or publication changed, and their taints, which show what they hit."""
        for device in devices:
            dirty.devices.add(device)
            if self.rules_by_selection:
                dirty.taints.update(("rule", rule.name) for rule in self.rules_of(device))
            if (published := self.device(device)) is not None and published.device.taints:
                dirty.taints.update(_slice_taints(device, published.device))

    def _sharing_counters(self, devices: Iterable[DeviceId]) -> Iterator[DeviceId]:
        """Devices that may be allocated, or no longer, because these are."""
        for driver, pool_name, name in devices:
            pool = self.pool((driver, pool_name))
            published = pool.devices.get(name) if pool else None
            for consumption in (published.device.consumes_counters or ()) if published else ():
                for sibling in pool.drawing.get(consumption.counter_set, ()) if pool else ():
                    yield (driver, pool_name, sibling)

    def _touch_holders(self, device: DeviceId, dirty: Dirty) -> None:
        """Claims that have the device and the pods that use them: both show its taints."""
        for claim_key in self.claims_by_device[device]:
            self._touch_claim(claim_key, dirty)

    # --- out ---

    def derived(self, make: Callable[[Cluster], D]) -> D:
        """What another layer works out of the state and keeps in step with it, made at the first call. It lives and ends with
        the cluster, also where it refers to it."""
        found = self._derived.get(make)
        if found is None:
            found = self._derived[make] = make(self)
        return cast("D", found)

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

    def slices_on(self, node: str) -> Iterator[ResourceSlice]:
        """The slices that are for this node alone."""
        store = self.stores["ResourceSlice"]
        return (s for key in self.slices_by_node[node] if isinstance(s := store.get(key), ResourceSlice))

    def pools(self) -> Iterator[Pool]:
        return (pool for pool_id in list(self.slices_by_pool.values()) if (pool := self.pool(pool_id)) is not None)

    def device(self, device_id: DeviceId) -> PublishedDevice | None:
        """The device as published, None when no current slice has it."""
        pool = self.pool(device_id[:2])
        return pool.devices.get(device_id[2]) if pool else None

    def rules_of(self, device: DeviceId) -> list[DeviceTaintRule]:
        """The rules that taint the device, by name. Costs the same however many rules there are for other devices."""
        if not self.rules_by_selection:
            return []
        driver, pool, name = device
        selections = itertools.product((None, driver), (None, pool), (None, name))
        keys = sorted(key for selection in selections for key in self.rules_by_selection[selection])
        store = self.stores["DeviceTaintRule"]
        return [rule for key in keys if isinstance(rule := store.get(key), DeviceTaintRule)]

    def devices_of_rule(self, rule: DeviceTaintRule) -> Iterator[DeviceId]:
        """Every device the rule taints, in no order: published ones, then allocated ones that are published no longer. An
        exact rule gives its device even when nobody knows it."""
        selector = rule.spec.device_selector
        if selector is None:
            return
        if exact := rule.exact:
            yield exact
            return
        for pool_id in self.slices_by_pool.values():
            if (selector.driver or pool_id[0], selector.pool or pool_id[1]) == pool_id and (pool := self.pool(pool_id)):
                yield from (device for name in pool.devices if rule.matches(device := (*pool_id, name)))
        for device in self.claims_by_device.values():
            if rule.matches(device) and self.device(device) is None:
                yield device

    def events_of(self, uid: str) -> Iterator[Event]:
        """Events about the object with this uid, as stored (unordered)."""
        store = self.stores["Event"]
        return (event for key in self.events_by_uid[uid] if isinstance(event := store.get(key), Event))

    def preemptions_by(self, uid: str) -> Iterator[Event]:
        """Events about pods that were preempted for the object with this uid (unordered)."""
        store = self.stores["Event"]
        return (event for key in self.events_by_preemptor[uid] if isinstance(event := store.get(key), Event))

    def streams_of(self, kinds: Iterable[str]) -> list[Stream]:
        """The streams that stand for these kinds now. Where all namespaces together are forbidden and single ones are
        watched instead, those."""
        wanted = frozenset(kinds)
        found = [s for s in self.streams.values() if s.source.kind in wanted and s.phase != "stopped"]
        narrowed = {s.source.kind for s in found if s.source.namespace}
        return [s for s in found if s.source.namespace or s.source.kind not in narrowed or s.phase != "no-access"]

    def synced(self, *kinds: str) -> bool:
        """Whether a complete list of every kind has arrived at least once, or the cluster does not serve the kind at all."""
        return all(
            (streams := self.streams_of((kind,))) and all(s.synced or s.phase == "absent" for s in streams)
            for kind in kinds
        )

    def sees_all(self, kind: str) -> bool:
        """Whether the objects of all namespaces are known: only then is what nobody claims free."""
        return any(s.synced and not s.source.namespace and not s.source.selector for s in self.streams_of((kind,)))

    def readable(self, kind: str) -> bool:
        """Whether the state of the kind is known and current enough to say that something does not exist."""
        streams = self.streams_of((kind,))
        return bool(streams) and all(s.synced and s.phase in ("watching", "quiet", "polling") for s in streams)


def _offers(node: Node) -> tuple[object, ...]:
    """What decides which pods the node takes; the kubelet writes the rest of it every few minutes."""
    return (node.spec, node.metadata.labels, node.status.allocatable)


def _taints_as_before(delta: Delta) -> bool:
    """Whether only the status of a rule changed: while it evicts, the controller writes it again and again, and the rule may be
    for every device there is."""
    old, new = delta.old, delta.new
    return isinstance(old, DeviceTaintRule) and isinstance(new, DeviceTaintRule) and old.spec == new.spec


def _queues_as_before(delta: Delta) -> bool:
    """Whether a queue only counted its jobs anew: it may have thousands, and they do not speak of their number."""
    if delta.kind not in _QUEUES:
        return False
    match delta.old, delta.new:
        case (KueueClusterQueue() as old, KueueClusterQueue() as new):
            return old.spec == new.spec and old.status == new.status
        case (KueueLocalQueue() as old, KueueLocalQueue() as new):
            return old.spec == new.spec and old.status == new.status
        case (VolcanoQueue() as old, VolcanoQueue() as new):
            return old.spec == new.spec and old.status == new.status
        case _:
            return False


def _slice_taints(device_id: DeviceId, device: Device) -> Iterable[tuple[str, ...]]:
    """Row keys of the taints that a driver published on a device."""
    return (("slice", *device_id, taint.key, taint.value or "", taint.effect) for taint in device.taints or ())

"""Which rows show something of an object: found through the indexes, so no change costs time in proportion to the cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ktui.cluster import joins
from ktui.cluster.dirty import Dirty
from ktui.cluster.forest import stems_of
from ktui.cluster.inventory import Inventory
from ktui.cluster.journal import Journal
from ktui.cluster.sources import gang_key
from ktui.cluster.stems import Step, group_stem, stem_of_group, workload_stem
from ktui.cluster.store import Delta
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.claim import ResourceClaim, ResourceClaimTemplate
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.deployment import Deployment
from ktui.model.event import PREEMPTED, Event
from ktui.model.job import Job
from ktui.model.kueue import KueueClusterQueue, KueueLocalQueue, KueueWorkload
from ktui.model.meta import Key, Object
from ktui.model.owner import Owner
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import Device, DeviceId, ResourceSlice
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.volcano import VolcanoPodGroup, VolcanoQueue
from ktui.model.workload import Workload

_TELLING = ("FailedScheduling", "FailedCreate", "SuccessfulCreate", "FailedResourceClaimCreation")
"""Reasons of events that tell why a gang waits."""

_OWNING = (Pod, Job, Deployment, Owner)
"""What may be above others in a tree."""

_PAIR = (
    2  # where it matters whether there is one or more: a group is called after its owner only while it is the only one
)


class Touches:
    """Marks rows of `Dirty`, as the indexes know them now: asked before and after these change. `stems` is told of each
    stem of which, or below which, something changed."""

    def __init__(self, known: Inventory, stems: Journal[Step]) -> None:
        self._known = known
        self._journal = stems

    def of(self, obj: Object, dirty: Dirty) -> None:
        """Rows that show something of the object."""
        match obj:
            case Pod():
                self.pod(obj, dirty)
                self._used(obj, dirty)
            case PodGroup():
                self._group(obj, dirty)
            case Workload():
                self._trees_of((workload_stem(obj.key),), dirty)
                dirty.gangs.update(self._known.groups_by_workload[obj.key])
                dirty.gangs.update((obj.namespace, f"{obj.name}/{group.name}") for group in obj.spec.pod_groups or ())
                self.gangs_of(self._known.pods_by_workload[obj.key], dirty)
            case ResourceClaim():
                self._claim(obj.key, dirty)
                devices = joins.claim_devices(obj)
                self._devices(devices, dirty)
                dirty.devices.update(self._sharing_counters(devices))
            case ResourceClaimTemplate():
                self.gangs_of(self._known.pods_by_awaited_template[obj.key], dirty)
            case ResourceSlice():
                self._pool(obj, dirty)
            case DeviceTaintRule():
                dirty.taints.add(("rule", obj.name))
                for device in self._known.devices_of_rule(obj):
                    dirty.devices.add(device)
                    self._holders(device, dirty)
            case HorizontalPodAutoscaler():
                dirty.autoscalers.add(obj.key)
            case Event() if obj.reason in _TELLING:
                self._event(obj, dirty)
            case Event() if obj.reason == PREEMPTED:
                self._preemption(obj, dirty)
            case Job():
                self._owned(obj.metadata.uid, dirty)
                self._job_gangs(obj.key, dirty)
            case KueueWorkload() | KueueLocalQueue() | KueueClusterQueue() | VolcanoPodGroup() | VolcanoQueue():
                self._beside(obj, dirty)
            case _:
                pass

    def trees(self, delta: Delta, dirty: Dirty) -> None:
        """Of what owns stems, and of groups of groups, the trees that it is in; of a stem that comes or goes, those in which what
        names it is with and without it."""
        if delta.old is None or delta.new is None:
            if delta.kind == "Workload":
                self._trees_of((workload_stem(delta.key),), dirty)
            elif delta.kind == "PodGroup":
                self._trees_of((group_stem(delta.key),), dirty)
        if isinstance(delta.new or delta.old, _OWNING):
            dirty.workloads.update(self._known.lineage.roots_of(delta.kind, delta.key))
            return
        for obj in (delta.old, delta.new):
            if isinstance(obj, CompositePodGroup):
                self._trees_of(map(workload_stem, joins.group_workload(obj)), dirty)

    def _trees_of(self, stems: Iterable[Step], dirty: Dirty) -> None:
        for stem in stems:
            self._journal.note(stem)
            dirty.workloads.add(self._known.lineage.root(stem))

    def _beside(
        self, obj: KueueWorkload | KueueLocalQueue | KueueClusterQueue | VolcanoPodGroup | VolcanoQueue, dirty: Dirty
    ) -> None:
        gangs = set(self._gangs_beside(obj))
        dirty.gangs.update(gangs)
        if isinstance(obj, KueueWorkload | VolcanoPodGroup):  # its pods call it by its owner's name
            dirty.pods.update(pod for gang in gangs for pod in self._known.pods_by_group[gang])

    def _gangs_beside(
        self, obj: KueueWorkload | KueueLocalQueue | KueueClusterQueue | VolcanoPodGroup | VolcanoQueue
    ) -> Iterator[Key]:
        """Gangs of Kueue and Volcano that say something of the object, and groups that name a gang of Kueue as theirs."""
        match obj:
            case KueueWorkload():
                yield gang_key("kueue", *obj.key)
                for uid in joins.kueue_owners(obj):
                    yield from self._known.groups_by_owner[uid]
            case KueueLocalQueue():
                yield from (gang_key("kueue", *key) for key in self._known.kueue_waiting_by_queue[obj.key])
            case KueueClusterQueue():
                for queue in self._known.local_queues_by_cluster_queue[obj.name]:
                    yield from (gang_key("kueue", *key) for key in self._known.kueue_waiting_by_queue[queue])
            case VolcanoPodGroup():
                yield gang_key("volcano", *obj.key)
            case VolcanoQueue():
                yield from (gang_key("volcano", *key) for key in self._known.volcano_waiting_by_queue[obj.name])

    def pod(self, pod: Pod, dirty: Dirty) -> None:
        """Rows of the pod itself and of what it is a part of, without what it uses."""
        dirty.pods.add(pod.key)
        for gang in joins.pod_group(pod):
            dirty.gangs.add(gang)
            dirty.gangs.update(joins.replicated_group(pod))
        self._trees_of(stems_of(self._known, pod), dirty)

    def _used(self, pod: Pod, dirty: Dirty) -> None:
        """Claims and devices of the pod: they show who uses them, and what it says of their health."""
        for claim_key in joins.pod_claims(pod):
            dirty.claims.add(claim_key)
            if (
                self._known.pods_by_claim.count(claim_key) <= _PAIR
            ):  # whether its users share it may be another answer now
                self.gangs_of(self._known.pods_by_claim[claim_key], dirty)
            claim = self._known.claim(claim_key)
            if claim is not None:
                self._devices(joins.claim_devices(claim), dirty)

    def _group(self, group: PodGroup, dirty: Dirty) -> None:
        dirty.gangs.add(group.key)
        dirty.pods.update(self._known.pods_by_group[group.key])
        dirty.claims.update(joins.group_claims(group))
        for uid in joins.group_owner(group):
            dirty.gangs.update(gang_key("kueue", *key) for key in self._known.kueue_by_owner[uid])
        self._trees_of((stem_of_group(group),), dirty)
        for workload in joins.group_workload(group):
            if self._known.groups_by_workload.count(workload) <= _PAIR:
                for sibling in self._known.groups_by_workload[workload]:
                    dirty.gangs.add(sibling)
                    dirty.pods.update(self._known.pods_by_group[sibling])

    def _event(self, event: Event, dirty: Dirty) -> None:
        """Gangs whose pods the scheduler refused, or whose pods or claims cannot be made."""
        about = event.involved_object
        key = (about.namespace, about.name)
        if about.kind == "Pod":
            self.gangs_of((key,), dirty)
        elif about.kind == "PodGroup":
            dirty.gangs.add(key)
        else:
            self._owned(about.uid, dirty)
            self._job_gangs(key, dirty)

    def _preemption(self, event: Event, dirty: Dirty) -> None:
        """The victim, and what it goes for: a pod or a group."""
        for about in (event.involved_object, *((event.related,) if event.related else ())):
            key = (about.namespace, about.name)
            if about.kind == "Pod":
                dirty.pods.add(key)
                self.gangs_of((key,), dirty)
            elif about.kind == "PodGroup":
                dirty.gangs.add(key)

    def _owned(self, uid: str, dirty: Dirty) -> None:
        dirty.gangs.update(self._known.groups_by_owner[uid])
        dirty.gangs.update(gang_key("kueue", *key) for key in self._known.kueue_by_owner[uid])
        self.gangs_of(self._known.pods_by_owner[uid], dirty)

    def _job_gangs(self, job: Key, dirty: Dirty) -> None:
        """Groups whose Workload names the Job as its controller: a reference by name."""
        for workload in self._known.workloads_by_job[job]:
            dirty.gangs.update(self._gangs_of_workload(workload))
            self.gangs_of(self._known.pods_by_workload[workload], dirty)

    def _gangs_of_workload(self, workload: Key) -> Iterator[Key]:
        yield from self._known.groups_by_workload[workload]
        if (found := self._known.workload(workload)) is not None:
            yield from ((found.namespace, f"{found.name}/{group.name}") for group in found.spec.pod_groups or ())

    def gangs_of(self, pod_keys: Iterable[Key], dirty: Dirty) -> None:
        """The gangs of these pods."""
        for key in pod_keys:
            if (pod := self._known.pod(key)) is not None:
                dirty.gangs.update(joins.pod_group(pod))

    def _claim(self, key: Key, dirty: Dirty) -> None:
        dirty.claims.add(key)
        users = self._known.pods_by_claim[key]
        dirty.pods.update(users)
        self.gangs_of(users, dirty)
        dirty.gangs.update(self._known.groups_by_claim[key])

    def _pool(self, piece: ResourceSlice, dirty: Dirty) -> None:
        """A slice may change which generation counts, so every device and driver taint of its pool may look different."""
        dirty.pools.add(piece.pool_id)
        known = [other for other in self._known.slices_of(piece.pool_id) if other is not piece]
        for other in (piece, *known):
            for device in other.spec.devices or ():
                device_id = (*other.pool_id, device.name)
                self._devices((device_id,), dirty)
                self._holders(device_id, dirty)
                dirty.taints.update(_slice_taints(device_id, device))

    def _devices(self, devices: Iterable[DeviceId], dirty: Dirty) -> None:
        """Devices whose users or publication changed, and their taints, which show what they hit."""
        for device in devices:
            dirty.devices.add(device)
            if self._known.rules_by_selection:
                dirty.taints.update(("rule", rule.name) for rule in self._known.rules_of(device))
            if (published := self._known.device(device)) is not None and published.device.taints:
                dirty.taints.update(_slice_taints(device, published.device))

    def _sharing_counters(self, devices: Iterable[DeviceId]) -> Iterator[DeviceId]:
        """Devices that may be allocated, or no longer, because these are."""
        for driver, pool_name, name in devices:
            pool = self._known.pool((driver, pool_name))
            published = pool.devices.get(name) if pool else None
            for consumption in (published.device.consumes_counters or ()) if published else ():
                for sibling in pool.drawing.get(consumption.counter_set, ()) if pool else ():
                    yield (driver, pool_name, sibling)

    def _holders(self, device: DeviceId, dirty: Dirty) -> None:
        """Claims that have the device and the pods that use them: both show its taints."""
        for claim_key in self._known.claims_by_device[device]:
            self._claim(claim_key, dirty)


def _slice_taints(device_id: DeviceId, device: Device) -> Iterable[tuple[str, ...]]:
    """Row keys of the taints that a driver published on a device."""
    return (("slice", *device_id, taint.key, taint.value or "", taint.effect) for taint in device.taints or ())

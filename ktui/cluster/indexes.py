"""By which values objects are found: every index of a cluster. What an object has in each says `ktui.cluster.joins`."""

from __future__ import annotations

from typing import Any

from ktui.cluster import joins
from ktui.cluster.index import Index
from ktui.cluster.joins import Selection
from ktui.cluster.stems import Step, plain_stem
from ktui.cluster.store import Delta
from ktui.model.meta import Key
from ktui.model.resourceslice import DeviceId, PoolId


class Indexes:
    """Kept up to date one change at a time."""

    def __init__(self) -> None:
        self.pods_by_group: Index[Key] = Index(joins.pod_group)
        self.pods_by_replicated_group: Index[Key] = Index(joins.replicated_group)
        self.pods_by_workload: Index[Key] = Index(joins.pod_workload)
        self.pods_by_claim: Index[Key] = Index(joins.pod_claims)
        self.pods_by_node: Index[str] = Index(joins.pod_node)
        self.pods_by_owner: Index[str] = Index(joins.pod_owner)
        self.pods_by_stem: Index[Step] = Index(plain_stem)
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
                self.pods_by_stem,
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

    def reindex(self, delta: Delta) -> None:
        """Take a change that is in the stores already."""
        for index in self._indexes.get(delta.kind, ()):
            index.update(delta.key, delta.old, delta.new)

"""scheduling.k8s.io Workload: templates of pod groups (1.36 and later), or the groups themselves (1.35, v1alpha1)."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Object, Wire
from ktui.model.podgroup import DisruptionMode, GroupClaim, SchedulingPolicy


class ControllerRef(Wire, frozen=True):
    """The object the workload belongs to, by name only."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""


class PodGroupTemplate(Wire, frozen=True):
    name: str = ""
    scheduling_policy: SchedulingPolicy = field(default_factory=SchedulingPolicy)
    resource_claims: tuple[GroupClaim, ...] | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: int | None = None


class WorkloadGroup(Wire, frozen=True):
    """1.35: a pod group that exists only inside its Workload."""

    name: str = ""
    policy: SchedulingPolicy = field(default_factory=SchedulingPolicy)

    @property
    def min_count(self) -> int:
        gang = self.policy.gang
        return gang.min_count if gang is not None and gang.min_count is not None else 1


class WorkloadSpec(Wire, frozen=True):
    controller_ref: ControllerRef | None = None
    pod_group_templates: tuple[PodGroupTemplate, ...] | None = None
    pod_groups: tuple[WorkloadGroup, ...] | None = None


class Workload(Object, frozen=True):
    spec: WorkloadSpec = field(default_factory=WorkloadSpec)

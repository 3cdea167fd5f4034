"""scheduling.k8s.io CompositePodGroup, v1alpha3 of 1.37 (gate CompositePodGroup): a group of groups that are placed together.

Its status is documented and written by nobody in 1.37: the scheduler only writes to the groups below.
"""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire
from ktui.model.podgroup import DisruptionMode, Empty, SchedulingConstraints, WorkloadRef


class CompositeGang(Wire, frozen=True):
    min_group_count: int | None = None


class CompositePolicy(Wire, frozen=True):
    basic: Empty | None = None
    gang: CompositeGang | None = None


class CompositePodGroupSpec(Wire, frozen=True):
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadRef | None = None
    scheduling_policy: CompositePolicy = field(default_factory=CompositePolicy)
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None


class CompositePodGroupStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class CompositePodGroup(Object, frozen=True):
    spec: CompositePodGroupSpec = field(default_factory=CompositePodGroupSpec)
    status: CompositePodGroupStatus = field(default_factory=CompositePodGroupStatus)

    @property
    def min_groups(self) -> int:
        """How many of its groups must be placed together; 1 without a gang policy, as the scheduler counts."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_group_count if gang is not None and gang.min_group_count is not None else 1

"""scheduling.k8s.io PodGroup: v1beta1 and v1alpha3 of 1.37, v1alpha2 of 1.36.

The union fields are objects whose only present key names the variant, so presence is tested, never truth: `{"basic": {}}`.
1.36 had `podGroupTemplateRef` for `workloadRef` and a string for `disruptionMode`; `decode` reshapes both.
"""

from __future__ import annotations

from typing import Literal

from msgspec import field

from ktui.model.meta import Condition, Object, Wire

SCHEDULED_CONDITIONS = ("PodGroupInitiallyScheduled", "PodGroupScheduled")
"""The one condition the scheduler writes: its name in 1.37, and in 1.36. Once True it stays True, whatever happens later."""


class Empty(Wire, frozen=True):
    """A variant without members."""


class Gang(Wire, frozen=True):
    min_count: int | None = None


class SchedulingPolicy(Wire, frozen=True):
    basic: Empty | None = None
    gang: Gang | None = None


class DisruptionMode(Wire, frozen=True):
    single: Empty | None = None
    all: Empty | None = None

    @property
    def variant(self) -> Literal["all", "single"] | None:
        """None where it is neither."""
        return "all" if self.all is not None else "single" if self.single is not None else None


class TopologyConstraint(Wire, frozen=True):
    key: str = ""


class SchedulingConstraints(Wire, frozen=True):
    topology: tuple[TopologyConstraint, ...] | None = None


class WorkloadRef(Wire, frozen=True):
    workload_name: str = ""
    template_name: str = ""


class GroupClaim(Wire, frozen=True):
    """A claim that all members share: by name, or made from a template for the group."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodGroupSpec(Wire, frozen=True):
    parent_composite_pod_group_name: str | None = None
    workload_ref: WorkloadRef | None = None
    scheduling_policy: SchedulingPolicy = field(default_factory=SchedulingPolicy)
    scheduling_constraints: SchedulingConstraints | None = None
    resource_claims: tuple[GroupClaim, ...] | None = None
    disruption_mode: DisruptionMode | None = None
    priority_class_name: str | None = None
    priority: int | None = None
    preemption_policy: str | None = None


class GroupClaimStatus(Wire, frozen=True):
    name: str = ""
    resource_claim_name: str | None = None


class PodGroupStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    resource_claim_statuses: tuple[GroupClaimStatus, ...] | None = None


class PodGroup(Object, frozen=True):
    spec: PodGroupSpec = field(default_factory=PodGroupSpec)
    status: PodGroupStatus = field(default_factory=PodGroupStatus)

    @property
    def min_count(self) -> int:
        """How many members must be placed together; 1 for a group without a gang policy."""
        gang = self.spec.scheduling_policy.gang
        return gang.min_count if gang is not None and gang.min_count is not None else 1

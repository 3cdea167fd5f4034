"""batch/v1 Job."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire
from ktui.model.podgroup import DisruptionMode, SchedulingConstraints, SchedulingPolicy


class JobScheduling(Wire, frozen=True):
    """spec.scheduling (gate WorkloadWithJob): asks the Job controller for a Workload and a PodGroup."""

    scheduling_policy: SchedulingPolicy | None = None
    scheduling_constraints: SchedulingConstraints | None = None
    disruption_mode: DisruptionMode | None = None


class JobSpec(Wire, frozen=True):
    parallelism: int | None = None
    completions: int | None = None
    suspend: bool | None = None
    scheduling: JobScheduling | None = None


class JobStatus(Wire, frozen=True):
    active: int | None = None
    succeeded: int | None = None
    failed: int | None = None
    start_time: str | None = None
    completion_time: str | None = None
    conditions: tuple[Condition, ...] | None = None


class Job(Object, frozen=True):
    spec: JobSpec = field(default_factory=JobSpec)
    status: JobStatus = field(default_factory=JobStatus)

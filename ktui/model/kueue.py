"""kueue.x-k8s.io: jobs that wait for quota (Kueue 0.14 and later serve v1beta2, older ones v1beta1).

The kinds carry their program's name: Kueue's Workload is another thing than the one of scheduling.k8s.io. Where the versions
differ both spellings are read: `cohortName` was `cohort`, `priorityClassRef` was `priorityClassName`.
"""

from __future__ import annotations

from typing import Final

from msgspec import field

from ktui.model.meta import Condition, Labels, Object, Wire, condition
from ktui.model.pod import Quantities

GROUP: Final = "kueue.x-k8s.io"
WORKLOAD_ANNOTATION: Final = "kueue.x-k8s.io/workload"
"""On a pod of a job: the name of its Workload."""

POD_GROUP_LABEL: Final = "kueue.x-k8s.io/pod-group-name"
"""On a plain pod: its group, which is the name of its Workload as well."""

POD_SET_LABEL: Final = "kueue.x-k8s.io/podset"
MANAGED_LABEL: Final = "kueue.x-k8s.io/managed"


class PodSet(Wire, frozen=True):
    """spec.podSets[]: pods of one shape. Nothing is read of their template."""

    name: str = ""
    count: int | None = None
    min_count: int | None = None


class PriorityClassRef(Wire, frozen=True):
    kind: str = ""
    name: str = ""


class KueueWorkloadSpec(Wire, frozen=True):
    """`active` false: put aside by a person, or by Kueue after too many tries."""

    queue_name: str = ""
    pod_sets: tuple[PodSet, ...] | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    priority_class_ref: PriorityClassRef | None = None
    active: bool | None = None


class PodSetAssignment(Wire, frozen=True):
    """`flavors`: resource → the ResourceFlavor it is taken from; `resource_usage` is of all the pods together."""

    name: str = ""
    flavors: Labels | None = None
    resource_usage: Quantities | None = None
    count: int | None = None


class Admission(Wire, frozen=True):
    """There while quota is reserved."""

    cluster_queue: str = ""
    pod_set_assignments: tuple[PodSetAssignment, ...] | None = None


class AdmissionCheckState(Wire, frozen=True):
    """`state`: "Pending", "Ready", "Retry" or "Rejected"."""

    name: str = ""
    state: str = ""
    message: str | None = None
    last_transition_time: str | None = None


class RequeueState(Wire, frozen=True):
    count: int | None = None
    requeue_at: str | None = None


class PodSetRequest(Wire, frozen=True):
    """status.resourceRequests[]: what all pods of a set ask for together, while no quota is reserved."""

    name: str = ""
    resources: Quantities | None = None


class KueueWorkloadStatus(Wire, frozen=True):
    """`cluster_name` and `nominated_cluster_names` are MultiKueue's: where the job runs, and where it is tried."""

    conditions: tuple[Condition, ...] | None = None
    admission: Admission | None = None
    admission_checks: tuple[AdmissionCheckState, ...] | None = None
    requeue_state: RequeueState | None = None
    resource_requests: tuple[PodSetRequest, ...] | None = None
    cluster_name: str | None = None
    nominated_cluster_names: tuple[str, ...] | None = None


class KueueWorkload(Object, frozen=True):
    spec: KueueWorkloadSpec = field(default_factory=KueueWorkloadSpec)
    status: KueueWorkloadStatus = field(default_factory=KueueWorkloadStatus)

    @property
    def min_count(self) -> int:
        """How many pods it is to have: those admitted, else those that must be there at least."""
        if self.status.admission and (admitted := self.status.admission.pod_set_assignments):
            return sum(each.count or 0 for each in admitted)
        sets = self.spec.pod_sets or ()
        return sum(each.min_count if each.min_count is not None else each.count or 0 for each in sets)

    @property
    def priority_class(self) -> str:
        ref = self.spec.priority_class_ref
        return (ref.name if ref else "") or self.spec.priority_class_name or ""

    def says(self, type_: str) -> bool:
        """Whether the condition is True."""
        found = condition(self.status.conditions, type_)
        return found is not None and found.status == "True"

    @property
    def finished(self) -> bool:
        return self.says("Finished")

    @property
    def waits(self) -> bool:
        """For quota: it has neither got any nor come to its end, and nobody put it aside."""
        return not self.finished and not self.says("QuotaReserved") and self.spec.active is not False


class KueueLocalQueueSpec(Wire, frozen=True):
    cluster_queue: str = ""
    stop_policy: str | None = None


class QueueStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None


class KueueLocalQueue(Object, frozen=True):
    """Where the jobs of a namespace queue up."""

    spec: KueueLocalQueueSpec = field(default_factory=KueueLocalQueueSpec)
    status: QueueStatus = field(default_factory=QueueStatus)


class ResourceQuota(Wire, frozen=True):
    """Limits beside the nominal quota are of the cohort."""

    name: str = ""
    nominal_quota: str | int | float | None = None


class FlavorQuotas(Wire, frozen=True):
    name: str = ""
    resources: tuple[ResourceQuota, ...] | None = None


class ResourceGroup(Wire, frozen=True):
    flavors: tuple[FlavorQuotas, ...] | None = None


class KueueClusterQueueSpec(Wire, frozen=True):
    resource_groups: tuple[ResourceGroup, ...] | None = None
    cohort_name: str | None = None
    cohort: str | None = None
    queueing_strategy: str | None = None
    stop_policy: str | None = None


class ResourceUsage(Wire, frozen=True):
    name: str = ""
    total: str | int | float | None = None


class FlavorUsage(Wire, frozen=True):
    name: str = ""
    resources: tuple[ResourceUsage, ...] | None = None


class KueueClusterQueueStatus(Wire, frozen=True):
    conditions: tuple[Condition, ...] | None = None
    flavors_reservation: tuple[FlavorUsage, ...] | None = None


class KueueClusterQueue(Object, frozen=True):
    """The quota that is shared by all namespaces whose queues name it."""

    spec: KueueClusterQueueSpec = field(default_factory=KueueClusterQueueSpec)
    status: KueueClusterQueueStatus = field(default_factory=KueueClusterQueueStatus)

    @property
    def cohort(self) -> str:
        """The queues it may borrow from, "" when it stands alone."""
        return self.spec.cohort_name or self.spec.cohort or ""


class KueueResourceFlavorSpec(Wire, frozen=True):
    node_labels: Labels | None = None
    topology_name: str | None = None


class KueueResourceFlavor(Object, frozen=True):
    """Which nodes a part of the quota is of."""

    spec: KueueResourceFlavorSpec = field(default_factory=KueueResourceFlavorSpec)


class KueueAdmissionCheckSpec(Wire, frozen=True):
    controller_name: str = ""


class KueueAdmissionCheck(Object, frozen=True):
    """What has to agree after quota is reserved: "kueue.x-k8s.io/multikueue", for one."""

    spec: KueueAdmissionCheckSpec = field(default_factory=KueueAdmissionCheckSpec)
    status: QueueStatus = field(default_factory=QueueStatus)

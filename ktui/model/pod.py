"""core/v1 Pod, as far as scheduling, devices and health need it."""

from __future__ import annotations

from msgspec import field, structs

from ktui.model.meta import Condition, Labels, Object, Wire, condition
from ktui.model.node import NodeSelector

DEFAULT_SCHEDULER = "default-scheduler"

Quantities = dict[str, str | int | float]
"""Resource name → quantity as written ("8", "64Gi"); some writers send bare numbers."""


class ContainerClaim(Wire, frozen=True):
    """resources.claims[]: `name` refers to the pod's `spec.resourceClaims`, `request` narrows to one request of it."""

    name: str = ""
    request: str = ""


class Resources(Wire, frozen=True):
    requests: Quantities | None = None
    limits: Quantities | None = None
    claims: tuple[ContainerClaim, ...] | None = None


_NOTHING = Resources()


class ResizePolicy(Wire, frozen=True):
    """Whether a container can be given more or less of a resource as it runs: "NotRequired", which counts where nothing is said,
    or "RestartContainer"."""

    resource_name: str = ""
    restart_policy: str = ""


class Container(Wire, frozen=True):
    name: str = ""
    resources: Resources | None = None
    resize_policy: tuple[ResizePolicy, ...] | None = None
    restart_policy: str | None = None  # on an init container, "Always" makes it a sidecar


class PodClaim(Wire, frozen=True):
    """spec.resourceClaims[]: exactly one of the two names is set (a claim, or a template to make one from)."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class SchedulingGate(Wire, frozen=True):
    name: str = ""


class SchedulingGroup(Wire, frozen=True):
    """1.36 and later: the pod group the pod belongs to, in its own namespace."""

    pod_group_name: str | None = None


class WorkloadReference(Wire, frozen=True):
    """1.35 only (scheduling.k8s.io/v1alpha1): the group is a part of a Workload."""

    name: str = ""
    pod_group: str = ""
    pod_group_replica_key: str | None = None


class Toleration(Wire, frozen=True):
    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class NodeAffinity(Wire, frozen=True):
    required: NodeSelector | None = field(default=None, name="requiredDuringSchedulingIgnoredDuringExecution")


class Affinity(Wire, frozen=True):
    node_affinity: NodeAffinity | None = None


class PodSpec(Wire, frozen=True):
    node_name: str | None = None
    scheduler_name: str | None = None
    scheduling_group: SchedulingGroup | None = None
    workload_ref: WorkloadReference | None = None
    scheduling_gates: tuple[SchedulingGate, ...] | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    preemption_policy: str | None = None
    resource_claims: tuple[PodClaim, ...] | None = None
    init_containers: tuple[Container, ...] | None = None
    containers: tuple[Container, ...] | None = None
    resources: Resources | None = None
    overhead: Quantities | None = None
    node_selector: Labels | None = None
    affinity: Affinity | None = None
    tolerations: tuple[Toleration, ...] | None = None


class ResourceHealth(Wire, frozen=True):
    """allocatedResourcesStatus[].resources[]: health is "Healthy", "Unhealthy" or "Unknown"."""

    resource_id: str = field(default="", name="resourceID")
    health: str | None = None
    message: str | None = None


class AllocatedResourceStatus(Wire, frozen=True):
    """`name` is a resource ("nvidia.com/gpu") or "claim:<pod claim>[/<request>]"."""

    name: str = ""
    resources: tuple[ResourceHealth, ...] | None = None


class ContainerWaiting(Wire, frozen=True):
    reason: str | None = None


class ContainerTerminated(Wire, frozen=True):
    reason: str | None = None
    exit_code: int | None = None


class ContainerState(Wire, frozen=True):
    """Neither member is set while the container runs."""

    waiting: ContainerWaiting | None = None
    terminated: ContainerTerminated | None = None


class ActualResources(Wire, frozen=True):
    """status.resources: what the runtime applies, which is not what is asked for while a resize is under way (KEP-1287)."""

    requests: Quantities | None = None
    limits: Quantities | None = None


class ContainerStatus(Wire, frozen=True):
    name: str = ""
    state: ContainerState | None = None
    ready: bool | None = None
    restart_count: int | None = None
    allocated_resources: Quantities | None = None  # what the kubelet has set aside
    resources: ActualResources | None = None
    allocated_resources_status: tuple[AllocatedResourceStatus, ...] | None = None


class PodClaimStatus(Wire, frozen=True):
    """A claim made from a template. An entry without a claim name means: none was needed."""

    name: str = ""
    resource_claim_name: str | None = None


class RequestMapping(Wire, frozen=True):
    """Which request of the scheduler's claim serves one extended resource of one container."""

    container_name: str = ""
    resource_name: str = ""
    request_name: str = ""


class ExtendedResourceClaimStatus(Wire, frozen=True):
    resource_claim_name: str = ""
    request_mappings: tuple[RequestMapping, ...] | None = None


class PodStatus(Wire, frozen=True):
    observed_generation: int | None = None  # of the spec that the kubelet has seen
    phase: str | None = None
    reason: str | None = None
    message: str | None = None
    conditions: tuple[Condition, ...] | None = None
    nominated_node_name: str | None = None
    start_time: str | None = None
    qos_class: str | None = None
    init_container_statuses: tuple[ContainerStatus, ...] | None = None
    container_statuses: tuple[ContainerStatus, ...] | None = None
    allocated_resources: Quantities | None = None  # of the pod as a whole, 1.36 and later
    resources: ActualResources | None = None
    resource_claim_statuses: tuple[PodClaimStatus, ...] | None = None
    extended_resource_claim_status: ExtendedResourceClaimStatus | None = None

    @property
    def reports(self) -> tuple[ContainerStatus, ...]:
        return (*(self.container_statuses or ()), *(self.init_container_statuses or ()))

    @property
    def says_requests(self) -> bool:
        """Whether the node reports what it has set aside for the pod, or applies to it. Plain loops: every pod is asked as it is
        read."""
        if self.allocated_resources is not None or self.resources is not None:
            return True
        for reports in (self.container_statuses, self.init_container_statuses):
            for report in reports or ():
                if report.allocated_resources is not None or report.resources is not None:
                    return True
        return False


RESIZE_PENDING = "PodResizePending"
RESIZE_IN_PROGRESS = "PodResizeInProgress"


class Pod(Object, frozen=True):
    """While no resize is under way, the kubelet repeats every container's requests twice in the status, its limits, and the sums
    of both. Such repetitions are not kept: they would take more memory than all the rest of the pod, and stand for nothing of
    their own."""

    spec: PodSpec = field(default_factory=PodSpec)
    status: PodStatus = field(default_factory=PodStatus)

    def __post_init__(self) -> None:
        status = self.status
        if status.says_requests and _repeats_the_spec(self.spec, status):
            structs.force_setattr(self, "status", _without_repetitions(self.spec, status))

    @property
    def group(self) -> str:
        """Name of the gang the pod belongs to, "" when none; on 1.35 "WORKLOAD/GROUP" (with the replica key, if any)."""
        if (group := self.spec.scheduling_group) and group.pod_group_name:
            return group.pod_group_name
        if (ref := self.spec.workload_ref) and ref.name:
            name = f"{ref.name}/{ref.pod_group}"
            return f"{name}/{ref.pod_group_replica_key}" if ref.pod_group_replica_key else name
        return ""

    @property
    def finished(self) -> bool:
        """Succeeded or Failed: the scheduler no longer counts it."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def health(self) -> tuple[object, ...]:
        """What the containers say of the devices' health; none of those that say nothing."""
        said = ((s.name, s.allocated_resources_status) for s in self.status.container_statuses or ())
        return tuple(each for each in said if each[1])

    def takes_like(self, other: Pod) -> bool:
        """Whether all that decides what the pod takes of which node is the same of the other."""
        a, b = self.spec, other.spec
        return (
            self.finished == other.finished
            and (a is b or _asks(a) == _asks(b))
            and _set_aside(self) == _set_aside(other)
        )


def _asks(spec: PodSpec) -> tuple[object, ...]:
    return (spec.node_name, spec.containers, spec.init_containers, spec.resources, spec.overhead)


def _set_aside(pod: Pod) -> tuple[object, ...]:
    """What the node reports of the pod's resources."""
    status = pod.status
    pending = condition(status.conditions, RESIZE_PENDING)
    reports = status.reports if status.says_requests else ()
    reported = tuple((s.name, s.allocated_resources, s.resources) for s in reports)
    return (reported, status.allocated_resources, status.resources, pending.reason if pending else None)


def _repeats_the_spec(spec: PodSpec, status: PodStatus) -> bool:
    """Whether the status says of the containers what the spec says. In one loop: it is asked of every pod."""
    if condition(status.conditions, RESIZE_PENDING, RESIZE_IN_PROGRESS) is not None:
        return False
    asked = {c.name: c.resources or _NOTHING for c in (*(spec.containers or ()), *(spec.init_containers or ()))}
    for report in status.reports:
        desired, allocated, applied = asked.get(report.name, _NOTHING), report.allocated_resources, report.resources
        if allocated and allocated != desired.requests:
            return False
        if applied is not None and (
            (applied.requests and applied.requests != desired.requests)
            or (applied.limits and applied.limits != desired.limits)
        ):
            return False
    return True


def _without_repetitions(spec: PodSpec, status: PodStatus) -> PodStatus:
    """Sums are kept where they are not just those of the containers: the pod as a whole asks for something, or overhead is
    in them."""
    whole = spec.resources is not None or spec.overhead is not None
    return structs.replace(
        status,
        container_statuses=_silent(status.container_statuses),
        init_container_statuses=_silent(status.init_container_statuses),
        allocated_resources=status.allocated_resources if whole else None,
        resources=status.resources if whole else None,
    )


def _silent(reports: tuple[ContainerStatus, ...] | None) -> tuple[ContainerStatus, ...] | None:
    if reports is None:
        return None
    return tuple(structs.replace(report, allocated_resources=None, resources=None) for report in reports)

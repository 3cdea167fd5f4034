"""autoscaling/v2 HorizontalPodAutoscaler."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire, condition

Amount = str | int | float | None


class TargetRef(Wire, frozen=True):
    api_version: str | None = None
    kind: str = ""
    name: str = ""


class MetricTarget(Wire, frozen=True):
    type: str = ""
    value: Amount = None
    average_value: Amount = None
    average_utilization: int | None = None


class MetricIdentifier(Wire, frozen=True):
    name: str = ""


class MetricValue(Wire, frozen=True):
    value: Amount = None
    average_value: Amount = None
    average_utilization: int | None = None


class MetricSource(Wire, frozen=True):
    """The member of a metric named after its type; resources have a name, the others a metric."""

    name: str | None = None
    container: str | None = None
    metric: MetricIdentifier | None = None
    described_object: TargetRef | None = None
    target: MetricTarget | None = None
    current: MetricValue | None = None

    @property
    def label(self) -> str:
        return self.name or (self.metric.name if self.metric else "")

    @property
    def about(self) -> tuple[str, str, str]:
        """What is measured, of which container or object: the same in the spec and in the status."""
        of = self.described_object
        return self.label, self.container or "", f"{of.kind}/{of.name}" if of else ""


class Metric(Wire, frozen=True):
    """type is "Resource", "ContainerResource", "Pods", "Object" or "External"."""

    type: str = ""
    resource: MetricSource | None = None
    container_resource: MetricSource | None = None
    pods: MetricSource | None = None
    object: MetricSource | None = None
    external: MetricSource | None = None

    @property
    def source(self) -> MetricSource | None:
        return self.resource or self.container_resource or self.pods or self.object or self.external


class ScalingPolicy(Wire, frozen=True):
    """At most `value` pods (type "Pods") or percent of the replicas ("Percent") within the period."""

    type: str = ""
    value: int | None = None
    period_seconds: int | None = None


class ScalingRules(Wire, frozen=True):
    """One direction of a behaviour. The server fills in all of it but the window for scaling down, which is a flag of the
    controller then. `select_policy` is "Max", "Min" or "Disabled"; `tolerance` is a quantity, a share of the target."""

    stabilization_window_seconds: int | None = None
    select_policy: str | None = None
    policies: tuple[ScalingPolicy, ...] | None = None
    tolerance: Amount = None


class Behavior(Wire, frozen=True):
    scale_up: ScalingRules | None = None
    scale_down: ScalingRules | None = None


class AutoscalerSpec(Wire, frozen=True):
    scale_target_ref: TargetRef = field(default_factory=TargetRef)
    min_replicas: int | None = None  # the server sets 1 when absent
    max_replicas: int = 0
    metrics: tuple[Metric, ...] | None = None
    behavior: Behavior | None = None

    def rules(self, *, up: bool) -> ScalingRules | None:
        """The behaviour in one direction; None where the controller's own rules hold."""
        if self.behavior is None:
            return None
        return self.behavior.scale_up if up else self.behavior.scale_down


class AutoscalerStatus(Wire, frozen=True):
    current_replicas: int | None = None  # absent when 0
    desired_replicas: int | None = None
    current_metrics: tuple[Metric, ...] | None = None
    conditions: tuple[Condition, ...] | None = None
    last_scale_time: str | None = None


class HorizontalPodAutoscaler(Object, frozen=True):
    spec: AutoscalerSpec = field(default_factory=AutoscalerSpec)
    status: AutoscalerStatus = field(default_factory=AutoscalerStatus)

    @property
    def min_replicas(self) -> int:
        return 1 if self.spec.min_replicas is None else self.spec.min_replicas

    @property
    def paused(self) -> bool:
        """Whether somebody else scaled the target to 0: the controller leaves it there."""
        active = condition(self.status.conditions, "ScalingActive")
        return active is not None and active.status == "False" and active.reason == "ScalingDisabled"

    @property
    def may_sleep(self) -> bool:
        """Whether validation allows minReplicas 0: at least one metric of type Object or External."""
        return any(m.type in ("Object", "External") for m in self.spec.metrics or ())

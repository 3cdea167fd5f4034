"""autoscaling/v2 HorizontalPodAutoscaler."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire

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


class AutoscalerSpec(Wire, frozen=True):
    scale_target_ref: TargetRef = field(default_factory=TargetRef)
    min_replicas: int | None = None  # the server sets 1 when absent
    max_replicas: int = 0
    metrics: tuple[Metric, ...] | None = None


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
    def may_sleep(self) -> bool:
        """Whether validation allows minReplicas 0: at least one metric of type Object or External."""
        return any(m.type in ("Object", "External") for m in self.spec.metrics or ())

"""policy/v1 PodDisruptionBudget. It is read when an eviction is planned, and not watched: no view needs it."""

from __future__ import annotations

from typing import Final

from msgspec import field

from ktui.model.kinds import Kind
from ktui.model.labelselector import LabelSelector
from ktui.model.meta import Object, Wire
from ktui.model.pod import Pod


class BudgetSpec(Wire, frozen=True):
    selector: LabelSelector | None = None


class PodDisruptionBudget(Object, frozen=True):
    spec: BudgetSpec = field(default_factory=BudgetSpec)

    def covers(self, pod: Pod) -> bool:
        """Whether it is about the pod, which is in the same namespace. Without a selector it is about none."""
        return self.spec.selector is not None and self.spec.selector.selects(pod.metadata.labels)


BUDGET: Final = Kind("PodDisruptionBudget", "policy", "poddisruptionbudgets", ("v1",), True, PodDisruptionBudget)

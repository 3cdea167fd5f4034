"""metav1.LabelSelector, as PodDisruptionBudgets and other policies select pods with it."""

from __future__ import annotations

from ktui.model.meta import Labels, Wire


class LabelRequirement(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class LabelSelector(Wire, frozen=True):
    """All members must hold; without any it selects everything."""

    match_labels: Labels | None = None
    match_expressions: tuple[LabelRequirement, ...] | None = None

    def selects(self, labels: Labels | None) -> bool:
        """Whether an object with these labels is selected (apimachinery labels.Requirement; an unknown operator selects
        nothing)."""
        have = labels or {}
        if any(have.get(key) != value for key, value in (self.match_labels or {}).items()):
            return False
        return all(_holds(requirement, have.get(requirement.key)) for requirement in self.match_expressions or ())


def _holds(requirement: LabelRequirement, have: str | None) -> bool:
    values = requirement.values or ()
    match requirement.operator:
        case "In":
            return have is not None and have in values
        case "NotIn":
            return have is None or have not in values
        case "Exists":
            return have is not None
        case "DoesNotExist":
            return have is None
        case _:
            return False

"""Label selectors of policies: apimachinery's rules, case by case."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.model.decode import from_builtins
from ktui.model.disruptionbudget import BUDGET, PodDisruptionBudget
from tests.unit.builders import meta, pod


def covers(selector: Any, labels: dict[str, str] | None) -> bool:
    budget = from_builtins(BUDGET, "v1", {"metadata": meta("keep"), "spec": {"selector": selector}})
    assert isinstance(budget, PodDisruptionBudget)
    return budget.covers(pod("p", meta_={"labels": labels}))


def expression(operator: str, *values: str) -> dict[str, Any]:
    return {"matchExpressions": [{"key": "app", "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("selector", "labels", "covered"),
    [
        (None, {"app": "a"}, False),  # no selector is about no pod
        ({}, {"app": "a"}, True),  # an empty one about every pod
        ({}, None, True),
        ({"matchLabels": {"app": "a"}}, {"app": "a", "tier": "x"}, True),
        ({"matchLabels": {"app": "a"}}, {"app": "b"}, False),
        ({"matchLabels": {"app": "a"}}, None, False),
        (expression("In", "a", "b"), {"app": "b"}, True),
        (expression("In", "a", "b"), {"app": "c"}, False),
        (expression("In", "a"), {}, False),
        (expression("NotIn", "a"), {"app": "a"}, False),
        (expression("NotIn", "a"), {"app": "b"}, True),
        (expression("NotIn", "a"), {}, True),  # a pod without the label is not in
        (expression("Exists"), {"app": ""}, True),
        (expression("Exists"), {}, False),
        (expression("DoesNotExist"), {}, True),
        (expression("DoesNotExist"), {"app": "a"}, False),
        (expression("Like", "a"), {"app": "a"}, False),
        ({"matchLabels": {"tier": "x"}, **expression("Exists")}, {"app": "a"}, False),
    ],
)
def test_which_pods_are_covered(selector: Any, labels: dict[str, str] | None, covered: bool) -> None:
    assert covers(selector, labels) is covered

"""What doctor says of gangs and autoscalers."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.doctor import work
from ktui.doctor.finding import Status
from tests.unit.builders import autoscaler, cluster_of, condition, group, pod

from .facts import facts
from .test_access import only


def test_gangs_that_wait_are_counted_by_cause() -> None:
    cluster = cluster_of(group("a", 2), group("b", 2), pod("a-0", group="a"))
    found = only(work.pending(facts(cluster)))
    assert (found.status, found.todo) == ("warn", "ktui why ml/a")
    assert found.text == "2 of 2 gangs: WaitingForPods 2 (ml/a)"
    assert found.objects == ("ml/a", "ml/b")


def test_no_gangs_and_unread_pods() -> None:
    assert only(work.pending(facts())).text == "no gangs"
    assert only(work.pending(facts(cluster_of(without=("Pod",))))).status == "skipped"


SLEEPS = condition("ScaledToZero", "True")
NO_METRIC = condition("ScalingActive", "False", "FailedGetExternalMetric")
PAUSED = condition("ScalingActive", "False", "ScalingDisabled")


@pytest.mark.parametrize(
    ("least", "current", "conditions", "status", "says"),
    [
        (0, 0, [SLEEPS], "ok", "1 autoscaler: 1 asleep"),
        (0, 0, [NO_METRIC], "fail", "asleep, and the metric that would wake it cannot be read: ml/a"),
        (1, 2, [NO_METRIC], "warn", "no metric: ml/a"),
        (1, 0, [PAUSED], "warn", "paused: ml/a"),
        (1, 1, [condition("ScalingActive", "True")], "ok", "1 active"),
        (1, 1, None, "ok", "1 new"),
    ],
)
def test_autoscalers(least: int, current: int, conditions: Any, status: Status, says: str) -> None:
    status_ = {"currentReplicas": current, "desiredReplicas": current, "conditions": conditions}
    found = only(work.autoscalers(facts(cluster_of(autoscaler("a", {"minReplicas": least}, status_)))))
    assert (found.status, says in found.text) == (status, True), found

"""Autoscalers: may they sleep, when at the earliest, what holds them back, and their metrics."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.autoscalers import sleeps_not_before
from ktui.model.time import parse_time
from ktui.views.autoscalers import VIEW
from tests.unit import builders as b

SCALED = "2026-11-30T05:50:00Z"
AT = parse_time(SCALED) or 0.0
EXTERNAL: b.Document = {
    "type": "External",
    "external": {"metric": {"name": "queue"}, "target": {"type": "AverageValue", "averageValue": "10"}},
}
CPU: b.Document = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}},
}
PERCENT: b.Document = {"type": "Percent", "value": 100, "periodSeconds": 15}


def spec(*metrics: b.Document, lowest: int = 0, down: b.Document | None = None, **more: Any) -> b.Document:
    behavior = {} if down is None else {"behavior": {"scaleDown": down}}
    target = {"kind": "Deployment", "name": "chat"}
    return {
        "scaleTargetRef": target,
        "minReplicas": lowest,
        "maxReplicas": 5,
        "metrics": list(metrics),
        **behavior,
        **more,
    }


def condition(type_: str, status: str, reason: str, message: str = "") -> b.Document:
    return {"type": type_, "status": status, "reason": reason, "message": message, "lastTransitionTime": SCALED}


AWAKE: b.Document = {"currentReplicas": 2, "desiredReplicas": 2, "lastScaleTime": SCALED}


def rescaled(message: str, at: str = SCALED) -> b.Document:
    return {"reason": "SuccessfulRescale", "message": message, "lastTimestamp": at}


def shown(spec_: b.Document, status: b.Document, *said: b.Document) -> tuple[b.Document, str]:
    """The JSON item, and the words of the detail one minute after the last rescale."""
    hpa = b.autoscaler("chat", spec_, status)
    events = [b.event(f"e{i}", hpa.metadata.uid, **each) for i, each in enumerate(said)]
    cluster = b.cluster_of(hpa, *events)
    item = VIEW.item(cluster, hpa.key)
    assert item is not None
    lines = (line for section in VIEW.detail(cluster, hpa.key, AT + 60) for line in section.lines)
    return item, "\n".join("".join(cell.text for cell in line) for line in lines)


def cell(column: str, spec_: b.Document, status: b.Document) -> str:
    hpa = b.autoscaler("chat", spec_, status)
    row = VIEW.row(b.cluster_of(hpa), hpa.key)
    assert row is not None
    return row.cells[[each.id for each in VIEW.columns].index(column)].text


WOKEN = rescaled("New size: 2; reason: external metric queue(nil) above target")
CALM: b.Document = {"stabilizationWindowSeconds": 300, "selectPolicy": "Max", "policies": [PERCENT]}
PAUSED: b.Document = {"conditions": [condition("ScalingActive", "False", "ScalingDisabled")]}


@pytest.mark.parametrize(
    ("spec_", "status", "obstacle", "column", "words"),
    [
        (spec(EXTERNAL), AWAKE, None, "yes", "yes, minReplicas is 0"),
        (
            spec(CPU, EXTERNAL, lowest=1),
            AWAKE,
            "minReplicas",
            "if min 0",
            "once minReplicas is 0; now 1 (before 1.37 the gate HPAScaleToZero",
        ),
        (spec(CPU, lowest=1), AWAKE, "metrics", "no", "needs an Object or External metric"),
        (spec(EXTERNAL, down={"selectPolicy": "Disabled"}), AWAKE, "disabled", "no", "behaviour disables scaling down"),
        (spec(EXTERNAL), PAUSED, "paused", "no", "nothing wakes it until somebody scales it up"),
    ],
)
def test_may_it_sleep_and_why_not(
    spec_: b.Document, status: b.Document, obstacle: str | None, column: str, words: str
) -> None:
    item, detail = shown(spec_, status)
    assert item["sleepObstacle"] == obstacle
    assert cell("sleeps", spec_, status) == column
    assert words in detail


def test_the_earliest_time_is_a_window_after_it_scaled_up_for_a_metric() -> None:
    item, detail = shown(spec(EXTERNAL, down=CALM), AWAKE, WOKEN)
    assert item["sleepsNotBefore"] == "2026-11-30T05:55:00Z"
    assert "in 4m at the earliest (2026-11-30T05:55:00Z)" in detail


DOWNWARDS = rescaled("New size: 2; reason: All metrics below target")
BY_MINIMUM = rescaled("New size: 2; reason: Current number of replicas below Spec.MinReplicas")


@pytest.mark.parametrize(
    ("down", "status", "said"),
    [
        (CALM, AWAKE, ()),
        (CALM, AWAKE, (DOWNWARDS,)),
        (CALM, AWAKE, (BY_MINIMUM,)),
        (CALM, AWAKE, (rescaled("New size: 5; reason: external metric queue(nil) above target"),)),
        (CALM, AWAKE, ({**WOKEN, "lastTimestamp": "2026-11-30T05:30:00Z"},)),
        (CALM, AWAKE, ({**WOKEN, "reason": "Other"},)),
        (CALM, AWAKE, ({**WOKEN, "message": None},)),
        (CALM, {**AWAKE, "desiredReplicas": 1}, (WOKEN,)),
        (CALM, {**AWAKE, "lastScaleTime": None}, (WOKEN,)),
        ({"policies": [PERCENT]}, AWAKE, (WOKEN,)),
        ({**CALM, "stabilizationWindowSeconds": 10**18}, AWAKE, (WOKEN,)),
        (None, AWAKE, (WOKEN,)),
    ],
)
def test_no_time_is_made_up(down: b.Document | None, status: b.Document, said: tuple[b.Document, ...]) -> None:
    """Its controller knows; the API does not: what delays it is said instead."""
    item, detail = shown(spec(EXTERNAL, down=down), status, *said)
    assert item["sleepsNotBefore"] is None
    assert "at the earliest" not in detail
    assert "goes to 0     when its metrics ask for it and for nothing more throughout" in detail


def test_nothing_is_said_of_going_where_it_is_or_cannot_go() -> None:
    for spec_, status in ((spec(EXTERNAL), {}), (spec(EXTERNAL, lowest=1), AWAKE), (spec(EXTERNAL), PAUSED)):
        item, detail = shown(spec_, status, WOKEN)
        assert item["sleepsNotBefore"] is None
        assert "goes to 0" not in detail


def test_a_window_that_is_over_is_no_time_to_wait_for() -> None:
    detail = shown(spec(EXTERNAL, down={**CALM, "stabilizationWindowSeconds": 30}), AWAKE, WOKEN)[1]
    assert "at the earliest" not in detail
    assert "throughout a window of 30s" in detail


def test_what_holds_it_back() -> None:
    recent = "recent recommendations were higher than current one, applying the highest recent recommendation"
    window = condition("AbleToScale", "True", "ScaleDownStabilized", recent)
    limit = condition("ScalingLimited", "True", "ScaleDownLimit", "the desired replica count is decreasing too fast")
    ready = condition("AbleToScale", "True", "ReadyForNewScale")
    free = condition("ScalingLimited", "False", "DesiredWithinRange")
    for conditions, reason in (([window, limit], "ScaleDownStabilized"), ([ready, limit], "ScaleDownLimit")):
        item, detail = shown(spec(EXTERNAL), {**AWAKE, "conditions": conditions})
        assert item["heldBack"]["reason"] == reason
        assert f"held back     {reason}: " in detail
    assert cell("why", spec(EXTERNAL), {**AWAKE, "conditions": [window]}) == recent
    item, detail = shown(spec(EXTERNAL), {**AWAKE, "conditions": [ready, free]})
    assert item["heldBack"] is None
    assert "held back" not in detail


@pytest.mark.parametrize(
    ("down", "words"),
    [
        (CALM, "scale down    after a window of 5m; at most 100% per 15s"),
        ({**CALM, "stabilizationWindowSeconds": 0}, "scale down    at once; at most 100% per 15s"),
        ({"policies": [PERCENT], "tolerance": "50m"}, "differs); at most 100% per 15s; tolerance 50m"),
        (
            {
                "selectPolicy": "Min",
                "policies": [PERCENT, {"type": "Pods", "value": 1, "periodSeconds": 600}, {"type": "Odd"}],
            },
            "at most 100% per 15s or 1 pod per 10m or ? Odd per ?, the smaller",
        ),
        ({"selectPolicy": "Disabled", "policies": None}, "scale down    disabled"),
        (
            None,
            "scale up      at once; at most to 4 or to twice as many\nscale down    after the controller's window (5m",
        ),
    ],
)
def test_its_behaviour_in_words(down: b.Document | None, words: str) -> None:
    assert words in shown(spec(EXTERNAL, down=down), AWAKE)[1]


def test_its_behaviour_in_json_is_what_the_spec_says() -> None:
    assert shown(spec(EXTERNAL), AWAKE)[0]["behavior"] == {"scaleUp": None, "scaleDown": None}
    assert shown(spec(EXTERNAL, down=CALM), AWAKE)[0]["behavior"]["scaleDown"] == {**CALM, "tolerance": None}


def read(name: str, value: str) -> b.Document:
    return {"type": "External", "external": {"metric": {"name": name}, "current": {"averageValue": value}}}


def of_container(name: str, **more: Any) -> b.Document:
    return {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": name, **more}}


def test_metrics_of_one_name_are_told_apart() -> None:
    target = {"target": {"type": "Utilization", "averageUtilization": 50}}
    wanted = spec(CPU, of_container("serve", **target), of_container("side", **target), EXTERNAL, EXTERNAL)
    measured = [
        {"type": ""},
        of_container("serve", current={"averageUtilization": 70}),
        of_container("side", current={"averageUtilization": 10}),
        read("queue", "3"),
        read("queue", "12"),
    ]
    item, _ = shown(wanted, {**AWAKE, "currentMetrics": measured})
    assert [each["text"] for each in item["metrics"]] == [
        "cpu <unknown>/50%",
        "cpu of serve 70%/50%",
        "cpu of side 10%/50%",
        "queue 3 (avg)/10 (avg)",
        "queue 12 (avg)/10 (avg)",
    ]
    assert item["metrics"][0]["current"] is None
    assert item["metrics"][4]["current"] == {"value": None, "averageValue": "12", "averageUtilization": None}
    assert item["metrics"][4]["target"]["averageValue"] == "10"


def test_an_average_over_nothing_is_no_value() -> None:
    item, _ = shown(spec(EXTERNAL), {"currentMetrics": [read("queue", str(-(2**63)))]})
    assert item["metrics"][0]["current"] is None
    assert item["metrics"][0]["text"] == "queue -/10 (avg)"


@given(window=st.none() | st.integers(), current=st.none() | st.integers(), last=st.none() | st.text())
def test_odd_numbers_and_times(window: int | None, current: int | None, last: str | None) -> None:
    down = {"stabilizationWindowSeconds": window, "policies": [{"type": "Pods", "value": window}]}
    hpa = b.autoscaler("chat", spec(EXTERNAL, down=down), {"currentReplicas": current, "lastScaleTime": last})
    cluster = b.cluster_of(hpa)
    assert sleeps_not_before(cluster, hpa) is None
    assert VIEW.item(cluster, hpa.key)
    assert VIEW.detail(cluster, hpa.key, AT)

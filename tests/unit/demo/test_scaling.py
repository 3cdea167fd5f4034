"""What an autoscaler of the demo makes of a recommendation: the cases of spec.behavior, worked out by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.demo.mvcc import JSON
from ktui.demo.scaling import History, Range

WITHIN = Range(0, 100)


def one(kind: str, value: int, period: int = 60) -> JSON:
    return {"type": kind, "value": value, "periodSeconds": period}


def up(*policies: JSON, **more: JSON | str | int) -> JSON:
    return {"scaleUp": {"stabilizationWindowSeconds": 0, "policies": list(policies), **more}}


def down(*policies: JSON, **more: JSON | str | int) -> JSON:
    return {"scaleDown": {"stabilizationWindowSeconds": 0, "policies": list(policies), **more}}


def test_a_window_holds_up_what_would_scale_down_until_it_is_over() -> None:
    history, behavior = History(0, 5), {"scaleDown": {"stabilizationWindowSeconds": 30}}
    assert history.decide(behavior, 1, 5, 5, WITHIN).able.reason == "ReadyForNewScale"
    held = history.decide(behavior, 10, 5, 2, WITHIN)
    assert (held.replicas, held.able.reason, held.limited) == (5, "ScaleDownStabilized", False)
    assert history.decide(behavior, 30, 5, 3, WITHIN).replicas == 5
    later = history.decide(behavior, 31, 5, 2, WITHIN)
    assert (later.replicas, later.able.reason) == (3, "ScaleDownStabilized")
    assert history.decide(behavior, 61, 3, 2, WITHIN).replicas == 2


def test_a_window_holds_up_what_would_scale_up() -> None:
    history, behavior = History(0, 2), {"scaleUp": {"stabilizationWindowSeconds": 30}}
    held = history.decide(behavior, 10, 2, 4, WITHIN)
    assert (held.replicas, held.able.reason) == (2, "ScaleUpStabilized")
    assert history.decide(behavior, 31, 2, 5, WITHIN).replicas == 4


def test_without_a_behaviour_it_scales_up_at_once_and_down_after_five_minutes() -> None:
    history = History(0, 2)
    assert history.decide(None, 1, 2, 6, WITHIN).replicas == 6
    history.scaled(1, 4)
    assert history.decide(None, 299, 6, 1, WITHIN).replicas == 6
    assert history.decide(None, 301, 6, 1, WITHIN).replicas == 1


@pytest.mark.parametrize(
    ("behavior", "current", "recommended", "replicas", "reason"),
    [
        (up(one("Pods", 2)), 3, 9, 5, "ScaleUpLimit"),
        (up(one("Percent", 50)), 3, 9, 5, "ScaleUpLimit"),  # rounded up
        (up(one("Pods", 2), one("Percent", 100)), 3, 9, 6, "ScaleUpLimit"),
        (up(one("Pods", 2), one("Percent", 100), selectPolicy="Min"), 3, 9, 5, "ScaleUpLimit"),
        (up(one("Pods", 2), selectPolicy="Disabled"), 3, 9, 3, "ScaleUpLimit"),
        (up(one("Pods", 90)), 3, 80, 40, "TooManyReplicas"),
        (up(one("Pods", 4)), 0, 2, 2, "DesiredWithinRange"),
        (down(one("Pods", 2)), 9, 3, 7, "ScaleDownLimit"),
        (down(one("Percent", 50)), 9, 3, 4, "ScaleDownLimit"),  # rounded down
        (down(one("Pods", 2), one("Percent", 50)), 9, 3, 4, "ScaleDownLimit"),
        (down(one("Pods", 2), one("Percent", 50), selectPolicy="Min"), 9, 3, 7, "ScaleDownLimit"),
        (down(one("Pods", 2), selectPolicy="Disabled"), 9, 3, 9, "ScaleDownLimit"),
        (down(one("Percent", 100)), 9, 0, 1, "TooFewReplicas"),
        (down(one("Percent", 100)), 9, 9, 9, "DesiredWithinRange"),
    ],
)
def test_policies_and_limits(behavior: JSON, current: int, recommended: int, replicas: int, reason: str) -> None:
    decision = History(-1000, current).decide(behavior, 0, current, recommended, Range(1, 40))
    assert (decision.replicas, decision.limit.reason) == (replicas, reason)
    assert decision.limited == (reason != "DesiredWithinRange")


def test_what_it_was_scaled_by_within_a_period_counts() -> None:
    history, behavior = History(-1000, 2), up(one("Pods", 2, 60))
    assert history.decide(behavior, 0, 2, 10, WITHIN).replicas == 4
    history.scaled(0, 2)
    assert history.decide(behavior, 30, 4, 10, WITHIN).replicas == 4
    assert history.decide(behavior, 60, 4, 10, WITHIN).replicas == 6


RULES = st.fixed_dictionaries(
    {},
    optional={
        "stabilizationWindowSeconds": st.integers(0, 60),
        "selectPolicy": st.sampled_from(("Max", "Min", "Disabled")),
        "policies": st.lists(
            st.builds(one, st.sampled_from(("Pods", "Percent")), st.integers(1, 300), st.integers(1, 60)), min_size=1
        ),
    },
)


@given(
    st.fixed_dictionaries({}, optional={"scaleUp": RULES, "scaleDown": RULES}),
    st.lists(st.tuples(st.floats(0, 50), st.integers(0, 50)), max_size=20),
    st.integers(1, 20),
)
def test_it_goes_where_it_is_recommended_to_or_stays_and_keeps_to_its_limits(
    behavior: JSON, recommended: list[tuple[float, int]], start: int
) -> None:
    within, now, current = Range(1, 20), 0.0, start
    history = History(now, current)
    for wait, number in recommended:
        now += wait
        decision = history.decide(behavior, now, current, number, within)
        assert within.lowest <= decision.replicas <= within.highest
        assert min(current, number, 20) <= decision.replicas <= max(current, number, 1)
        if decision.replicas != current:
            history.scaled(now, decision.replicas - current)
        current = decision.replicas

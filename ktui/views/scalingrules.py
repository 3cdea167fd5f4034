"""An autoscaler's behaviour in words: how fast it may scale, and what delays it (autoscaling/v2 HPAScalingRules)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ktui.cluster.autoscalers import Obstacle, sleep_obstacle, sleeps_not_before
from ktui.cluster.state import Cluster
from ktui.model.autoscaler import HorizontalPodAutoscaler, ScalingPolicy, ScalingRules
from ktui.model.meta import Condition, condition
from ktui.model.time import format_age, format_time
from ktui.views.base import Document

_OBSTACLES: Final[dict[Obstacle, str]] = {
    "metrics": "no: minReplicas 0 needs an Object or External metric",
    "disabled": "no: its behaviour disables scaling down",
    "paused": "its target was scaled to 0 by hand: nothing wakes it until somebody scales it up",
}
_GATE: Final = "before 1.37 the gate HPAScaleToZero has to be turned on for that"
_HELD: Final = ("ScaleDownStabilized", "ScaleUpStabilized")
_BY_FLAG: Final = (
    "the controller's window (5m unless its flag --horizontal-pod-autoscaler-downscale-stabilization differs)"
)


def sleep_text(hpa: HorizontalPodAutoscaler) -> str:
    """Whether its target may be scaled to 0, or why not."""
    obstacle = sleep_obstacle(hpa)
    if obstacle is None:
        return "yes, minReplicas is 0"
    return _OBSTACLES.get(obstacle) or f"once minReplicas is 0; now {hpa.min_replicas} ({_GATE})"


def sleep_word(hpa: HorizontalPodAutoscaler) -> str:
    """The same in a column's width."""
    obstacle = sleep_obstacle(hpa)
    return "yes" if obstacle is None else "if min 0" if obstacle == "minReplicas" else "no"


def next_sleep(cluster: Cluster, hpa: HorizontalPodAutoscaler, now: float) -> str:
    """When it may go to 0 at the earliest, or else what delays that; "" where it is there or cannot go."""
    if not hpa.status.current_replicas or sleep_obstacle(hpa) is not None:
        return ""
    earliest = sleeps_not_before(cluster, hpa)
    if earliest is not None and earliest > now:
        return f"in {format_age(earliest - now)} at the earliest ({format_time(earliest)})"
    return f"when its metrics ask for it and for nothing more throughout {_window(hpa.spec.rules(up=False))}"


def held(hpa: HorizontalPodAutoscaler) -> Condition | None:
    """The condition that says that it would scale, or scale further, and does not yet: the window, or a limit."""
    able, limited = (condition(hpa.status.conditions, name) for name in ("AbleToScale", "ScalingLimited"))
    if able is not None and able.status == "True" and able.reason in _HELD:
        return able
    return limited if limited is not None and limited.status == "True" else None


def rule_texts(hpa: HorizontalPodAutoscaler) -> Iterator[tuple[str, str]]:
    """Direction and words, of both."""
    for up in (True, False):
        rules = hpa.spec.rules(up=up)
        name = "scale up" if up else "scale down"
        if rules is None:
            # What the controller does without a behaviour: pkg/controller/podautoscaler, calculateScaleUpLimit.
            yield name, "at once; at most to 4 or to twice as many" if up else f"after {_BY_FLAG}"
        elif rules.select_policy == "Disabled":
            yield name, "disabled"
        else:
            yield name, "; ".join(_parts(rules, up=up))


def rules_item(rules: ScalingRules | None) -> Document | None:
    """For JSON: what the spec says, nothing added; None where it says nothing."""
    if rules is None:
        return None
    policies = [{"type": p.type, "value": p.value, "periodSeconds": p.period_seconds} for p in rules.policies or ()]
    return {
        "stabilizationWindowSeconds": rules.stabilization_window_seconds,
        "selectPolicy": rules.select_policy,
        "policies": policies,
        "tolerance": rules.tolerance,
    }


def _parts(rules: ScalingRules, *, up: bool) -> Iterator[str]:
    seconds = rules.stabilization_window_seconds
    if seconds == 0 or (seconds is None and up):
        yield "at once"
    else:
        yield f"after {_window(rules)}"
    if policies := " or ".join(_policy(policy) for policy in rules.policies or ()):
        several = len(rules.policies or ()) > 1
        which = ", the smaller" if rules.select_policy == "Min" else ", the larger"
        yield f"at most {policies}{which if several else ''}"
    if rules.tolerance is not None:
        yield f"tolerance {rules.tolerance}"


def _window(rules: ScalingRules | None) -> str:
    seconds = rules.stabilization_window_seconds if rules is not None else None
    return _BY_FLAG if seconds is None else f"a window of {format_age(seconds)}"


def _policy(policy: ScalingPolicy) -> str:
    value = "?" if policy.value is None else policy.value
    what = {"Pods": f"{value} pods" if value != 1 else "1 pod", "Percent": f"{value}%"}.get(policy.type)
    period = "?" if policy.period_seconds is None else format_age(policy.period_seconds)
    return f"{what or f'{value} {policy.type}'} per {period}"

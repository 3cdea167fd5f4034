"""What an autoscaler makes of the number of replicas that its metrics call for: stabilisation windows, policies, limits.

The rules of the HorizontalPodAutoscaler controller of 1.37 for spec.behavior. An autoscaler without one is scaled by the defaults
of the API and of the controller's flags, which come to the same. Times are seconds on a clock of the caller's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ktui.demo.mvcc import JSON
from ktui.model.autoscaler import Behavior, ScalingPolicy, ScalingRules

_PERCENT: Final = ScalingPolicy("Percent", 100, 15)
_UP: Final = ScalingRules(0, "Max", (ScalingPolicy("Pods", 4, 15), _PERCENT))
_DOWN: Final = ScalingRules(300, "Max", (_PERCENT,))

_LOWER: Final = "recent recommendations were lower than current one, applying the lowest recent recommendation"
_HIGHER: Final = "recent recommendations were higher than current one, applying the highest recent recommendation"


class Said(Struct, frozen=True):
    """Reason and message of a condition."""

    reason: str
    message: str


_READY: Final = Said("ReadyForNewScale", "recommended size matches current size")
_STEADIED: Final = {True: Said("ScaleUpStabilized", _LOWER), False: Said("ScaleDownStabilized", _HIGHER)}
"""By whether more replicas were recommended."""
_WITHIN: Final = Said("DesiredWithinRange", "the desired count is within the acceptable range")
_LIMITS: Final = {
    "ScaleUpLimit": "the desired replica count is increasing faster than the maximum scale rate",
    "TooManyReplicas": "the desired replica count is more than the maximum replica count",
    "ScaleDownLimit": "the desired replica count is decreasing faster than the maximum scale rate",
    "TooFewReplicas": "the desired replica count is less than the minimum replica count",
}


class Range(Struct, frozen=True):
    """minReplicas and maxReplicas."""

    lowest: int
    highest: int


class Decision(Struct, frozen=True):
    """The replicas there shall be; what AbleToScale says, and ScalingLimited, which is true where `limited` is."""

    replicas: int
    able: Said
    limit: Said
    limited: bool


class History:
    """What was recommended to one autoscaler, and by how much it was scaled, as far back as its rules look."""

    def __init__(self, now: float, current: int) -> None:
        """As the controller first sees it: the replicas that are there count as the first recommendation."""
        self._recommended = [(now, current)]
        self._changes: list[tuple[float, int]] = []

    def decide(self, behavior: JSON | None, now: float, current: int, recommended: int, within: Range) -> Decision:
        """From what metrics recommend. The recommendation is remembered; whether it is followed, `scaled` has to tell."""
        up, down = rules(behavior)
        steady = self._stabilised(up, down, now, current, recommended)
        self._recommended.append((now, recommended))
        able = _READY if steady == recommended else _STEADIED[recommended >= current]
        replicas, limit = self._limited(up, down, now, current, steady, within)
        return Decision(replicas, able, limit, replicas != steady)

    def scaled(self, now: float, change: int) -> None:
        """It was scaled up, or down where that is negative."""
        self._changes.append((now, change))

    def _stabilised(self, up: ScalingRules, down: ScalingRules, now: float, current: int, recommended: int) -> int:
        windows = (up.stabilization_window_seconds or 0, down.stabilization_window_seconds or 0)
        self._recommended = [each for each in self._recommended if now - each[0] < max(*windows, 0)]
        least = min([number for at, number in self._recommended if now - at < windows[0]], default=recommended)
        most = max([number for at, number in self._recommended if now - at < windows[1]], default=recommended)
        return min(max(current, min(least, recommended)), max(most, recommended))

    def _limited(
        self, up: ScalingRules, down: ScalingRules, now: float, current: int, wanted: int, within: Range
    ) -> tuple[int, Said]:
        if wanted > current:
            limit = max(current, self._reach(up, now, current, 1))
            reason = "ScaleUpLimit" if limit < within.highest else "TooManyReplicas"
            allowed = min(wanted, limit, within.highest)
        elif wanted < current:
            limit = min(current, self._reach(down, now, current, -1))
            reason = "ScaleDownLimit" if limit > within.lowest else "TooFewReplicas"
            allowed = max(wanted, limit, within.lowest)
        else:
            return wanted, _WITHIN
        return allowed, _WITHIN if allowed == wanted else Said(reason, _LIMITS[reason])

    def _reach(self, chosen: ScalingRules, now: float, current: int, side: int) -> int:
        """How far the policies let it go up (`side` 1) or down (-1) from what there was when their periods began."""
        if chosen.select_policy == "Disabled":
            return current
        reached = [self._proposed(policy, now, current, side) for policy in chosen.policies or ()]
        furthest = (max if side > 0 else min) if chosen.select_policy != "Min" else (min if side > 0 else max)
        return furthest(reached, default=current)

    def _proposed(self, policy: ScalingPolicy, now: float, current: int, side: int) -> int:
        start = current - sum(change for at, change in self._changes if now - at < (policy.period_seconds or 0))
        value = policy.value or 0
        if policy.type == "Pods":
            return start + side * value
        share = start * (1 + side * value / 100)
        return math.ceil(share) if side > 0 else int(share)


def rules(behavior: JSON | None) -> tuple[ScalingRules, ScalingRules]:
    """For scaling up and for scaling down, with the defaults in the places of what is not said."""
    said = msgspec.convert(behavior or {}, Behavior)
    return _filled(said.scale_up, _UP), _filled(said.scale_down, _DOWN)


def _filled(said: ScalingRules | None, default: ScalingRules) -> ScalingRules:
    fields = ("stabilization_window_seconds", "select_policy", "policies")
    given: Iterable[str] = [name for name in fields if said is not None and getattr(said, name) is not None]
    return replace(default, **{name: getattr(said, name) for name in given})

"""What keeps an autoscaler from scaling its target to zero, and until when: as far as the API tells.

The controller (pkg/controller/podautoscaler, 1.37) keeps its recommendations in memory. A scale-down goes no lower than the
highest of those within the stabilization window, so what it scaled up for by a metric holds the target up for one whole window.
"""

from __future__ import annotations

import re
from typing import Final, Literal

from ktui.cluster.state import Cluster
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.event import Event
from ktui.model.time import parse_time

Obstacle = Literal["metrics", "minReplicas", "disabled", "paused"]
_SCALED_UP: Final = re.compile(r"New size: ([0-9]{1,10}); reason: .+ above target\Z", re.DOTALL)
_LONGEST_WINDOW: Final = 3600  # validation's MaxStabilizationWindowSeconds, autoscaling/v2
_SAME_RESCALE: Final = 5.0
"""Seconds between the times of one rescale in its event and in the status, which are written one after the other."""


def sleep_obstacle(hpa: HorizontalPodAutoscaler) -> Obstacle | None:
    """Why it can never reach 0, or never leaves it, whatever its metrics say. None: its metrics alone decide."""
    if hpa.paused:
        return "paused"
    if not hpa.may_sleep:
        return "metrics"
    if hpa.min_replicas > 0:
        return "minReplicas"
    rules = hpa.spec.rules(up=False)
    return "disabled" if rules is not None and rules.select_policy == "Disabled" else None


def sleeps_not_before(cluster: Cluster, hpa: HorizontalPodAutoscaler) -> float | None:
    """The earliest time (Unix seconds) it may go to 0; None where that is not known, or where it cannot.

    Known only when the window is in the spec, and the last rescale was upwards for a metric, which an event of the autoscaler
    says (kept for an hour, as long as the longest window). Taken to have the same window since then.
    """
    rules, last = hpa.spec.rules(up=False), parse_time(hpa.status.last_scale_time)
    current = hpa.status.current_replicas or 0
    window = rules.stabilization_window_seconds if rules is not None else None
    if window is None or not 0 <= window <= _LONGEST_WINDOW or last is None or current <= 0:
        return None
    if sleep_obstacle(hpa) is not None or hpa.status.desired_replicas != current:
        return None
    if not any(_told_of_scaling_up(event, current, last) for event in cluster.events_of(hpa.metadata.uid)):
        return None
    return last + window


def _told_of_scaling_up(event: Event, to: int, at: float) -> bool:
    said = _SCALED_UP.match(event.message or "") if event.reason == "SuccessfulRescale" else None
    seen = parse_time(event.last_seen)
    return said is not None and int(said.group(1)) == to and seen is not None and abs(seen - at) <= _SAME_RESCALE

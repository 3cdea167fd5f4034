"""How long to wait after a failure: client-go's curve."""

from __future__ import annotations

import random

from ktui.kube.timers import Timers


class Backoff:
    """0.8 s, doubling to 30 s, plus up to as much again (client-go's reflector: factor 2, jitter 1.0)."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self.failures = 0

    def next(self) -> float:
        # The exponent is bounded so that a week of failures does not overflow a float.
        base = min(self._timers.backoff_cap, self._timers.backoff_first * 2.0 ** min(self.failures, 16))
        self.failures += 1
        return base + random.uniform(0.0, base)  # noqa: S311 (spreads load; guards nothing)

    def reset(self) -> None:
        self.failures = 0

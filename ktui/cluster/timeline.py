"""What has changed, as plain facts in the order they happened: `ktui.cluster.changes` finds them, `ktui.views.timeline` words
them."""

from __future__ import annotations

import bisect
from typing import Final, Literal

from msgspec import Struct

from ktui.model.taintrule import DeviceSelector

MOST: Final = 5_000  # changes that a live session remembers

What = Literal[
    "GangPending",
    "GangRunning",
    "GangDegraded",
    "GangPreempting",
    "GangCompleted",
    "GangFailed",
    "PodBound",
    "PodEvicted",
    "PodPreempted",
    "PodDeleted",
    "ClaimAllocated",
    "ClaimReleased",
    "TaintAdded",
    "TaintChanged",
    "TaintRemoved",
    "Scaled",
    "MinReplicasChanged",
    "DeviceTainted",
    "DeviceUntainted",
    "DeviceUnhealthy",
    "DeviceHealthy",
    "DeviceHealthChanged",
    "MinReplicasSet",
    "ActionRefused",
    "ActionUnclear",
    "SourceLost",
    "SourceBack",
    "Mark",
]


class Change(Struct, frozen=True):
    """One fact. `view` (its id) and `key` are the row it is about, "" and () where there is none; of a source, `key` is its kind.
    `before` and `after` are values as they stand in the objects, "" where there is none. `who` did it: of actions through ktui,
    "" where that is not known. `selector`: of a taint rule, what it selects, or selected as long as it was there."""

    at: float  # Unix seconds
    what: What
    view: str
    key: tuple[str, ...]
    before: str = ""
    after: str = ""
    who: str = ""
    selector: DeviceSelector | None = None


class Timeline:
    """Changes by number, in the order they happened; `most` of them are kept, the latest (None: all)."""

    def __init__(self, most: int | None = MOST) -> None:
        self._most = most
        self._changes: dict[int, Change] = {}
        self._end = 0  # the number of the next one
        self._shown = 0  # numbers below are shown
        self._fresh: set[int] = set()

    def add(self, change: Change) -> None:
        self._changes[self._end] = change
        self._end += 1
        self._show(self._end)
        if self._most is not None and len(self._changes) > self._most:
            oldest = self._end - self._most - 1
            del self._changes[oldest]
            self._fresh.add(oldest)

    def get(self, number: int) -> Change | None:
        return self._changes.get(number) if number < self._shown else None

    def numbers(self) -> range:
        """Of what is shown, oldest first."""
        first = self._end - len(self._changes)
        return range(first, max(first, self._shown))

    def show_until(self, at: float) -> None:
        """Show what happened up to a moment, and nothing later."""
        first = self._end - len(self._changes)
        self._show(first + bisect.bisect_right(range(first, self._end), at, key=lambda n: self._changes[n].at))

    def take_fresh(self) -> set[int]:
        """Numbers that came or went since the last call."""
        fresh, self._fresh = self._fresh, set()
        return fresh

    def _show(self, end: int) -> None:
        self._fresh.update(range(min(end, self._shown), max(end, self._shown)))
        self._shown = end

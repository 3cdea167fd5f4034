"""States of a recording to come back to, so that going anywhere costs the frames since the last of them at most.

What a state is, the player is told: this package is below the one that knows.
"""

from __future__ import annotations

import bisect
from typing import Generic, Protocol, Self, TypeVar

from ktui.model.frame import Frame, Listed

_LEAST = 500  # objects and changes between two checkpoints
_SHARE = (
    8  # of a state's objects, at least one changes for every eight that are copied: memory grows with the frames only
)


class State(Protocol):
    """What frames change."""

    @property
    def size(self) -> int:
        """How many objects a copy refers to."""
        ...

    def take(self, frame: Frame) -> None: ...

    def copy(self) -> Self: ...


S = TypeVar("S", bound=State)


class Checkpoints(Generic[S]):
    """Made frame by frame, in a thread if need be; asked at the same time by another."""

    def __init__(self, blank: S) -> None:
        self._latest = blank
        self._taken = 0  # frames
        self._since = 0  # objects and changes after the last checkpoint
        self._kept: list[tuple[int, S]] = [(0, blank.copy())]

    def take(self, frame: Frame) -> None:
        """The next frame of the recording."""
        self._latest.take(frame)
        self._taken += 1
        self._since += 1 + (len(frame.items) if isinstance(frame, Listed) else 0)
        if self._since >= max(_LEAST, self._latest.size // _SHARE):
            self._kept.append((self._taken, self._latest.copy()))
            self._since = 0

    def before(self, frames: int) -> tuple[int, S]:
        """The latest state kept of those after at most so many frames: after how many, and a copy of it."""
        taken, state = self._kept[bisect.bisect_right(self._kept, frames, key=lambda kept: kept[0]) - 1]
        return taken, state.copy()

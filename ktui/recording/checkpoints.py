"""States of a recording to come back to, so that going anywhere costs the frames since the last of them at most.

What a state is, the player is told: this package is below the one that knows.
"""

from __future__ import annotations

import bisect
from typing import Generic, Protocol, Self, TypeVar

from ktui.model.frame import Frame, Listed

_LEAST = 500  # objects and changes between two checkpoints
_SHARE = 32  # of a state's objects, at least one changes for every so many that are copied
_MOST = 12  # checkpoints; where there are more, every other one goes, and the next come half as often


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
        self._apart = 1.0  # how much further apart they are than the least
        self._kept: list[tuple[int, S]] = [(0, blank.copy())]

    def take(self, frame: Frame) -> None:
        """The next frame of the recording."""
        self._latest.take(frame)
        self._taken += 1
        self._since += 1 + (len(frame.items) if isinstance(frame, Listed) else 0)
        if self._since >= max(_LEAST, self._latest.size // _SHARE) * self._apart:
            self._kept = [*self._kept, (self._taken, self._latest.copy())]
            self._since = 0
            if len(self._kept) > _MOST:
                self._kept = self._kept[::2]  # with the first
                self._apart *= 2

    def before(self, frames: int) -> tuple[int, S]:
        """The latest state kept of those after at most so many frames: after how many, and a copy of it."""
        kept = self._kept  # a list that the other thread replaces, and never changes
        taken, state = kept[bisect.bisect_right(kept, frames, key=lambda entry: entry[0]) - 1]
        return taken, state.copy()

"""The last minutes of a session, in bounded memory: what happened just before somebody looked."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Final

from ktui.model.frame import Frame
from ktui.recording.baseline import Baseline

KEPT: Final = 600.0
"""Seconds."""

MOST_KEPT: Final = 50_000
"""Changes; on a cluster that changes faster the time that is kept is shorter. A list counts as one: it shares its objects
with the state."""


class Ring:
    """Frames in, with their times in Unix seconds. Old ones become part of what was known before."""

    def __init__(self, seconds: float = KEPT, most: int = MOST_KEPT) -> None:
        self._seconds = seconds
        self._most = most
        self._before = Baseline()
        self._recent: deque[tuple[float, Frame]] = deque()
        self._since: float | None = None

    def take(self, at: float, frame: Frame) -> None:
        if self._since is None:
            self._since = at
        self._recent.append((at, frame))
        while len(self._recent) > self._most or self._recent[0][0] < at - self._seconds:
            self._since, old = self._recent.popleft()
            self._before.apply(old)

    @property
    def since(self) -> float | None:
        """From when on everything is known; None before the first frame."""
        return self._since

    def frames(self) -> Iterator[tuple[float, Frame]]:
        """What was known at the beginning of the time that is kept, then everything that happened."""
        for frame in self._before.frames():
            yield self._since or 0.0, frame
        yield from self._recent

    def present(self) -> Iterator[Frame]:
        """What is known now."""
        now = self._before.copy()
        for _, frame in self._recent:
            now.apply(frame)
        return now.frames()

"""Play a recording: in real time, faster, step by step, back and forth; or straight to one moment.

Frames go to a sink, as live ones do. Going back means starting anew: `reset` empties the state and the frames up to the new
position are given again.
"""

from __future__ import annotations

import asyncio
import bisect
import time
from collections.abc import Callable

from ktui.errors import UsageError
from ktui.model.frame import Frame, Listed
from ktui.recording.reader import Recording, Timed

MAX_KEPT = 2_000_000  # objects and changes that are held in memory
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


def replay_to(recording: Recording, at: float | None, sink: Callable[[Frame], object]) -> float:
    """Give the sink every frame up to `at` seconds (None: all). Returns the time reached, in seconds since the start."""
    reached = 0.0
    for t, frame in recording.frames():
        if at is not None and t > at:
            return at
        sink(frame)
        reached = t
    return reached if at is None else at


class Player:
    """Plays one recording into a sink. `position` is in seconds since the start, `now` in Unix seconds of the recording."""

    def __init__(
        self,
        recording: Recording,
        sink: Callable[[Frame], object],
        reset: Callable[[], object],
        *,
        start: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.recording = recording
        self.paused = False
        self.speed = 1.0
        self._sink = sink
        self._reset = reset
        self._clock = clock
        self._frames: list[Timed] = []
        self._next = 0  # index of the first frame not given yet
        self._position = start
        self._since: float | None = None  # clock reading at which `_position` was right; None while it stands still
        self._changed = asyncio.Event()

    @property
    def duration(self) -> float:
        return self._frames[-1].t if self._frames else 0.0

    @property
    def position(self) -> float:
        if self._since is None:
            return self._position
        return min(self.duration, self._position + (self._clock() - self._since) * self.speed)

    @property
    def ended(self) -> bool:
        return bool(self._frames) and self._next >= len(self._frames)

    def now(self) -> float:
        """The moment shown, in Unix seconds: ages are relative to it."""
        return self.recording.header.start + self.position

    async def load(self) -> None:
        """Decode all frames, off the event loop. Raises UsageError when the file is no good."""
        self._frames = await asyncio.to_thread(self._decoded)

    def _decoded(self) -> list[Timed]:
        frames = []
        size = 0
        for timed in self.recording.frames():
            frames.append(timed)
            size += 1 + (len(timed.frame.items) if isinstance(timed.frame, Listed) else 0)
            if size > MAX_KEPT:
                raise UsageError(
                    f"{self.recording.path} has more than {MAX_KEPT} objects and changes: too many to play"
                )
        return frames

    async def run(self) -> None:
        """Play until cancelled; at the end it stands still and can be sent back."""
        if not self._frames:
            await self.load()
        self._stand()
        while True:
            self._give_until(self.position)
            self._changed.clear()
            if self.paused or self.ended:
                self._stand()
                await self._changed.wait()
                continue
            self._run_on()
            wait = max(0.0, (self._frames[self._next].t - self.position) / self.speed)
            try:
                await asyncio.wait_for(self._changed.wait(), wait)
            except TimeoutError:
                continue

    def pause(self, paused: bool | None = None) -> None:
        """Pause or go on; without an argument, the other of the two."""
        self.paused = (not self.paused) if paused is None else paused
        self._stand()
        self._changed.set()

    def set_speed(self, steps: int) -> None:
        """Faster (+1) or slower (-1) by one notch of SPEEDS."""
        self._stand()
        index = SPEEDS.index(self.speed) + steps
        self.speed = SPEEDS[max(0, min(len(SPEEDS) - 1, index))]
        self._changed.set()

    def step(self, direction: int) -> None:
        """Pause, and go to the next moment at which something happens (+1), or to the one before (-1)."""
        self.paused = True
        self._stand()
        times = [timed.t for timed in self._frames]
        if direction > 0:
            index = bisect.bisect_right(times, self._position)
            self.seek(times[index] if index < len(times) else self.duration)
        else:
            index = bisect.bisect_left(times, self._position) - 1
            self.seek(times[index] if index >= 0 else 0.0)

    def seek(self, t: float) -> None:
        """Go to `t` seconds since the start; beyond either end, to that end."""
        target = max(0.0, min(t, self.duration))
        self._stand()
        if target < self._position:
            self._reset()
            self._next = 0
        self._position = target
        self._give_until(target)
        self._changed.set()

    def _give_until(self, t: float) -> None:
        while self._next < len(self._frames) and self._frames[self._next].t <= t:
            self._sink(self._frames[self._next].frame)
            self._next += 1

    def _stand(self) -> None:
        self._position = self.position
        self._since = None

    def _run_on(self) -> None:
        if self._since is None:
            self._since = self._clock()

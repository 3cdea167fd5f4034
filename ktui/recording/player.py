"""Play a recording: in real time, faster, step by step, back and forth; or straight to one moment.

Frames go to a sink, as live ones do. Where more than a few lie between here and there, in either direction, the state of that
moment is made from the nearest checkpoint and handed over whole instead.
"""

from __future__ import annotations

import asyncio
import bisect
import contextlib
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, Protocol

from ktui.errors import UsageError
from ktui.model.frame import Changed, Frame, Listed, StreamState
from ktui.recording.checkpoints import Checkpoints, S
from ktui.recording.reader import Glimpse, Recording, Timed
from ktui.recording.sharing import Sharing

MAX_KEPT = 2_000_000  # objects and changes that are held in memory
SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

_FEW = 500  # frames that are given one by one: twenty milliseconds of work
_FIRST = 100  # objects of a list that are shown before it is decoded: a screenful
_SHORT_TURN = 0.001  # seconds
_LOOK = 0.05  # seconds between two looks at what has been decoded meanwhile


def replay_to(recording: Recording, at: float | None, sink: Callable[[Frame], object]) -> float:
    """Give the sink every frame up to `at` seconds (None: all). Returns the time reached, in seconds since the start."""
    reached = 0.0
    for t, frame in recording.frames():
        if at is not None and t > at:
            return at
        sink(frame)
        reached = t
    return reached if at is None else at


class Playable(Protocol):
    """What can be played: `ktui.recording.reader.Recording`, or what a session remembers."""

    @property
    def name(self) -> str: ...

    @property
    def start(self) -> float:
        """Unix seconds of t = 0."""
        ...

    def frames(self, given_up: Callable[[], bool] = ...) -> Iterator[Timed]:
        """All frames in order, from the start; fewer when `given_up`. Raises UsageError."""
        ...

    def glimpses(self) -> Iterator[Glimpse]:
        """What can be shown before the frames are decoded."""
        ...


class Player(Generic[S]):
    """Plays one recording into a sink. `position` is in seconds since the start, `now` in Unix seconds of the recording.

    `travel` is told the state of a moment, which it may keep; `blank` is the state before the first frame. The beginning is
    shown while the rest is still being decoded: until then `duration` grows. Of the long lists that it begins with, the first
    objects are shown before anything else is decoded, as parts of a list that is not complete.
    """

    def __init__(
        self,
        recording: Playable,
        sink: Callable[[Frame], object],
        travel: Callable[[S], object],
        blank: S,
        *,
        start: float = 0.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.recording = recording
        self.paused = False
        self.speed = 1.0
        self._sink = sink
        self._travel = travel
        self._clock = clock
        self._frames: list[Timed] = []
        self._glimpses: deque[Glimpse] = deque()  # not given yet
        self._checkpoints = Checkpoints(blank)
        self._given_up = False  # told to the thread that decodes
        self._next = 0  # index of the first frame not given yet
        self._position = start
        self._since: float | None = None  # clock reading at which `_position` was right; None while it stands still
        self._changed = asyncio.Event()
        self._loaded = False

    @property
    def loaded(self) -> bool:
        return self._loaded

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
        return self.loaded and self._next >= len(self._frames)

    def now(self) -> float:
        """The moment shown, in Unix seconds: ages are relative to it."""
        return self.recording.start + self.position

    def history(self, given_up: Callable[[], bool]) -> Iterator[tuple[float, Frame]]:
        """Every frame with its time in Unix seconds, as they are decoded; for a thread, which waits here for the next."""
        start, given = self.recording.start, 0
        while not given_up():
            complete = self._loaded or self._given_up  # before the frames are looked at: none comes after
            for timed in self._frames[given:]:
                yield start + timed.t, timed.frame
                given += 1
            if complete:
                return
            time.sleep(_LOOK)

    async def load(self) -> None:
        """Decode all frames, off the event loop. Raises UsageError when the file is no good."""
        try:
            with _short_turns():
                await asyncio.to_thread(self._decode)
        finally:
            self._given_up = True
        self._changed.set()

    def _decode(self) -> None:
        if self._position == 0:
            for glimpse in self.recording.glimpses():
                self._glimpses.append(glimpse)
                if self._given_up:
                    return
        size, sharing = 0, Sharing()
        for t, frame in self.recording.frames(lambda: self._given_up):
            timed = Timed(t, sharing.frame(frame))
            size += 1 + (len(timed.frame.items) if isinstance(timed.frame, Listed) else 0)
            if size > MAX_KEPT:
                raise UsageError(
                    f"{self.recording.name} has more than {MAX_KEPT} objects and changes: too many to play"
                )
            self._frames.append(timed)  # first: it may be shown before its checkpoint is made
            self._checkpoints.take(timed.frame)
        self._loaded = not self._given_up

    async def run(self) -> None:
        """Play until cancelled; at the end it stands still and can be sent back. Raises UsageError."""
        loading = asyncio.create_task(self.load())
        try:
            await self._play(loading)
        finally:
            self._given_up = True
            loading.cancel()

    async def _play(self, loading: asyncio.Task[None]) -> None:
        while not loading.done() and (not self._frames or self.duration < self._position):
            await asyncio.wait((loading,), timeout=_LOOK)
            await self._give_glimpses()
        self.seek(self._position)
        while True:
            if loading.done():
                loading.result()  # raises what is wrong with the file
            self._give_until(self.position)
            self._changed.clear()
            if self.paused or self._next >= len(self._frames):
                self._stand()
                await self._wait(None if self.loaded else _LOOK)
            else:
                self._run_on()
                await self._wait(max(0.0, (self._frames[self._next].t - self.position) / self.speed))

    async def _give_glimpses(self) -> None:
        """Each object as if it came alone: a list would say that it is complete."""
        while self._glimpses:
            source, epoch, objects = self._glimpses.popleft()
            self._sink(StreamState(source, "listing", progress=(len(objects[:_FIRST]), 0)))
            for obj in objects[:_FIRST]:
                self._sink(Changed(source, "ADDED", obj, epoch))
            await asyncio.sleep(0)

    async def _wait(self, seconds: float | None) -> None:
        """Wait for that long at most, or for a key."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):  # wait_for may lose a cancellation that comes with a key (3.11)
                await self._changed.wait()

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
        if direction > 0:
            index = self._index_after(self._position)
            self.seek(self._frames[index].t if index < len(self._frames) else self.duration)
        else:
            index = bisect.bisect_left(self._frames, self._position, key=_time) - 1
            self.seek(self._frames[index].t if index >= 0 else 0.0)

    def seek_to(self, direction: int, wanted: Callable[[Frame], bool]) -> bool:
        """Pause, and go to the nearest moment after (+1) or before (-1) this one with a wanted frame; whether there is one."""
        self.paused = True
        self._stand()
        if direction > 0:
            there = range(self._index_after(self._position), len(self._frames))
        else:
            there = range(bisect.bisect_left(self._frames, self._position, key=_time) - 1, -1, -1)
        index = next((index for index in there if wanted(self._frames[index].frame)), None)
        self.seek(self._position if index is None else self._frames[index].t)
        return index is not None

    def seek(self, t: float) -> None:
        """Go to `t` seconds since the start; beyond either end, to that end."""
        self._stand()
        self._position = max(0.0, min(t, self.duration))
        self._give_until(self._position)
        self._changed.set()

    def _give_until(self, t: float) -> None:
        """Show the state after the last frame at `t`."""
        index = self._index_after(t)
        if 0 <= index - self._next <= _FEW:
            for timed in self._frames[self._next : index]:
                self._sink(timed.frame)
        else:
            self._travel(self._state(index))
        self._next = index

    def _index_after(self, t: float) -> int:
        return bisect.bisect_right(self._frames, t, key=_time)

    def _state(self, index: int) -> S:
        """The state before the frame at `index`."""
        taken, state = self._checkpoints.before(index)
        for timed in self._frames[taken:index]:
            state.take(timed.frame)
        return state

    def _stand(self) -> None:
        self._position = self.position
        self._since = None

    def _run_on(self) -> None:
        if self._since is None:
            self._since = self._clock()


@contextlib.contextmanager
def _short_turns() -> Iterator[None]:
    """While a thread decodes, the loop gets its turn for a key sooner than Python's five milliseconds."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(_SHORT_TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)


def _time(timed: Timed) -> float:
    return timed.t

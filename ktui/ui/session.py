"""What a screen works on: one cluster's state, and whatever feeds it with frames.

A live connection, a recording and the demo cluster differ only in the feed. Frames change the state at once; screens are
told what changed when they ask, ten times a second at most.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

from ktui.cluster.state import Cluster, Dirty
from ktui.model.frame import Frame, Listed
from ktui.model.meta import Key

_LONG = 500  # objects of a list that is taken in at once
_TURN = 0.008  # seconds of work before others have their turn

Sink: TypeAlias = Callable[[Frame], object]


class Target(Struct, frozen=True):
    """Whom ktui talks to and as whom: what the header shows. Raw text."""

    context: str = ""
    server: str = ""  # host, without scheme
    version: str = ""
    user: str = ""
    namespace: str = ""  # "" for all
    insecure: bool = False  # no check of the server's certificate, or no TLS
    impersonated: str = ""  # the user that requests are made as
    read_only: bool = False


class Feed(Protocol):
    """A source of frames, made with the sink it feeds."""

    async def run(self) -> None:
        """Feed until cancelled. Raises KtuiError."""
        ...

    def now(self) -> float:
        """Unix seconds on the feed's clock: of the recording when it replays one."""
        ...


@runtime_checkable
class Playing(Feed, Protocol):
    """A feed that plays a recording: `ktui.recording.player.Player`. Positions are seconds from its start."""

    paused: bool
    speed: float

    @property
    def position(self) -> float: ...

    @property
    def duration(self) -> float: ...

    def pause(self, paused: bool | None = None) -> None: ...

    def set_speed(self, steps: int) -> None: ...

    def step(self, direction: int) -> None: ...

    def seek(self, t: float) -> None: ...


@runtime_checkable
class Retrying(Protocol):
    """A feed whose waiting sources can be told to try again at once."""

    def retry_now(self) -> None: ...


@runtime_checkable
class Reading(Protocol):
    """A feed that can fetch a whole object, with the fields ktui does not keep."""

    async def read(self, kind: str, key: Key) -> dict[str, object] | None:
        """The object as JSON values; None when it is gone. Raises KtuiError."""
        ...


class Session:
    """The state of one cluster and its feed. One event loop owns it.

    `make_feed` gets the sink for frames and a function that empties the state (a recording going back starts anew).
    `generation` grows with each emptying: whoever kept something of `cluster` has to look again.

    Frames are taken in as they come. A long list is taken in between other things, so that keys stay quick; what comes
    behind it waits its turn, and screens are told of all of it at once.
    """

    def __init__(self, target: Target, make_feed: Callable[[Sink, Callable[[], None]], Feed]) -> None:
        self.target = target
        self.cluster = Cluster()
        self.generation = 0
        self._dirty = Dirty()
        self._changed = False
        self._waiting: deque[Frame] = deque()
        self._taking_in: asyncio.Task[None] | None = None
        self.feed = make_feed(self._take, self._reset)

    def _take(self, frame: Frame) -> None:
        if self._taking_in is not None:
            self._waiting.append(frame)
        elif isinstance(frame, Listed) and len(frame.items) > _LONG:
            self._waiting.append(frame)
            self._taking_in = asyncio.create_task(self._take_in())
        else:
            self._note(self.cluster.apply(frame))

    async def _take_in(self) -> None:
        """Apply the waiting frames, in order, giving the loop a turn every few milliseconds."""
        turn = time.monotonic()
        while self._waiting:
            for dirty in self.cluster.steps(self._waiting.popleft()):
                self._note(dirty)
                if time.monotonic() - turn > _TURN:
                    await asyncio.sleep(0)
                    turn = time.monotonic()
        self._taking_in = None

    def _note(self, dirty: Dirty) -> None:
        self._dirty.merge(dirty)
        self._changed = True

    def _reset(self) -> None:
        if self._taking_in is not None:
            self._taking_in.cancel()
            self._taking_in = None
        self._waiting.clear()
        self.cluster = Cluster()
        self.generation += 1
        self._dirty, self._changed = Dirty(), True

    def take_changes(self) -> Dirty | None:
        """What changed since the last call; None when nothing did, or while a long list is being taken in."""
        if not self._changed or self._taking_in is not None:
            return None
        dirty, self._dirty, self._changed = self._dirty, Dirty(), False
        return dirty

    @property
    def player(self) -> Playing | None:
        return self.feed if isinstance(self.feed, Playing) else None


class Opener(Protocol):
    """Makes sessions. Called after the first frame is on the screen, so it may import what it likes."""

    def title(self) -> str:
        """What is about to be opened, in a few words, before anything is read: for the first frame."""
        ...

    async def open(self, context: str = "") -> Session:
        """A session on a context ("" for the one asked for at start). Raises KtuiError."""
        ...

    async def contexts(self) -> Sequence[str]:
        """Contexts to choose from; the present one first. May be empty."""
        ...

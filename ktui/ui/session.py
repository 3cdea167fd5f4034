"""What a screen works on: one cluster's state, and whatever feeds it with frames.

A live connection, a recording and the demo cluster differ only in the feed. Frames change the state at once; screens are
told what changed when they ask, ten times a second at most.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from msgspec import Struct

from ktui.cluster.changes import Chronicler
from ktui.cluster.dirty import ROWS, Dirty, Entity, rows_of
from ktui.cluster.moment import Moment
from ktui.cluster.state import Cluster
from ktui.cluster.timeline import Timeline
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.model.frame import Changed, Frame, Listed
from ktui.model.usage import UsageReport
from ktui.turns import TURNS
from ktui.ui.feeds import Feed, LoggingIn, Measuring, Playing, Remembering, Taped
from ktui.ui.pace import Pace
from ktui.ui.recalled import Recalled

if TYPE_CHECKING:
    from ktui.recording.tape import Tape

_LONG = 500  # objects of a list that is taken in at once
_TURN = 0.004  # seconds of work before others have their turn
_MOST_TOLD = 2_000  # changes of a recording that are told of at one go
_QUICK = 0.005  # seconds that a look at what gangs wait for may take each time that a screen asks what changed
_REST = 20  # times as long as a look took, at least until the next one: a twentieth of the time
_LONGEST_REST = 1.0  # seconds

Sink: TypeAlias = Callable[[Frame], object]
Travel: TypeAlias = Callable[[Moment], object]


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


class Session:
    """The state of one cluster and its feed. One event loop owns it.

    `make_feed` gets the sink for frames and a function by which a recording goes straight to another moment.

    Frames are taken in as they come. A long list, or a moment far away, is taken in between other things, so that keys stay
    quick; what comes behind it waits its turn, and screens are told of all of it at once. Only the first list of a source is
    told of as it is taken in: there were no rows before that it could contradict.
    """

    def __init__(
        self,
        target: Target,
        make_feed: Callable[[Sink, Travel], Feed],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.target = target
        self.cluster = Cluster()
        self._diagnoses = diagnoses_of(self.cluster)
        self._diagnoses.patient = True
        self._looking = Pace(clock, rest=_REST, longest=_LONGEST_REST, quick=_QUICK)  # at what gangs wait for
        self._looked = True  # since a screen asked last
        self._dirty = Dirty()
        self._told: tuple[str, ...] = ROWS
        self._changed = False
        self._waiting: deque[Frame] = deque()
        self._taking_in: asyncio.Task[None] | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._is_first = False  # what is taken in is the first list of its source
        self.feed = feed = make_feed(self._take, self._travel)
        # What the feed can do is asked for at each key, and takes long to find out.
        self.player = feed if isinstance(feed, Playing) else None
        self.login = feed if isinstance(feed, LoggingIn) else None
        self.meter = feed if isinstance(feed, Measuring) else None
        self._taped = feed if isinstance(feed, Taped) else None
        remembers = isinstance(self.feed, Remembering)
        self._chronicler = None if remembers else Chronicler(self.cluster, self.cluster.timeline)
        self._recalled = Recalled()
        if remembers:
            self.cluster.timeline = Timeline(most=None)

    def _take(self, frame: Frame) -> None:
        if self._taking_in is not None:
            self._waiting.append(frame)
        elif isinstance(frame, Listed) and len(frame.items) > _LONG:
            stream = self.cluster.streams.get(frame.source.id)
            self._is_first = stream is None or not stream.synced
            self._taking_in = asyncio.create_task(self._take_in(self._steps(frame)))
        elif isinstance(frame, Changed):
            self._note(self._change(frame))
        else:
            for dirty in self._steps(frame):
                self._note(dirty)

    def _change(self, frame: Changed) -> Dirty:
        if self._chronicler is None:
            return self.cluster.change(frame)
        return self._chronicler.change(frame, self.feed.now())

    def _steps(self, frame: Frame) -> Iterator[Dirty]:
        if self._chronicler is None:
            return self.cluster.steps(frame)
        return self._chronicler.steps(frame, self.feed.now())

    def _travel(self, moment: Moment) -> None:
        """Show another moment: at once if it is not far away. Whatever still waits is of the way there and counts no longer."""
        if self._taking_in is not None:
            self._taking_in.cancel()
            self._taking_in = None
        self._waiting.clear()
        self._looking.hurry()
        parts = self.cluster.become(moment)
        if not self._work(parts):
            self._is_first = False
            self._taking_in = asyncio.create_task(self._take_in(parts))

    async def _take_in(self, begun: Iterator[Dirty]) -> None:
        """Finish what was begun, then apply the waiting frames, in order, giving the loop a turn every few milliseconds."""
        parts = self._and_what_waits(begun)
        while True:
            if self._work(parts):
                break
            await TURNS.give_way()
        self._taking_in = None

    def _and_what_waits(self, begun: Iterator[Dirty]) -> Iterator[Dirty]:
        yield from begun
        while self._waiting:
            self._is_first = False
            yield from self._steps(self._waiting.popleft())

    def _work(self, parts: Iterator[Dirty]) -> bool:
        """Take parts in for one turn; whether that were all of them."""
        turn = time.monotonic()
        for dirty in parts:
            self._note(dirty)
            if time.monotonic() - turn > _TURN:
                return False
        return True

    def _note(self, dirty: Dirty) -> None:
        self._dirty.merge(dirty, self._told)
        self._changed = True

    def measure(self, report: UsageReport) -> None:
        """Take figures of what is used. They are of this moment, not of the feed: nothing that waits is overtaken by them."""
        self._note(self.cluster.measure(report))

    @property
    def busy(self) -> bool:
        """Whether a long list, or a moment far away, is still being taken in, or was not thought over yet."""
        return self._taking_in is not None or self._preparing is not None or not self._looked

    def tell_of(self, views: Iterable[Entity]) -> None:
        """From now on, of rows of these views only: those of a large cluster are many, and most views are never looked at."""
        self._told = rows_of(views)

    def has_news_of(self, view: Entity) -> bool:
        """Whether `take_changes` would tell of rows of the view. Of these none is looked at."""
        changed = any(getattr(self._dirty, name) for name in rows_of((view,)))
        return changed and (self._taking_in is None or self._is_first)

    def take_changes(self) -> Dirty | None:
        """What changed since the last call; None when nothing did, or while a list anew or a moment far away is taken in."""
        self._tell_changes()
        self._tell_diagnoses()
        if not self._changed or (self._taking_in is not None and not self._is_first):
            return None
        dirty, self._dirty, self._changed = self._dirty, Dirty(), False
        return dirty

    def _tell_changes(self) -> None:
        """Of the timeline: what a live cluster did, or what a recording has shown up to the present moment."""
        if self._taking_in is not None:
            return
        if self._chronicler is not None:
            self._chronicler.settle()
        else:
            self._tell_recalled(_MOST_TOLD)
        if fresh := self.cluster.timeline.take_fresh():
            self._note(Dirty(timeline=fresh))

    def _tell_recalled(self, most: int | None = None) -> None:
        self._recalled.pass_on(self.cluster.timeline, most)
        self.cluster.timeline.show_until(self.feed.now())

    def _tell_diagnoses(self) -> None:
        """Of gangs whose diagnosis follows from nodes and devices, which are nobody's own. Not while lists come in, which change
        all of it again and again."""
        self._looked = self._taking_in is None and self._looking.is_due()
        if self._looked:
            with self._looking.doing():
                stale = self._diagnoses.take_stale()
            if stale:
                self._note(Dirty(gangs=stale))
            if self._diagnoses.unprepared and self._preparing is None:
                self._preparing = asyncio.create_task(self._prepare())

    async def _prepare(self) -> None:
        """For the diagnoses of a large cluster, between other things."""
        turn = time.monotonic()
        for _ in self._diagnoses.prepare():
            if time.monotonic() - turn > _TURN:
                await TURNS.give_way()
                turn = time.monotonic()
        self._preparing = None
        self._looking.hurry()

    async def recall(self) -> None:
        """Work out the timeline of a recording, as it becomes known. Nothing to do for other feeds."""
        if isinstance(self.feed, Remembering):
            await self._recalled.work_out(self.feed, lambda: self._taking_in is not None)
            self._tell_recalled()

    def close(self) -> None:
        """Nobody will ask it again: what is under way is given up, and what waits is let go of."""
        for task in (self._taking_in, self._preparing):
            if task is not None:
                task.cancel()
        self._waiting.clear()

    @property
    def tape(self) -> Tape | None:
        return self._taped.tape if self._taped is not None else None


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

"""A session takes frames in without holding up the loop, in order, and tells of a long list at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from msgspec import structs

from ktui.cluster.moment import Moment
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.model.frame import Changed, Frame, Listed, Source
from ktui.model.resourceslice import ResourceSlice
from ktui.recording.player import replay_to
from ktui.recording.reader import Recording
from ktui.ui import session as module
from ktui.ui.feeds import Feed
from ktui.ui.session import Session, Sink, Target, Travel
from tests.recordings import PATHS
from tests.unit import builders as b
from tests.unit.builders import pod

SOURCE = Source("Pod", "/api/v1/pods")
COUNT = 5_000


class _Feed:
    """Gives what it is told to give."""

    def __init__(self, sink: Sink, travel: Travel) -> None:
        self.give = sink
        self.travel = travel

    async def run(self) -> None:
        await asyncio.Event().wait()

    def now(self) -> float:
        return 0.0


class _Clock:
    """Goes on by itself whenever it is read, as if something had taken that long."""

    def __init__(self) -> None:
        self.now = 100.0
        self.step = 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def _session(clock: Callable[[], float] = time.monotonic) -> tuple[Session, _Feed]:
    made: list[_Feed] = []

    def make(sink: Sink, travel: Travel) -> Feed:
        made.append(_Feed(sink, travel))
        return made[0]

    return Session(Target(), make, clock=clock), made[0]


def _frames() -> list[Frame]:
    pods = tuple(pod(f"pod-{i}", meta_={"resourceVersion": str(i + 1)}) for i in range(COUNT))
    gone = pod("pod-7", meta_={"resourceVersion": str(COUNT + 1)})
    late = pod("pod-8", meta_={"resourceVersion": "2"})
    return [
        Listed(SOURCE, str(COUNT), pods),
        Changed(SOURCE, "DELETED", gone),
        Changed(SOURCE, "MODIFIED", late),
    ]


@pytest.fixture
def short_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others have their turn after each part of the work, however fast the machine is."""
    monkeypatch.setattr(module, "_TURN", -1.0)


@pytest.mark.usefixtures("short_turns")
async def test_a_long_list_lets_others_have_their_turn_and_is_told_of_at_once() -> None:
    session, feed = _session()
    feed.give(Listed(SOURCE, "1", ()))
    assert session.take_changes() is not None
    turns = 0
    for frame in _frames():
        feed.give(frame)
    while (changes := session.take_changes()) is None:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 3
    assert len(changes.pods) == COUNT
    straight = Cluster()
    for frame in _frames():
        straight.apply(frame)
    assert session.cluster.stores["Pod"].objects == straight.stores["Pod"].objects
    assert ("ml", "pod-7") not in session.cluster.stores["Pod"].objects
    assert session.take_changes() is None


@pytest.mark.usefixtures("short_turns")
async def test_a_long_first_list_is_told_of_as_it_is_taken_in() -> None:
    session, feed = _session()
    feed.give(_frames()[0])
    told: list[int] = []
    async with asyncio.timeout(30):
        while sum(told) < COUNT:
            if (changes := session.take_changes()) is not None:
                told.append(len(changes.pods))
            await asyncio.sleep(0)
    assert len(told) > 1


async def test_going_elsewhere_drops_what_still_waits() -> None:
    session, feed = _session()
    for frame in _frames():
        feed.give(frame)
    await asyncio.sleep(0)
    feed.travel(Moment())
    await asyncio.sleep(0.01)
    while session.take_changes() is None:
        await asyncio.sleep(0)
    assert session.cluster.stores["Pod"].objects == {}
    feed.give(_frames()[1])
    assert session.take_changes() is not None


@pytest.mark.usefixtures("short_turns")
async def test_going_far_lets_others_have_their_turn_and_going_a_little_way_is_done_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session, feed = _session()
    there = Moment()
    there.take(_frames()[0])
    feed.travel(there)
    turns = 0
    while session.take_changes() is None:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 3
    monkeypatch.setattr(module, "_TURN", 60.0)  # whatever else the machine does meanwhile
    there.take(_frames()[1])
    feed.travel(there)
    changes = session.take_changes()
    assert changes is not None
    assert changes.pods == {("ml", "pod-7")}
    assert session.cluster.stores["Pod"].objects == there.stores["Pod"].objects


WAITING = ("research", "tainted")


def _waiting(clock: Callable[[], float]) -> tuple[Session, _Feed, list[ResourceSlice]]:
    """A gang whose diagnosis has been shown; no event about devices names it."""
    session, feed = _session(clock)
    replay_to(Recording(PATHS["causes"]), None, feed.give)
    session.take_changes()
    diagnoses_of(session.cluster).at(WAITING)
    return session, feed, list(session.cluster.all(ResourceSlice))


def _told(session: Session) -> bool:
    changes = session.take_changes()
    return changes is not None and WAITING in changes.gangs


def test_what_gangs_wait_for_is_looked_at_for_a_twentieth_of_the_time_and_the_last_state_is_told() -> None:
    clock = _Clock()
    session, feed, pieces = _waiting(clock)
    clock.step = 0.02
    for piece in pieces:
        feed.give(b.deleted(piece))
    assert _told(session)
    clock.step = 0.0
    before = diagnoses_of(session.cluster).at(WAITING)
    for piece in pieces:
        again = structs.replace(piece.metadata, uid=f"{piece.name}-again")
        feed.give(b.added(structs.replace(piece, metadata=again)))
    assert not _told(session)
    clock.now += 0.3
    assert not _told(session)
    assert diagnoses_of(session.cluster).at(WAITING) == before
    clock.now += 0.2
    assert _told(session)
    assert not session.busy
    assert diagnoses_of(session.cluster).at(WAITING) != before


@pytest.mark.parametrize(("took", "rest"), [(30.0, 1.0), (0.01, 0.2), (0.001, 0.0)])
def test_the_next_look_is_after_a_second_at_most_and_each_time_if_it_takes_no_time(took: float, rest: float) -> None:
    clock = _Clock()
    session, feed, pieces = _waiting(clock)
    clock.step = took
    feed.give(b.deleted(pieces[0]))
    session.take_changes()
    clock.step = 0.0
    found = []
    for passed in (rest * 0.9, rest * 0.2):
        clock.now += passed
        session.take_changes()
        found.append(session.busy)
    assert found == [rest > 0, False]


@pytest.mark.usefixtures("short_turns")
async def test_what_gangs_wait_for_is_not_looked_at_while_a_list_comes_in() -> None:
    session, feed, pieces = _waiting(_Clock())
    feed.give(_frames()[0])
    for piece in pieces:
        feed.give(b.deleted(piece))
    told = []
    async with asyncio.timeout(30):
        while session.busy:
            told.append(_told(session))
            await asyncio.sleep(0)
    assert len(told) > 3
    assert not session.cluster.stores["ResourceSlice"].objects
    assert not any(told[:-1])
    assert told[-1]

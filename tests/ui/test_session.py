"""A session takes frames in without holding up the loop, in order, and tells of a long list at once."""

from __future__ import annotations

import asyncio

from ktui.cluster.moment import Moment
from ktui.cluster.state import Cluster
from ktui.model.frame import Changed, Frame, Listed, Source
from ktui.ui.session import Feed, Session, Sink, Target, Travel
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


def _session() -> tuple[Session, _Feed]:
    made: list[_Feed] = []

    def make(sink: Sink, travel: Travel) -> Feed:
        made.append(_Feed(sink, travel))
        return made[0]

    return Session(Target(), make), made[0]


def _frames() -> list[Frame]:
    pods = tuple(pod(f"pod-{i}", meta_={"resourceVersion": str(i + 1)}) for i in range(COUNT))
    gone = pod("pod-7", meta_={"resourceVersion": str(COUNT + 1)})
    late = pod("pod-8", meta_={"resourceVersion": "2"})
    return [
        Listed(SOURCE, str(COUNT), pods),
        Changed(SOURCE, "DELETED", gone),
        Changed(SOURCE, "MODIFIED", late),
    ]


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


async def test_going_far_lets_others_have_their_turn_and_going_a_little_way_is_done_at_once() -> None:
    session, feed = _session()
    there = Moment()
    there.take(_frames()[0])
    feed.travel(there)
    turns = 0
    while session.take_changes() is None:
        await asyncio.sleep(0)
        turns += 1
    assert turns > 3
    there.take(_frames()[1])
    feed.travel(there)
    changes = session.take_changes()
    assert changes is not None
    assert changes.pods == {("ml", "pod-7")}
    assert session.cluster.stores["Pod"].objects == there.stores["Pod"].objects

"""What an event of a watch costs, from its line to the state: calls are counted, not time. Thousands may come in a second, so a
call more for each is a thousandth of a core or so."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import msgspec
import pytest

from ktui.kube.lines import LineSplitter
from ktui.model.decode import decode_event
from ktui.model.frame import Changed
from ktui.model.kinds import KINDS
from ktui.model.pod import Pod
from tests.ui.world import source
from tests.unit import builders as b
from tests.unit.ui.test_cost import LARGE, SMALL, World, calls_of

POD = KINDS["Pod"]
EVENTS = 100
MOST = {"restart": 105, "crash": 145, "ready": 170, "failure": 360}
"""Calls for an event of each sort, about a tenth more than there are."""


@pytest.fixture(scope="module")
def worlds() -> tuple[World, World]:
    return World(SMALL), World(LARGE)


def status(sort: str, again: bool) -> b.Document:
    """A pod that comes back and has its trouble again by turns."""
    container: b.Document = {"name": "main", "restartCount": int(again), "ready": True, "state": {}}
    found: b.Document = {"phase": "Running", "containerStatuses": [container]}
    if sort == "crash" and again:
        container["state"] = {"waiting": {"reason": "CrashLoopBackOff"}}
    if sort == "ready":
        container["ready"] = not again
        found["conditions"] = [b.condition("PodScheduled", "True"), b.condition("Ready", str(not again))]
    if sort == "failure" and again:
        found["phase"] = "Failed"
    return found


def lines(world: World, sort: str, again: bool) -> bytes:
    """One event of each of some pods, as a watch has them."""

    def written() -> Iterator[bytes]:
        for pod in list(world.cluster.all(Pod))[:EVENTS]:
            document = msgspec.to_builtins(pod)
            version = str(int(pod.metadata.resource_version) + 1)
            document["metadata"]["resourceVersion"] = version
            document["status"] = status(sort, again)
            yield msgspec.json.encode({"type": "MODIFIED", "object": document})

    return b"\n".join(written()) + b"\n"


def take(world: World, chunk: bytes) -> None:
    for line in LineSplitter().feed(chunk):
        event = decode_event(POD, "v1", line)
        assert event.object is not None
        world.give(Changed(source("Pod"), "MODIFIED", event.object))


@pytest.mark.parametrize("sort", MOST)
def test_an_event_takes_so_many_calls_whatever_the_size_of_the_cluster(sort: str, worlds: tuple[World, World]) -> None:
    found = []
    for world in worlds:
        for again in (False, True, False):  # fills the caches
            take(world, lines(world, sort, again))
            world.session.take_changes()
        version = world.cluster.stores["Pod"].dropped
        found.append(calls_of(partial(take, world, lines(world, sort, again=True))) / EVENTS)
        assert world.cluster.stores["Pod"].dropped == version, "each event was news"
        world.session.take_changes()
    small, large = found
    assert large <= small * 1.02 + 1
    assert large <= MOST[sort]
    assert large >= MOST[sort] / 2, "the bound is of another time"

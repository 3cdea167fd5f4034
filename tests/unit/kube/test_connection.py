"""One context's life: start, stop, sleep, namespaces, another cluster (fault plan W49, W52, L05)."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from ktui.kube.timers import Clock
from ktui.model.frame import StreamState
from ktui.model.kinds import KINDS
from tests.faults import Answer, Delay, Stall
from tests.unit.kube.harness import POD, View, fast, pod, rig

WATCH = f"watch {POD}"


@pytest.mark.parametrize(
    ("match", "fault", "phase"),
    [
        ("GET /version", Delay(20.0), "listing"),
        (WATCH, Delay(20.0), "listing"),
        (WATCH, Stall(), "listing"),
        (WATCH, Answer(429, b"", headers={"Retry-After": "60"}), "waiting"),
        (WATCH, Answer(500, b""), "waiting"),
        (WATCH, Answer(403, b""), "listing"),
        ("none", Stall(), "watching"),
    ],
    ids=["discovering", "opening", "listing", "told to wait", "backing off", "refused", "watching"],
)
async def test_w52_l05_stop_in_every_state_leaves_nothing(match: str, fault: Any, phase: str) -> None:
    async with rig() as r:
        before = asyncio.all_tasks()
        r.faults.script(match, fault, repeat=True)
        connection = r.connect(fast(1.0, retry_after_cap=60.0))
        await connection.start(("Pod", "Node"))
        await r.view.until(lambda: phase in r.view.phases())
        async with asyncio.timeout(10):
            await connection.stop()
        frames = len(r.view.frames)
        r.server.create("Pod", pod("after"))
        await asyncio.sleep(0.05)
        assert len(r.view.frames) == frames
        ours = {task for task in asyncio.all_tasks() - before if "ktui/kube" in str(task.get_coro())}
        assert not ours
        assert connection.transport._session is None
        assert not connection.transport._retired


async def test_w52_two_generations_do_not_mix() -> None:
    async with rig() as first, rig(pods=0) as second:
        for number in range(300):
            first.server.create("Pod", pod(f"old{number}"))
        second.server.create("Pod", pod("new"))
        old = first.connect()
        await old.start(("Pod",))
        await first.view.until(lambda: first.faults.asked(WATCH))
        await old.stop()
        seen = len(first.view.frames)
        new = second.connect(view=second.view)
        assert new.generation > old.generation
        await new.start(("Pod",))
        await second.converge()
        assert second.view.names() == {"new"}
        assert len(first.view.frames) == seen


async def test_start_again_adds_kinds_and_repeats_none() -> None:
    async with rig() as r:
        connection = await r.live()
        await connection.start(("Pod", "Node"))
        await r.view.until(lambda: r.view.phase("Node") == "watching")
        assert len(r.faults.asked(WATCH)) == 1


async def test_namespaces_and_selectors_are_asked_for() -> None:
    async with rig(pods=0) as r:
        for namespace in ("a", "b", "c"):
            r.server.create("Pod", pod("in", namespace, labels={"x": "y"}))
            r.server.create("Pod", pod("out", namespace))
        connection = r.connect()
        await connection.start(("Pod", "Node"), ("a", "b"), "x=y")
        await r.view.until(lambda: set(r.view.content()) == {("a", "in"), ("b", "in")})
        sources = {state.source for state in r.view.states()}
        assert {(source.namespace, source.selector) for source in sources} == {("a", "x=y"), ("b", "x=y")}
        assert {source.path for source in sources} == {f"/api/v1/namespaces/{each}/pods" for each in ("a", "b")}
        await r.view.until(lambda: r.view.phase("Node") == "watching")
        assert [each.path for each in r.faults.asked("watch */nodes")] == []


async def test_w49_after_a_sleep_every_connection_is_new() -> None:
    class Wall:
        ahead = 0.0

        def __call__(self) -> float:
            return asyncio.get_running_loop().time() + self.ahead

    wall = Wall()
    async with rig() as r:
        await r.live(clock=Clock(wall=wall))
        wall.ahead += 7200
        await r.view.until(lambda: len(r.faults.asked(WATCH)) == 2)
        await r.converge()
        assert len(r.view.lists()) == 1
        assert "waiting" not in r.view.phases()


async def test_another_cluster_at_the_address_is_read_again() -> None:
    async with rig() as r:
        r.server.create("Namespace", {"metadata": {"name": "kube-system"}})
        connection = await r.live()
        await r.view.until(lambda: connection.cluster_uid)
        first = connection.cluster_uid
        kind = KINDS["Namespace"]
        r.server.registry.delete(kind, ("", "kube-system"))
        r.server.create("Namespace", {"metadata": {"name": "kube-system"}})
        connection.retry_now()
        await r.view.until(lambda: connection.cluster_uid != first)
        await r.view.until(lambda: [listed.epoch for listed in r.view.lists()] == [0, 1])


async def test_w14_many_streams_find_one_new_epoch() -> None:
    kinds = ("Pod", "Node", "Job", "Deployment", "ResourceClaim", "DeviceClass", "Namespace")
    async with rig() as r:
        connection = await r.live(kinds=kinds)
        await r.server.stop()
        r.server.database.revision = 2  # etcd was restored from a backup
        r.server.database.compact()
        await r.server.start()
        await r.view.until(lambda: all(len(r.view.lists(kind)) == 2 for kind in kinds))
        await r.view.until(lambda: all(r.view.phase(kind) == "watching" for kind in kinds))
        assert {listed.epoch for kind in kinds for listed in r.view.lists(kind)[1:]} == {1}
        assert connection._host.epoch == 1


async def test_discovery_does_not_hurry_when_a_web_page_follows_an_overload() -> None:
    async with rig() as r:
        page = Answer(200, "<html>", "text/html")
        for path in ("/version", "/api", "/apis"):
            r.faults.script(f"GET {path}", Answer(429, "busy", headers={"Retry-After": "1"}), page, repeat=True)
        connection = r.connect(fast(1.0, retry_after_cap=0.01))
        await connection.start(("Pod",))
        await r.view.until(lambda: "web page" in r.view.states()[-1].message)
        waiting = r.view.states()[-1]
        assert waiting.phase == "waiting"
        assert waiting.until is not None
        await asyncio.sleep(0.3)
        assert len(r.faults.journal) <= 12  # the first pause takes 0.8 s at least


async def test_new_credentials_move_streams_without_a_gap() -> None:
    async with rig() as r:
        await r.live()
        r.credentials.generation += 1
        for number in itertools.count():
            r.server.create("Pod", pod(f"g{number}"))
            await r.converge()
            if len(r.faults.asked(WATCH)) > 1:
                break
        assert len(r.view.lists()) == 1
        assert "waiting" not in r.view.phases()


async def test_a_defect_of_the_sink_does_not_kill_a_stream() -> None:
    """Even when telling a state fails: the watcher is started again."""
    async with rig() as r:
        broken = 1

        class Sink(View):
            def __call__(self, frame: Any) -> None:
                nonlocal broken
                if isinstance(frame, StreamState) and frame.phase == "waiting" and broken:
                    broken -= 1
                    raise RuntimeError
                super().__call__(frame)

        r.view = Sink()
        r.faults.script(WATCH, Answer(500, b""))
        await r.connect().start(("Pod",))
        await r.converge()
        assert broken == 0


async def test_the_loop_stays_responsive_during_a_large_list() -> None:
    """Cost is bounded by slices: a neighbour's turn comes while 5,000 pods are decoded."""
    async with rig(pods=0) as r:
        for number in range(5_000):
            r.server.create("Pod", pod(f"p{number:05}"))
        turns: list[int] = []

        async def neighbour() -> None:
            while True:
                turns.append(len(r.view.lists()))
                await asyncio.sleep(0)

        task = asyncio.create_task(neighbour())
        await r.live()
        task.cancel()
        assert turns.count(0) > 20
        assert len(r.view.names()) == 5_000

"""What follows a list, and how it is taken up again (fault plan W07 to W12, W17, W19, W21, W22, W24, W25)."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web

from ktui.demo.reads import ReadTimers
from ktui.kube.timers import Span
from ktui.model.frame import Changed
from tests.faults import Answer, Cut, Fault, Rewrite, Stall, Stream, bookmark, error_line, line, status_body
from tests.unit.kube.harness import POD, Rig, fast, pod, rig

WATCH = f"watch {POD}"
LIST = f"list {POD}"


def _obj(name: str, version: str, **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ml", "uid": f"uid-{name}", "resourceVersion": version, **metadata}}


async def _reconnects(r: Rig, count: int) -> None:
    await r.view.until(lambda: len(r.faults.asked(WATCH)) >= count)


async def test_w07_clean_ends_cost_one_reconnect_and_show_nothing() -> None:
    # Real servers take whole seconds; a script ends the streams sooner.
    async with rig() as r:
        await r.live()
        r.faults.script(WATCH, *(Rewrite(bytes) for _ in range(100)))
        for number in range(5):
            for watcher in r.connections[0]._watchers.values():
                watcher.reset()
            await _reconnects(r, number + 2)
            r.server.create("Pod", pod(f"extra{number}"))
            await r.converge()
        assert len(r.view.lists()) == 1
        assert len(r.faults.asked(WATCH)) == 6
        assert set(r.view.phases()) == {"listing", "watching"}
        assert all("sendInitialEvents" not in each.query for each in r.faults.asked(WATCH)[1:])


async def test_w07_the_servers_time_out_is_no_failure() -> None:
    async with rig() as r:
        await r.live(fast(server_timeout=Span(1.0, 1.0)))
        await _reconnects(r, 3)
        r.server.create("Pod", pod("late"))
        await r.converge()
        assert len(r.view.lists()) == 1
        assert "waiting" not in r.view.phases()


@pytest.mark.parametrize("last", [[], [bookmark("4")]], ids=["nothing", "a bookmark"])
async def test_w08_a_server_that_closes_at_once_gets_few_requests(last: list[bytes]) -> None:
    """Sixty seconds, at a hundredth: the doubling of the wait is what keeps them few."""
    async with rig() as r:
        r.faults.script(WATCH, Stream(last), repeat=True)
        connection = r.connect(fast(short_watch=60.0))
        await connection.start(("Pod",))
        await asyncio.sleep(0.6)
        asked = r.faults.asked(WATCH)
        assert len(asked) <= 10
        assert len(r.faults.journal) <= 20


async def test_w08_three_short_watches_lead_to_a_list() -> None:
    async with rig() as r:
        await r.live(fast(short_watch=60.0))
        known = r.faults.asked(WATCH)[-1]
        assert "sendInitialEvents" in known.query
        r.faults.script(WATCH, Stream([]), Stream([]), Stream([]))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.view.lists()) == 2)
        assert ["resourceVersion" in each.query for each in r.faults.asked(WATCH)[1:]] == [True, True, True, False]
        await r.converge()


async def test_w09_an_expired_version_in_the_stream_leads_to_exactly_one_list() -> None:
    async with rig() as r:
        await r.live()
        before = r.view.stores["Pod"].objects[("ml", "p2")]
        r.faults.script(WATCH, Stream([error_line(410, "Expired", "too old resource version: 1 (2)")]))
        r.delete("p0")
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        r.server.create("Pod", pod("p9"))
        await r.view.until(lambda: len(r.view.lists()) == 2)
        await r.converge()
        assert r.view.names() == {"p1", "p2", "p9"}
        assert len(r.view.lists()) == 2
        assert r.view.stores["Pod"].objects[("ml", "p2")] is before
        assert "resyncing" in {state.message for state in r.view.states()}


@pytest.mark.parametrize("body", [status_body(410, "Gone"), b"the version is gone", b""], ids=["json", "text", "empty"])
async def test_w10_http_410_is_the_same(body: bytes) -> None:
    async with rig() as r:
        await r.live()
        r.faults.script(WATCH, Answer(410, body))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.view.lists()) == 2)
        await r.converge()
        r.server.create("Pod", pod("after"))
        await r.converge()
        assert len(r.view.lists()) == 2


async def test_w10_a_server_that_always_answers_410_is_not_hammered() -> None:
    async with rig() as r:
        r.faults.script(WATCH, Answer(410, b""), repeat=True)
        connection = r.connect(fast())
        await connection.start(("Pod",))
        await asyncio.sleep(0.6)
        assert len(r.faults.asked(WATCH)) <= 12
        assert connection


@pytest.mark.parametrize(
    "event",
    [
        error_line(500, "InternalError"),
        line("ERROR", {"kind": "Status"}),
        line("ERROR", None),
        line("ERROR", _obj("not-a-status", "99999")),
        line("added", _obj("lower", "99999")),
        line("FOO", _obj("foo", "99999")),
        b"{\n",
        b'{"type":"ADDED","object":[]}\n',
        b'{"type":"ADDED","object":{"metadata":{"name":"\\ud800"}}' + b"\n",
    ],
    ids=["500", "no code", "null", "a pod", "lower case", "unknown type", "half a line", "a list", "surrogate"],
)
async def test_w11_w25_what_is_no_event_is_not_stored_and_moves_no_version(event: bytes) -> None:
    async with rig() as r:
        await r.live()
        version = str(r.server.database.revision)
        r.faults.script(WATCH, Stream([event], hold=True))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await _reconnects(r, 3)
        assert r.faults.asked(WATCH)[2].query["resourceVersion"] == version
        r.server.create("Pod", pod("good"))
        await r.converge()
        assert r.view.names() == {"p0", "p1", "p2", "good"}
        assert len(r.view.lists()) == 1


async def test_w11_the_same_bad_event_twice_leads_around_it_by_a_list_in_pages() -> None:
    async with rig() as r:
        await r.live()
        bad = Stream([error_line(500, "InternalError", "unable to decode an event")], hold=True)
        r.faults.script(WATCH, bad, bad)
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.view.lists()) == 2)
        await r.converge()
        assert [each.query.get("limit") for each in r.faults.asked(LIST)].count("500") == 1


@pytest.mark.parametrize("refusals", [2, 3])
async def test_w12_a_server_behind_the_version_is_asked_again(refusals: int) -> None:
    async with rig() as r:
        r.faults.script(WATCH, Answer(422, status_body(422, "Invalid")))
        large = status_body(504, "Timeout", "Too large resource version: 9, current: 5", retryAfterSeconds=1)
        r.faults.script(LIST, *(Answer(504, large, headers={"Retry-After": "1"}) for _ in range(refusals)))
        await r.live()
        waits = [state.message for state in r.view.states() if state.phase == "waiting"]
        assert len(waits) == refusals
        assert set(waits[:2]) == {"the server is behind the version already seen"}


async def test_w12_in_the_stream_the_third_time_leads_to_a_list() -> None:
    async with rig() as r:
        await r.live()
        large = error_line(
            504, "Timeout", "Too large resource version: 9, current: 5", causes=[{"reason": "ResourceVersionTooLarge"}]
        )
        r.faults.script(WATCH, *(Stream([large]) for _ in range(3)))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.view.lists()) == 2)
        assert ["resourceVersion" in each.query for each in r.faults.asked(WATCH)[1:5]] == [True, True, True, False]


async def test_w13_w14_a_server_whose_state_went_back_is_noticed_at_the_next_connection() -> None:
    async with rig(pods=3) as r:
        await r.live(kinds=("Pod", "Node"))
        r.faults.script(WATCH, Stream([bookmark("5000")], hold=True))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: r.connections[0]._watchers[("Pod", "", "")].position.resource_version == "5000")
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: [listed.epoch for listed in r.view.lists()] == [0, 1])
        await r.view.until(lambda: [listed.epoch for listed in r.view.lists("Node")] == [0, 1])
        assert any("went back in time" in state.message for state in r.view.states())
        r.server.create("Pod", pod("new"))
        await r.converge()


@dataclass
class Held(Fault):
    """No status line before somebody says so."""

    go: asyncio.Event

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        await self.go.wait()
        return None


@pytest.mark.parametrize("packed", [True, False], ids=["after a compressed list", "after a cut"])
async def test_w14_a_reset_while_a_watch_is_opened_is_not_forgotten(packed: bool) -> None:
    """Whoever finds that the server went back in time tells all others, of whom some may be between two connections: a watch
    from a version of the time before would be silent."""
    async with rig() as r:
        go = asyncio.Event()
        listed = [bookmark(str(r.server.database.revision), ends=True)]
        r.faults.script(WATCH, Stream(listed, hold=packed, gzip_members=packed), Held(go))
        connection = r.connect(fast(short_watch=0.0))
        await connection.start(("Pod",))
        await _reconnects(r, 2)
        for watcher in connection._watchers.values():
            watcher.reset()
        go.set()
        await _reconnects(r, 3)
        await r.view.until(lambda: r.view.phase() == "watching")
        r.server.create("Pod", pod("after"))
        await r.view.until(lambda: "after" in r.view.names())
        assert len(r.view.lists()) == 1
        assert "waiting" not in r.view.phases()


async def test_w17_a_restarted_server_costs_one_list_a_stream() -> None:
    kinds = ("Pod", "Node", "Job", "ResourceClaim", "DeviceClass", "Namespace")
    async with rig() as r:
        await r.live(kinds=kinds)
        rows = r.view.names()
        await r.server.stop()
        await r.view.until(lambda: "waiting" in r.view.phases())
        assert r.view.names() == rows
        await r.server.start()
        r.server.create("Pod", pod("after"))
        await r.view.until(lambda: all(len(r.view.lists(kind)) >= 2 for kind in kinds if kind == "Pod"))
        await r.converge()
        await r.view.until(lambda: all(r.view.phase(kind) == "watching" for kind in kinds))
        assert all(len(r.view.lists(kind)) <= 2 for kind in kinds)
        assert not [t for t in r.view.stores["Pod"].tombstones.values() if t.seen]


async def test_w19_a_silent_stream_is_quiet_then_replaced() -> None:
    """Half-open: the connection is there, nothing comes. /version still answers, so only the deadline ends it."""
    async with rig() as r:
        await r.live(fast(quiet=0.4, idle=Span(1.0, 1.2)))
        r.faults.script(WATCH, Stall())
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await _reconnects(r, 2)
        r.server.create("Pod", pod("unheard"))
        await _reconnects(r, 3)
        await r.converge()
        assert "quiet" in r.view.phases()
        assert len(r.view.lists()) == 1
        assert r.faults.asked("GET /version")[1:]


async def test_w19_a_dead_host_is_found_by_the_probe() -> None:
    async with rig() as r:
        await r.live(fast(quiet=0.3))
        r.faults.script(WATCH, Stall())
        r.faults.script("GET /version", Answer(200, "<html>", "text/html"))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await _reconnects(r, 3)
        assert r.faults.asked("GET /version")


async def test_w21_gzip_members_that_nobody_asked_for_are_decoded() -> None:
    """After a list, which may be compressed, comes a watch that asks for no compression; here it gets it."""
    versions = [str(version) for version in range(6, 40)]
    async with rig(pods=0) as r:
        listed = [line("ADDED", _obj("a", "3")), bookmark("5", ends=True), line("MODIFIED", _obj("a", "6"))]
        changes = [line("MODIFIED", _obj("a", version)) for version in versions]
        streams = (Stream(lines, hold=True, gzip_members=True) for lines in (listed, changes))
        r.faults.script(WATCH, *streams)
        await r.live()
        await r.view.until(lambda: r.view.content() == {("ml", "a"): "39"})
        assert [f.object.metadata.resource_version for f in r.view.frames if isinstance(f, Changed)] == versions


async def test_w22_every_watch_asks_for_what_it_needs() -> None:
    kinds = ("Pod", "Node", "Job", "ResourceClaim", "DeviceClass", "Namespace", "Event")
    async with rig() as r:
        await r.live(fast(server_timeout=Span(240.0, 360.0)), kinds=kinds)
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.faults.asked("watch *")) >= 2 * len(kinds))
        watches = r.faults.asked("watch *")
        for each in watches:
            lists = "sendInitialEvents" in each.query
            assert each.headers["Accept-Encoding"] == ("gzip" if lists else "identity")
            assert each.query["allowWatchBookmarks"] == "true"
            assert 240 <= int(each.query["timeoutSeconds"]) <= 360
            version = each.query.get("resourceVersion", "")
            assert version not in ("", "0") or lists
            assert each.headers["User-Agent"].startswith("ktui/")
        assert len({each.query["timeoutSeconds"] for each in watches}) > 1


@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
async def test_a_cut_inside_a_line_loses_and_repeats_nothing(reset: bool) -> None:
    async with rig() as r:
        await r.live()
        r.faults.script(WATCH, *(Cut(450, reset) for _ in range(3)))
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await _reconnects(r, 2)
        for number in range(12):
            r.server.create("Pod", pod(f"n{number}"))
            await asyncio.sleep(0.005)
        await r.converge()
        changed = [f.object.name for f in r.view.frames if isinstance(f, Changed)]
        assert len(changed) == len(set(changed)) == 12
        assert len(r.view.lists()) == 1


async def test_a_bookmark_moves_the_version() -> None:
    async with rig(timers=ReadTimers(bookmark=0.05)) as r:
        await r.live()
        r.server.create("Node", {"metadata": {"name": "n"}})
        watcher = r.connections[0]._watchers[("Pod", "", "")]
        await r.view.until(lambda: watcher.position.resource_version == str(r.server.database.revision))


async def test_a_sink_that_fails_gets_the_event_again() -> None:
    """R2 and R6: the version is remembered only after the event was handed on; the stream outlives the failure."""
    async with rig() as r:
        failures = 1

        def sink(frame: Any) -> None:
            nonlocal failures
            if isinstance(frame, Changed) and frame.object.name == "poison" and failures:
                failures -= 1
                raise RuntimeError("token=hunter2")
            r.view(frame)

        connection = r.connect(view=sink)  # type: ignore[arg-type]
        await connection.start(("Pod",))
        await r.view.until(lambda: r.view.phase() == "watching")
        r.server.create("Pod", pod("poison"))
        await r.converge()
        assert failures == 0
        assert len(r.view.lists()) == 1
        messages = [state.message for state in r.view.states()]
        assert "internal error (RuntimeError), trying again" in messages
        assert not any("hunter2" in message for message in messages)

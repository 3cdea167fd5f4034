"""First lists: streaming, refused, cut, in pages (fault plan W01 to W06, W54, W55)."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from aiohttp import web

from tests.faults import Answer, Chunks, Cut, Rewrite, Stream, bookmark, line, status_body
from tests.unit.kube.harness import POD, fast, pod, rig

WATCH = f"watch {POD}"
LIST = f"list {POD}"


async def test_w01_nothing_is_synced_before_the_closing_bookmark() -> None:
    async with rig() as r:
        await r.live()
        (listed,) = r.view.lists()
        assert {obj.name for obj in listed.items} == {"p0", "p1", "p2"}
        assert listed.resource_version == str(r.server.database.revision)
        first = r.view.frames.index(listed)
        assert {frame.phase for frame in r.view.states()[: first + 1] if frame in r.view.frames[:first]} == {"listing"}
        r.update("p1", nodeName="n2")
        r.server.create("Pod", pod("new"))
        r.delete("p0")
        await r.converge()
        assert r.view.names() == {"p1", "p2", "new"}
        assert len(r.view.lists()) == 1
        assert not r.faults.asked(LIST)


async def test_w01_versions_of_initial_events_are_not_remembered() -> None:
    """They come in any order: going on from the last one would miss changes or repeat them for ever."""
    async with rig(pods=0) as r:
        old = {"metadata": {"name": "a", "namespace": "ml", "uid": "u", "resourceVersion": "900"}}
        r.faults.script(WATCH, Stream([line("ADDED", old), bookmark("700", ends=True)]))
        await r.live()
        await r.view.until(lambda: len(r.faults.asked(WATCH)) > 1 or r.view.lists()[1:])
        assert r.view.lists()[0].resource_version == "700"


async def test_w01_events_in_the_same_piece_as_the_bookmark_are_not_lost() -> None:
    async with rig(pods=0) as r:
        first = {"metadata": {"name": "a", "namespace": "ml", "uid": "u", "resourceVersion": "5"}}
        second = {"metadata": {"name": "a", "namespace": "ml", "uid": "u", "resourceVersion": "9"}}
        lines = [line("ADDED", first), bookmark("7", ends=True), line("MODIFIED", second)]
        r.faults.script(WATCH, Stream(lines, hold=True, together=True))
        await r.live()
        await r.view.until(lambda: r.view.content() == {("ml", "a"): "9"})


async def test_w04_a_clean_end_before_the_bookmark_is_no_list() -> None:
    async with rig() as r:
        r.faults.script(WATCH, Stream([line("ADDED", {"metadata": {"name": "a", "namespace": "ml", "uid": "u"}})]))
        await r.live()
        assert [len(listed.items) for listed in r.view.lists()] == [3]


@pytest.mark.parametrize("code", [400, 422])
async def test_w02_a_refused_streaming_list_is_not_tried_again(code: int) -> None:
    async with rig() as r:
        r.faults.script(WATCH, Answer(code, status_body(code, "Invalid")))
        await r.live()
        r.server.database.compact()
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.faults.asked(WATCH)) >= 3)
        await r.converge()
        assert [("sendInitialEvents" in each.query) for each in r.faults.asked(WATCH)].count(True) == 1
        assert "waiting" not in r.view.phases()


async def test_w02_an_error_event_before_the_bookmark_is_a_refusal_too() -> None:
    async with rig() as r:
        r.faults.script(WATCH, Stream([line("ERROR", json.loads(status_body(500, "InternalError")))]))
        await r.live()
        assert len(r.faults.asked(LIST)) >= 1
        assert r.view.names() == {"p0", "p1", "p2"}


async def test_w03_without_closing_bookmark_the_list_is_read_in_pages() -> None:
    async with rig() as r:
        r.faults.script(
            WATCH, Rewrite(lambda data: b"".join(each for each in data.splitlines(True) if b"BOOKMARK" not in each))
        )
        await r.live(fast(sync_stall=0.2))
        assert r.view.names() == {"p0", "p1", "p2"}
        assert len(r.view.lists()) == 1
        assert r.faults.asked(LIST)
        assert r.connections[0]._host.no_streaming == {POD}


@pytest.mark.parametrize("reset", [False, True], ids=["FIN", "RST"])
@pytest.mark.parametrize("after", [0, 400], ids=["before a line", "inside a line"])
async def test_w04_two_cut_streaming_lists_lead_to_pages(reset: bool, after: int) -> None:
    async with rig(pods=5) as r:
        r.faults.script(WATCH, Cut(after, reset), Cut(after, reset))
        await r.live()
        assert len(r.view.lists()) == 1
        assert len(r.view.lists()[0].items) == 5
        assert ["sendInitialEvents" in each.query for each in r.faults.asked(WATCH)][:2] == [True, True]
        assert len(r.faults.asked(LIST)) == 1


async def test_w04_a_cut_relist_keeps_the_rows() -> None:
    async with rig(pods=5) as r:
        await r.live()
        r.faults.script(WATCH, Cut(300))
        r.server.database.compact()
        r.server.create("Pod", pod("later"))
        r.server.database.compact()
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: "later" in r.view.names())
        assert all(len(listed.items) >= 5 for listed in r.view.lists())
        assert not r.view.stores["Pod"].tombstones


async def _in_pages(r: Any) -> None:
    r.faults.script(WATCH, Answer(422, status_body(422, "Invalid")))
    await r.live()


async def test_w05_pages_that_do_not_belong_together_are_read_again() -> None:
    async with rig(pods=0) as r:
        for number in range(3_340):
            r.server.create("Pod", pod(f"p{number:05}"))
        pages = Counter[str]()

        class Moved(Answer):
            async def before(self, request: web.Request) -> web.StreamResponse | None:
                pages[request.query.get("limit", "")] += 1
                if pages["500"] == 4 and not pages["1000"]:
                    return web.json_response({"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": []})
                return None

        r.faults.script(LIST, Moved(200), repeat=True)
        await _in_pages(r)
        (listed,) = r.view.lists()
        names = [obj.name for obj in listed.items]
        assert len(names) == len(set(names)) == 3_340
        assert pages == {"500": 4, "1000": 4}


async def test_w06_an_expired_token_is_not_used_and_the_third_try_is_one_request() -> None:
    async with rig(pods=0) as r:
        for number in range(1_200):
            r.server.create("Pod", pod(f"p{number:05}"))
        gone = json.loads(status_body(410, "Expired")) | {"metadata": {"continue": "INCONSISTENT"}}

        class Expire(Answer):
            async def before(self, request: web.Request) -> web.StreamResponse | None:
                return web.json_response(gone, status=410) if "continue" in request.query else None

        r.faults.script(LIST, Expire(410), repeat=True)
        await _in_pages(r)
        asked = [each.query for each in r.faults.asked(LIST)]
        assert all(query.get("continue") != "INCONSISTENT" for query in asked)
        assert [query.get("limit") for query in asked] == ["500", "500", "1000", "1000", None]
        assert asked[-1]["resourceVersion"] == "0"
        assert len(r.view.lists()[0].items) == 1_200
        assert r.view.states()[-1].message == "possibly stale until the next event"
        r.update("p00001", nodeName="n9")
        await r.converge()


@pytest.mark.parametrize("annotations", [None, {"other": "true"}, {"k8s.io/initial-events-end": "false"}])
async def test_w54_only_the_right_annotation_ends_the_initial_events(annotations: Any) -> None:
    async with rig(pods=0) as r:
        early = line("BOOKMARK", {"metadata": {"resourceVersion": "5", "annotations": annotations}})
        one = line("ADDED", {"metadata": {"name": "a", "namespace": "ml", "uid": "u", "resourceVersion": "3"}})
        r.faults.script(WATCH, Stream([early, one, bookmark("7", ends=True)], hold=True))
        await r.live()
        assert [listed.resource_version for listed in r.view.lists()] == ["7"]
        assert r.view.names() == {"a"}


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "PodList", "metadata": {"resourceVersion": "5"}},
        {"kind": "Table", "metadata": {"resourceVersion": "5"}, "rows": []},
        {"kind": "Status", "status": "Success", "metadata": {}},
        ["PodList"],
    ],
    ids=["no items", "table", "status", "a list"],
)
async def test_w55_what_is_no_list_is_an_error_never_an_empty_list(body: Any) -> None:
    async with rig() as r:
        r.faults.script(WATCH, Answer(422, status_body(422, "Invalid")))
        r.faults.script(LIST, Answer(200, json.dumps(body)), repeat=True)
        connection = r.connect()
        await connection.start(("Pod",))
        await r.view.until(lambda: "waiting" in r.view.phases())
        assert not r.view.lists()
        r.faults.clear()
        await r.converge()


async def test_w55_null_items_are_an_empty_list() -> None:
    async with rig(pods=0) as r:
        r.faults.script(WATCH, Answer(422, status_body(422, "Invalid")))
        body = {"kind": "PodList", "metadata": {"resourceVersion": "1"}, "items": None}
        r.faults.script(LIST, Answer(200, json.dumps(body)))
        await r.live()
        assert r.view.lists()[0].items == ()


async def test_w24_chunk_sizes_and_line_ends_do_not_matter() -> None:
    for size, change in ((1, bytes), (7, lambda data: data.replace(b"\n", b"\r\n\r\n")), (1 << 20, bytes)):
        async with rig(pods=0) as r:
            r.server.create("Pod", pod("ü-名前", labels={"app": "日本"}))
            r.faults.script(WATCH, Chunks(size, change), repeat=True)
            await r.live(fast(0.1))
            r.server.create("Pod", pod("second"))
            r.update("ü-名前", nodeName="ノード")
            await r.converge()
            assert r.view.names() == {"ü-名前", "second"}
            assert len(r.view.lists()) == 1


async def test_w23_a_large_event_is_taken_and_a_huge_one_noted() -> None:
    async with rig(pods=0) as r:
        large = {
            "metadata": {
                "name": "a",
                "namespace": "ml",
                "uid": "u",
                "resourceVersion": "8",
                "labels": {"l": "x" * 6_000_000},
            }
        }
        huge = line("MODIFIED", {"metadata": {"name": "a", "labels": {"l": "x" * 40_000_000}}})
        small = line("ADDED", {"metadata": {"name": "b", "namespace": "ml", "uid": "v", "resourceVersion": "9"}})
        lines = [bookmark("7", ends=True), line("ADDED", large), huge, small]
        r.faults.script(WATCH, Stream(lines, hold=True))
        await r.live()
        await r.view.until(lambda: r.view.content() == {("ml", "a"): "8", ("ml", "b"): "9"})
        await r.view.until(
            lambda: r.view.states()[-1].message == "1 event too large to show" or r.faults.asked(WATCH)[1:]
        )
        assert len(r.faults.asked(WATCH)) == 1

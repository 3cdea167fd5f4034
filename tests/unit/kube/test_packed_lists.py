"""Streaming lists that come compressed, as Kubernetes 1.37 sends them, and the watch after them, which does not.

`tests/cluster/test_gentle_real.py` has one of a real API server.
"""

from __future__ import annotations

import gzip
import json
import random
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.kube.connection import Connection
from ktui.kube.unpacking import PIECE, CannotUnpack, Members
from ktui.model.cost import Cost
from tests.faults import Answer, Stream, bookmark, line
from tests.relay import relay_to
from tests.unit.kube.harness import POD, Rig, fast, pod, rig, target

WATCH = f"watch {POD}"
PODS = 300
NOTE = {"note": "a text of the usual length that compresses as such texts do. " * 8}


def _listed(r: Rig, pods: int = PODS) -> list[bytes]:
    """The server gets so many pods; the lines of a streaming list of all it has."""
    lines = [line("ADDED", r.server.create("Pod", pod(f"p{number}", annotations=NOTE))) for number in range(pods)]
    return [*lines, bookmark(str(r.server.database.revision), ends=True)]


def _cost(connection: Connection) -> Cost:
    return next(cost for cost in connection.transport.ledger.costs() if cost.what == "watch pods")


async def test_after_a_compressed_list_the_watch_comes_as_it_is() -> None:
    async with rig(pods=0) as r:
        r.faults.script(WATCH, Stream(_listed(r), hold=True, gzip_members=True, together=True))
        await r.live()
        r.server.create("Pod", pod("new"))
        await r.converge()
        assert len(r.view.lists()) == 1
        cost = _cost(r.connections[0])
        assert (cost.requests, cost.open) == (2, 1)
        assert cost.received < cost.unpacked / 5
        asked = [(each.headers["Accept-Encoding"], "sendInitialEvents" in each.query) for each in r.faults.asked(WATCH)]
        assert asked == [("gzip", True), ("identity", False)]


async def test_what_happens_between_the_list_and_the_watch_is_not_lost() -> None:
    async with rig(pods=0) as r:
        lines = [*_listed(r, 1), line("ADDED", r.server.create("Pod", pod("between")))]
        r.faults.script(WATCH, Stream(lines, hold=True, gzip_members=True, together=True))
        await r.live()
        await r.converge()
        assert r.view.names() == {"p0", "between"}


async def test_w04_a_compressed_list_that_is_cut_is_no_list() -> None:
    async with rig(pods=0) as r:
        *objects, end = _listed(r)
        packed = gzip.compress(b"".join(objects)) + gzip.compress(end)
        cuts = (packed[: len(packed) // 2], gzip.compress(b"".join(objects)))
        r.faults.script(WATCH, *(Answer(200, cut, headers={"Content-Encoding": "gzip"}) for cut in cuts))
        await r.live()
        await r.converge()
        assert [len(listed.items) for listed in r.view.lists()] == [PODS]
        assert "waiting" in r.view.phases()


async def test_the_kubeconfig_may_forbid_it() -> None:
    async with rig() as r:
        where = replace(target(r.server.url), disable_compression=True)
        connection = Connection(where, r.credentials, r.view, environ={}, timers=fast())
        r.connections.append(connection)
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.phase() == "watching")
        assert {each.headers["Accept-Encoding"] for each in r.faults.asked(WATCH)} == {"identity"}


async def test_w42_on_a_slow_link_a_compressed_list_goes_on() -> None:
    async with rig(pods=0) as r, relay_to(urlsplit(r.server.url).port or 0, rate=20_000.0) as relay:
        lines = _listed(r)
        r.faults.script(WATCH, Stream(lines, hold=True, gzip_members=True))
        connection = Connection(
            target(f"http://127.0.0.1:{relay.port}"), r.credentials, r.view, environ={}, timers=fast(slow_link=0.05)
        )
        r.connections.append(connection)
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.phase() == "watching")
        assert r.view.names() == {f"p{number}" for number in range(PODS)}
        assert not r.faults.asked(f"list {POD}")


def _check_whole(members: list[bytes], step: int) -> None:
    """So many bytes of the packed stream come at a time."""
    packed = b"".join(map(gzip.compress, members))
    unpacked = Members()
    found: list[bytes] = []
    for start in range(0, len(packed), step):
        unpacked.feed(packed[start : start + step])
        found += iter(unpacked.take, b"")
    unpacked.finish()
    assert b"".join(found) == b"".join(members)


@given(st.lists(st.binary(max_size=400), max_size=5), st.integers(1, 50))
def test_members_come_out_whole_however_they_are_cut(members: list[bytes], step: int) -> None:
    _check_whole(members, step)


@pytest.mark.parametrize("step", [1_000, 16_384, 70_001, 10**9])
def test_members_of_all_sizes_come_out_whole(step: int) -> None:
    """Some are longer than what is looked at in one go, some much shorter, and what they hold may not be compressible."""
    chance = random.Random(37)
    members = [chance.randbytes(size) for size in (60_000, 10, 0, 16_384, 3, 200_000)]
    members += [b"x" * PIECE * 3] + [b"y"] * 500
    _check_whole(members, step)


@pytest.mark.parametrize("after", [b"{}", b"\0" * 8, b"\x1f\x8b\x08"], ids=["text", "zeros", "half a header"])
def test_what_follows_the_last_member_is_no_end(after: bytes) -> None:
    def read() -> list[bytes]:
        unpacked = Members()
        unpacked.feed(gzip.compress(b"a") + after)
        found = list(iter(unpacked.take, b""))
        unpacked.finish()
        return found

    with pytest.raises(CannotUnpack):
        read()


def test_little_that_becomes_much_comes_a_piece_at_a_time() -> None:
    body = json.dumps(["x"] * PIECE).encode() * 4
    unpacked = Members()
    unpacked.feed(gzip.compress(body))
    pieces = list(iter(unpacked.take, b""))
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) <= PIECE
    assert len(pieces) > 4

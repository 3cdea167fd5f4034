"""W42: an API server at the end of a slow line. What flows is waited for, however long it takes; what does not, is not.

The relay lets so many bytes a second through, and counts them; every time limit here is shorter than what has to come takes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import orjson
import pytest

from ktui.kube.connection import Connection
from ktui.kube.discovery import Discovery
from ktui.kube.failures import Unreachable
from ktui.kube.host import Host
from ktui.kube.timers import Timers
from ktui.model.cost import Cost
from tests.faults import Answer
from tests.relay import Relay, relay_to
from tests.unit.kube.harness import Rig, fast, pod, rig, target, transport_to, truth

PODS = 700
RATE = 100_000.0  # bytes a second
NOTE = {"note": "a text of the usual length that compresses as such texts do. " * 8}
SHORT = 0.6  # seconds; the pods alone take ten times as long


def timers(**changes: float) -> Timers:
    return fast(**({"short_get": SHORT, "page_stall": SHORT, "sync_stall": SHORT, "slow_link": 0.2} | changes))


@asynccontextmanager
async def behind_a_slow_link(rate: float | None = RATE, pods: int = PODS) -> AsyncIterator[tuple[Rig, Relay]]:
    async with rig(pods=0) as r, relay_to(urlsplit(r.server.url).port or 0, rate) as relay:
        for number in range(pods):
            r.server.create("Pod", pod(f"p{number}", annotations=NOTE))
        yield r, relay


def connect(r: Rig, relay: Relay, settings: Timers, *, compressed: bool = True) -> Connection:
    where = replace(target(f"http://127.0.0.1:{relay.port}"), disable_compression=not compressed)
    connection = Connection(where, r.credentials, r.view, environ={}, timers=settings)
    r.connections.append(connection)
    return connection


def spent(connection: Connection) -> dict[str, Cost]:
    return {cost.what: cost for cost in connection.transport.ledger.costs()}


async def test_w42_a_list_that_comes_slowly_is_read_in_compressed_pages_with_counts() -> None:
    async with behind_a_slow_link() as (r, relay):
        connection = connect(r, relay, timers())
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.phase() == "watching")
        assert r.view.content() == truth(r.server)
        assert "waiting" not in r.view.phases(), "nothing that flowed was given up"
        costs = spent(connection)
        assert costs["list pods"].requests == 2
        assert costs["list pods"].received * 5 < costs["list pods"].unpacked
        assert (500, PODS) in [state.progress for state in r.view.states()]
        assert relay.passed < costs["list pods"].unpacked / 2


async def test_w42_without_compression_it_takes_longer_than_any_limit_and_is_there_all_the_same() -> None:
    async with behind_a_slow_link(rate=5 * RATE) as (r, relay):
        connection = connect(r, relay, timers(), compressed=False)
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.phase() == "watching")
        assert r.view.content() == truth(r.server)
        assert "waiting" not in r.view.phases()
        assert "list pods" not in spent(connection), "no page is smaller than what is streamed"


async def test_a_fast_link_is_not_taken_for_a_slow_one() -> None:
    async with behind_a_slow_link(rate=None) as (r, relay):
        connection = connect(r, relay, timers(slow_link=5.0))
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.phase() == "watching")
        costs = spent(connection)
        assert "list pods" not in costs
        assert (costs["watch pods"].requests, costs["watch pods"].open) == (1, 1)


async def test_w42_what_does_not_flow_is_given_up_and_tried_again() -> None:
    async with behind_a_slow_link(rate=3 * RATE) as (r, relay):
        connection = connect(
            r, relay, timers(sync_stall=0.2, page_stall=0.2, connect=0.5, headers=0.5), compressed=False
        )
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.states() and relay.passed > 60_000)
        relay.go_deaf()
        await r.view.until(lambda: "waiting" in r.view.phases())
        assert not r.view.lists(), "half a list is none"
        relay.hear_again()
        await r.view.until(lambda: r.view.phase() == "watching")
        assert r.view.content() == truth(r.server)


async def test_w42_discovery_of_a_cluster_with_many_kinds_takes_longer_than_its_limit() -> None:
    async with behind_a_slow_link(pods=0) as (r, relay):
        many = orjson.dumps(
            {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": f"g{n}"}} for n in range(4000)]}
        )
        headers = {"Content-Type": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"}
        r.faults.script("GET /apis", Answer(200, many, headers=headers))
        assert len(many) / RATE > SHORT
        async with transport_to(f"http://127.0.0.1:{relay.port}", timers=timers()) as transport:
            served = await Discovery(transport).refresh()
            assert served.groups[""]


async def test_w42_a_discovery_that_says_nothing_is_an_error() -> None:
    async with rig() as r, relay_to(urlsplit(r.server.url).port or 0) as relay:
        relay.go_deaf()
        async with transport_to(f"http://127.0.0.1:{relay.port}", timers=timers()) as transport:
            with pytest.raises(Unreachable):
                await Discovery(transport).refresh()


async def test_while_bytes_come_nobody_asks_whether_the_server_is_alive() -> None:
    async with rig() as r, transport_to(r.server.url, timers=Timers(probe=30.0)) as transport:
        host = Host(transport)
        await transport.request("GET", "/version")
        before = transport.ledger.requests
        assert await host.alive()
        assert transport.ledger.requests == before

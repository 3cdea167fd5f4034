"""The gateway: what passes is the server's own word and is counted; a storm adds as many events as it says."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from tests.bench import gateway
from tests.bench.gateway import Counts, Gateway, Server
from tests.bench.test_storm import pods
from tests.cluster.controlplane.pki import Authority

PODS = "/api/v1/pods"
OWN = b'{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"9"}}}\n'


class Upstream:
    """An API server of one list and one watch; `asked` are the requests it got."""

    def __init__(self) -> None:
        self.asked: list[web.BaseRequest] = []
        self.go_on = asyncio.Event()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(request)
        if request.query.get("watch"):
            return await self._watch(request)
        if request.method == "POST":
            return web.Response(status=201, body=await request.read(), headers={"Retry-After": "3"})
        body = json.dumps({"metadata": {"resourceVersion": "9"}, "items": pods(50)}).encode()
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            return web.Response(body=gzip.compress(body), headers={"Content-Encoding": "gzip"})
        return web.Response(body=body)

    async def _watch(self, request: web.BaseRequest) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(OWN + OWN[:20])
        await self.go_on.wait()
        await response.write(OWN[20:])
        await asyncio.sleep(60)
        return response


class Setting:
    def __init__(self, upstream: Upstream, before: Gateway, session: aiohttp.ClientSession) -> None:
        self.upstream, self.before, self.session = upstream, before, session

    async def counts(self) -> Counts:
        return await asyncio.to_thread(self.before.counts)

    async def storm(self, rate: int) -> Counts:
        return await asyncio.to_thread(self.before.storm, rate)


@asynccontextmanager
async def setting(directory: Path) -> AsyncIterator[Setting]:
    authority = Authority(directory, "ca")
    pair = authority.serving("server", ["127.0.0.1"])
    shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    shown.load_cert_chain(pair.public, pair.private)
    upstream = Upstream()
    runner = web.ServerRunner(web.Server(upstream.answer, handler_cancellation=True), shutdown_timeout=0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=shown).start()
    url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    server = Server(url, str(pair.public), str(pair.private), str(authority.certificate), "a-token")
    trusted = ssl.create_default_context(cafile=str(authority.certificate))
    try:
        with gateway.running(server) as before:
            connector = aiohttp.TCPConnector(ssl=trusted)
            base = f"https://127.0.0.1:{before.port}"
            async with aiohttp.ClientSession(base, connector=connector, auto_decompress=False) as session:
                yield Setting(upstream, before, session)
    finally:
        await runner.cleanup()


async def test_requests_and_answers_pass_as_they_are_and_are_counted(tmp_path: Path) -> None:
    async with setting(tmp_path) as s:
        headers = {"Authorization": "Bearer own", "Accept-Encoding": "gzip"}
        async with s.session.get(f"{PODS}?fieldSelector=a%3Db&limit=500", headers=headers) as answer:
            body = await answer.read()
        assert answer.headers["Content-Encoding"] == "gzip"
        assert len(json.loads(gzip.decompress(body))["items"]) == 50
        assert s.upstream.asked[0].raw_path == f"{PODS}?fieldSelector=a%3Db&limit=500"
        assert s.upstream.asked[0].headers["Authorization"] == "Bearer own"
        assert "Content-Type" not in s.upstream.asked[0].headers
        async with s.session.post("/api/v1/reviews", json={"spec": 1}) as answer:
            assert json.loads(await answer.read()) == {"spec": 1}
            assert (answer.status, answer.headers["Retry-After"]) == (201, "3")
        assert await s.counts() == Counts(requests=2, bytes=len(body) + len(b'{"spec": 1}'), events=0)


async def test_a_storm_adds_so_many_events_a_second_between_the_servers_own_lines(tmp_path: Path) -> None:
    async with setting(tmp_path) as s, s.session.get(f"{PODS}?watch=true") as watch:
        assert await watch.content.readline() == OWN
        half = await watch.content.readexactly(20)
        assert s.upstream.asked[0].headers["Accept-Encoding"] == "identity"
        began = time.monotonic()
        await s.storm(500)
        assert (await s.counts()).events == 0  # the server is in the middle of a line
        s.upstream.go_on.set()
        assert half + await watch.content.readline() == OWN
        versions = [json.loads(await watch.content.readline())["object"]["metadata"] for _ in range(300)]
        passed = time.monotonic() - began
        assert [int(each["resourceVersion"]) for each in versions] == list(range(10, 310))
        assert passed >= 0.59  # never ahead of the rate; a busy machine may lag behind it
        stopped = await s.storm(0)
        assert stopped.events >= 300
        await asyncio.sleep(0.1)
        assert await s.counts() == stopped


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/apis/resource.k8s.io/v1/resourceclaims?watch=1", "application/json"),
        (f"{PODS}?watch=1", "application/json;as=Table;v=v1;g=meta.k8s.io"),
    ],
)
async def test_it_rains_only_on_watches_of_pods_as_they_are(tmp_path: Path, path: str, accept: str) -> None:
    async with setting(tmp_path) as s, s.session.get(path, headers={"Accept": accept}) as watch:
        s.upstream.go_on.set()
        assert [await watch.content.readline() for _ in range(2)] == [OWN, OWN]
        await s.storm(1_000)
        await asyncio.sleep(0.2)
        assert (await s.counts()).events == 0


async def test_a_token_is_not_in_what_is_shown_of_a_server() -> None:
    assert "secret" not in repr(Server("https://h", "c", "k", "a", "secret"))


async def test_a_gateway_that_has_ended_is_one_line(tmp_path: Path) -> None:
    async with setting(tmp_path) as s:
        s.before.process.kill()
        s.before.process.wait(30)
        with pytest.raises(gateway.GatewayError, match="has ended"):
            await s.counts()

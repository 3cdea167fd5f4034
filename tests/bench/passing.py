"""The process that `gateway` starts: passes requests on to an API server.

Orders and answers are lines of JSON on its standard input and output. The first order is a `Server`, its answer the port. Then
{"storm": N} asks for N events a second to each watch of all pods from now on, {} for nothing; the answers are `Counts`.
It ends when its orders do.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import asdict
from typing import Final, Self

import aiohttp
from aiohttp import web
from yarl import URL

from tests.bench.gateway import Counts, Server
from tests.bench.storm import Events, Rate

_PODS: Final = "/api/v1/pods"
_TICK: Final = 0.01  # seconds
# Each connection has its own; the body is passed on as it is, in chunks.
_OF_A_CONNECTION: Final = frozenset(("connection", "content-length", "host", "keep-alive", "transfer-encoding"))


class Passing:
    """The gateway's inside: one HTTPS server, one session to the API server."""

    def __init__(self, server: Server, session: aiohttp.ClientSession) -> None:
        self.port = 0
        self._server = server
        self._session = session
        self._requests = self._bytes = 0
        self._watches: set[_Watch] = set()
        self._events: Events | None = None
        self._raining: asyncio.Task[None] | None = None

    @classmethod
    @asynccontextmanager
    async def started(cls, server: Server) -> AsyncIterator[Self]:
        """On a free port of loopback. It shows the API server's own certificate, so that clients trust it alike."""
        shown = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        shown.load_cert_chain(server.certificate, server.key)
        trusted = ssl.create_default_context(cafile=server.authority)
        connector = aiohttp.TCPConnector(ssl=trusted, limit=0)
        unlimited = aiohttp.ClientTimeout()
        async with aiohttp.ClientSession(connector=connector, timeout=unlimited, auto_decompress=False) as session:
            passing = cls(server, session)
            runner = web.ServerRunner(web.Server(passing._pass, handler_cancellation=True), shutdown_timeout=0)
            await runner.setup()
            try:
                site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=shown)
                await site.start()
                passing.port = runner.addresses[0][1]
                yield passing
            finally:
                await passing._calm()
                await runner.cleanup()

    @property
    def counts(self) -> Counts:
        return Counts(self._requests, self._bytes, self._events.sent if self._events else 0)

    async def storm(self, a_second: int) -> None:
        """So many events a second from now on; 0 ends it."""
        await self._calm()
        if a_second:
            if self._events is None:
                self._events = await self._made()
            self._raining = asyncio.create_task(self._rain(self._events, Rate(a_second)))

    async def _calm(self) -> None:
        raining, self._raining = self._raining, None
        if raining is not None:
            raining.cancel()
            await asyncio.wait([raining])

    async def _made(self) -> Events:
        headers = {"Authorization": f"Bearer {self._server.token}", "Accept-Encoding": "identity"}
        async with self._session.get(self._server.url + _PODS, headers=headers) as answer:
            listed = json.loads(await answer.read())
        return Events(listed["items"], int(listed["metadata"]["resourceVersion"]))

    async def _rain(self, events: Events, rate: Rate) -> None:
        while True:
            await asyncio.sleep(_TICK)
            watches = tuple(self._watches)
            # Half a line of the server's own must be followed by its other half.
            if watches and all(watch.between_lines for watch in watches) and (due := rate.due()):
                piece = events.take(due)
                for watch in watches:
                    await watch.add(piece)

    async def _pass(self, request: web.BaseRequest) -> web.StreamResponse:
        self._requests += 1
        headers = _passed_on(request.headers)
        rains = _is_watch_of_pods(request)
        if rains:
            headers["Accept-Encoding"] = "identity"
        url = URL(self._server.url + request.raw_path, encoded=True)
        body = await request.read() or None  # an empty one would get a content type
        async with self._session.request(
            request.method, url, headers=headers, data=body, allow_redirects=False
        ) as answer:
            response = web.StreamResponse(
                status=answer.status, reason=answer.reason, headers=_passed_on(answer.headers)
            )
            await response.prepare(request)
            watch = _Watch(response)
            if rains and answer.ok:
                self._watches.add(watch)
            try:
                async for piece in answer.content.iter_any():
                    self._bytes += len(piece)
                    await watch.pass_on(piece)
                await response.write_eof()
            except ConnectionResetError:
                pass  # the client has what it wanted
            finally:
                self._watches.discard(watch)
        return response


class _Watch:
    """An answer under way: what the server says, and what is added."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response
        self.between_lines = True

    async def pass_on(self, piece: bytes) -> None:
        self.between_lines = piece.endswith(b"\n")
        await self._response.write(piece)

    async def add(self, piece: bytes) -> None:
        """Waits until the client has taken most of it."""
        with suppress(ConnectionResetError):  # whoever passes on notices it too
            await self._response.write(piece)


def _passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OF_A_CONNECTION}


def _is_watch_of_pods(request: web.BaseRequest) -> bool:
    """Of all pods as they are, not as rows of a table; nor a compressed list, which is left for another watch."""
    packed = "sendInitialEvents" in request.query and "gzip" in request.headers.get("Accept-Encoding", "")
    return (
        request.path == _PODS
        and request.query.get("watch") in ("1", "true")
        and "as=" not in request.headers.get("Accept", "")
        and not packed
    )


async def main() -> None:
    orders = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    server = Server(**json.loads(await orders.readline()))
    async with Passing.started(server) as passing:
        print(json.dumps({"port": passing.port}), flush=True)
        while line := await orders.readline():
            order = json.loads(line)
            if "storm" in order:
                await passing.storm(order["storm"])
            print(json.dumps(asdict(passing.counts)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())

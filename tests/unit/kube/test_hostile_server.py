"""Servers that do not speak HTTP as they should: whatever they send, a failure with one line of words comes out, soon."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest

from ktui.errors import KtuiError
from ktui.kube import listing, reviews, watch
from ktui.kube.connection import Connection
from ktui.kube.discovery import Discovery
from ktui.kube.failures import AnswerLost, UnexpectedAnswer, Unreachable
from ktui.kube.once import read_once
from ktui.kube.timers import Span, Timers
from ktui.kube.transport import Stream, Transport
from ktui.model.cost import total
from ktui.model.kinds import KINDS
from tests.faults import Answer
from tests.unit.kube.harness import StaticCredentials, fast, rig, target, transport_to

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"

BROKEN = {
    "closes in mid-body": OK + b'Content-Length: 100\r\n\r\n{"a":',
    "closes in mid-chunk": CHUNKED + b"5\r\nhel",
    "closes between chunks": CHUNKED + b"5\r\nhello\r\n",
    "a chunk without a size": CHUNKED + b"ZZZ\r\nhello\r\n",
    "a chunk of 2**80 bytes": CHUNKED + b"F" * 20 + b"\r\nhello\r\n",
    "more than was announced": OK + b'Content-Length: 2\r\n\r\n{"a":1}',
    "a negative length": OK + b"Content-Length: -2\r\n\r\n{}",
    "two lengths": OK + b"Content-Length: 2\r\nContent-Length: 7\r\n\r\n{}",
    "length and chunks": OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "another protocol": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
    "a huge header": OK + b"X-A: " + b"a" * 20_000 + b"\r\nContent-Length: 2\r\n\r\n{}",
    "headers without end": OK + b"X-A: a\r\n" * 50_000,
    "a header with a NUL": OK + b"X-A: a\0b\r\nContent-Length: 2\r\n\r\n{}",
    "no HTTP": b"SSH-2.0-OpenSSH_9.9\r\n",
    "an impossible status": b"HTTP/1.1 999999 X\r\n\r\n",
    "nothing": b"",
    "gzip that is none": OK + b"Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "deflate that is none": OK + b"Content-Encoding: deflate\r\nContent-Length: 5\r\n\r\nhello",
    "a redirect to nowhere": b"HTTP/1.1 302 Found\r\nLocation: http://[::bad\r\nContent-Length: 0\r\n\r\n",
}


@asynccontextmanager
async def _says(answer: bytes, later: bytes = b"") -> AsyncIterator[str]:
    """The URL of a server that reads one request and writes `answer`, whatever was asked; with something to say `later`, it
    leaves closing to the client."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(answer)
            await writer.drain()
            if later:
                await asyncio.sleep(0.1)
                writer.write(later)
                await reader.read()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.close()
        await server.wait_closed()


async def _ask(transport: Transport, way: str) -> None:
    if way != "watch":
        await transport.request(way, "/api/v1/pods", body=b"{}" if way == "PATCH" else None)
        return
    async with transport.stream("/api/v1/pods", {"watch": "1"}) as stream:
        await _read_on(stream)


async def _read_on(stream: Stream) -> None:
    while await stream.read():
        pass


@pytest.mark.parametrize("way", ["GET", "PATCH", "watch"])
@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN.keys())
async def test_broken_http_is_a_failure_in_one_line(answer: bytes, way: str) -> None:
    async with _says(answer) as url, transport_to(url) as transport, asyncio.timeout(20):
        with pytest.raises((AnswerLost, UnexpectedAnswer)) as caught:
            await _ask(transport, way)
        assert len(str(caught.value).splitlines()) == 1
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("garbage", [b"ZZZ\r\nhello\r\n", b"F" * 20 + b"\r\n", b"5\r\nhelloXX"], ids=repr)
async def test_a_watch_notices_garbage_between_its_chunks(garbage: bytes) -> None:
    """The server leaves the connection open, so nothing else would tell."""
    async with (
        _says(CHUNKED + b"3\r\n{}\n\r\n", garbage) as url,
        transport_to(url) as transport,
        asyncio.timeout(20),
        transport.stream("/api/v1/pods", {"watch": "1"}) as stream,
    ):
        assert await stream.read() == b"{}\n"
        with pytest.raises(AnswerLost):
            await _read_on(stream)


@pytest.mark.parametrize("way", ["GET", "PATCH"])
async def test_early_hints_are_passed_over(way: str) -> None:
    hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
    async with _says(hints + OK + b"Content-Length: 2\r\n\r\n{}") as url, transport_to(url) as transport:
        assert (await transport.request(way, "/version", body=b"{}")).body == b"{}"


async def test_a_gzip_bomb_is_not_unpacked_to_its_end() -> None:
    bomb = gzip.compress(bytes(64 * 2**20))
    head = OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(bomb)
    async with _says(head + bomb) as url, transport_to(url) as transport:
        with pytest.raises(UnexpectedAnswer, match="more than 1048576 bytes"):
            await transport.request("GET", "/version", limit=2**20)
        assert total(transport.ledger.costs()).unpacked <= 2**20


@pytest.mark.parametrize(
    "body",
    ["[" * 100_000, '{"metadata": ' * 100_000, '{"x": ' + "[" * 100_000, b"\xff", "null"],
    ids=["lists", "mappings", "an unknown field", "no text", "null"],
)
async def test_no_question_ends_in_anything_but_a_failure_with_words(body: str | bytes) -> None:
    """Brackets without end are a RecursionError to the decoder."""
    pods = KINDS["Pod"]
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("*", Answer(200, body), repeat=True)
        questions: list[Callable[[], Awaitable[object]]] = [
            Discovery(transport).refresh,
            lambda: reviews.own_name(transport),
            lambda: reviews.allowed(transport, "list", pods),
            lambda: read_once(transport, ("Pod",), "", lambda _: None),
        ]
        for ask in questions:
            with pytest.raises(UnexpectedAnswer):
                await ask()


async def test_a_streaming_list_without_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (listing, watch):
        monkeypatch.setattr(module, "MAX_OBJECTS", 5)
    async with rig(pods=10) as r:
        connection = r.connect()
        await connection.start(("Pod",))
        await r.view.until(lambda: r.view.phase() == "waiting")
        assert r.view.states()[-1].message == "more than 5 pods: choose a namespace"
        assert not r.view.lists()


async def test_a_strange_kube_system_does_not_end_discovery() -> None:
    async with rig() as r:
        r.faults.script("GET /api/v1/namespaces/kube-system", Answer(200, "[" * 100_000), repeat=True)
        connection = await r.live(fast(rediscover=Span(0.01, 0.02)))
        before = len(r.faults.asked("GET /version"))
        await r.view.until(lambda: len(r.faults.asked("GET /version")) > before + 2)
        assert connection.cluster_uid == ""


async def test_a_defect_in_a_chore_does_not_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_: Connection) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(Connection, "_check_identity", broken)
    async with rig() as r:
        await r.live(fast(backoff_cap=0.01))
        await r.view.until(lambda: len(r.faults.asked("GET /version")) > 3)


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..b.example"])
@pytest.mark.parametrize("method", ["GET", "PATCH"])
async def test_what_can_be_no_name_is_not_looked_up(host: str, method: str) -> None:
    async with transport_to(f"http://{host}") as transport:
        with pytest.raises(Unreachable, match=rf"^the name {host} cannot be resolved$"):
            await transport.request(method, "/version")


async def test_a_closed_transport_opens_nothing_even_when_it_was_just_changing_sessions() -> None:
    credentials = StaticCredentials()
    async with _says(OK + b"Content-Length: 2\r\nConnection: close\r\n\r\n{}") as url:
        transport = Transport(target(url), credentials, read_only=True, environ={}, timers=Timers())
        await transport.request("GET", "/version")
        assert transport._session is not None
        closing, go_on = asyncio.Event(), asyncio.Event()
        close_now = transport._session.http.close

        async def close_slowly() -> None:
            closing.set()
            await go_on.wait()
            await close_now()

        transport._session.http.close = close_slowly  # type: ignore[method-assign]
        credentials.generation += 1
        late = asyncio.create_task(transport.request("GET", "/version"))
        await closing.wait()
        ended = asyncio.create_task(transport.close())
        await asyncio.sleep(0)
        go_on.set()
        with pytest.raises(KtuiError, match="this connection is closed"):
            await late
        await ended
        assert transport._session is None

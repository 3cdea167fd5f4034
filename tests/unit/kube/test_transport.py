"""The one session to a cluster: what leaves, what is believed, what a failure is called."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
import trustme

from ktui.demo.access import User
from ktui.errors import KtuiError
from ktui.kube.failures import AnswerLost, ApiError, HeadersLate, TlsProblem, UnexpectedAnswer, Unreachable
from ktui.kube.login import NeedsLogin
from ktui.kube.target import Target, TlsSettings
from ktui.kube.timers import Timers
from ktui.kube.transport import Transport, check_aiohttp
from tests.faults import Answer, Delay, Drop, Fault, Stall
from tests.unit.kube.harness import StaticCredentials, pod, rig, transport_to

_WATCH = ("/api/v1/pods", {"watch": "1", "resourceVersion": "1"})


@pytest.mark.parametrize("version", ["3.9.5", "3.13.5", "2.0", "3.13.0rc1"])
def test_w21_l08_an_aiohttp_that_loses_events_is_refused(version: str) -> None:
    with pytest.raises(KtuiError, match=rf"aiohttp {version} is too old: .* loses watch events"):
        check_aiohttp(version)


@pytest.mark.parametrize("version", [aiohttp.__version__, "3.14.0", "3.15.1", "4.0.0a1"])
def test_w21_newer_ones_are_accepted(version: str) -> None:
    check_aiohttp(version)


async def test_requests_and_bytes_are_counted() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        answer = await transport.request("GET", "/version")
        assert transport.ledger.requests == 1
        assert transport.ledger.received == len(answer.body)


async def test_every_request_says_who_it_is_and_carries_the_credentials() -> None:
    async with (
        rig(tokens={"t": User("u")}) as r,
        transport_to(r.server.url, credentials=StaticCredentials("t")) as transport,
    ):
        await transport.request("GET", "/version")
        async with transport.stream("/api/v1/pods", {"watch": "1"}):
            pass
        for asked in r.faults.journal:
            assert asked.headers["User-Agent"].startswith("ktui/")
            assert asked.headers["Authorization"] == "Bearer t"
            assert "Cookie" not in asked.headers
            assert asked.headers["Accept-Encoding"] == "identity"


async def test_cookies_are_not_kept() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /version", Answer(200, b"{}", headers={"Set-Cookie": "session=stolen"}))
        await transport.request("GET", "/version")
        await transport.request("GET", "/version")
        assert "Cookie" not in r.faults.journal[-1].headers


async def test_netrc_and_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with rig() as r, transport_to(r.server.url) as transport:
        await transport.request("GET", "/version")
        assert "Authorization" not in r.faults.journal[-1].headers


@pytest.mark.parametrize("code", [301, 302, 307, 308])
async def test_w45_redirects_are_not_followed(code: int) -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /version", Answer(code, b"", headers={"Location": "/readyz"}))
        with pytest.raises(
            UnexpectedAnswer, match=r"^unexpected answer from host 127\.0\.0\.1:\d+: it redirects to /readyz"
        ):
            await transport.request("GET", "/version")
        assert len(r.faults.journal) == 1


async def test_a_refusal_has_its_parts() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        with pytest.raises(ApiError) as caught:
            await transport.request("GET", "/api/v1/namespaces/ml/pods/nobody")
        assert (caught.value.status, caught.value.reason) == (404, "NotFound")
        assert str(caught.value) == '404 NotFound: pods "nobody" not found'


async def test_messages_are_cut_and_hold_no_secret() -> None:
    async with rig() as r, transport_to(r.server.url, credentials=StaticCredentials("hunter2")) as transport:
        r.faults.script("GET *", Answer(500, f"Bearer hunter2 \x1b[2J\n{'x' * 10_000}", "text/plain"))
        with pytest.raises(ApiError) as caught:
            await transport.request("GET", "/version")
        text = str(caught.value)
        assert "hunter2" not in text
        assert text.isprintable()
        assert len(text) <= 320


async def test_an_answer_without_end_is_given_up() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET *", Answer(200, b"x" * 100_000))
        with pytest.raises(UnexpectedAnswer, match="more than 1000 bytes"):
            await transport.request("GET", "/version", limit=1000)


async def test_a_silent_server_is_given_up() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET *", Delay(20.0), repeat=True)
        with pytest.raises(Unreachable, match="did not answer in time"):
            await transport.request("GET", "/version", timeout=0.1)
        with pytest.raises(Unreachable, match="did not answer in time"):
            await transport.request("GET", "/version", stall=0.1)


async def test_w57_a_watch_without_headers_is_given_up() -> None:
    async with rig() as r, transport_to(r.server.url, timers=Timers(headers=0.1)) as transport:
        r.faults.script("watch *", Delay(20.0))
        with pytest.raises(HeadersLate):
            async with transport.stream("/api/v1/pods", {"watch": "1"}):
                pass


async def test_a_slow_sign_in_is_no_slow_server() -> None:
    class Slow(StaticCredentials):
        async def headers(self) -> Mapping[str, str]:
            await asyncio.sleep(0.3)
            return {}

    timers = Timers(headers=0.15)
    async with (
        rig() as r,
        transport_to(r.server.url, timers=timers, credentials=Slow()) as transport,
        transport.stream(*_WATCH) as stream,
    ):
        assert not stream.outdated


@pytest.mark.parametrize(
    ("location", "words"),
    [("https://sso.example.com/x?ticket=secret", "sso.example.com"), ("", "nowhere"), ("http://[", "no valid address")],
)
async def test_w45_a_redirect_is_told_without_its_secrets(location: str, words: str) -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("GET /version", Answer(302, b"", headers={"Location": location}))
        with pytest.raises(UnexpectedAnswer) as caught:
            await transport.request("GET", "/version")
        assert f"it redirects to {words} (" in str(caught.value)


async def test_nobody_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with transport_to(f"http://127.0.0.1:{port}") as transport:
        with pytest.raises(Unreachable, match=rf"^127\.0\.0\.1:{port} cannot be reached"):
            await transport.request("GET", "/version")


@pytest.mark.parametrize("method", ["DELETE", "PUT", "PATCH", "POST"])
async def test_w58_a_write_is_never_sent_twice(method: str) -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        await transport.request("GET", "/version")
        path = "/api/v1/namespaces/ml/pods/p0"
        r.faults.script(f"{method} {path}", Drop())
        with pytest.raises(AnswerLost, match="may have been carried out"):
            await transport.request(method, path, body=b"{}")
        assert len(r.faults.asked(f"{method} {path}")) == 1


@pytest.mark.parametrize("fault", [Drop(reset=True), Delay(20.0)], ids=["reset", "no answer"])
async def test_a10_an_answer_that_is_lost_says_that_the_write_may_have_happened(fault: Fault) -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        path = "/api/v1/namespaces/ml/pods/p0"
        r.faults.script(f"DELETE {path}", fault, repeat=True)
        with pytest.raises(AnswerLost, match="may have been carried out"):
            await transport.request("DELETE", path, timeout=0.5)
        assert len(r.faults.asked(f"DELETE {path}")) == 1


async def test_a10_a_write_that_was_never_sent_says_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    async with transport_to(f"http://127.0.0.1:{port}") as transport:
        with pytest.raises(Unreachable) as caught:
            await transport.request("DELETE", "/api/v1/namespaces/ml/pods/p0")
        assert not isinstance(caught.value, AnswerLost)


async def test_w58_a_read_is_sent_again_on_a_closed_connection() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        await transport.request("GET", "/version")
        r.faults.script("GET /readyz", Drop())
        await transport.request("GET", "/readyz")
        assert len(r.faults.asked("GET /readyz")) == 2


async def test_w33_a_401_is_cured_once() -> None:
    async with rig(tokens={"new": User("u")}) as r:
        credentials = StaticCredentials("old")
        credentials.renewals = ["new"]
        async with transport_to(r.server.url, credentials=credentials) as transport:
            await transport.request("GET", "/version")
            assert [each.headers["Authorization"] for each in r.faults.journal] == ["Bearer old", "Bearer new"]


async def test_w34_a_401_that_cannot_be_cured() -> None:
    async with rig(tokens={"other": User("u")}) as r:
        credentials = StaticCredentials("old")
        credentials.renewals = ["worse"]
        async with transport_to(r.server.url, credentials=credentials) as transport:
            with pytest.raises(ApiError) as caught:
                await transport.request("GET", "/version")
            assert caught.value.status == 401
            with pytest.raises(NeedsLogin):
                await transport.request("GET", "/version")


async def test_new_credentials_get_a_new_session_and_old_streams_end_in_peace() -> None:
    async with rig() as r:
        credentials = StaticCredentials()
        async with transport_to(r.server.url, credentials=credentials) as transport:
            async with transport.stream("/api/v1/pods", {"watch": "1", "allowWatchBookmarks": "true"}) as stream:
                before = stream.outdated
                credentials.generation += 1
                assert (before, stream.outdated) == (False, True)
                await transport.request("GET", "/version")
                r.server.create("Pod", pod("seen"))
                received = b""
                while b'"seen"' not in received:
                    received += await stream.read()
            assert len(transport._retired) == 0


async def test_the_socket_notices_a_dead_peer() -> None:
    async with rig() as r, transport_to(r.server.url) as transport, transport.stream(*_WATCH) as stream:
        connection = stream._response.connection
        assert connection is not None
        assert connection.transport is not None
        client = connection.transport.get_extra_info("socket")
        assert client.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
        if hasattr(socket, "TCP_KEEPIDLE"):
            assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 30
            assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT) == 3
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 45_000


async def test_a_read_that_was_given_up_can_be_taken_up_again() -> None:
    async with rig(pods=0) as r, transport_to(r.server.url) as transport, transport.stream(*_WATCH) as stream:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await stream.read()
        r.server.create("Pod", pod("p"))
        async with asyncio.timeout(10):
            assert b'"ADDED"' in await stream.read()


async def test_after_close_nothing_is_sent() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        await transport.close()
        with pytest.raises(KtuiError, match="closed"):
            await transport.request("GET", "/version")
        assert not r.faults.journal


async def test_an_aborted_stream_says_so() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        r.faults.script("watch *", Stall())
        async with transport.stream("/api/v1/pods", {"watch": "1"}) as stream:
            reading = asyncio.create_task(stream.read())
            await asyncio.sleep(0)
            stream.abort()
            with pytest.raises(Unreachable):
                await reading


@asynccontextmanager
async def _tls(server_name: str, trusted: bool, **dates: Any) -> AsyncIterator[Transport]:
    authority, other = trustme.CA(), trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(server_name, **dates).configure_cert(context)
    credentials = StaticCredentials()
    credentials.context = ssl.create_default_context()
    (authority if trusted else other).configure_trust(credentials.context)
    async with rig(ssl_context=context) as r:
        host = r.server.url.split("//")[1]
        target = Target("c", "c", "u", "default", r.server.url, host, TlsSettings())
        transport = Transport(target, credentials, read_only=True, environ={})
        try:
            yield transport
        finally:
            await transport.close()


async def test_w44_tls_with_the_right_authority() -> None:
    async with _tls("127.0.0.1", trusted=True) as transport:
        assert (await transport.request("GET", "/version")).status == 200


async def test_w52_close_leaves_no_socket_open() -> None:
    """With TLS too, where closing takes a round trip, and with a stream that is still open."""
    async with _tls("127.0.0.1", trusted=True) as transport:
        await transport.request("GET", "/version")
        async with transport.stream(*_WATCH):
            session = transport._session
            assert session is not None
            sockets = list(session._sockets)
            assert sockets
            await transport.close()
        assert all(each.fileno() == -1 for each in sockets)


@pytest.mark.parametrize(
    ("name", "trusted", "dates", "words"),
    [
        ("127.0.0.1", False, {}, "its issuer is not the kubeconfig's certificate-authority"),
        ("127.0.0.2", True, {}, "it is for another address"),
        ("127.0.0.1", True, {"not_after": "2001"}, "it has expired"),
    ],
    ids=["issuer", "name", "expired"],
)
async def test_w44_three_reasons_not_to_trust(name: str, trusted: bool, dates: dict[str, Any], words: str) -> None:
    from datetime import UTC, datetime

    dates = (
        {"not_before": datetime(2000, 1, 1, tzinfo=UTC), "not_after": datetime(2001, 1, 1, tzinfo=UTC)} if dates else {}
    )
    async with _tls(name, trusted, **dates) as transport:
        with pytest.raises(TlsProblem, match=words):
            await transport.request("GET", "/version")

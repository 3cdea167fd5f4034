"""What leaves the machine: kubeconfig, credentials and transport together against a server. K02, K04, K10, K11, W33."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiohttp import web

from ktui.kube.credentials import Credentials, NeedsLogin
from ktui.kube.transport import Transport
from tests.unit.kube.fakeplugin import FakePlugin, reply
from tests.unit.kube.kubeconfigbuilder import target

CA = trustme.CA()
SERVER = CA.issue_cert("127.0.0.1")
AUTHORITY = {"certificate-authority-data": base64.b64encode(CA.cert_pem.bytes()).decode()}


class Server:
    """Keeps the headers and the client's name of every request; answers 401 to tokens that are not in `accepts`."""

    def __init__(self) -> None:
        self.url = ""
        self.requests: list[web.Request] = []
        self.clients: list[str] = []
        self.accepts: Callable[[str], bool] = lambda _authorization: True

    async def handle(self, request: web.Request) -> web.Response:
        self.requests.append(request)
        peer = request.transport.get_extra_info("peercert") if request.transport else None
        self.clients += [value for _, value in (peer or {}).get("subjectAltName", ())]
        if not self.accepts(request.headers.get("Authorization", "")):
            return web.json_response({"kind": "Status", "code": 401, "reason": "Unauthorized"}, status=401)
        return web.json_response({})


@asynccontextmanager
async def _server(*, tls: bool) -> AsyncIterator[Server]:
    server, context = Server(), None
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        SERVER.configure_cert(context)
        CA.configure_trust(context)
        context.verify_mode = ssl.CERT_OPTIONAL
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.handle)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        (address,) = runner.addresses
        server.url = f"{'https' if tls else 'http'}://127.0.0.1:{address[1]}"
        yield server
    finally:
        await runner.cleanup()


@asynccontextmanager
async def _transport(home: Path, server: Server, user: Any, **more: Any) -> AsyncIterator[Transport]:
    cluster = {"server": server.url} | (AUTHORITY if server.url.startswith("https") else {})
    resolved = target(home, cluster, user)
    transport = Transport(resolved, Credentials(resolved, **more), read_only=False, environ={})
    try:
        yield transport
    finally:
        await transport.close()


async def test_k02_danger_38_every_kind_of_request_is_impersonated(tmp_path: Path) -> None:
    user = {"token": "tok", "as": "viewer", "as-groups": ["a", "b"]}
    async with _server(tls=True) as server, _transport(tmp_path, server, user) as transport:
        await transport.request("GET", "/apis")
        await transport.request("PATCH", "/api/v1/nodes/n", body=b"{}")
        async with transport.stream("/api/v1/pods", {}):
            pass
        assert len(server.requests) == 3
        for request in server.requests:
            assert request.headers["Authorization"] == "Bearer tok"
            assert request.headers.getall("Impersonate-User") == ["viewer"]
            assert request.headers.getall("Impersonate-Group") == ["a", "b"]


async def test_k04_danger_26_plain_http_has_no_authorization(tmp_path: Path) -> None:
    async with _server(tls=False) as server, _transport(tmp_path, server, {"token": "tok", "as": "x"}) as transport:
        await transport.request("GET", "/version")
        (request,) = server.requests
        assert "Authorization" not in request.headers
        assert request.headers["Impersonate-User"] == "x"


async def test_w33_k10_a_401_in_mid_life_costs_one_run(tmp_path: Path) -> None:
    plugin = FakePlugin(tmp_path / "bin").install(reply("first"))
    async with _server(tls=True) as server, _transport(tmp_path, server, {"exec": plugin.section()}) as transport:
        await transport.request("GET", "/version")
        plugin.install(reply("second"))
        server.accepts = lambda authorization: authorization == "Bearer second"
        await asyncio.gather(*(transport.request("GET", f"/{number}") for number in range(25)))
        assert len(plugin.runs()) == 2
        plugin.install(reply("third"))
        server.accepts = lambda _authorization: False
        with pytest.raises(NeedsLogin):
            await transport.request("GET", "/version")
        assert len(plugin.runs()) == 2


async def test_k11_a_rotated_client_certificate_is_presented(tmp_path: Path) -> None:
    now = 1000.0

    def issue(name: str) -> None:
        certificate = CA.issue_cert(name)
        certificate.cert_chain_pems[0].write_to_path(tmp_path / "me.pem")
        certificate.private_key_pem.write_to_path(tmp_path / "me.key")

    issue("first@example.com")
    user = {"client-certificate": "me.pem", "client-key": "me.key"}
    async with _server(tls=True) as server, _transport(tmp_path, server, user, clock=lambda: now) as transport:
        await transport.request("GET", "/version")
        issue("second@example.com")
        await transport.request("GET", "/version")
        now += 60
        await transport.request("GET", "/version")
        assert server.clients == ["first@example.com", "first@example.com", "second@example.com"]

"""The two servers. `-m "not cluster"` leaves the real one out."""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ktui.demo.access import Attributes, User
from ktui.demo.apiserver import ApiServer
from ktui.demo.reads import ReadTimers
from tests.contract.client import Client
from tests.contract.sides import PLUGIN, SERVERS, SideBySide


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(SideBySide(), PLUGIN)


@pytest.fixture
def sides(pytestconfig: pytest.Config) -> SideBySide:
    """What is known of the assertions that ran before."""
    plugin = pytestconfig.pluginmanager.getplugin(PLUGIN)
    assert isinstance(plugin, SideBySide)
    return plugin


def _admin_or_reader(asked: Attributes) -> bool:
    return asked.user.name == "admin" or asked.verb in ("get", "list", "watch")


@pytest.fixture(params=[SERVERS[0], pytest.param(SERVERS[1], marks=pytest.mark.cluster)])
def control_plane(request: pytest.FixtureRequest) -> Any:
    """The real control plane, None for the embedded server."""
    return request.getfixturevalue("real_cluster") if request.param == "real" else None


@pytest.fixture
async def client(control_plane: Any) -> AsyncIterator[Client]:
    namespace = f"contract-{secrets.token_hex(4)}"
    if control_plane is None:
        tokens = {"admin-token": User("admin"), "viewer-token": User("viewer")}
        server = ApiServer(tokens=tokens, authorizer=_admin_or_reader, timers=ReadTimers(freshness=0.2))

        async def restart() -> None:
            await server.stop()
            await server.start()

        async with server:
            made = Client(server.url, {"admin": "admin-token", "viewer": "viewer-token"}, namespace, restart)
            yield made
            await made.close()
        return

    async def restart_real() -> None:
        await asyncio.to_thread(control_plane.restart_api_server)

    tls = ssl.create_default_context(cafile=str(control_plane.access.authority.certificate))
    made = Client(control_plane.url, control_plane.access.tokens, namespace, restart_real, tls)
    await made.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    yield made
    for path in (made.templates, f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"):
        await made.call("DELETE", path)
    await made.call("DELETE", f"/api/v1/namespaces/{namespace}")
    await made.close()

"""The two servers. `-m "not cluster"` leaves the real one out."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator
from typing import Any

import pytest
from kubernetes_asyncio.client import ApiClient, Configuration

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

        async def forget() -> None:
            server.database.compact()

        async with server:
            users = {"admin": "admin-token", "viewer": "viewer-token"}
            made = Client(server.url, users, namespace, restart=restart, forget=forget)
            yield made
            await made.close()
        return

    async def restart_real() -> None:
        await asyncio.to_thread(control_plane.restart_api_server)

    async def forget_real() -> None:
        # The API server remembers more than etcd does, until it is restarted.
        await asyncio.to_thread(control_plane.compact)
        await restart_real()

    made = Client(
        control_plane.url,
        control_plane.access.tokens,
        namespace,
        restart=restart_real,
        forget=forget_real,
        authority=str(control_plane.access.authority.certificate),
    )
    await made.call("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
    yield made
    autoscalers = f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"
    for path in (made.templates, autoscalers, f"/api/v1/namespaces/{namespace}/pods"):
        await made.call("DELETE", path)
    await made.call("DELETE", f"/api/v1/namespaces/{namespace}")
    await made.close()


@pytest.fixture
async def rule_name(client: Client) -> AsyncIterator[str]:
    """The name of a rule that the test may make; it is gone afterwards."""
    name = f"rule-{client.namespace}"
    yield name
    await client.call("DELETE", f"{client.rules}/{name}")


@pytest.fixture
async def library(client: Client) -> AsyncIterator[ApiClient]:
    """The client that users of Kubernetes in Python know, as admin."""
    configuration = Configuration(host=client.url, api_key={"BearerToken": f"Bearer {client.tokens['admin']}"})
    configuration.ssl_ca_cert = client.authority or None
    async with ApiClient(configuration) as made:
        yield made

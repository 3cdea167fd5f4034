"""The watch layer against a real API server: the rows of the fault plan's section W that are marked R."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from ktui.kube.connection import Connection
from ktui.kube.credentials import Credentials
from ktui.kube.kubeconfig import LoadOptions, load
from ktui.kube.timers import Span, Timers
from ktui.model.kinds import KINDS
from tests.cluster import objects
from tests.cluster.controlplane.api import Api, ApiError
from tests.cluster.controlplane.cluster import ControlPlane, Options
from tests.unit.kube.harness import View

TEMPLATES = "/apis/resource.k8s.io/v1/resourceclaimtemplates"
READ = ["get", "list", "watch"]


@asynccontextmanager
async def connected(plane: ControlPlane, user: str = "admin", **options: Any) -> AsyncIterator[tuple[Connection, View]]:
    target = load(LoadOptions(kubeconfig=str(plane.kubeconfig), context=user, environ={})).resolve(user)
    view = View()
    connection = Connection(target, Credentials(target, environ={}), view, environ={}, read_only=True, **options)
    try:
        yield connection, view
    finally:
        await connection.stop()


async def _live(connection: Connection, view: View, *kinds: str) -> None:
    await connection.start(kinds)
    await view.until(lambda: all(view.phase(kind) == "watching" for kind in kinds))


async def _converge(view: View, api: Api, kind: str = "ResourceClaimTemplate", limit: float = 120) -> None:
    """Until the view is what a list by another client is."""
    described = KINDS[kind]
    async with asyncio.timeout(limit):
        while view.content(kind) != await asyncio.to_thread(_truth, api, described.path(described.versions[0])):
            await asyncio.sleep(0.2)


def _truth(api: Api, path: str) -> dict[tuple[str, str], str]:
    items = [item["metadata"] for item in api.list(path)]
    return {(meta.get("namespace", ""), meta["name"]): meta["resourceVersion"] for meta in items}


def _template(namespace: str, name: str, **labels: str) -> dict[str, Any]:
    made = objects.claim_template(namespace, name)
    made["metadata"]["labels"] = labels
    return made


def _path(namespace: str, name: str) -> str:
    return f"/apis/resource.k8s.io/v1/namespaces/{namespace}/resourceclaimtemplates/{name}"


async def test_w01_every_kind_of_a_real_server_becomes_live(real_cluster: ControlPlane) -> None:
    api = real_cluster.api()
    async with connected(real_cluster) as (connection, view):
        kinds = [kind.name for kind in KINDS.values() if not kind.program]  # Kubernetes' own
        await connection.start(kinds)
        served = await connection.discovered()
        own = [kind for kind in kinds if served.version(KINDS[kind]) is not None]
        assert set(kinds) - set(own) <= {"CompositePodGroup"}, "alpha, and off here"
        await _live(connection, view, *own)
        await view.until(lambda: all(view.phase(kind) == "absent" for kind in kinds if kind not in own))
        assert all(len(view.lists(kind)) == 1 for kind in own)
        for kind in ("Node", "ResourceSlice", "DeviceClass", "Namespace"):
            await _converge(view, api, kind)
        assert connection.served is not None
        assert connection.served.git_version.startswith("v1.37")
        assert connection.cluster_uid


async def test_w07_w09_w28_w29_changes_while_connected_and_not(
    real_cluster: ControlPlane, fresh_namespace: str
) -> None:
    api, namespace = real_cluster.api(), fresh_namespace
    for name in ("stays", "goes", "again"):
        api.create(_template(namespace, name))
    timers = Timers(server_timeout=Span(1.0, 1.0))
    async with connected(real_cluster, timers=timers) as (connection, view):
        await _live(connection, view, "ResourceClaimTemplate")
        await asyncio.to_thread(api.patch, _path(namespace, "stays"), {"metadata": {"labels": {"a": "b"}}})
        await _converge(view, api)
        await view.until(lambda: connection.transport.ledger.requests > 10)
        assert len(view.lists("ResourceClaimTemplate")) == 1
        old = view.stores["ResourceClaimTemplate"].objects[(namespace, "again")].metadata.uid
        await asyncio.to_thread(real_cluster.stop_api_server, signal.SIGKILL)
        await view.until(lambda: view.phase("ResourceClaimTemplate") == "waiting")
        await asyncio.to_thread(real_cluster.start_api_server)
        for name in ("goes", "again"):
            await asyncio.to_thread(api.delete, _path(namespace, name))
        await asyncio.to_thread(api.create, _template(namespace, "again"))
        await _converge(view, api)
        store = view.stores["ResourceClaimTemplate"]
        assert (namespace, "goes") not in store.objects
        assert store.objects[(namespace, "again")].metadata.uid != old
        assert len(view.lists("ResourceClaimTemplate")) <= 3


async def test_w17_a_restart_costs_each_stream_one_list(real_cluster: ControlPlane) -> None:
    kinds = ("Pod", "Node", "ResourceClaim", "ResourceSlice", "DeviceClass", "PodGroup", "Job", "Namespace")
    async with connected(real_cluster) as (connection, view):
        await _live(connection, view, *kinds)
        rows = {kind: view.names(kind) for kind in kinds}
        await asyncio.to_thread(real_cluster.restart_api_server, signal.SIGTERM)
        connection.retry_now()
        async with asyncio.timeout(120):
            while not all(view.phase(kind) == "watching" and len(view.lists(kind)) == 2 for kind in kinds):
                await asyncio.sleep(0.2)
        assert {kind: view.names(kind) for kind in ("Node", "ResourceSlice", "DeviceClass")} == {
            kind: rows[kind] for kind in ("Node", "ResourceSlice", "DeviceClass")
        }
        assert all(not view.stores[kind].tombstones for kind in ("Node", "ResourceSlice", "DeviceClass"))


async def test_w18_killed_in_the_middle_of_writes(real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api, namespace = real_cluster.api(), fresh_namespace
    writing = asyncio.Event()
    written = 0

    async def write() -> None:
        nonlocal written
        while not writing.is_set():
            name = f"t{written % 40}"
            try:
                if written % 80 < 40:
                    await asyncio.to_thread(api.create, _template(namespace, name))
                else:
                    await asyncio.to_thread(api.delete, _path(namespace, name))
            except (OSError, ApiError, HTTPException):
                await asyncio.sleep(0.1)  # the server is down; what was carried out is for the server to know
            written += 1
            await asyncio.sleep(0.01)

    async with connected(real_cluster) as (connection, view):
        await _live(connection, view, "ResourceClaimTemplate")
        writer = asyncio.create_task(write())
        for _ in range(5):
            enough = written + 30
            while written < enough:
                await asyncio.sleep(0.05)
            await asyncio.to_thread(real_cluster.restart_api_server, signal.SIGKILL)
            connection.retry_now()
            await view.until(lambda: view.phase("ResourceClaimTemplate") == "watching")
        writing.set()
        await writer
        await _converge(view, api)
        assert view.stores["ResourceClaimTemplate"].dropped == 0


async def test_w32_leaving_a_selector(real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api, namespace = real_cluster.api(), fresh_namespace
    api.create(_template(namespace, "a", team="red"))
    async with connected(real_cluster) as (connection, view):
        await connection.start(("ResourceClaimTemplate",), (namespace,), "team=red")
        await view.until(lambda: view.names("ResourceClaimTemplate") == {"a"})
        await asyncio.to_thread(api.patch, _path(namespace, "a"), {"metadata": {"labels": {"team": "blue"}}})
        await view.until(lambda: view.names("ResourceClaimTemplate") == set())


async def test_w35_rights_that_come_later(real_cluster: ControlPlane) -> None:
    timers = Timers(access=Span(0.5, 2.0))
    group = "rbac.authorization.k8s.io"
    subject = {"apiGroup": group, "kind": "User", "name": "tenant"}
    role = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "late"},
        "rules": [{"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": READ}],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "late"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "late"},
        "subjects": [subject],
    }
    api = real_cluster.api()
    async with connected(real_cluster, "tenant", timers=timers) as (connection, view):
        await connection.start(("ResourceSlice",))
        await view.until(lambda: view.phase("ResourceSlice") == "no-access")
        with api.created(role), api.created(binding):
            await view.until(lambda: view.phase("ResourceSlice") == "watching")
            await _converge(view, api, "ResourceSlice")


async def test_w36_a_tenant_sees_the_own_namespace(real_cluster: ControlPlane) -> None:
    namespaces = ("ml2", "default", "kube-system")
    async with connected(real_cluster, "tenant", fallback_namespaces=namespaces) as (connection, view):
        await connection.start(("ResourceClaimTemplate", "Node"))
        await view.until(lambda: view.phase("Node") == "no-access")
        await view.until(lambda: view.names("ResourceClaimTemplate"))
        assert {key[0] for key in view.content("ResourceClaimTemplate")} == {"ml2"}
        await view.until(lambda: "watching" in view.phases("ResourceClaimTemplate"))
        live = {s.source.namespace for s in view.states("ResourceClaimTemplate") if s.phase == "watching"}
        assert live == {"ml2"}


@pytest.mark.parametrize(("verbs", "phase"), [(["list"], "polling"), (["watch"], "watching")], ids=["W37", "W38"])
async def test_w37_w38_half_of_the_rights(real_cluster: ControlPlane, verbs: list[str], phase: str) -> None:
    group = "rbac.authorization.k8s.io"
    role = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "half"},
        "rules": [{"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": verbs}],
    }
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "half"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "half"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "tenant"}],
    }
    api = real_cluster.api()
    timers = Timers(access=Span(0.5, 2.0), poll=Span(0.2, 0.4))
    with api.created(role), api.created(binding):
        async with connected(real_cluster, "tenant", timers=timers) as (connection, view):
            await connection.start(("ResourceSlice",))
            await view.until(lambda: phase in view.phases("ResourceSlice"))
            await _converge(view, api, "ResourceSlice")


@pytest.fixture(scope="module")
def plain_cluster(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    """Without streaming lists, gang scheduling and a long memory of etcd."""
    options = Options(
        feature_gates={"WatchList": False},
        runtime_config={},
        api_server_arguments=["--etcd-compaction-interval=3s"],
    )
    with ControlPlane(control_plane_binaries, options) as plane:
        yield plane


async def test_w02_a_server_without_streaming_lists(plain_cluster: ControlPlane) -> None:
    async with connected(plain_cluster) as (connection, view):
        await _live(connection, view, "Namespace", "Node")
        assert "waiting" not in view.phases("Namespace")
        assert connection._host.no_streaming == {"/api/v1/namespaces", "/api/v1/nodes"}
        await _converge(view, plain_cluster.api(), "Namespace")


@pytest.mark.parametrize("user", ["admin", "viewer"])
async def test_w39_kinds_that_are_not_served(plain_cluster: ControlPlane, user: str) -> None:
    async with connected(plain_cluster, user) as (connection, view):
        await connection.start(("PodGroup", "Workload"))
        await view.until(lambda: view.phase("PodGroup") == view.phase("Workload") == "absent")
        assert "GenericWorkload" in view.states("PodGroup")[-1].message


async def test_w06_a_continue_token_that_died_between_two_pages(plain_cluster: ControlPlane) -> None:
    """etcd is compacted every few seconds here; the second page is asked for long after the first."""
    api = plain_cluster.api()
    for number in range(4):
        api.create(objects.namespace(f"w06-{number}"))
    delays = [8.0]

    async with connected(plain_cluster) as (connection, view):
        request = connection.transport.request

        async def slow(method: str, path: str, **options: Any) -> Any:
            if "continue" in (options.get("params") or {}) and delays:
                await asyncio.to_thread(api.create, objects.namespace("w06-late"))
                await asyncio.sleep(delays.pop())
            return await request(method, path, **options)

        connection.transport.request = slow  # type: ignore[method-assign]
        await connection.start(("Namespace",))
        for watcher in connection._watchers.values():
            watcher.position.page_size = 2
        await view.until(lambda: view.phase("Namespace") == "watching")
        assert not delays
        await _converge(view, api, "Namespace")
        assert "w06-late" in view.names("Namespace")


async def test_w20_a_server_that_hangs_and_comes_back(real_cluster: ControlPlane, fresh_namespace: str) -> None:
    """Stopped, its kernel still answers keep-alive probes: only the silence and the unanswered /version tell."""
    api, process = real_cluster.api(), real_cluster.process("kube-apiserver")
    timers = Timers(quiet=1.0, probe=1.0, idle=Span(20.0, 20.0), headers=2.0)
    async with connected(real_cluster, timers=timers) as (connection, view):
        await _live(connection, view, "ResourceClaimTemplate")
        before = connection.transport.ledger.failures
        process.send_signal(signal.SIGSTOP)
        try:
            await view.until(lambda: "quiet" in view.phases("ResourceClaimTemplate"))
            await view.until(lambda: connection.transport.ledger.failures > before)
        finally:
            process.send_signal(signal.SIGCONT)
        await asyncio.to_thread(api.create, _template(fresh_namespace, "after"))
        await _converge(view, api)
        assert view.stores["ResourceClaimTemplate"].dropped == 0

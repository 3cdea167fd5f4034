"""What is used, through the real API server: an aggregated metrics.k8s.io in both versions, and its proxy to pods."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from ktui.cli import main
from ktui.kube.connection import Connection
from ktui.kube.credentials import Credentials
from ktui.kube.kubeconfig import LoadOptions
from ktui.kube.opening import Wanted as Wish
from ktui.kube.opening import resolve
from ktui.kube.timers import Span, Timers
from ktui.kube.usagepoll import UsagePoll
from ktui.model.usage import MetricsServed, NodeReport, PodsReport, UsageReport, Wanted
from tests.cluster import objects
from tests.cluster.controlplane.api import Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.cluster.usagemetrics import UsageMetrics

Get = Callable[..., tuple[list[dict[str, Any]], str]]


@pytest.fixture
def get(real_cluster: ControlPlane, capsys: pytest.CaptureFixture[str]) -> Get:
    """Run `ktui get ... -o json` as somebody: (items, stderr)."""

    def run(context: str, *arguments: str) -> tuple[list[dict[str, Any]], str]:
        where = ["--kubeconfig", str(real_cluster.kubeconfig), "--context", context]
        assert main(["get", *arguments, "-o", "json", *where]) == 0
        out, err = capsys.readouterr()
        return json.loads(out)["items"], err

    return run


@pytest.fixture
def pod(real_cluster: ControlPlane, fresh_namespace: str) -> tuple[str, str]:
    real_cluster.api().create(objects.pod(fresh_namespace, "train-0", "one-gpu"))
    return (fresh_namespace, "train-0")


@pytest.mark.parametrize(
    ("versions", "used"), [(("v1beta1",), "v1beta1"), (("v1", "v1beta1"), "v1")], ids=["v1beta1", "both"]
)
def test_the_version_that_is_served_is_used(
    real_cluster: ControlPlane, pod: tuple[str, str], get: Get, versions: tuple[str, ...], used: str
) -> None:
    with UsageMetrics(real_cluster.api(), real_cluster.access.serving, pod, versions) as metrics:

        def measured() -> Json | None:
            (item,), err = get("viewer", "pods", pod[1], "-n", pod[0])
            assert err == ""
            usage: Json | None = item["usage"]
            return usage if any(f"/{used}/" in path for path in metrics.asked) else None

        usage = wait_for(measured, "the pod's usage", limit=60)
        assert usage is not None
        assert (usage["cpu"], usage["memory"], usage["window"]) == (1.500000001, 3 * 2**30, 15.04)
        assert [container["name"] for container in usage["containers"]] == ["train"]

        metrics.down = True
        (item,), err = get("viewer", "pods", pod[1], "-n", pod[0])
        assert item["usage"] is None
        assert "metrics.k8s.io does not answer" in err

        metrics.down = False
        _, err = get("tenant", "pods", "-n", "ml2")  # of one's own namespace
        assert "figures" not in err


async def test_it_is_polled_while_it_is_looked_at_and_not_else(
    real_cluster: ControlPlane, pod: tuple[str, str]
) -> None:
    plane = real_cluster
    with UsageMetrics(plane.api(), plane.access.serving, pod, ("v1beta1",)) as metrics:
        told: list[UsageReport] = []
        options = LoadOptions(kubeconfig=str(plane.kubeconfig), context="viewer", environ={})
        target = await asyncio.to_thread(resolve, Wish(options, read_only=True, request_timeout=None))
        connection = Connection(
            target,
            Credentials(target, environ={}),
            lambda _: None,
            environ={},
            read_only=True,
            timers=Timers(usage=0.2, rediscover=Span(0.5, 1.0)),
        )
        await connection.start(())
        poll = UsagePoll(connection.transport, lambda: connection.served, told.append)
        task = asyncio.create_task(poll.run())
        try:
            await connection.discovered()
            poll.want(Wanted())
            await asyncio.sleep(0.6)
            asked = len(metrics.asked)
            async with asyncio.timeout(60):
                while not {NodeReport, PodsReport} <= {type(report) for report in told}:
                    poll.want(Wanted(pods=True, nodes=("node-0",)))  # as a screen does, every second
                    await asyncio.sleep(0.05)
            assert asked == 0
            poll.want(Wanted())
            async with asyncio.timeout(60):  # what was on its way may take its time on a busy machine
                after = -1
                while after != len(metrics.asked):
                    after = len(metrics.asked)
                    await asyncio.sleep(1.0)
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await connection.stop()
    assert MetricsServed("v1beta1") in told
    reports = [report for report in told if isinstance(report, PodsReport)]
    assert set(reports[0].items) == {pod}


@pytest.fixture
def exporter(real_cluster: ControlPlane, fresh_namespace: str) -> str:
    """A pod with an exporter's label on a node with GPUs; nothing listens there. Its namespace."""
    manifest = objects.pod(fresh_namespace, "dcgm-0", "one-gpu")
    manifest["metadata"]["labels"] = {"app": "nvidia-dcgm-exporter"}
    manifest["spec"].pop("resourceClaims")
    manifest["spec"]["containers"][0]["resources"] = {}
    manifest["spec"]["nodeName"] = "node-0"
    api = real_cluster.api()
    api.create(manifest)
    path = f"/api/v1/namespaces/{fresh_namespace}/pods/dcgm-0"
    wait_for(lambda: api.get(path)["status"].get("phase") == "Running", "the exporter to run")
    return fresh_namespace


def test_who_may_not_use_the_proxy_is_told_what_it_takes(exporter: str, get: Get) -> None:
    items, err = get("viewer", "devices", "node-0/gpu-0")
    assert [item["usage"] for item in items] == [None]
    assert f"no GPU figures: your user needs get on pods/proxy in namespace {exporter}" in err


def test_what_the_server_says_of_an_exporter_that_it_cannot_reach_is_passed_on(
    real_cluster: ControlPlane, exporter: str, get: Get
) -> None:
    """The real server's proxy goes to global unicast addresses only (pod strategy, ResourceLocation), never to loopback."""
    ip = {"podIP": "127.0.0.1", "podIPs": [{"ip": "127.0.0.1"}]}
    real_cluster.api().patch(f"/api/v1/namespaces/{exporter}/pods/dcgm-0/status", {"status": ip})
    items, err = get("admin", "devices", "node-0/gpu-0")
    assert [item["usage"] for item in items] == [None]
    assert f"no GPU figures from {exporter}/dcgm-0: " in err
    assert "address not allowed" in err

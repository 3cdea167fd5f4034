"""`ktui get` with what is used: asked for once, and only where it is printed."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ktui.demo.access import Attributes
from ktui.demo.figures import Figures, exporter_pod
from ktui.demo.objects import resource_slice

from .test_act import Shell, shell

THEN = "2026-11-30T06:00:00Z"


@pytest.fixture
def refused() -> set[str]:
    """Subresources and groups that may not be read."""
    return set()


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
async def at(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    refused: set[str],
    asked: list[str],
) -> AsyncIterator[Shell]:
    """Two nodes, of which one has an exporter, a pod on it, and a metrics server."""

    def authorize(attributes: Attributes) -> bool:
        if attributes.group == "metrics.k8s.io" or attributes.subresource == "proxy":
            asked.append(attributes.subresource or attributes.resource)
        return not refused.intersection((attributes.group, attributes.subresource))

    async with shell(tmp_path, capsys, monkeypatch, authorizer=authorize) as found:
        api = found.server.api
        api.figures = Figures(api.database, clock=time.time)
        api.create("Pod", exporter_pod("n1", THEN))
        for node in ("n1", "n2"):
            api.create("ResourceSlice", resource_slice(node, THEN, devices=2))
        containers = [{"name": "main", "image": "i", "resources": {"requests": {"cpu": "2", "memory": "2Gi"}}}]
        spec = {"nodeName": "n1", "containers": containers}
        api.create("Pod", {"metadata": {"name": "train", "namespace": "ml"}, "spec": spec})
        yield found


def _run(shell: Shell) -> None:
    pods = shell.server.api.database
    pod = pods.get("Pod", ("ml", "train"))
    assert pod is not None
    pods.put("Pod", ("ml", "train"), {**pod, "status": {"phase": "Running"}})


async def test_pods_as_json_have_what_they_use(at: Shell, asked: list[str]) -> None:
    _run(at)
    ended = await at.run("get", "pods", "train", "-o", "json")
    (item,) = json.loads(ended.out)["items"]
    usage = item["usage"]
    assert 0.7 <= usage["cpu"] <= 1.8
    assert usage["memory"] > 2**29
    assert usage["window"] == 15.0
    assert usage["timestamp"].endswith("Z")
    assert [container["name"] for container in usage["containers"]] == ["main"]
    assert asked == ["pods"]


async def test_devices_as_json_have_what_their_exporters_tell(at: Shell, asked: list[str]) -> None:
    ended = await at.run("get", "devices", "-o", "json")
    items = {(item["pool"], item["device"]): item["usage"] for item in json.loads(ended.out)["items"]}
    assert items["n1", "gpu-0"]["utilization"] == 0
    assert items["n1", "gpu-0"]["memoryTotal"] == 144_384 * 2**20
    assert items["n2", "gpu-0"] is None
    assert asked == ["proxy"]


async def test_one_device_costs_one_exporter_or_none(at: Shell, asked: list[str]) -> None:
    await at.run("get", "devices", "n2/gpu-0", "-o", "json")
    assert asked == []
    ended = await at.run("get", "devices", "n1/gpu-0", "-o", "wide")
    assert "UTIL" in ended.out
    assert asked == ["proxy"]


@pytest.mark.parametrize("resource", ["pods", "devices", "gangs"])
@pytest.mark.parametrize("form", ["table", "name"])
async def test_nothing_is_asked_where_nothing_is_printed(at: Shell, asked: list[str], resource: str, form: str) -> None:
    ended = await at.run("get", resource, "-A", "-o", form)
    assert ended.code == 0
    assert asked == []
    assert not {"CPU", "UTIL"}.intersection(ended.out.split())


@pytest.mark.parametrize(
    ("what", "resource", "words"),
    [
        ("proxy", "devices", "no GPU figures: your user needs get on pods/proxy in namespace gpu-operator"),
        ("metrics.k8s.io", "pods", "no CPU and memory figures: your user needs get, list on pods and nodes"),
    ],
)
async def test_what_may_not_be_read_is_null_and_said_once(
    at: Shell, refused: set[str], what: str, resource: str, words: str
) -> None:
    refused.add(what)
    ended = await at.run("get", resource, "-A", "-o", "json")
    assert ended.code == 0
    assert {item["usage"] for item in json.loads(ended.out)["items"]} == {None}
    assert ended.err.count(words) == 1


async def test_without_a_metrics_server_there_is_nothing_to_say(at: Shell) -> None:
    at.server.api.figures = None
    ended = await at.run("get", "pods", "-A", "-o", "wide")
    assert (ended.code, ended.err) == (0, "")
    assert "CPU" not in ended.out

"""A cluster with nothing of what this is for (no gangs, no DRA): pods and autoscalers are shown, and what is off is said."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import pytest

from ktui.demo.apiserver import SERVES_1_37

from .test_act import Ended, Shell, shell

GROUPS: Final = ("Pod", "Node", "Event", "Namespace", "Deployment", "Job", "HorizontalPodAutoscaler")
PLAIN: Final = {name: SERVES_1_37[name] for name in GROUPS}
"""Of the groups core, apps, batch and autoscaling."""


@pytest.fixture
async def at(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Shell]:
    """One pod that runs, one that waits, and a Deployment's autoscaler."""
    async with shell(tmp_path, capsys, monkeypatch, serves=PLAIN) as found:
        api = found.server.api
        gpu = {"nvidia.com/gpu": "1"}
        containers = [{"name": "main", "image": "i", "resources": {"requests": gpu, "limits": gpu}}]
        for name, spec, phase in (("web", {"nodeName": "node-1"}, "Running"), ("late", {}, "Pending")):
            metadata = {"name": name, "namespace": "ml"}
            spec_ = {**spec, "containers": containers}
            api.create("Pod", {"metadata": metadata, "spec": spec_, "status": {"phase": phase}})
        target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        scaled = {"scaleTargetRef": target, "minReplicas": 1, "maxReplicas": 3}
        api.create("HorizontalPodAutoscaler", {"metadata": {"name": "web", "namespace": "ml"}, "spec": scaled})
        yield found


@pytest.mark.parametrize("form", ["table", "wide", "json", "name"])
async def test_pods_and_autoscalers_without_a_complaint(at: Shell, form: str) -> None:
    for view, names in (("pods", ("web", "late")), ("autoscalers", ("web",))):
        ended = await at.run("get", view, "-o", form)
        assert (ended.code, ended.err) == (0, "")
        assert all(name in ended.out for name in names)


async def test_nothing_is_made_up(at: Shell) -> None:
    items = {item["name"]: item for item in json.loads((await at.run("get", "pods", "-o", "json")).out)["items"]}
    assert (items["web"]["status"], items["web"]["node"], items["late"]["status"]) == ("Running", "node-1", "Pending")
    assert [item["gang"] for item in items.values()] == [None, None]
    (extended,) = items["web"]["extended"]
    assert (extended["resource"], extended["servedBy"]) == ("nvidia.com/gpu", "device plugin")


async def test_an_empty_view_of_gangs_says_what_to_turn_on(at: Shell) -> None:
    ended = await at.run("get", "gangs")
    assert (ended.code, ended.out) == (0, "")
    first, second = ended.err.splitlines()
    assert first == "No gangs found in namespace ml."
    assert second.startswith("ktui: gang scheduling is off: ")
    assert "--feature-gates=GenericWorkload=true" in second
    assert "--runtime-config=scheduling.k8s.io/v1beta1=true" in second
    assert (await at.run("get", "gangs", "-o", "json")).err == ""


@pytest.mark.parametrize(
    ("view", "words"),
    [
        ("devices", "dynamic resource allocation is not served"),
        ("claims", "dynamic resource allocation is not served"),
        ("taints", "--feature-gates=DRADeviceTaintRules=true"),
        ("workloads", "--feature-gates=GenericWorkload=true"),
    ],
)
async def test_a_view_of_what_is_not_there_is_one_line(at: Shell, view: str, words: str) -> None:
    ended = await at.run("get", view)
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"ktui: {view} cannot be shown: ")
    assert words in ended.err
    assert ended.err.count("\n") == 1


async def test_a_controllers_pods_with_devices_are_a_tree_without_any_gang(at: Shell) -> None:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "u", "controller": True}
    requests = {"requests": {"nvidia.com/gpu": "1"}}
    metadata = {"name": "owned", "namespace": "ml", "ownerReferences": [owner]}
    spec = {"containers": [{"name": "main", "image": "i", "resources": requests}]}
    at.server.api.create("Pod", {"metadata": metadata, "spec": spec, "status": {"phase": "Pending"}})
    ended = await at.run("get", "workloads")
    assert (ended.code, ended.err) == (0, "")
    assert [line.split()[1] for line in ended.out.splitlines()[1:]] == ["Deployment/web", "└─Pod/owned"]


async def test_nothing_else_breaks_either(at: Shell) -> None:
    assert (await at.run("get", "triage")).code == 0
    assert (await at.run("why", "late")).code == 0
    assert await at.run("why", "nobody") == Ended(1, "", "ktui: no gang or pod 'nobody' in namespace ml\n")
    set_ = await at.run("min-replicas", "web", "2", "--yes")
    assert set_.code == 0, set_.err
    taint = await at.run("taint", "gpu.example.com/node-1/gpu-0", "example.com/x:NoSchedule", "--yes")
    assert taint.code == 2
    assert "DRADeviceTaintRules" in taint.err

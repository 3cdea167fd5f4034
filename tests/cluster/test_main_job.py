"""The main job, as a person does it: ktui in a pseudo-terminal on the real control plane.

Gangs wait and run, a device is tainted and its pod goes, the gang is short, the taint is taken away and the pod comes back;
an autoscaler may sleep or not; a viewer sees what it may. One story, told in order, on a control plane of its own.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.terminal.screen import Screen

NAMESPACE = "ml2"
RULES = "/apis/resource.k8s.io/v1/devicetaintrules"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
HPA = f"/apis/autoscaling/v2/namespaces/{NAMESPACE}/horizontalpodautoscalers"


@pytest.fixture(scope="module")
def plane(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    """A control plane that these tests may restart, with 16 devices of which a running gang of 8 leaves 8 free."""
    with ControlPlane(control_plane_binaries) as started:
        api = started.api()
        infra.load(api)
        api.create(objects.gang_job(NAMESPACE, "llm-train", 8, "one-gpu"))
        wait_for(lambda: len(_running(api, "llm-train")) == 8, "the gang to run", limit=120)
        api.create(objects.gang_job(NAMESPACE, "llm-big", 12, "one-gpu"))
        api.create(objects.autoscaler(NAMESPACE, "chat-external", external=True))
        yield started


def _running(api: Api, job: str) -> list[dict[str, Any]]:
    pods = api.list(PODS, labelSelector=f"batch.kubernetes.io/job-name={job}")
    return [p for p in pods if p["status"].get("phase") == "Running" and "deletionTimestamp" not in p["metadata"]]


@contextmanager
def _open(plane: ControlPlane, home: Path, *arguments: str, size: tuple[int, int] = (160, 40)) -> Iterator[Screen]:
    """The screens, with the gangs on them."""
    with Screen("--kubeconfig", str(plane.kubeconfig), *arguments, home=home, size=size) as screen:
        screen.see(r"1 Triage")
        screen.press("2")
        yield screen


def _ktui(plane: ControlPlane, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "ktui", *arguments]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False
    )


def _items(plane: ControlPlane, home: Path, *arguments: str) -> list[dict[str, Any]]:
    answer = _ktui(plane, home, "get", *arguments, "-o", "json")
    assert answer.returncode == 0, answer.stderr
    found: list[dict[str, Any]] = json.loads(answer.stdout)["items"]
    return found


def _rule(name: str, selector: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {"deviceSelector": selector, "taint": {"key": "example.com/kept", "effect": "NoSchedule"}},
    }


def test_gangs_devices_taint_untaint_and_recovery(plane: ControlPlane, tmp_path: Path) -> None:
    api = plane.api()
    with _open(plane, tmp_path) as screen:
        screen.see(r"llm-big +Pending +0 of 12.*needs 12 devices, 8 are free")
        screen.see(r"llm-train +Running +8 of 8 +8 ")

        # All devices but the gang's are taken out, so that an evicted pod has nowhere to go.
        screen.press("3")
        screen.see(r"16 devices")
        free = [(d["pool"], d["device"]) for d in _items(plane, tmp_path, "devices") if d["state"] == "free"]
        assert len(free) == 8
        for pool, device in free:
            selector = {"driver": "gpu.example.com", "pool": pool, "device": device}
            api.create(_rule(f"keep-{pool}-{device}", selector))
        wait_for(lambda: len(re.findall(r" tainted ", screen.text)) == 8, "eight tainted devices")

        victim = next(p for p in _items(plane, tmp_path, "pods", "-A") if (p["gang"] or "").startswith("llm-train"))
        got = victim["containers"][0]["devices"][0]
        screen.press("/", got["pool"], "enter")
        screen.see(r"4 of 16")
        screen.press("g")
        devices = [d["device"] for d in _items(plane, tmp_path, "devices") if d["pool"] == got["pool"]]
        screen.press(*"j" * devices.index(got["device"]))
        where = f"gpu.example.com/{got['pool']}/{got['device']}"
        screen.press("T")
        screen.see(rf"Taint {where} .*admin")
        screen.press("example.com/xid", "tab", "79", "tab", "down", "tab", "broken", "enter")
        screen.see(r"1 pod is deleted, without regard to PodDisruptionBudgets")
        screen.see(rf"{NAMESPACE}/{victim['name']}")
        screen.see(r"falls to 7 of 8")
        screen.see(r"server dry run +accepted")
        assert not [r for r in api.list(RULES) if r["metadata"]["name"].startswith("ktui-")], "a dry run stores nothing"
        screen.press("llm-train", "enter")
        screen.see("enter again")
        screen.press("enter")
        screen.see(rf"Taint {where}: done")
        wait_for(
            lambda: victim["name"] not in {p["metadata"]["name"] for p in _running(api, "llm-train")}, "the eviction"
        )
        screen.press("esc")
        screen.gone(r"· filter")
        screen.press("1")
        screen.see(r"Gangs that need you")
        screen.see(r"llm-train +Degraded +7 of 8")
        screen.press("2")
        screen.see(r"llm-train +Degraded +7 of 8 +7 ")
        gang = next(g for g in _items(plane, tmp_path, "gangs", "-A") if g["name"].startswith("llm-train"))
        assert (gang["state"], gang["pods"]["running"], gang["minCount"]) == ("Degraded", 7, 8)

        screen.press("5")
        screen.see(r"example.com/xid=79 +NoExecute")
        screen.press("/", "xid", "enter")
        screen.see(r"1 of 9")
        screen.press("g", "U")
        screen.see(rf"Untaint {where}")
        screen.see(r"server dry run +accepted")
        assert [r for r in api.list(RULES) if r["metadata"]["name"].startswith("ktui-")], "a dry run deletes nothing"
        screen.press("y")
        screen.see(rf"Untaint {where}: done")
        screen.press("esc")
        screen.gone(r"· filter")
        screen.press("2")
        screen.see(r"llm-train +Running +8 of 8")
        screen.press("q")
        assert screen.ended() == 0

    audit = [json.loads(line) for line in (tmp_path / "state/ktui/audit.log").read_text().splitlines()]
    assert [(a["action"], a["user"], a["result"].split(":")[0]) for a in audit] == [
        ("taint", "admin", "applied"),
        ("untaint", "admin", "applied"),
    ]
    assert audit[0]["podsDeleted"] == [f"{NAMESPACE}/{victim['name']}"]
    assert audit[0]["auditID"]
    for pool, device in free:
        api.delete(f"{RULES}/keep-{pool}-{device}")


def test_min_replicas_zero_is_refused_on_cpu_and_accepted_with_an_external_metric(
    plane: ControlPlane, tmp_path: Path
) -> None:
    api = plane.api()
    with _open(plane, tmp_path) as screen:
        screen.see(r"llm-train")
        screen.press("6")
        screen.see(r"chat-external")
        screen.press("/", "cpu", "enter")
        screen.see(r"1 of 2")
        screen.press("g", "M")
        screen.see(r"minReplicas of ml2/chat, now 1")
        screen.press("0", "enter")
        screen.see(r"the server refuses: spec.metrics.*at least one Object or External metric")
        screen.press("esc")
        screen.gone(r"the server refuses")
        screen.press("esc")
        screen.gone(r"· filter")
        screen.press("/", "external", "enter")
        screen.see(r"1 of 2")
        screen.press("g", "M")
        screen.see(r"minReplicas of ml2/chat-external, now 1")
        screen.press("0", "enter")
        screen.see(r"minReplicas 1 +to +minReplicas 0")
        screen.see(r"cold start")
        screen.press("y")
        screen.see(r"minReplicas of ml2/chat-external: done")
        assert api.get(f"{HPA}/chat-external")["spec"]["minReplicas"] == 0
        screen.press("Z")
        screen.see(r"minReplicas 0 +to +minReplicas 1")
        screen.press("y")
        wait_for(lambda: api.get(f"{HPA}/chat-external")["spec"]["minReplicas"] == 1, "the undo")
    assert api.get(f"{HPA}/chat")["spec"]["minReplicas"] == 1


def test_a_viewer_sees_and_is_told_what_it_may_not(plane: ControlPlane, tmp_path: Path) -> None:
    with _open(plane, tmp_path, "--context", "viewer") as screen:
        screen.see(r"llm-train +Running")
        screen.press("3")
        screen.see(r"16 devices")
        screen.press("T")
        screen.see(r"Taint gpu.example.com/node-0/gpu-0")
        screen.press("example.com/xid", "enter")
        screen.see(r"viewer may not create devicetaintrules|cannot get resource|may not")
        screen.press("esc")
    assert not [r for r in plane.api().list(RULES) if r["metadata"]["name"].startswith("ktui-")]


def test_a_tenant_sees_its_namespace_and_why_the_rest_is_missing(plane: ControlPlane, tmp_path: Path) -> None:
    with _open(plane, tmp_path, "--context", "tenant") as screen:
        screen.see(r"llm-train +Running")
        screen.press("8")
        screen.see(r"llm-train-0")
        screen.press("3")
        screen.see(r"no access.*resourceslices|resourceslices.*(forbidden|no access)")


def test_readonly_sends_nothing(plane: ControlPlane, tmp_path: Path) -> None:
    with _open(plane, tmp_path, "--readonly") as screen:
        screen.see(r"llm-train +Running")
        screen.see(r"READ.?ONLY")
        screen.press("3")
        screen.see(r"16 devices")
        screen.press("T")
        screen.press("8")
        screen.see(r"llm-train-0")
        assert "effect" not in screen.text
    refused = _ktui(plane, tmp_path, "--readonly", "taint", "gpu.example.com/node-0/gpu-0", "a:NoSchedule", "--yes")
    assert refused.returncode == 2
    assert "readonly" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_killing_the_api_server_under_the_screen_loses_and_doubles_nothing(plane: ControlPlane, tmp_path: Path) -> None:
    api = plane.api()
    with _open(plane, tmp_path) as screen:
        screen.see(r"llm-train +Running +8 of 8")
        before = {g["name"] for g in _items(plane, tmp_path, "gangs", "-A")}
        plane.stop_api_server(signal.SIGKILL)
        screen.see(r"waiting")
        screen.see(r"llm-train +Running +8 of 8")  # a failure never clears rows
        plane.start_api_server()
        api.create(objects.gang_job(NAMESPACE, "after-restart", 2, "one-gpu"))
        screen.see(r"after-restart +Running +2 of 2")
        screen.see(r"live")
        screen.gone(r"waiting")
        screen.see(rf"{len(before) + 1} gangs")
        for gang in ("after-restart", "llm-big", "llm-train"):
            assert len(re.findall(rf" {gang} ", screen.text)) == 1, screen.text
        screen.press("8")
        truth = {pod["metadata"]["name"] for pod in api.list(PODS)}
        screen.see(rf"{len(truth)} pods")
        for name in truth:
            assert screen.text.count(name) == 1, f"{name}\n{screen.text}"

"""Jobs that ask for gangs, gangs that preempt each other, and a claim that a gang shares, on the real control plane."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ktui.cli import main
from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane


def _get(plane: ControlPlane, home: Path, namespace: str, kind: str) -> list[Json]:
    command = [sys.executable, "-m", "ktui", "get", kind, "-n", namespace, "-o", "json"]
    environ = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "XDG_STATE_HOME": str(home)}
    answer = subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    items: list[Json] = json.loads(answer.stdout)["items"]
    return items


@contextmanager
def _recorded(plane: ControlPlane, namespace: str, file: Path) -> Iterator[None]:
    """What happens meanwhile in the namespace is in the file afterwards."""
    command = [
        sys.executable,
        "-m",
        "ktui",
        "record",
        str(file),
        "-n",
        namespace,
        "--kubeconfig",
        str(plane.kubeconfig),
    ]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL) as recorder:
        try:
            wait_for(lambda: file.exists() and file.stat().st_size > 0, "the recording to begin")
            yield
        finally:
            recorder.send_signal(signal.SIGINT)
            recorder.wait(timeout=60)


def _timeline(file: Path, capsys: pytest.CaptureFixture[str]) -> list[Json]:
    assert main(["get", "timeline", "--recording", str(file), "-o", "json"]) == 0
    items: list[Json] = json.loads(capsys.readouterr().out)["items"]
    return items


def _big_job(namespace: str, name: str, pods: int, priority: str) -> Json:
    """A gang whose pods take most of a node each. They have no claims: the scheduler does not preempt for devices."""
    job = objects.gang_job(namespace, name, pods, "", priority=priority)
    spec = job["spec"]["template"]["spec"]
    del spec["resourceClaims"]
    spec["containers"][0]["resources"] = {"requests": {"cpu": "40"}}
    return job


def test_a_job_that_asks_for_a_gang_and_one_that_preempts_it(
    real_cluster: ControlPlane, fresh_namespace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 6, items 1 and 2: the gang of lower priority is on every node, and goes as a whole."""
    file = tmp_path / "preemption.ktui"
    with _recorded(real_cluster, fresh_namespace, file):
        before = _low_gang_goes(real_cluster, fresh_namespace, tmp_path)
    told = [change for change in _timeline(file, capsys) if change["change"] == "PodPreempted"]
    assert {change["name"] for change in told} == before
    (group,) = {change["after"] for change in told}
    assert group.startswith(f"PodGroup {fresh_namespace}/")


def _low_gang_goes(real_cluster: ControlPlane, fresh_namespace: str, tmp_path: Path) -> set[str]:
    """A gang runs on every node, and makes room for one of higher priority. Returns the names of its pods."""
    api = real_cluster.api()
    nodes = len(infra.NODES)

    def gangs() -> dict[str, Json]:
        return {gang["owner"]["name"]: gang for gang in _get(real_cluster, tmp_path, fresh_namespace, "gangs")}

    def running(job: str) -> bool:
        gang = gangs().get(job)
        return gang is not None and gang["state"] == "Running"

    api.create(_big_job(fresh_namespace, "low", nodes, "batch"))
    wait_for(lambda: running("low"), "the gang of low priority to run", limit=120)

    (workload,) = _get(real_cluster, tmp_path, fresh_namespace, "workloads")
    assert workload["owner"] == {"kind": "Job", "name": "low"}
    assert workload["scheduling"] == {
        "policy": "gang",
        "minCount": nodes,
        "disruptionMode": "all",
        "topology": [],
    }
    (group,) = workload["children"]
    assert (group["kind"], group["state"], group["running"]) == ("PodGroup", "Running", nodes)
    assert {(pod["kind"], pod["state"]) for pod in group["children"]} == {("Pod", "Running")}
    assert len(group["children"]) == nodes
    before = {pod["name"] for pod in group["children"]}

    api.create(_big_job(fresh_namespace, "high", 2, "prod"))
    wait_for(lambda: running("high"), "the gang of high priority to run", limit=120)
    found = gangs()["high"]
    assert (found["priority"], found["priorityClass"], found["disruptionMode"]) == (1000, "prod", "all")
    assert {victim["name"] for victim in found["preemption"]["victims"]} == before
    assert {victim["state"] for victim in found["preemption"]["victims"]} == {"gone"}
    return before


def test_a_claim_that_a_gang_shares(real_cluster: ControlPlane, fresh_namespace: str, tmp_path: Path) -> None:
    """Issue 6, item 3: one claim made from a template for the group, reserved for it as a whole."""
    api = real_cluster.api()
    groups = f"/apis/scheduling.k8s.io/v1beta1/namespaces/{fresh_namespace}/podgroups"
    api.create(objects.pod_group(fresh_namespace, "pair", 2, claim_template="one-gpu"))
    for name in ("a", "b"):
        api.create(objects.pod(fresh_namespace, name, "one-gpu", group="pair"))
    try:
        wait_for(
            lambda: {pod["status"] for pod in _get(real_cluster, tmp_path, fresh_namespace, "pods")} == {"Running"},
            "both pods to run",
            limit=120,
        )
        (claim,) = _get(real_cluster, tmp_path, fresh_namespace, "claims")
        assert (claim["shared"], claim["gangs"], claim["usedBy"]) == (True, ["pair"], ["a", "b"])
        assert claim["reservedFor"] == [{"resource": "podgroups", "name": "pair"}]
        (gang,) = _get(real_cluster, tmp_path, fresh_namespace, "gangs")
        (shared,) = gang["sharedClaims"]
        assert (shared["claim"], shared["template"]) == (claim["name"], "one-gpu")
        assert shared["state"] == "allocated,reserved"
        assert len(shared["devices"]) == 1
        held = [d for d in _get(real_cluster, tmp_path, fresh_namespace, "devices") if d["allocatedTo"]]
        assert [device["sharing"] for device in held] == [["sharedClaim"]]
    finally:
        for name in ("a", "b"):
            api.delete(f"/api/v1/namespaces/{fresh_namespace}/pods/{name}")
        api.delete(f"{groups}/pair")


def test_a_pod_that_a_gang_runs_without(real_cluster: ControlPlane, fresh_namespace: str, tmp_path: Path) -> None:
    """minCount 2 of 3 pods: the third asks for more than any node has, and waits by itself."""
    api = real_cluster.api()
    api.create(objects.pod_group(fresh_namespace, "most", 2))
    for name, cpus in {"a": "1", "b": "1", "big": "500"}.items():
        pod = objects.pod(fresh_namespace, name, "", group="most")
        pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": cpus}}
        pod["spec"].pop("resourceClaims", None)
        api.create(pod)

    def told() -> list[Json]:
        (gang,) = _get(real_cluster, tmp_path, fresh_namespace, "gangs")
        beyond: list[Json] = gang["waitingBeyond"]
        return beyond if [each["cause"] for each in beyond] == ["NotEnoughNodeResources"] else []

    (waiting,) = wait_for(told, "the gang to run and its third pod to be refused", limit=120)
    assert waiting["pods"] == ["big"]

"""Kueue and Volcano beside Kubernetes' own gangs, on the real control plane.

Their definitions are minimal ones (crds/), their status is written by the test: what is proven is that ktui finds the kinds, in
the served version, watches them, joins their pods, and says nothing of them where they are not installed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Api, Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.terminal.screen import Screen

NAMESPACE = "ml2"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
VOLCANO = "/apis/scheduling.volcano.sh/v1beta1"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor h200, 8 more needed"


@pytest.fixture(scope="module")
def plane(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    with ControlPlane(control_plane_binaries) as started:
        infra.load(started.api())
        yield started


def _create(api: Api, root: str, plural: str, kind: str, name: str, namespace: str = "", **members: Any) -> None:
    where = f"{root}/namespaces/{namespace}/{plural}" if namespace else f"{root}/{plural}"
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **members.pop("metadata", {})}
    document = {"apiVersion": root.removeprefix("/apis/"), "kind": kind, "metadata": metadata, **members}
    api.request("POST", where, document)


def _install(api: Api, program: str) -> None:
    """The definitions of one program, and wait until they are served."""
    text = (Path(__file__).parent / "crds" / f"{program}.yaml").read_text(encoding="utf-8")
    names = []
    for document in yaml.safe_load_all(text):
        api.request("POST", CRDS, document)
        names.append(document["metadata"]["name"])
    wait_for(lambda: all(_established(api, name) for name in names), f"the definitions of {program}")


def _established(api: Api, name: str) -> bool:
    conditions = api.get(f"{CRDS}/{name}").get("status", {}).get("conditions") or ()  # null at first
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def _pod(name: str, annotation: str, group: str) -> Json:
    spec = {"containers": [{"name": "main", "image": objects.IMAGE}]}
    metadata = {"name": name, "namespace": NAMESPACE, "annotations": {annotation: group}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _ktui(plane: ControlPlane, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "ktui", *arguments]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False
    )


def _gangs(plane: ControlPlane, home: Path) -> dict[str, Json]:
    return _items(plane, home, "gangs")


def _items(plane: ControlPlane, home: Path, view: str) -> dict[str, Json]:
    answer = _ktui(plane, home, "get", view, "-A", "-o", "json")
    assert (answer.returncode, answer.stderr) == (0, "")
    return {item["name"]: item for item in json.loads(answer.stdout)["items"]}


def _condition(kind: str, status: str, reason: str, message: str) -> Json:
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _kueue(api: Api) -> None:
    _create(
        api,
        KUEUE,
        "clusterqueues",
        "ClusterQueue",
        "research",
        spec={
            "resourceGroups": [{"flavors": [{"name": "h200", "resources": [{"name": "cpu", "nominalQuota": "24"}]}]}]
        },
        status=_reserved("16"),
    )
    _create(api, KUEUE, "localqueues", "LocalQueue", "main", NAMESPACE, spec={"clusterQueue": "research"})
    pod_sets = [{"name": "main", "count": 2}]
    spec = {"queueName": "main", "podSets": pod_sets, "priority": 0}
    waiting = [_condition("QuotaReserved", "False", "Pending", SHORT)]
    _create(api, KUEUE, "workloads", "Workload", "job-waits", NAMESPACE, spec=spec, status={"conditions": waiting})
    inside = [_condition("QuotaReserved", "True", "QuotaReserved", ""), _condition("Admitted", "True", "Admitted", "")]
    assigned = [{"name": "main", "count": 2, "flavors": {"cpu": "h200"}}]
    admission = {"clusterQueue": "research", "podSetAssignments": assigned}
    status = {"conditions": inside, "admission": admission}
    _create(api, KUEUE, "workloads", "Workload", "job-runs", NAMESPACE, spec=spec, status=status)
    for number in range(2):
        api.create(_pod(f"runs-{number}", "kueue.x-k8s.io/workload", "job-runs"))


def _reserved(cpus: str) -> Json:
    return {"flavorsReservation": [{"name": "h200", "resources": [{"name": "cpu", "total": cpus}]}]}


def _volcano(api: Api) -> None:
    _create(api, VOLCANO, "queues", "Queue", "batch", spec={"weight": 1}, status={"state": "Open"})
    _create(
        api,
        VOLCANO,
        "podgroups",
        "PodGroup",
        "held",
        NAMESPACE,
        spec={"minMember": 3, "queue": "batch"},
        status={"phase": "Pending"},
    )
    _create(
        api,
        VOLCANO,
        "podgroups",
        "PodGroup",
        "on",
        NAMESPACE,
        spec={"minMember": 1, "queue": "batch"},
        status={"phase": "Running"},
    )
    api.create(_pod("on-0", "scheduling.k8s.io/group-name", "on"))


def test_gangs_of_kueue_and_volcano(plane: ControlPlane, tmp_path: Path) -> None:
    api = plane.api()
    assert _gangs(plane, tmp_path) == {}, "nothing is said of programs that are not installed"
    for program in ("kueue", "volcano"):
        _install(api, program)
    _kueue(api)
    _volcano(api)

    def running() -> dict[str, Json]:
        gangs = _gangs(plane, tmp_path)
        return gangs if gangs["job-runs"]["state"] == gangs["on"]["state"] == "Running" else {}

    gangs = wait_for(running, "the pods of both to run", limit=120)
    assert {name: gang["source"] for name, gang in gangs.items()} == {
        "job-waits": "kueue",
        "job-runs": "kueue",
        "held": "volcano",
        "on": "volcano",
    }
    waits = gangs["job-waits"]
    assert (waits["state"], waits["cause"]) == ("Pending", "QuotaExceeded")
    assert waits["facts"] == {"quota": "research", "resource": "cpu", "flavor": "h200", "more": "8", "available": "8"}
    assert (waits["queue"]["clusterQueue"], waits["queue"]["position"]) == ("research", 0)
    assert gangs["job-runs"]["queue"]["flavors"] == ["h200"]
    assert (gangs["held"]["cause"], gangs["held"]["facts"]) == ("Queued", {"queue": "batch"})

    pods = _items(plane, tmp_path, "pods")
    assert (pods["runs-0"]["gang"], pods["runs-0"]["gangSource"]) == ("job-runs", "kueue")
    assert (pods["on-0"]["gang"], pods["on-0"]["gangSource"]) == ("on", "volcano")

    why = _ktui(plane, tmp_path, "why", f"{NAMESPACE}/job-waits")
    assert why.returncode == 0, why.stderr
    assert "Kueue says" in why.stdout

    with Screen("--kubeconfig", str(plane.kubeconfig), home=tmp_path, size=(160, 40)) as screen:
        screen.press("2")
        screen.see(r"job-waits \(kueue\) +Pending .*8 of 24 unused")
        screen.see(r"job-runs \(kueue\) +Running +2 of 2")
        screen.see(r"held \(volcano\) +Pending")
        api.patch(f"{KUEUE}/clusterqueues/research", {"status": _reserved("20")})
        screen.see(r"job-waits \(kueue\) +Pending .*4 of 24 unused")
        screen.press("q")

"""The tree of Workloads on a real control plane: owners of kinds that are found by discovery, groups of groups (alpha in 1.37).

The owners' definitions are minimal ones (crds/), and the test plays their controllers: what is proven is that ktui finds the
kinds, in the served version, follows references upwards, and counts groups of groups that the scheduler really places.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Api, Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane, Options
from tests.terminal.screen import Screen

NAMESPACE: Final = "ml2"
CRDS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GATES: Final = ("GenericWorkload", "TopologyAwareWorkloadScheduling", "CompositePodGroup")
SERVED: Final = {"scheduling.k8s.io/v1beta1": True, "scheduling.k8s.io/v1alpha3": True}
JOBSETS: Final = f"/apis/jobset.x-k8s.io/v1alpha2/namespaces/{NAMESPACE}/jobsets"


@pytest.fixture(scope="module")
def plane(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    options = Options(feature_gates=dict.fromkeys(GATES, True), runtime_config=SERVED)
    with ControlPlane(control_plane_binaries, options) as started:
        api = started.api()
        infra.load(api)
        _install(api)
        _fill(api)
        yield started


def _install(api: Api) -> None:
    text = (Path(__file__).parent / "crds" / "owners.yaml").read_text(encoding="utf-8")
    names = []
    for document in yaml.safe_load_all(text):
        api.request("POST", CRDS, document)
        names.append(document["metadata"]["name"])

    def established(name: str) -> bool:
        conditions = api.get(f"{CRDS}/{name}").get("status", {}).get("conditions") or ()  # null at first
        return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

    wait_for(lambda: all(map(established, names)), "the owners' definitions")


def _create(api: Api, version: str, plural: str, kind: str, name: str, above: Json | None = None, **more: Any) -> Json:
    """Make an object; the answer is a reference by which it owns another."""
    metadata: Json = {"name": name, "namespace": NAMESPACE, **({"ownerReferences": [above]} if above else {})}
    document = {"apiVersion": version, "kind": kind, "metadata": metadata, **more}
    made = json.loads(api.request("POST", f"/apis/{version}/namespaces/{NAMESPACE}/{plural}", document))
    return {"apiVersion": version, "kind": kind, "name": name, "uid": made["metadata"]["uid"], "controller": True}


def _fill(api: Api) -> None:
    """TrainJob tune → JobSet tune → Workload tune → a group of two groups; LeaderWorkerSet serve → Workload serve → a group."""
    train = _create(api, "trainer.kubeflow.org/v1alpha1", "trainjobs", "TrainJob", "tune")
    said = [{"type": "StartupPolicyCompleted", "status": "True", "reason": "AllJobsStarted"}]
    jobset = _create(api, "jobset.x-k8s.io/v1alpha2", "jobsets", "JobSet", "tune", train, status={"conditions": said})
    one = {"gang": {"minCount": 1}}
    template = {
        "name": "both",
        "schedulingPolicy": {"gang": {"minGroupCount": 2}},
        "podGroupTemplates": [{"name": name, "schedulingPolicy": one} for name in ("driver", "worker")],
    }
    ref = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "tune"}
    scheduling = "scheduling.k8s.io/v1alpha3"
    spec: Json = {"controllerRef": ref, "compositePodGroupTemplates": [template]}
    workload = _create(api, scheduling, "workloads", "Workload", "tune", jobset, spec=spec)
    spec = {
        "workloadRef": {"workloadName": "tune", "templateName": "both"},
        "schedulingPolicy": {"gang": {"minGroupCount": 2}},
    }
    _create(api, scheduling, "compositepodgroups", "CompositePodGroup", "tune", workload, spec=spec)
    _group(api, "tune-driver", "tune", "driver", parent="tune")
    api.create(_pod("tune-driver-0", "tune-driver"))

    serve = _create(api, "leaderworkerset.x-k8s.io/v1", "leaderworkersets", "LeaderWorkerSet", "serve")
    spec = {
        "controllerRef": {"apiGroup": "leaderworkerset.x-k8s.io", "kind": "LeaderWorkerSet", "name": "serve"},
        "podGroupTemplates": [{"name": "all", "schedulingPolicy": one}],
    }
    _create(api, scheduling, "workloads", "Workload", "serve", serve, spec=spec)
    _group(api, "serve", "serve", "all")
    api.create(_pod("serve-0", "serve"))


def _group(api: Api, name: str, workload: str, template: str, parent: str = "") -> None:
    spec: Json = {
        "workloadRef": {"workloadName": workload, "templateName": template},
        "schedulingPolicy": {"gang": {"minCount": 1}},
        **({"parentCompositePodGroupName": parent} if parent else {}),
    }
    _create(api, "scheduling.k8s.io/v1alpha3", "podgroups", "PodGroup", name, spec=spec)


def _pod(name: str, group: str) -> Json:
    spec: Json = {
        "containers": [{"name": "main", "image": objects.IMAGE}],
        "schedulingGroup": {"podGroupName": group},
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def _ktui(plane: ControlPlane, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "KUBECONFIG": str(plane.kubeconfig), "XDG_STATE_HOME": str(home / "state")}
    command = [sys.executable, "-m", "ktui", "get", "workloads", *arguments, "-n", NAMESPACE]
    return subprocess.run(
        command, env=environ, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL, check=False
    )


def _workloads(plane: ControlPlane, home: Path, *arguments: str) -> dict[str, Json]:
    answer = _ktui(plane, home, "-o", "json", *arguments)
    assert answer.returncode == 0, answer.stderr
    return {item["name"]: item for item in json.loads(answer.stdout)["items"]}


def _settle(plane: ControlPlane, home: Path) -> None:
    """A definition is established some time before discovery tells of it."""

    def settled() -> bool:
        found = _workloads(plane, home)
        owners = [owner["read"] for name in ("tune", "serve") for owner in found[name]["owners"]]
        return found["serve"]["state"] == "Running" and owners == [True] * 3

    wait_for(settled, "the LeaderWorkerSet's pod to run, and all owners to be served", limit=120)


def _owners(item: Json) -> list[tuple[str, str, str, bool]]:
    return [(owner["group"], owner["kind"], owner["name"], owner["read"]) for owner in item["owners"]]


def test_the_tree_from_a_custom_kind_down_to_pods(plane: ControlPlane, tmp_path: Path) -> None:
    """Issue 6, item 1. The scheduler holds the first group back until the second is there: minGroupCount is 2."""
    api = plane.api()
    _settle(plane, tmp_path)
    tune = _workloads(plane, tmp_path)["tune"]
    assert _owners(tune) == [
        ("trainer.kubeflow.org", "TrainJob", "tune", True),
        ("jobset.x-k8s.io", "JobSet", "tune", True),
    ]
    assert [c["type"] for c in tune["owners"][1]["conditions"]] == ["StartupPolicyCompleted"]
    (composite,) = tune["children"]
    assert (composite["kind"], composite["state"]) == ("CompositePodGroup", "Pending")
    assert (composite["minGroupCount"], composite["readyGroups"]) == (2, 0)
    (group,) = composite["children"]
    assert (group["name"], group["state"], [pod["name"] for pod in group["children"]]) == (
        "tune-driver",
        "Pending",
        ["tune-driver-0"],
    )
    with Screen("--kubeconfig", str(plane.kubeconfig), "-n", NAMESPACE, home=tmp_path, size=(120, 34)) as screen:
        screen.press("7")
        screen.see(r"▾ TrainJob/tune +Pending")
        screen.see(r"  ▾ JobSet/tune +Pending")
        screen.see(r"    ▾ Workload/tune +Pending")
        screen.see(r"      ▾ Composite/tune +Pending")
        screen.see(r"        ▾ PodGroup/tune-driver +Pending")
        screen.see(r"▸ LeaderWorkerSet/serve +Running")
        screen.press("g", "l")
        screen.see(r"▾ LeaderWorkerSet/serve")
        screen.see(r"  ▸ Workload/serve +Running")
        screen.press("h")
        screen.see(r"▸ LeaderWorkerSet/serve")
        screen.gone(r"Workload/serve")
        screen.press("y")
        screen.see(r"^ *kind: LeaderWorkerSet")
        screen.press("esc")
        _group(api, "tune-worker", "tune", "worker", parent="tune")
        api.create(_pod("tune-worker-0", "tune-worker"))
        screen.see(r"▸ TrainJob/tune +Running +2 2 of 2", limit=200)  # nothing needs a look: it folds
        screen.press("q")
    (composite,) = _workloads(plane, tmp_path)["tune"]["children"]
    assert (composite["state"], composite["readyGroups"]) == ("Running", 2)


def test_the_tree_as_it_is_printed(plane: ControlPlane, tmp_path: Path) -> None:
    _settle(plane, tmp_path)
    answer = _ktui(plane, tmp_path, "serve")
    assert (answer.returncode, answer.stderr) == (0, "")
    drawn = [" ".join(line.split()[1:2]) for line in answer.stdout.splitlines()[1:]]
    assert drawn == ["LeaderWorkerSet/serve", "└─Workload/serve", "└─PodGroup/serve", "└─Pod/serve-0"]


def test_owners_that_may_not_be_read_are_shown_by_their_names(plane: ControlPlane, tmp_path: Path) -> None:
    """The viewer's role names no kinds that own Workloads."""
    _settle(plane, tmp_path)
    item = _workloads(plane, tmp_path, "--context", "viewer")["serve"]
    assert _owners(item) == [("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "serve", False)]
    assert "leaderworkersets" in item["owners"][0]["notRead"]
    answer = _ktui(plane, tmp_path, "serve", "--context", "viewer")
    assert "LeaderWorkerSet/serve (no access)" in answer.stdout


def test_an_owner_that_goes_is_said_to_be_gone(plane: ControlPlane, tmp_path: Path) -> None:
    """The Workload names it still, and stays as nobody collects it: its reference to the JobSet is by name only."""
    _settle(plane, tmp_path)
    api = plane.api()
    ref = {"apiGroup": "jobset.x-k8s.io", "kind": "JobSet", "name": "brief"}
    template = {"name": "all", "schedulingPolicy": {"gang": {"minCount": 1}}}
    spec = {"controllerRef": ref, "podGroupTemplates": [template]}
    _create(api, "jobset.x-k8s.io/v1alpha2", "jobsets", "JobSet", "brief")
    _create(api, "scheduling.k8s.io/v1beta1", "workloads", "Workload", "brief", spec=spec)
    assert _owners(_workloads(plane, tmp_path)["brief"]) == [("jobset.x-k8s.io", "JobSet", "brief", True)]
    api.delete(f"{JOBSETS}/brief")
    wait_for(lambda: not _workloads(plane, tmp_path)["brief"]["owners"][0]["read"], "the JobSet to go")
    assert _workloads(plane, tmp_path)["brief"]["owners"][0]["notRead"] == "gone"

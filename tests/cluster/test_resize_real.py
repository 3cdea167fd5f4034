"""In-place resize and resources of whole pods on the real control plane. The API server and the scheduler are real; the kubelet
is not, so these tests write into the status what a kubelet would."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ktui.cli import main
from tests.cluster import objects
from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.cluster import ControlPlane

Json = dict[str, Any]
Look = Callable[[str], Json]

NODE = "node-3"
GI = 1024**3


@pytest.fixture
def look(real_cluster: ControlPlane, fresh_namespace: str, capsys: pytest.CaptureFixture[str]) -> Look:
    """A pod as `ktui get pods -o json` gives it."""

    def run(name: str) -> Json:
        command = ["get", "pods", name, "-n", fresh_namespace, "-o", "json"]
        assert main([*command, "--kubeconfig", str(real_cluster.kubeconfig)]) == 0
        (found,) = json.loads(capsys.readouterr().out)["items"]
        return dict(found)

    return run


def pod(namespace: str, name: str, asked: Json, **spec: Any) -> Json:
    container = {"name": "main", "image": objects.IMAGE, "resources": asked}
    where = {"kubernetes.io/hostname": NODE}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [container], "nodeSelector": where, **spec},
    }


class Kubelet:
    """Resizes a pod by the API server's subresource, and answers as the kubelet of its node would."""

    def __init__(self, api: Api, namespace: str, name: str) -> None:
        self._api = api
        self._path = f"/api/v1/namespaces/{namespace}/pods/{name}"

    def runs(self) -> bool:
        return bool(self._api.get(self._path)["status"].get("phase") == "Running")

    def generation(self) -> int:
        return int(self._api.get(self._path)["metadata"]["generation"])

    def resize(self, **spec: Any) -> None:
        self._patch("resize", {"spec": spec})

    def resize_container(self, **resources: Any) -> None:
        self.resize(containers=[{"name": "main", "resources": resources}])

    def says(self, condition: Json | None = None, *, allocated: Json, applied: Json, **whole: Any) -> None:
        """Reports what is set aside and applied; `condition` is the one that a resize has, the other goes."""
        types = ("PodResizePending", "PodResizeInProgress")
        conditions: list[Json] = [
            {"type": t, "$patch": "delete"} for t in types if condition is None or t != condition["type"]
        ]
        if condition is not None:
            conditions.append({"status": "True", "observedGeneration": self.generation(), **condition})
        report = {"name": "main", "allocatedResources": allocated, "resources": applied}
        self._patch("status", {"status": {"conditions": conditions, "containerStatuses": [report], **whole}})

    def _patch(self, subresource: str, change: Json) -> None:
        self._api.request("PATCH", f"{self._path}/{subresource}", change, "application/strategic-merge-patch+json")


def placed(plane: ControlPlane, manifest: Json) -> Kubelet:
    api = plane.api()
    api.create(manifest)
    meta = manifest["metadata"]
    kubelet = Kubelet(api, meta["namespace"], meta["name"])
    wait_for(kubelet.runs, f"pod {meta['name']} to run", limit=90)
    return kubelet


@contextmanager
def declared(api: Api, feature: str) -> Iterator[None]:
    """The node's kubelet tells that it has the feature: the API server asks for that before it takes a resize of a whole pod."""
    path = f"/api/v1/nodes/{NODE}/status"
    api.patch(path, {"status": {"declaredFeatures": [feature]}})
    try:
        yield
    finally:
        api.patch(path, {"status": {"declaredFeatures": None}})


def test_a_resize_from_asked_for_to_applied(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    """Issue 6, item 9."""
    kubelet = placed(real_cluster, pod(fresh_namespace, "p", {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}))
    old, new = ({"requests": {"cpu": n}, "limits": {"cpu": "2"}} for n in ("1", "1500m"))
    kubelet.says(allocated=old["requests"], applied=old)
    found = look("p")
    assert (found["qosClass"], found["resize"]) == ("Burstable", None)
    assert found["containers"][0]["resources"] == {
        "desired": old,
        "allocated": None,
        "applied": None,
        "restartsFor": [],
    }

    kubelet.resize_container(requests={"cpu": "1500m"})
    found = look("p")
    assert found["resize"]["state"] == "Requested"
    assert found["containers"][0]["resources"]["desired"] == new

    waits = {"type": "PodResizePending", "reason": "Deferred", "message": "Node didn't have enough resource: cpu"}
    kubelet.says(waits, allocated=old["requests"], applied=old)
    found = look("p")
    assert (found["resize"]["state"], found["resize"]["message"]) == ("Deferred", waits["message"])
    assert found["resize"]["generation"] == kubelet.generation()
    resources = found["containers"][0]["resources"]
    assert (resources["allocated"], resources["applied"]) == ({"requests": {"cpu": "1"}}, old)

    fails = {"type": "PodResizeInProgress", "reason": "Error", "message": "runtime refused"}
    kubelet.says(fails, allocated=new["requests"], applied=old)
    found = look("p")
    assert (found["resize"]["state"], found["status"]) == ("Error", "Running")
    resources = found["containers"][0]["resources"]
    assert (resources["allocated"], resources["applied"]) == (None, old)

    kubelet.says(allocated=new["requests"], applied=new)
    assert look("p")["resize"] is None


@pytest.mark.parametrize(("reason", "fits"), [("Infeasible", True), ("Deferred", False)])
def test_the_scheduler_counts_what_ktui_counts(
    reason: str, fits: bool, real_cluster: ControlPlane, fresh_namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is asked for in vain takes nothing of the node; what is deferred does, all of it."""
    requests = {"cpu": "4"}
    kubelet = placed(real_cluster, pod(fresh_namespace, "big", {"requests": requests}))
    kubelet.says(allocated=requests, applied={"requests": requests})
    kubelet.resize_container(requests={"cpu": "60"})
    kubelet.says({"type": "PodResizePending", "reason": reason}, allocated=requests, applied={"requests": requests})
    api = real_cluster.api()
    api.create(pod(fresh_namespace, "next", {"requests": {"cpu": "8"}}))
    path = f"/api/v1/namespaces/{fresh_namespace}/pods/next"

    def decided() -> bool:
        conditions = api.get(path)["status"].get("conditions", [])
        return any(c["type"] == "PodScheduled" for c in conditions)

    wait_for(decided, "the scheduler to decide", limit=90)
    assert ("nodeName" in api.get(path)["spec"]) is fits
    if not fits:
        command = ["why", f"{fresh_namespace}/next", "-o", "json", "--kubeconfig", str(real_cluster.kubeconfig)]
        assert main(command) == 0
        found = json.loads(capsys.readouterr().out)
        assert (found["cause"], found["facts"]) == ("NotEnoughNodeResources", {"resource": "cpu"})


def test_resources_of_a_whole_pod(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    """Pod-level resources are taken, sorted, resized and shown; Memory QoS would limit the pod, not its container."""
    asked = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2", "memory": "2Gi"}}
    kubelet = placed(real_cluster, pod(fresh_namespace, "p", {}, resources=asked))
    found = look("p")
    assert (found["qosClass"], found["resources"]["desired"], found["resize"]) == ("Burstable", asked, None)
    memory = found["memoryQoS"]
    assert (memory["pod"]["memoryLow"], memory["pod"]["memoryHigh"]) == (GI, int(1.9 * GI) // 4096 * 4096)
    assert memory["containers"][0]["memoryHigh"] is None
    assert memory["containers"][0]["memoryHighAtLeast"] is None

    kubelet.says(allocated={}, applied={}, allocatedResources=asked["requests"], resources=asked)
    with declared(real_cluster.api(), "InPlacePodLevelResourcesVerticalScaling"):
        kubelet.resize(resources={"requests": {"cpu": "1500m"}})
    waits = {"type": "PodResizePending", "reason": "Infeasible", "message": "Node didn't have enough capacity: cpu"}
    kubelet.says(waits, allocated={}, applied={}, allocatedResources=asked["requests"], resources=asked)
    found = look("p")
    assert (found["resize"]["state"], found["resize"]["message"]) == ("Infeasible", waits["message"])
    assert found["resources"]["desired"]["requests"] == {"cpu": "1500m", "memory": "1Gi"}
    assert found["resources"]["allocated"] == {"requests": asked["requests"]}
    assert found["resources"]["applied"] == asked

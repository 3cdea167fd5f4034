"""Devices on the real control plane: what serves extended resources, where a pod's devices sit, what partitions and shares leave,
taints, and what drivers say. The slices are our own, everything else is Kubernetes' doing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from ktui.cli import main
from tests.cluster import objects
from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.cluster import ControlPlane

Json = dict[str, Any]
Look = Callable[..., list[Json]]

MIG = "mig.example.com"
NODE = "node-0"


@pytest.fixture
def look(real_cluster: ControlPlane, capsys: pytest.CaptureFixture[str]) -> Look:
    """The items of `ktui get … -o json`, for an administrator."""

    def run(*arguments: str) -> list[Json]:
        assert main(["get", *arguments, "-o", "json", "--kubeconfig", str(real_cluster.kubeconfig)]) == 0
        found: list[Json] = json.loads(capsys.readouterr().out)["items"]
        return found

    return run


def pod(namespace: str, name: str, *, claim: str = "", requests: dict[str, str] | None = None) -> Json:
    """A pod whose one container uses a claim by its name, or asks for extended resources."""
    resources: Json = {"requests": {"cpu": "1", **(requests or {})}, "limits": requests or {}}
    spec: Json = {"containers": [{"name": "main", "image": objects.IMAGE, "resources": resources}]}
    if claim:
        resources["claims"] = [{"name": "gpu"}]
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


def claim(namespace: str, name: str, **exactly: Any) -> Json:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": MIG, **exactly}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"devices": {"requests": requests}},
    }


def piece(name: str, count: int, **spec: Any) -> Json:
    pool = {"name": NODE, "generation": 1, "resourceSliceCount": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": name},
        "spec": {"driver": MIG, "nodeName": NODE, "pool": pool, **spec},
    }


def drawing(name: str, memory: str, numa: int) -> Json:
    return {
        "name": name,
        "attributes": {"resource.kubernetes.io/numaNode": {"int": numa}},
        "consumesCounters": [{"counterSet": "gpu-0", "counters": {"memory": {"value": memory}}}],
    }


@contextmanager
def driver(api: Api, *pieces: Json) -> Iterator[None]:
    """A second driver with a class of its name."""
    kind = objects.device_class(MIG, extended_resource="mig.example.com/slice")
    kind["spec"]["selectors"] = [{"cel": {"expression": f"device.driver == '{MIG}'"}}]
    with ExitStack() as stack:
        for manifest in (kind, *pieces):
            stack.enter_context(api.created(manifest))
        yield


def running(api: Api, namespace: str, *names: str) -> None:
    def all_run() -> bool:
        found = {
            p["metadata"]["name"]: p["status"].get("phase") for p in api.list(f"/api/v1/namespaces/{namespace}/pods")
        }
        return all(found.get(name) == "Running" for name in names)

    wait_for(all_run, f"pods {', '.join(names)} to run", limit=90)


def test_extended_resources_show_their_devices(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    implicit = f"deviceclass.resource.kubernetes.io/{objects.DEVICE_CLASS}"
    api.create(pod(fresh_namespace, "explicit", requests={objects.EXTENDED_RESOURCE: "2"}))
    api.create(pod(fresh_namespace, "implicit", requests={implicit: "1"}))
    running(api, fresh_namespace, "explicit", "implicit")
    explicit, by_class = look("pods", "-n", fresh_namespace)
    (found,) = explicit["extended"]
    assert (found["resource"], found["count"], found["servedBy"]) == (objects.EXTENDED_RESOURCE, "2", "claim")
    assert found["deviceClass"] == objects.DEVICE_CLASS
    assert [(d["driver"], d["pool"]) for d in found["devices"]] == [(objects.DRIVER, explicit["node"])] * 2
    (found,) = by_class["extended"]
    assert (found["resource"], found["deviceClass"], len(found["devices"])) == (implicit, objects.DEVICE_CLASS, 1)


def test_what_a_device_plugin_serves_is_counted(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    status = f"/api/v1/nodes/{NODE}/status"
    counted: Json = {"plugin.example.com/gpu": "4"}
    api.patch(status, {"status": {"capacity": counted, "allocatable": counted}})
    try:
        api.create(pod(fresh_namespace, "legacy", requests={"plugin.example.com/gpu": "3"}))
        running(api, fresh_namespace, "legacy")
        (item,) = look("pods", "-n", fresh_namespace)
    finally:
        gone = {"plugin.example.com/gpu": None}
        api.patch(status, {"status": {"capacity": gone, "allocatable": gone}})
    (found,) = item["extended"]
    assert (item["node"], found["servedBy"], found["count"], found["devices"]) == (NODE, "device plugin", "3", [])
    assert item["alignment"] is None


def test_devices_together_and_apart(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    apart = [drawing("near", "40Gi", 0), drawing("far", "40Gi", 1)]
    counters = [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    with driver(api, piece("mig-devices", 2, devices=apart), piece("mig-counters", 2, sharedCounters=counters)):
        api.create(claim(fresh_namespace, "both", count=2))
        api.create(pod(fresh_namespace, "apart", claim="both"))
        together = objects.pod(fresh_namespace, "together", "two-gpu-numa")
        api.create(together)
        running(api, fresh_namespace, "apart", "together")
        far, near = (item["alignment"] for item in look("pods", "-n", fresh_namespace))
    assert far["numaNode"]["verdict"] == "apart"
    assert far["numaNode"]["apart"] == [[f"{MIG}/{NODE}/{name}" for name in far_pair(far)]]
    assert (near["numaNode"]["verdict"], near["pcieRoot"]["verdict"]) == ("aligned", "aligned")


def far_pair(alignment: Json) -> list[str]:
    """The names of the devices, in the order of the claim's results."""
    return [device.rpartition("/")[2] for device in alignment["numaNode"]["values"]]


def test_partitions_draw_on_counters(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    devices = [drawing("whole", "80Gi", 0), drawing("mig-1", "40Gi", 0), drawing("mig-2", "40Gi", 0)]
    counters = [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    half = [{"cel": {"expression": "device.attributes['resource.kubernetes.io'].numaNode == 0"}}]
    with driver(
        api,
        piece("mig-devices", 2, devices=devices[1:] + devices[:1]),
        piece("mig-counters", 2, sharedCounters=counters),
    ):
        api.create(claim(fresh_namespace, "half", selectors=half))
        api.create(pod(fresh_namespace, "p", claim="half"))
        running(api, fresh_namespace, "p")
        found = {item["device"]: item for item in look("devices") if item["driver"] == MIG}
    (taken,) = (name for name, item in found.items() if item["allocatedTo"])
    left = {"whole": "0"}.get(taken, "40Gi")
    assert {name: [c["left"] for c in item["counters"]] for name, item in found.items()} == {
        name: [left] for name in found
    }
    assert all(item["counters"][0]["drawnBy"] == [taken] for item in found.values())
    assert taken == "whole" or found["whole"]["state"] == "blocked"


def test_shares_of_one_device(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    device = {"name": "wide", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}}
    with driver(api, piece("mig-devices", 1, devices=[device])):
        for name, amount in (("a", "10Gi"), ("b", "30Gi")):
            api.create(claim(fresh_namespace, name, capacity={"requests": {"memory": amount}}))
            api.create(pod(fresh_namespace, name, claim=name))
        running(api, fresh_namespace, "a", "b")
        (item,) = (item for item in look("devices") if item["driver"] == MIG)
    assert (item["multipleAllocations"], item["capacityLeft"]) == (True, {"memory": "40Gi"})
    assert [entry["consumed"] for entry in item["allocatedTo"]] == [{"memory": "10Gi"}, {"memory": "30Gi"}]
    assert len({entry["shareID"] for entry in item["allocatedTo"]}) == 2


def test_what_a_driver_says_of_its_device(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    api = real_cluster.api()
    api.create(objects.claim(fresh_namespace, "c"))
    api.create(pod(fresh_namespace, "p", claim="c"))
    running(api, fresh_namespace, "p")
    (before,) = look("claims", "-n", fresh_namespace)
    (device,) = before["devices"]
    assert device["status"] is None
    network = {"interfaceName": "net1", "ips": ["10.9.0.2/24"], "hardwareAddress": "02:00:5e:10:00:01"}
    entry = {
        **{part: device[part] for part in ("driver", "pool", "device")},
        "conditions": [
            {
                "type": "Ready",
                "status": "False",
                "reason": "LinkDown",
                "message": "",
                "lastTransitionTime": "2026-11-30T05:00:00Z",
            }
        ],
        "networkData": network,
        "data": {"serial": "s"},
    }
    path = f"/apis/resource.k8s.io/v1/namespaces/{fresh_namespace}/resourceclaims/c/status"
    api.patch(path, {"status": {"devices": [entry]}})
    (after,) = look("claims", "-n", fresh_namespace)
    said = after["devices"][0]["status"]
    assert said["network"] == {"interface": "net1", "ips": ["10.9.0.2/24"], "mac": "02:00:5e:10:00:01"}
    assert ([c["reason"] for c in said["conditions"]], said["data"]) == (["LinkDown"], True)


def test_a_taint_is_tolerated_as_long_as_claims_say(
    look: Look, real_cluster: ControlPlane, fresh_namespace: str
) -> None:
    api = real_cluster.api()
    tolerated = {"key": "example.com/xid", "operator": "Exists", "effect": "NoExecute"}
    for name, toleration in (
        ("ever", [tolerated]),
        ("long", [{**tolerated, "tolerationSeconds": 3600}]),
        ("not", []),
    ):
        api.create(claim(fresh_namespace, name, deviceClassName=objects.DEVICE_CLASS, tolerations=toleration))
        api.create(pod(fresh_namespace, name, claim=name))
    running(api, fresh_namespace, "ever", "long", "not")
    with ExitStack() as stack:
        for pool in {item["devices"][0]["pool"] for item in look("claims", "-n", fresh_namespace)}:
            stack.enter_context(api.created(objects.device_taint_rule(f"real-{pool}", pool)))

        def mine() -> dict[str, Json | None]:
            pods = [pod for item in look("taints") for pod in item["pods"] if pod["namespace"] == fresh_namespace]
            return {pod["name"]: pod["eviction"] for pod in pods}

        staying = {
            "ever": {"what": "stays", "afterSeconds": None},
            "long": {"what": "goes", "afterSeconds": 3600},
        }
        wait_for(lambda: mine() == staying, "the pod that does not tolerate the taint to be gone")
        wait_for(
            lambda: any((item["eviction"] or {}).get("reason") for item in look("taints")), "the controller to say so"
        )


def test_reported_health_that_no_taint_answers(look: Look, real_cluster: ControlPlane, fresh_namespace: str) -> None:
    """The report is as a kubelet writes it; the simulated ones write none."""
    api = real_cluster.api()
    api.create(objects.claim(fresh_namespace, "c"))
    api.create(pod(fresh_namespace, "p", claim="c"))
    running(api, fresh_namespace, "p")
    path = f"/api/v1/namespaces/{fresh_namespace}/pods/p"
    (status,) = api.get(path)["status"]["containerStatuses"]
    report = {"resourceID": "example.com/gpu=0", "health": "Unhealthy", "message": "Xid 79"}
    status["allocatedResourcesStatus"] = [{"name": "claim:gpu", "resources": [report]}]
    api.patch(f"{path}/status", {"status": {"containerStatuses": [status]}})
    (item,) = look("pods", "-n", fresh_namespace)
    (container,) = item["containers"]
    assert container["devices"][0]["health"] == "Unhealthy"
    said = {"id": "example.com/gpu=0", "health": "Unhealthy", "message": "Xid 79"}
    assert container["reported"] == [{"name": "claim:gpu", "resources": [said]}]
    (device,) = (each for each in look("devices") if each["state"] == "unhealthy")
    assert (device["device"], device["disagreement"]) == (container["devices"][0]["device"], "unhealthy, not tainted")


def test_what_labels_say_of_the_software_on_a_node(look: Look, real_cluster: ControlPlane) -> None:
    """Issue 6, item 11: the labels are those of GPU feature discovery."""
    api = real_cluster.api()
    path = f"/api/v1/nodes/{NODE}"
    labels = {"nvidia.com/gpu.product": "NVIDIA-H200", "nvidia.com/cuda.driver-version.full": "580.65.06"}
    api.patch(path, {"metadata": {"labels": labels}})
    try:
        found = {item["device"]: item["nodeSoftware"] for item in look("devices") if item["node"] == NODE}
    finally:
        api.patch(path, {"metadata": {"labels": dict.fromkeys(labels)}})
    assert {each["product"] for each in found.values()} == {"NVIDIA-H200"}
    assert {each["driverVersion"] for each in found.values()} == {"580.65.06"}

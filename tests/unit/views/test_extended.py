"""Extended resources, and what the kubelet reports of devices, as the Pods view shows them."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "p")
GPU = "example.com/gpu"
IMPLICIT = "deviceclass.resource.kubernetes.io/h200"


def container(requests: dict[str, Any]) -> b.Document:
    return {"name": "main", "resources": {"requests": {"cpu": "1", **requests}}}


def mapped(**resources: str) -> b.Document:
    """Status of a pod whose container main has these resources (by request of the claim x) from a claim."""
    mappings = [
        {"containerName": "main", "resourceName": resource, "requestName": request}
        for request, resource in resources.items()
    ]
    return {"extendedResourceClaimStatus": {"resourceClaimName": "x", "requestMappings": mappings}}


def reports(*entries: b.Document, name: str = "main") -> b.Document:
    return {"containerStatuses": [{"name": name, "allocatedResourcesStatus": list(entries)}]}


def claim_of(*requests: tuple[str, str, str]) -> Any:
    """The scheduler's claim: request, class and device of each."""
    return b.claim(
        "x",
        [b.result(device, request) for request, _, device in requests],
        owner_=b.owner("Pod", "p"),
        reserved=[b.pod_consumer("p")],
        requests=[{"name": r, "exactly": {"deviceClassName": c}} for r, c, _ in requests],
    )


def shown(cluster: Cluster, title: str) -> str:
    sections = {section.title: section for section in VIEWS["pods"].detail(cluster, KEY, 0.0)}
    found = sections.get(title)
    return "\n".join("".join(cell.text for cell in line) for line in found.lines) if found else ""


def told(cluster: Cluster) -> b.Document:
    item = VIEWS["pods"].item(cluster, KEY)
    assert item is not None
    return item


def devices_cell(cluster: Cluster) -> str:
    row = VIEWS["pods"].row(cluster, KEY)
    assert row is not None
    return row.cells[-1].text


@pytest.mark.parametrize("resource", [GPU, IMPLICIT], ids=["explicit", "implicit"])
def test_a_legacy_container_shows_its_real_devices(resource: str) -> None:
    pod = b.pod(
        "p", node="node-1", spec={"containers": [container({resource: "1"})]}, status=mapped(**{"r-0": resource})
    )
    cluster = b.cluster_of(pod, claim_of(("r-0", "h200", "gpu-3")))
    assert devices_cell(cluster) == "node-1/gpu-3"
    assert f"main  1 x {resource}  DeviceClass h200, claim x" in shown(cluster, "Extended resources")
    assert f"  {b.DRIVER}/node-1/gpu-3" in shown(cluster, "Containers and their devices")
    assert "not reported of extended resources that a claim serves" in shown(cluster, "Containers and their devices")
    (extended,) = told(cluster)["extended"]
    assert extended == {
        "container": "main",
        "resource": resource,
        "count": "1",
        "servedBy": "claim",
        "deviceClass": "h200",
        "claimObject": "x",
        "request": "r-0",
        "devices": [{"driver": b.DRIVER, "pool": "node-1", "device": "gpu-3"}],
        "reported": [],
    }


def test_what_a_device_plugin_serves_is_counted() -> None:
    pod = b.pod("p", node="node-1", spec={"containers": [container({"nvidia.com/gpu": "4"})]})
    cluster = b.cluster_of(pod)
    assert devices_cell(cluster) == "4 x nvidia.com/gpu"
    assert "does not say which" in shown(cluster, "Extended resources")
    (extended,) = told(cluster)["extended"]
    assert (extended["servedBy"], extended["devices"], extended["claimObject"]) == ("device plugin", [], None)


def test_of_a_device_plugin_the_reported_devices_have_names() -> None:
    entry = {"name": "nvidia.com/gpu", "resources": [{"resourceID": "GPU-1", "health": "Unhealthy"}]}
    spec = {"containers": [container({"nvidia.com/gpu": "1"})]}
    cluster = b.cluster_of(b.pod("p", node="node-1", spec=spec, status=reports(entry)))
    assert "  GPU-1  Unhealthy" in shown(cluster, "Extended resources")
    assert "does not say which" not in shown(cluster, "Extended resources")
    report = {"id": "GPU-1", "health": "Unhealthy", "message": None}
    assert told(cluster)["extended"][0]["reported"] == [report]
    assert told(cluster)["containers"][0]["reported"] == [{"name": "nvidia.com/gpu", "resources": [report]}]


def test_before_it_is_placed_nothing_serves_it() -> None:
    cluster = b.cluster_of(b.pod("p", spec={"containers": [container({GPU: "1"})]}))
    assert "not placed yet" in shown(cluster, "Extended resources")
    assert told(cluster)["extended"][0]["servedBy"] is None
    assert devices_cell(cluster) == ""


def test_a_claim_that_cannot_be_read_is_no_device_plugin() -> None:
    spec = {"containers": [container({GPU: "1"})]}
    pod = b.pod("p", node="node-1", spec=spec, status=mapped(**{"r-0": GPU}))
    cluster = b.cluster_of(pod, without=["ResourceClaim"])
    assert "the claim cannot be read, or has none" in shown(cluster, "Extended resources")
    assert (told(cluster)["extended"][0]["servedBy"], told(cluster)["extended"][0]["deviceClass"]) == ("claim", None)


@pytest.mark.parametrize("name", ["cpu", "hugepages-2Mi", "kubernetes.io/batch", "requests.kubernetes.io/x"])
def test_kubernetes_own_resources_are_not_extended(name: str) -> None:
    cluster = b.cluster_of(b.pod("p", node="n", spec={"containers": [container({name: "1"})]}))
    assert (told(cluster)["extended"], devices_cell(cluster)) == ([], "")


@pytest.mark.parametrize("amount", ["0", "x", "", None, {}])
def test_no_amount_is_nothing(amount: object) -> None:
    cluster = b.cluster_of(b.pod("p", node="n", spec={"containers": [container({GPU: amount})]}))
    assert told(cluster)["extended"] == []


def test_why_health_is_not_known() -> None:
    use = {"claims": [{"name": "gpu"}]}
    spec = {
        "initContainers": [{"name": "load", "resources": use}],
        "containers": [{"name": "main", "resources": use}, {"name": "side"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
    }
    claim = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")])
    silent = shown(b.cluster_of(claim, b.pod("p", node="n", spec=spec)), "Containers and their devices")
    assert "health: not reported of init and sidecar containers" in silent
    assert silent.count("health: not reported") == 2
    entry = {"name": "claim:gpu", "resources": [{"resourceID": "cdi/x", "health": "Healthy", "message": "fine"}]}
    said = b.cluster_of(claim, b.pod("p", node="n", spec=spec, status=reports(entry)))
    text = shown(said, "Containers and their devices")
    assert text.count("health: not reported") == 1
    assert "Healthy fine" in text
    assert [c["reported"] is None for c in told(said)["containers"]] == [True, False, True]

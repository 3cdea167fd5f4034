"""What is alpha in 1.37, with its gates on, on a real control plane of its own: derived attributes, attributes that are lists,
compatibility groups, groups of groups, a group's preemption policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ktui.cli import main
from tests.cluster import infra, objects
from tests.cluster.controlplane.api import Api, Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane, Options

NAMESPACE = "alpha"
GATES = (
    "GenericWorkload",
    "DRAWorkloadResourceClaims",
    "WorkloadWithJob",
    "TopologyAwareWorkloadScheduling",
    "CompositePodGroup",
    "PodGroupPreemptionPolicy",
    "DRADerivedAttributes",
    "DRADeviceCompatibilityGroups",
    "DRAListTypeAttributes",
)
SERVED = {"scheduling.k8s.io/v1beta1": True, "scheduling.k8s.io/v1alpha3": True}
MIG = "mig.example.com"
NODE = "node-2"
PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CLAIMS = f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims"
DERIVED = "derived/socket"
SOCKET = 'device.attributes["resource.kubernetes.io"].numaNode'

Look = Callable[..., list[Json]]


@pytest.fixture(scope="module")
def alpha(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    options = Options(feature_gates=dict.fromkeys(GATES, True), runtime_config=SERVED)
    with ControlPlane(control_plane_binaries, options) as plane:
        infra.load(plane.api())
        plane.api().create(objects.namespace(NAMESPACE))
        yield plane


@pytest.fixture
def api(alpha: ControlPlane) -> Api:
    return alpha.api()


@pytest.fixture
def look(alpha: ControlPlane, capsys: pytest.CaptureFixture[str]) -> Look:
    """`ktui get … -o json` of the namespace: the items."""

    def get(*arguments: str) -> list[Json]:
        code = main(["get", *arguments, "-n", NAMESPACE, "-o", "json", "--kubeconfig", str(alpha.kubeconfig)])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        items: list[Json] = json.loads(out)["items"]
        return items

    return get


def pod(name: str, claim: str = "", **spec: Json | str) -> Json:
    made = objects.pod(NAMESPACE, name, "")
    if claim:
        made["spec"]["resourceClaims"] = [{"name": "gpu", "resourceClaimName": claim}]
    else:
        del made["spec"]["resourceClaims"]
        del made["spec"]["containers"][0]["resources"]["claims"]
    made["spec"] |= spec
    return made


def claim(name: str, exactly: Json, *constraints: Json) -> Json:
    made = objects.claim(NAMESPACE, name)
    devices: Json = {"requests": [{"name": "gpu", "exactly": exactly}]}
    made["spec"] = {"devices": devices | ({"constraints": list(constraints)} if constraints else {})}
    return made


def derived(count: int) -> Json:
    return {
        "deviceClassName": objects.DEVICE_CLASS,
        "count": count,
        "derivedAttributes": [{"name": DERIVED, "expression": SOCKET}],
    }


def phase(api: Api, name: str) -> str:
    return str(api.get(f"{PODS}/{name}")["status"].get("phase", ""))


def refused(api: Api, name: str) -> bool:
    conditions = api.get(f"{PODS}/{name}")["status"].get("conditions", [])
    return any(each["type"] == "PodScheduled" and each["status"] == "False" for each in conditions)


def why(plane: ControlPlane, capsys: pytest.CaptureFixture[str], name: str) -> Json:
    assert main(["why", f"{NAMESPACE}/{name}", "-o", "json", "--kubeconfig", str(plane.kubeconfig)]) == 0
    found: Json = json.loads(capsys.readouterr().out)
    return found


def test_derived_attributes_are_shown_as_declared(look: Look, api: Api) -> None:
    """Issue 6, item 7: the scheduler keeps to them; what they come to is stored nowhere, so none is shown."""
    api.create(claim("aligned", derived(2), {"requests": ["gpu"], "matchAttribute": DERIVED}))
    api.create(pod("aligned", "aligned"))
    wait_for(lambda: phase(api, "aligned") == "Running", "the pod with aligned devices to run", limit=90)
    (found,) = look("claims", "aligned")
    assert [each["derivedAttributes"] for each in found["requests"]] == [[{"name": DERIVED, "expression": SOCKET}]]
    assert len({int(each["device"].removeprefix("gpu-")) // 2 for each in found["devices"]}) == 1
    (row,) = look("pods", "aligned")
    assert row["alignment"]["numaNode"]["verdict"] == "aligned"


def test_why_a_claim_with_a_derived_attribute_waits(
    alpha: ControlPlane, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two devices of a node are on one socket: three cannot be had, and where two can, something else is in the way."""
    for name, count in (("wide", 3), ("busy", 2)):
        api.create(claim(name, derived(count), {"requests": ["gpu"], "matchAttribute": DERIVED}))
    large = pod("busy", "busy")
    large["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "512"
    for made in (pod("wide", "wide"), large):
        api.create(made)
    wait_for(lambda: refused(api, "wide") and refused(api, "busy"), "the pods to be refused", limit=90)
    wide, busy = why(alpha, capsys, "wide"), why(alpha, capsys, "busy")
    assert (wide["cause"], wide["facts"]) == ("DeviceConstraint", {"attribute": DERIVED})
    assert (busy["cause"], busy["facts"]) == ("NotEnoughNodeResources", {"resource": "cpu"})
    for name in ("wide", "busy"):
        api.delete(f"{PODS}/{name}")


def test_attributes_that_are_lists(look: Look, api: Api) -> None:
    """A device that is near two NUMA nodes is together with one that is on either."""
    numa = "resource.kubernetes.io/numaNode"
    devices = [
        {"name": "near-both", "attributes": {numa: {"ints": [0, 1]}}},
        {"name": "on-one", "attributes": {numa: {"ints": [1]}}},
    ]
    with_driver(api, "nic.example.com", {"devices": devices})
    exactly = {"deviceClassName": "nic.example.com", "count": 2}
    api.create(claim("near", exactly, {"requests": ["gpu"], "matchAttribute": numa}))
    api.create(pod("near", "near"))
    wait_for(lambda: phase(api, "near") == "Running", "the pod near both to run", limit=90)
    (row,) = look("pods", "near")
    assert row["alignment"]["numaNode"]["verdict"] == "aligned"


def with_driver(api: Api, driver: str, *parts: Json) -> None:
    kind = objects.device_class(driver, extended_resource=f"{driver}/device")
    kind["spec"]["selectors"] = [{"cel": {"expression": f"device.driver == '{driver}'"}}]
    api.create(kind)
    for number, part in enumerate(parts):
        pool = {"name": f"{driver}-{NODE}", "generation": 1, "resourceSliceCount": len(parts)}
        api.create(
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "metadata": {"name": f"{driver}-{number}"},
                "spec": {"driver": driver, "nodeName": NODE, "pool": pool, **part},
            }
        )


def partition(name: str, group: str) -> Json:
    consumes = {"counterSet": "gpu-0", "counters": {"memory": {"value": "40Gi"}}, "compatibilityGroups": [group]}
    return {"name": name, "attributes": {"purpose": {"string": group}}, "consumesCounters": [consumes]}


def test_compatibility_groups_are_shown_as_declared(
    look: Look, alpha: ControlPlane, api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """Issue 6, item 7: a partition of another group stays free, and nobody can have it beside the first."""
    counters = [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    partitions = [
        partition("training-1", "training"),
        partition("training-2", "training"),
        partition("serving-1", "serving"),
    ]
    with_driver(api, MIG, {"sharedCounters": counters}, {"devices": partitions})
    for name, purpose in (("first", "training"), ("other", "serving")):
        expression = f"device.attributes['{MIG}'].purpose == '{purpose}'"
        api.create(claim(name, {"deviceClassName": MIG, "selectors": [{"cel": {"expression": expression}}]}))
    api.create(pod("first", "first"))
    wait_for(lambda: phase(api, "first") == "Running", "the pod with the first partition to run", limit=90)
    api.create(pod("other", "other", nodeSelector={"kubernetes.io/hostname": NODE}))
    wait_for(lambda: refused(api, "other"), "the pod with the other group's partition to be refused", limit=90)
    found = {item["device"]: item for item in look("devices") if item["driver"] == MIG}
    assert found["training-1"]["compatibilityGroups"] == {"gpu-0": ["training"]}
    assert found["serving-1"]["compatibilityGroups"] == {"gpu-0": ["serving"]}
    assert (found["serving-1"]["state"], found["serving-1"]["counters"][0]["left"]) == ("free", "40Gi")
    told = why(alpha, capsys, "other")
    assert told["cause"] == "Unexplained"
    assert "there is a place" not in told["message"]
    assert "compatibility groups" in told["message"]
    api.delete(f"{PODS}/other")


def test_groups_of_groups_are_a_tree(look: Look, api: Api) -> None:
    """Issue 6, item 1."""
    workload = {
        "apiVersion": "scheduling.k8s.io/v1alpha3",
        "kind": "Workload",
        "metadata": {"name": "stack", "namespace": NAMESPACE},
        "spec": {
            "compositePodGroupTemplates": [
                {
                    "name": "all",
                    "schedulingPolicy": {"gang": {"minGroupCount": 2}},
                    "podGroupTemplates": [
                        {"name": name, "schedulingPolicy": {"gang": {"minCount": 1}}} for name in ("leader", "workers")
                    ],
                }
            ]
        },
    }
    api.create(workload)
    reference = {"workloadName": "stack", "templateName": "all"}
    api.create(
        {
            "apiVersion": "scheduling.k8s.io/v1alpha3",
            "kind": "CompositePodGroup",
            "metadata": {"name": "stack-all", "namespace": NAMESPACE},
            "spec": {"workloadRef": reference, "schedulingPolicy": {"gang": {"minGroupCount": 2}}},
        }
    )
    for name in ("leader", "workers"):
        group = objects.pod_group(NAMESPACE, f"stack-{name}", 1)
        group["spec"] |= {
            "workloadRef": {"workloadName": "stack", "templateName": name},
            "parentCompositePodGroupName": "stack-all",
        }
        api.create(group)
        api.create(pod(f"{name}-0", schedulingGroup={"podGroupName": f"stack-{name}"}))
    wait_for(
        lambda: {phase(api, name) for name in ("leader-0", "workers-0")} == {"Running"}, "both groups to run", limit=90
    )
    (found,) = look("workloads", "stack")
    (whole,) = found["children"]
    assert (whole["kind"], whole["name"], whole["state"]) == ("CompositePodGroup", "stack-all", "Running")
    assert [(group["kind"], group["name"], group["state"]) for group in whole["children"]] == [
        ("PodGroup", "stack-leader", "Running"),
        ("PodGroup", "stack-workers", "Running"),
    ]
    assert [[each["name"] for each in group["children"]] for group in whole["children"]] == [
        ["leader-0"],
        ["workers-0"],
    ]


def test_a_group_that_never_preempts(look: Look, api: Api) -> None:
    """Issue 6, item 2."""
    api.create({**objects.priority_class("patient", 500), "preemptionPolicy": "Never"})
    group = objects.pod_group(NAMESPACE, "patient", 1, priority="patient")
    group["spec"]["preemptionPolicy"] = "Never"  # must be that of the class, and is by default another
    api.create(group)
    api.create(pod("patient-0", schedulingGroup={"podGroupName": "patient"}, priorityClassName="patient"))
    wait_for(lambda: phase(api, "patient-0") == "Running", "its pod to run", limit=90)
    (found,) = look("gangs", "patient")
    assert (found["preemptionPolicy"], found["priority"], found["priorityClass"]) == ("Never", 500, "patient")

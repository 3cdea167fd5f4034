"""Which of several things is named: what is out of order before what is meant to be so, and what the scheduler's words allow."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.gangs import gang
from ktui.cluster.state import Cluster
from ktui.diagnose import supply
from ktui.diagnose.diagnoses import Diagnoses
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import diagnose
from ktui.diagnose.room import Room
from ktui.diagnose.supply import pods_in
from ktui.model.deviceclass import DeviceClass
from ktui.model.meta import Object
from ktui.model.node import Node
from tests.unit import builders as b

CLAIMS = "0/2 nodes are available: 2 cannot allocate all claims."
CPU = "0/2 nodes are available: 2 Insufficient cpu."


def node(name: str, cpu: str = "8", **spec: Any) -> Node:
    return b.make(
        Node, {"metadata": {"name": name}, "spec": spec, "status": {"allocatable": {"cpu": cpu, "pods": "20"}}}
    )


def device_class(name: str = "gpu", expression: str = "true") -> DeviceClass:
    return b.make(
        DeviceClass, {"metadata": {"name": name}, "spec": {"selectors": [{"cel": {"expression": expression}}]}}
    )


def devices(*names: str, on: str = "n1", model: str = "a", **more: Any) -> Object:
    listed = [{"name": name, "attributes": {"model": {"string": model}}, **more} for name in names]
    return b.piece(f"s-{on}", listed, pool=on, nodeName=on)


def tainted(*names: str, on: str = "n1") -> list[Object]:
    return [b.rule(f"bad-{on}-{n}", {"driver": b.DRIVER, "pool": on, "device": n}) for n in names]


def held(*names: str, on: str = "n1") -> list[Object]:
    return [b.claim(f"held-{on}-{n}", [b.result(n, pool=on)], reserved=[b.pod_consumer("other")]) for n in names]


def asking(pods: int = 1, words: str = CLAIMS, cpu: str = "1", **request: Any) -> list[Object]:
    """A gang of so many pods, each with a claim of its own."""
    exactly = {"deviceClassName": "gpu", "count": 1, "allocationMode": "ExactCount", **request}
    requests = request.pop("requests", None) or [{"name": "r", "exactly": exactly}]
    refused = [b.condition("PodScheduled", "False", "Unschedulable", words)]
    found: list[Object] = [b.group("g", pods)]
    for n in range(pods):
        found.append(b.claim(f"c{n}", requests=requests))
        spec = {
            "schedulingGroup": {"podGroupName": "g"},
            "resourceClaims": [{"name": "d", "resourceClaimName": f"c{n}"}],
            "containers": [{"name": "m", "resources": {"requests": {"cpu": cpu}}}],
        }
        found.append(b.pod(f"p{n}", spec=spec, status={"phase": "Pending", "conditions": refused}))
    return found


def diagnosed(*objects: Object | list[Object]) -> Diagnosis:
    flat = [o for part in objects for o in (part if isinstance(part, list) else [part])]
    return of(b.cluster_of(device_class(), *flat))


def of(cluster: Cluster) -> Diagnosis:
    found = gang(cluster, ("ml", "g"))
    assert found is not None
    return diagnose(cluster, found)


def test_a_taint_comes_before_what_others_use() -> None:
    """Either would do: untainting two, or waiting for two that are used."""
    all_of_it = devices("a", "b", "c", "d")
    found = diagnosed(node("n1"), all_of_it, tainted("a", "b"), held("c", "d"), asking(2))
    assert (found.cause, found.facts["free"]) == ("DevicesTainted", 0)


def test_what_others_use_is_named_where_a_taint_alone_does_not_account_for_it() -> None:
    found = diagnosed(node("n1"), devices("a", "b", "c"), tainted("a"), held("b", "c"), asking(3))
    assert found.cause == "NotEnoughDevices"
    assert found.facts == {"need": 3, "free": 0}


def test_more_than_there_are_is_not_enough_however_many_are_free() -> None:
    found = diagnosed(node("n1"), devices("a", "b"), asking(3))
    assert (found.cause, found.facts) == ("NotEnoughDevices", {"need": 3, "free": 2})


def test_a_cordoned_node_comes_before_devices_in_use_elsewhere() -> None:
    free, full = devices("a", on="n1"), devices("b", on="n2")
    found = diagnosed(node("n1", unschedulable=True), node("n2"), free, full, held("b", on="n2"), asking(words=MIXED))
    assert found.cause == "NodeConstraints"


def test_devices_in_use_come_before_what_the_pods_themselves_ask_of_nodes() -> None:
    pods = asking(words=MIXED)
    wish = {"nodeSelector": {"zone": "b"}}
    wishing = [b.pod(o.name, spec={**SPEC, **wish}, conditions=REFUSED) if o.name == "p0" else o for o in pods]
    labelled = b.make(
        Node, {"metadata": {"name": "n2", "labels": {"zone": "b"}}, "status": {"allocatable": {"pods": "9"}}}
    )
    found = diagnosed(node("n1"), labelled, devices("a"), devices("b", on="n2"), held("b", on="n2"), wishing)
    assert found.cause == "NotEnoughDevices"


MIXED = "0/2 nodes are available: 1 cannot allocate all claims, 1 node(s) were unschedulable."
REFUSED = [b.condition("PodScheduled", "False", "Unschedulable", MIXED)]
SPEC: dict[str, Any] = {
    "schedulingGroup": {"podGroupName": "g"},
    "resourceClaims": [{"name": "d", "resourceClaimName": "c0"}],
}


def test_words_about_nodes_only_are_accounted_for_by_nodes() -> None:
    """The scheduler looks at devices last: it did not get to them."""
    found = diagnosed(node("n1", cpu="1"), devices("a", "b"), held("a", "b"), asking(2, words=CPU, cpu="4"))
    assert (found.cause, found.facts) == ("NotEnoughNodeResources", {"resource": "cpu"})
    assert "then" in found.message


def test_words_that_are_older_than_the_state_do_not_decide() -> None:
    found = diagnosed(node("n1"), devices("a", "b"), held("a", "b"), asking(2, words=CPU))
    assert found.cause == "NotEnoughDevices"


def test_what_contradicts_the_words_is_not_claimed() -> None:
    """Devices are free, so it would be the CPU; but the scheduler speaks of devices."""
    found = diagnosed(node("n1", cpu="1"), devices("a"), asking(words=CLAIMS, cpu="4"))
    assert found.cause == "Unexplained"
    assert CLAIMS in found.message


@pytest.mark.parametrize("words", [CLAIMS, CPU])
def test_where_there_is_a_place_nothing_is_blamed(words: str) -> None:
    found = diagnosed(node("n1"), devices("a"), asking(words=words))
    assert (found.cause, found.facts) == ("Unexplained", {})


def test_of_alternatives_the_one_that_exists_is_looked_at() -> None:
    model = 'device.attributes["gpu.example.com"].model == "{}"'
    choices = [
        {"name": m, "deviceClassName": "gpu", "count": 1, "selectors": [{"cel": {"expression": model.format(m)}}]}
        for m in ("none", "a")
    ]
    requests = [{"name": "r", "firstAvailable": choices}]
    found = diagnosed(node("n1"), devices("x"), held("x"), asking(requests=requests))
    assert (found.cause, found.facts) == ("NotEnoughDevices", {"need": 1, "free": 0})
    both_gone = diagnosed(node("n1"), devices("x", model="b"), asking(requests=requests))
    assert both_gone.cause == "NoMatchingDevice"


@pytest.mark.parametrize("kind", ["ResourceSlice", "DeviceClass", "ResourceClaim", "Node"])
def test_nothing_is_claimed_of_what_was_not_read(kind: str) -> None:
    objects = [device_class(), node("n1"), devices("a"), *held("a"), *asking()]
    found = of(b.cluster_of(*objects, without=(kind,)))
    assert found.cause in ("Unexplained", "ClaimNotCreated", None)
    assert found.cause != "ClaimNotCreated"


def test_a_node_that_is_gone_is_not_imagined() -> None:
    """What is kept of it goes with it: nodes alone would have room if one of them were still there."""
    cluster = b.cluster_of(device_class(), node("n1", cpu="1"), node("n2", cpu="1"), *asking(words=CPU, cpu="4"))
    diagnoses = Diagnoses(cluster)
    assert diagnoses.at(("ml", "g")).cause == "NotEnoughNodeResources"
    for name in ("n1", "n2"):
        cluster.apply(b.deleted(node(name, cpu="1")))
        assert diagnoses.at(("ml", "g")) == Diagnoses(cluster).at(("ml", "g"))


SHARED = [{"name": "d", "resourceClaimName": "all"}]


def crowd(shapes: dict[str, int], **spec: Any) -> list[Object]:
    """A gang of many pods: how many ask for so much CPU."""
    refused = [b.condition("PodScheduled", "False", "Unschedulable", CPU)]
    found: list[Object] = [b.group("g", sum(shapes.values()))]
    for cpu, count in shapes.items():
        parts = {
            "schedulingGroup": {"podGroupName": "g"},
            "containers": [{"name": "m", "resources": {"requests": {"cpu": cpu}}}],
            **spec,
        }
        status = {"phase": "Pending", "conditions": refused}
        found += [b.pod(f"p{cpu}-{n}", spec=parts, status=status) for n in range(count)]
    return found


@pytest.mark.parametrize("nodes", [80, 70])
def test_a_gang_of_many_unlike_pods_is_answered(nodes: int) -> None:
    """More pods than calls can be nested: where one of another kind leads them, each is placed on trial."""
    room = [node(f"n{n}", cpu="1000") for n in range(nodes)]  # for 20 pods each
    found = diagnosed(*room, crowd({"1": 1400, "2": 1}))
    assert found.cause == "Unexplained"
    assert ("there is a place for it now" in found.message) == (nodes == 80)


@pytest.mark.parametrize("reach", [{"allNodes": True}, {"nodeName": "n0"}])
def test_a_gang_of_many_pods_that_share_a_claim_is_answered(reach: dict[str, Any]) -> None:
    room = [node(f"n{n}", cpu="1000") for n in range(80)]
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 1, "allocationMode": "ExactCount"}}
    one = b.piece("one", [{"name": "a"}], pool="one", **reach)
    found = diagnosed(*room, one, b.claim("all", requests=[request]), crowd({"1": 1400}, resourceClaims=SHARED))
    assert found.cause == "Unexplained"
    assert ("there is a place for it now" in found.message) == ("allNodes" in reach)


def test_a_pod_that_asks_for_more_than_can_be_looked_at_together_is_answered() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "gpu", "count": 32, "allocationMode": "ExactCount"}}
    claims = [b.claim(f"c{n}", requests=[request]) for n in range(30)]
    named = [{"name": c.name, "resourceClaimName": c.name} for c in claims]
    there = devices(*(f"d{n}" for n in range(960)))
    found = diagnosed(node("n1"), there, *claims, crowd({"1": 1}, resourceClaims=named))
    assert (found.cause, found.facts) == ("Unexplained", {})
    assert "too many devices" in found.message


def test_no_more_than_a_few_searches_come_to_nothing_for_one_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 requests with eight alternatives each have more combinations than anybody can try, on every node anew."""
    searched: list[object] = []

    def counted(room: Room, *rest: Any) -> int:
        searched.append(room)
        return pods_in(room, *rest)

    monkeypatch.setattr(supply, "pods_in", counted)
    alternatives = [{"name": f"s{n}", "deviceClassName": "gpu", "count": 1} for n in range(8)]
    requests = [{"name": f"r{n}", "firstAvailable": alternatives} for n in range(32)]
    there = [devices(*(f"d{d}" for d in range(20 + n)), on=f"n{n}") for n in range(10)]
    found = diagnosed(*(node(f"n{n}") for n in range(10)), *there, asking(requests=requests))
    assert (found.cause, found.facts) == ("Unexplained", {})
    assert "too many ways to combine" in found.message
    assert 1 <= len(searched) <= 3


def test_what_nodes_lack_is_named_where_none_of_them_may_be_used_either() -> None:
    away = [{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]
    found = diagnosed(node("n1", taints=away), crowd({"99": 1}))
    assert (found.cause, found.facts) == ("NotEnoughNodeResources", {"resource": "cpu"})
    assert "a pod asks for 99, the most left on a node is 8; then nodes with room are tainted" in found.message
    assert "nodes with more cpu" in found.unblock


@pytest.mark.parametrize("capacity", [{}, {"memory": {"value": "40Gi"}}])
def test_capacity_that_no_device_has_in_all_is_no_matter_of_use(capacity: dict[str, Any]) -> None:
    wanted = {"requests": {"memory": "80Gi"}}
    there = devices("a", "b", capacity=capacity)
    found = diagnosed(node("n1"), there, held("a", "b"), asking(1, capacity=wanted))
    assert (found.cause, found.facts) == ("NoMatchingDevice", {"need": 1, "matching": 0})
    assert found.message == "no device matches: 80Gi of memory"
    assert found.unblock == ("devices that match, or claims for less capacity",)
    assert found.funnel is not None
    assert (found.funnel.in_class, found.funnel.matching) == (2, 0)


def test_capacity_that_others_took_is_a_matter_of_use() -> None:
    wanted = {"requests": {"memory": "80Gi"}}
    there = devices("a", capacity={"memory": {"value": "80Gi"}})
    found = diagnosed(node("n1"), there, held("a"), asking(1, capacity=wanted))
    assert (found.cause, found.facts) == ("NotEnoughDevices", {"need": 1, "free": 0})

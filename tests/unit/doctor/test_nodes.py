"""What doctor says of nodes."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.doctor import nodes
from ktui.doctor.finding import Status
from ktui.model.event import Event
from ktui.model.node import Node
from tests.unit.builders import cluster_of, make, meta, phase

from .facts import facts
from .test_access import only


def node(name: str, kubelet: str | None = "v1.37.2", *, labels: dict[str, str] | None = None, **status: Any) -> Node:
    info = {} if kubelet is None else {"nodeInfo": {"kubeletVersion": kubelet, **status.pop("info", {})}}
    return make(Node, {"metadata": meta(name, "", labels=labels), "spec": {}, "status": {**info, **status}})


@pytest.mark.parametrize(
    ("kubelet", "status"),
    [
        ("v1.37.5", "ok"),
        ("v1.34.0", "ok"),
        ("v1.33.9", "fail"),
        ("v1.38.0", "fail"),
        (None, "skipped"),
        ("", "skipped"),
        ("odd", "ok"),
    ],
)
def test_kubelets(kubelet: str | None, status: Status) -> None:
    assert only(nodes.kubelets(facts(cluster_of(node("a", kubelet))))).status == status


def test_kubelets_are_counted_by_version() -> None:
    cluster = cluster_of(node("a"), node("b"), node("c", "v1.38.0"))
    found = only(nodes.kubelets(facts(cluster)))
    assert found.text.endswith("but there are v1.37.2 on 2 nodes, v1.38.0 on 1 node: nodes/c")
    assert found.objects == ("nodes/c",)


def test_nodes_that_may_not_be_read_are_no_failure() -> None:
    cluster = cluster_of(without=("Node",))
    cluster.apply(phase("Node", "no-access", "403 Forbidden"))
    for check in (nodes.kubelets, nodes.cgroups, nodes.rootless, nodes.unpublished):
        found = only(check(facts(cluster)))
        assert (found.status, found.text) == ("skipped", "nodes may not be read")


def cgroup_event(about: str, kind: str = "Node") -> Event:
    return make(Event, {"metadata": meta("e"), "reason": "CgroupV1", "involvedObject": {"kind": kind, "name": about}})


def test_a_kubelet_that_says_it_is_on_cgroup_v1() -> None:
    found = only(nodes.cgroups(facts(cluster_of(node("a"), cgroup_event("a")))))
    assert (found.status, found.objects) == ("warn", ("nodes/a",))


def test_the_same_reason_on_another_kind_says_nothing() -> None:
    assert only(nodes.cgroups(facts(cluster_of(node("a"), cgroup_event("a", "Pod"))))).status == "ok"


def test_of_older_kubelets_nothing_is_claimed() -> None:
    found = only(nodes.cgroups(facts(cluster_of(node("a"), node("b", "v1.34.1"), node("c", None)))))
    assert (found.status, found.objects) == ("skipped", ("nodes/b", "nodes/c"))


def test_rootless_kubelets() -> None:
    cluster = cluster_of(node("a", info={"runningInUserNamespace": True}), node("b"))
    assert only(nodes.rootless(facts(cluster))).objects == ("nodes/a",)


GPU = {"nvidia.com/gpu.present": "true"}


def test_devices_that_nobody_publishes() -> None:
    cluster = cluster_of(node("silent", labels=GPU), node("plugin", labels=GPU, capacity={"nvidia.com/gpu": "8"}))
    found = only(nodes.unpublished(facts(cluster)))
    assert (found.status, found.objects) == ("warn", ("nodes/silent",))


def test_nothing_is_said_of_nodes_without_such_labels() -> None:
    assert only(nodes.unpublished(facts(cluster_of(node("a"))))).status == "skipped"

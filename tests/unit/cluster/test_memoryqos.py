"""What Memory QoS would write. The amounts were worked out by hand from the formula of KEP-2570."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.memoryqos import PAGE_SIZE, CgroupMemory, memory_high, memory_qos
from ktui.model.node import Node
from tests.unit import builders as b

GI = 1024**3
NODE = b.make(Node, {"metadata": b.meta("n1", ""), "status": {"allocatable": {"memory": "100Gi"}}})


def box(name: str, request: str | None = None, limit: str | None = None, **more: Any) -> b.Document:
    requests = {"memory": request} if request else {}
    limits = {"memory": limit} if limit else {}
    return {"name": name, "resources": {"requests": requests, "limits": limits}, **more}


def found(*boxes: b.Document, node: str = "n1", **spec: Any) -> dict[str, CgroupMemory]:
    pod = b.pod("p", node=node, spec={"containers": list(boxes), **spec})
    return {each.name: each for each in memory_qos(b.cluster_of(NODE, pod), pod)}


def test_between_request_and_limit() -> None:
    """1Gi + 0.9 x 1Gi is 2,040,109,465.6 bytes, in which 498,073 whole pages fit."""
    main = found(box("main", "1Gi", "2Gi"))["main"]
    assert (main.min, main.low, main.high) == (None, GI, 498_073 * 4096)


def test_a_container_without_a_limit_may_use_nearly_all_of_the_node() -> None:
    """Only a lower bound: the kubelet counts with what it keeps for evictions as well."""
    main = found(box("main", "1Gi"))["main"]
    assert (main.low, main.high, main.high_at_least) == (GI, None, int((1 + 0.9 * 99) * GI) // 4096 * 4096)
    nothing = found(box("main"))["main"]
    assert (nothing.low, nothing.high_at_least) == (None, int(0.9 * 100 * GI) // 4096 * 4096)


@pytest.mark.parametrize("node", ["", "elsewhere"])
def test_without_its_node_nothing_is_made_up(node: str) -> None:
    main = found(box("main", "1Gi"), node=node)["main"]
    assert (main.high, main.high_at_least, main.node_unknown) == (None, None, True)
    assert not found(box("main", "1Gi", "2Gi"), node=node)["main"].node_unknown


def test_guaranteed_pods_are_kept_all_of_it() -> None:
    both = {"cpu": "1", "memory": "1Gi"}
    all_found = found({"name": "main", "resources": {"requests": both, "limits": both}})
    assert all_found["main"] == CgroupMemory("main", "app", min=GI)
    assert all_found["(pod)"] == CgroupMemory("(pod)", "pod", min=GI)


def test_the_pod_as_a_whole_has_what_its_containers_request_together() -> None:
    """And no memory.high of its own, as long as it has no resources of its own."""
    sidecar = box("s", "1Gi", "2Gi", restartPolicy="Always")
    whole = found(box("a", "1Gi", "2Gi"), box("b", "2Gi", "2Gi"), initContainers=[sidecar], overhead={"memory": "1Gi"})
    assert whole["(pod)"] == CgroupMemory("(pod)", "pod", low=5 * GI)
    assert whole["s"].kind == "sidecar"
    assert whole["b"] == CgroupMemory("b", "app", low=2 * GI)


def test_resources_of_the_whole_pod() -> None:
    """Containers without a limit have the pod's memory.high above them, and none of their own."""
    resources = {"requests": {"memory": "2Gi"}, "limits": {"memory": "4Gi"}}
    all_found = found(box("a", "1Gi"), box("b", "512Mi", "1Gi"), resources=resources)
    assert all_found["a"] == CgroupMemory("a", "app", low=GI)
    assert all_found["b"].high == int((0.5 + 0.9 * 0.5) * GI) // 4096 * 4096
    assert all_found["(pod)"] == CgroupMemory("(pod)", "pod", low=2 * GI, high=int(3.8 * GI) // 4096 * 4096)


def test_a_pod_of_which_only_requests_are_set_as_a_whole() -> None:
    resources = {"requests": {"memory": "2Gi"}}
    assert found(box("a", "1Gi"), box("b", "1Gi", "2Gi"), resources=resources)["(pod)"].high is None
    high = found(box("a", "1Gi", "3Gi"), box("b", "1Gi", "2Gi"), resources=resources)["(pod)"].high
    assert high == int((2 + 0.9 * 3) * GI) // 4096 * 4096


def test_hostile_amounts_count_as_nothing() -> None:
    main = found(box("main", "much", "more"))["main"]
    assert (main.min, main.low, main.high) == (None, None, None)


@given(st.integers(0, 2**44), st.integers(0, 2**44))
def test_it_is_whole_pages_above_the_request_and_within_the_limit(request: int, limit: int) -> None:
    high = memory_high(request, limit)
    assert high is None or (high % PAGE_SIZE == 0 and request < high <= limit)

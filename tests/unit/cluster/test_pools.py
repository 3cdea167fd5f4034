"""D09: pools put together from slices."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.pools import Pool, assemble
from ktui.model.resourceslice import ResourceSlice
from tests.unit import builders as b

ID = (b.DRIVER, "node-1")


def pool(*pieces: ResourceSlice) -> Pool:
    found = assemble(ID, pieces)
    assert found is not None
    return found


def test_no_slice_no_pool() -> None:
    assert assemble(ID, ()) is None


def test_a_whole_pool() -> None:
    found = pool(b.piece("b", ["d1"], count=2, nodeName="n"), b.piece("a", ["d0"], count=2, nodeName="n"))
    assert (found.status, found.problem, found.slices, found.expected) == ("ok", "", 2, 2)
    assert (list(found.devices), found.node, found.slice_names) == (["d0", "d1"], "n", ("a", "b"))


def test_slices_of_older_generations_do_not_count() -> None:
    found = pool(b.piece("old", ["d0", "d1"], generation=3), b.piece("new", ["d1"], generation=4))
    assert (found.generation, list(found.devices), found.slices, found.status) == (4, ["d1"], 1, "ok")


def test_a_pool_being_updated_is_incomplete() -> None:
    found = pool(b.piece("old", ["d0"], generation=3), b.piece("new", ["d1"], generation=4, count=3))
    assert (found.status, found.problem) == ("incomplete", "1 of 3 slices, generation 4")
    assert list(found.devices) == ["d1"]


COUNTERS = [{"name": "memory", "counters": {"slots": {"value": "8"}}}]


def draws_on(counter_set: str, counter: str) -> b.Document:
    return {"name": "d0", "consumesCounters": [{"counterSet": counter_set, "counters": {counter: {"value": "1"}}}]}


@pytest.mark.parametrize(
    ("pieces", "problem"),
    [
        ([b.piece("a", ["d0"], count=2), b.piece("b", ["d0"], count=2)], "device d0 is published twice"),
        ([b.piece("a", ["d0", "d0"])], "device d0 is published twice"),
        ([b.piece("a", [draws_on("memory", "slots")])], "a device draws on counter set memory, which no slice defines"),
        (
            [b.piece("a", [draws_on("memory", "lanes")], count=2), b.piece("b", count=2, sharedCounters=COUNTERS)],
            "a device draws on counter lanes of set memory, which no slice defines",
        ),
        (
            [b.piece("a", count=2, sharedCounters=COUNTERS), b.piece("b", count=2, sharedCounters=COUNTERS)],
            "counter set memory is defined twice",
        ),
        ([b.piece("a", ["d0"]), b.piece("b", ["d1"])], "2 slices where 1 are announced, generation 1"),
    ],
)
def test_invalid_pools(pieces: list[ResourceSlice], problem: str) -> None:
    found = pool(*pieces)
    assert (found.status, found.problem) == ("invalid", problem)


def test_counters_of_another_slice_of_the_pool_count() -> None:
    found = pool(b.piece("a", [draws_on("memory", "slots")], count=2), b.piece("b", count=2, sharedCounters=COUNTERS))
    assert found.status == "ok"


def test_counters_of_an_older_generation_do_not_count() -> None:
    old = b.piece("old", sharedCounters=COUNTERS)
    assert pool(old, b.piece("new", [draws_on("memory", "slots")], generation=2)).status == "invalid"


@pytest.mark.parametrize(
    ("spec", "node", "all_nodes", "pool_node"),
    [
        ({"nodeName": "n"}, "n", False, "n"),
        ({"allNodes": True}, "", True, ""),
        ({"nodeSelector": {"nodeSelectorTerms": []}}, "", False, ""),
    ],
)
def test_where_devices_can_be_used(spec: dict[str, Any], node: str, all_nodes: bool, pool_node: str) -> None:
    found = pool(b.piece("a", ["d0"], **spec))
    device = found.devices["d0"]
    assert (device.node, device.all_nodes, found.node) == (node, all_nodes, pool_node)


def test_each_device_may_say_where_it_can_be_used() -> None:
    devices: list[str | b.Document] = [{"name": "d0", "nodeName": "n0"}, {"name": "d1", "allNodes": True}, "d2"]
    found = pool(b.piece("a", devices, perDeviceNodeSelection=True)).devices
    assert [(d.node, d.all_nodes) for d in found.values()] == [("n0", False), ("", True), ("", False)]


def test_slices_of_two_nodes_have_no_node_in_common() -> None:
    assert pool(b.piece("a", ["d0"], count=2, nodeName="n"), b.piece("b", count=2, nodeName="m")).node == ""


def test_the_state_puts_pools_together_anew_when_a_slice_changes() -> None:
    cluster = b.cluster_of(b.piece("a", ["d0"], count=2))
    before = cluster.pool(ID)
    cluster.apply(b.added(b.piece("b", ["d1"], count=2)))
    after = cluster.pool(ID)
    assert before is not None
    assert after is not None
    assert (before.status, after.status) == ("incomplete", "ok")
    cluster.apply(b.deleted(b.piece("b", ["d1"], count=2)))
    cluster.apply(b.deleted(b.piece("a", ["d0"], count=2)))
    assert cluster.pool(ID) is None
    assert list(cluster.pools()) == []

"""Where a pod's devices sit, as the Pods view shows it."""

from __future__ import annotations

from typing import Any

from ktui.cluster.attributes import PCIE_ROOT
from ktui.cluster.state import Cluster
from ktui.model.resourceslice import NUMA_NODE
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "p")


def device(name: str, numa: int | None) -> b.Document:
    return {"name": name, "attributes": {} if numa is None else {NUMA_NODE: {"int": numa}}}


def world(*numas: int | None) -> Cluster:
    """A pod with a device on each of these NUMA nodes."""
    devices = [device(f"gpu-{i}", numa) for i, numa in enumerate(numas)]
    containers = [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]
    spec = {"containers": containers, "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
    claim = b.claim("c", [b.result(each["name"]) for each in devices], reserved=[b.pod_consumer("p")])
    return b.cluster_of(b.piece("s", devices), claim, b.pod("p", node="node-1", spec=spec))


def shown(cluster: Cluster) -> str:
    sections = {section.title: section for section in VIEWS["pods"].detail(cluster, KEY, 0.0)}
    together = sections.get("Together")
    return "\n".join("".join(cell.text for cell in line) for line in together.lines) if together else ""


def told(cluster: Cluster) -> Any:
    item = VIEWS["pods"].item(cluster, KEY)
    assert item is not None
    return item["alignment"]


def test_devices_on_one_numa_node() -> None:
    cluster = world(1, 1)
    assert "NUMA node     aligned: 1" in shown(cluster)
    assert "PCI root      unknown: no device publishes it" in shown(cluster)
    full = [f"{b.DRIVER}/node-1/gpu-{i}" for i in range(2)]
    assert told(cluster) == {
        "numaNode": {"verdict": "aligned", "common": [1], "values": {name: [1] for name in full}, "apart": []},
        "pcieRoot": {"verdict": "unknown", "common": [], "values": {name: [] for name in full}, "apart": []},
    }


def test_devices_that_are_apart_are_named() -> None:
    cluster = world(0, 0, 1)
    assert "apart: no value is common to all" in shown(cluster)
    assert "  apart: node-1/gpu-0 and node-1/gpu-2" in shown(cluster)
    assert len(told(cluster)["numaNode"]["apart"]) == 2


def test_many_pairs_are_counted() -> None:
    assert "  and 12 more pairs" in shown(world(*(i % 2 for i in range(8))))


def test_a_device_that_does_not_say_leaves_it_open() -> None:
    assert "unknown: 0, but 1 of 2 devices do not publish it" in shown(world(0, None))


def test_one_device_is_not_compared_and_none_is_nothing() -> None:
    assert shown(world(0)) == ""
    assert told(world(0))["numaNode"]["verdict"] == "aligned"
    assert told(b.cluster_of(b.pod("p"))) is None


def test_a_qualified_name_is_needed() -> None:
    """A driver's own "pcieRoot" is another attribute than the standard one."""
    cluster = b.cluster_of(
        b.piece("s", [{"name": "gpu-0", "attributes": {"pcieRoot": {"string": "x"}, PCIE_ROOT: {"string": "y"}}}]),
        b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")]),
        b.pod("p", node="n", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}),
    )
    assert told(cluster)["pcieRoot"]["common"] == ["y"]

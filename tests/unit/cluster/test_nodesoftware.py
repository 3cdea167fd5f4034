"""What labels say of a node's accelerators, and where it is shown."""

from __future__ import annotations

import pytest

from ktui.cluster.nodesoftware import NodeSoftware, node_software
from ktui.cluster.state import Cluster
from ktui.model.node import Node
from ktui.views.registry import VIEWS
from tests.unit import builders as b

NVIDIA = {
    "nvidia.com/gpu.product": "NVIDIA-H200",
    "nvidia.com/cuda.driver-version.full": "580.65.06",
    "nvidia.com/cuda.runtime.major": "13",
    "nvidia.com/cuda.runtime.minor": "0",
    "nvidia.com/gpu-driver-upgrade-state": "drain-required",
    "nvidia.com/mig.config.state": "success",
}


def cluster_with(labels: dict[str, str], chart: str = "") -> Cluster:
    node = b.make(Node, {"metadata": b.meta("node-1", "", labels=labels)})
    operand = b.pod("driver", node="node-1", meta_={"labels": {"helm.sh/chart": chart}})
    version = {"gpu.example.com/driverVersion": {"version": "580.65.6"}}
    piece = b.piece("s", [{"name": "gpu-0", "attributes": version}], nodeName="node-1")
    return b.cluster_of(node, operand, piece)


@pytest.mark.parametrize(
    ("labels", "chart", "expected"),
    [
        (
            NVIDIA,
            "gpu-operator-v25.3.0",
            NodeSoftware("NVIDIA-H200", "580.65.06", "13.0", "v25.3.0", "drain-required", "success"),
        ),
        (
            {"nvidia.com/cuda.driver.major": "535", "nvidia.com/cuda.driver.rev": "01"},
            "other-chart-1",
            NodeSoftware(None, "535", None, None, None, None),
        ),
        (
            {"amd.com/gpu.product-name": "MI300X", "amd.com/gpu.driver-version": "6.7.0"},
            "",
            NodeSoftware("MI300X", "6.7.0", None, None, None, None),
        ),
        ({"kubernetes.io/hostname": "node-1"}, "", None),
    ],
)
def test_labels(labels: dict[str, str], chart: str, expected: NodeSoftware | None) -> None:
    assert node_software(cluster_with(labels, chart), "node-1") == expected


def test_a_node_that_is_not_known_says_nothing() -> None:
    assert node_software(b.cluster_of(), "node-1") is None
    assert node_software(b.cluster_of(), "") is None


def test_it_is_in_the_detail_and_the_json_of_the_nodes_devices() -> None:
    cluster = cluster_with(NVIDIA, "gpu-operator-v25.3.0")
    view, key = VIEWS["devices"], (b.DRIVER, "node-1", "gpu-0")
    item = view.item(cluster, key)
    assert item is not None
    assert item["driverVersion"] == "580.65.6"
    assert item["nodeSoftware"]["operatorVersion"] == "v25.3.0"
    lines = ["".join(cell.text for cell in line) for part in view.detail(cluster, key, 0.0) for line in part.lines]
    texts = {" ".join(line.split()) for line in lines}
    assert {"driver 580.65.06", "GPU Operator v25.3.0", "version 580.65.6", "driver upgrade drain-required"} <= texts


def test_devices_without_any_of_it_say_null() -> None:
    cluster = b.cluster_of(b.piece("s", ["gpu-0"]))
    item = VIEWS["devices"].item(cluster, (b.DRIVER, "node-1", "gpu-0"))
    assert item is not None
    assert (item["driverVersion"], item["nodeSoftware"]) == (None, None)

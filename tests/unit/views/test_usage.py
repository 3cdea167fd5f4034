"""What is used, as pods, devices and the map show it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.model.node import Node
from ktui.model.usage import GpusReport, GpuUsage, MetricsServed, NodeReport, NodeUsage, PodsReport, UsageTrouble
from ktui.views import devicemap
from ktui.views.base import Line, RowKey, View, search_text
from ktui.views.registry import VIEWS
from ktui.views.usage import FLEET_WIDTH, format_cpu, trouble
from tests.unit import builders as b
from tests.unit.cluster.test_usage import EXPORTER, NOW, device, usage

RESOURCES = {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"memory": "1100Mi"}}
GPU = GpuUsage(
    "GPU-a",
    utilization=87.4,
    memory_used=100 * 2**30,
    memory_total=141 * 2**30,
    temperature=61.0,
    power=512.4,
    last_xid=79,
    recent_xids=((79, 2),),
)


@pytest.fixture
def cluster() -> Cluster:
    node = b.make(Node, {"metadata": b.meta("node-1", ""), "status": {"allocatable": {"cpu": "96", "memory": "1Ti"}}})
    made = b.cluster_of(
        b.pod("train", node="node-1", spec={"containers": [{"name": "main", "resources": RESOURCES}]}),
        b.pod("other", node="node-1"),
        b.pod("exporter", node="node-1", meta_=EXPORTER),
        b.piece("slice", [device("gpu-0", uuid="GPU-a"), device("gpu-1", uuid="GPU-b")], nodeName="node-1"),
        node,
    )
    made.measure(MetricsServed("v1"))
    made.measure(PodsReport({(b.NAMESPACE, "train"): usage("train", "1500m")}))
    made.measure(NodeReport("node-1", NodeUsage(timestamp="2027-01-15T08:00:00Z", window="15s", usage={"cpu": "9"})))
    made.measure(GpusReport("node-1", NOW, (GPU,)))
    return made


def cells(view: View, cluster: Cluster, key: RowKey) -> dict[str, str]:
    row = view.row(cluster, key)
    assert row is not None
    assert len(row.cells) == len(row.sort) == len(view.columns)
    return {column.id: cell.text for column, cell in zip(view.columns, row.cells, strict=True)}


def section(view: View, cluster: Cluster, key: RowKey, title: str, now: float = NOW) -> list[str]:
    lines: list[Line] = [line for s in view.detail(cluster, key, now) if s.title == title for line in s.lines]
    return ["".join(cell.text for cell in line).rstrip() for line in lines]


PODS, DEVICES = VIEWS["pods"], VIEWS["devices"]
TRAIN, OTHER = (b.NAMESPACE, "train"), (b.NAMESPACE, "other")
GPU_0, GPU_1 = (b.DRIVER, "node-1", "gpu-0"), (b.DRIVER, "node-1", "gpu-1")


def test_a_pod_shows_what_it_uses_against_what_it_asked_for(cluster: Cluster) -> None:
    found = cells(PODS, cluster, TRAIN)
    assert (found["cpu"], found["memory"]) == ("1.5", "1Gi")
    (line,) = section(PODS, cluster, TRAIN, "Usage", NOW)
    assert line == "main          CPU 1.5 (2 requested)  memory 1Gi (1Gi requested, limit 1100Mi)"
    assert section(PODS, cluster, TRAIN, "Node node-1") == ["uses          CPU 9 of 96"]


def test_memory_near_its_limit_is_pointed_out(cluster: Cluster) -> None:
    (section_,) = [s for s in PODS.detail(cluster, TRAIN, NOW) if s.title == "Usage"]
    assert [cell.style for cell in section_.lines[0] if "memory" in cell.text] == ["warn"]


def test_a_pod_without_figures_shows_none(cluster: Cluster) -> None:
    found = cells(PODS, cluster, OTHER)
    assert (found["cpu"], found["memory"]) == ("", "")
    assert section(PODS, cluster, OTHER, "Usage") == ["not measured yet"]
    item = PODS.item(cluster, OTHER)
    assert item is not None
    assert item["usage"] is None


def test_without_a_metrics_server_nothing_is_said_of_usage() -> None:
    cluster = b.cluster_of(b.pod("train", node="node-1"))
    assert section(PODS, cluster, TRAIN, "Usage") == []
    assert section(PODS, cluster, TRAIN, "Node node-1") == []


def test_figures_that_are_old_say_so(cluster: Cluster) -> None:
    at = usage("train").at
    assert at is not None
    assert section(PODS, cluster, TRAIN, "Usage", at + 29)[1:] == []
    assert section(PODS, cluster, TRAIN, "Usage", at + 90)[1:] == ["as of         90s ago"]
    assert section(DEVICES, cluster, GPU_0, "Usage", NOW + 90)[-1] == "as of         90s ago"


def test_why_there_are_no_figures_is_in_the_detail(cluster: Cluster) -> None:
    cluster.measure(UsageTrouble("metrics.k8s.io does not answer"))
    cluster.measure(UsageTrouble("your user needs get on pods/proxy", "node-1"))
    assert section(PODS, cluster, TRAIN, "Usage")[-1] == "metrics.k8s.io does not answer"
    assert section(DEVICES, cluster, GPU_1, "Usage")[-1] == "your user needs get on pods/proxy"


def test_a_view_says_how_old_its_figures_are_when_they_are_old(cluster: Cluster) -> None:
    at = usage("train").at
    assert at is not None
    assert trouble(cluster, "pods", (TRAIN, OTHER), (), at + 10) == ""
    assert trouble(cluster, "pods", (TRAIN, OTHER), (), at + 90) == "figures from 90s ago"
    assert trouble(cluster, "pods", (OTHER,), (), at + 90) == ""
    assert trouble(cluster, "devices", (), ("node-1", "node-2"), NOW + 59) == ""
    cluster.measure(UsageTrouble("forbidden", "node-1"))
    assert trouble(cluster, "devices", (), ("node-1", "node-2"), NOW + 90) == "forbidden; figures from 90s ago"
    assert trouble(cluster, "gangs", (TRAIN,), ("node-1",), NOW + 90) == ""


def test_a_device_shows_its_figures(cluster: Cluster) -> None:
    found = cells(DEVICES, cluster, GPU_0)
    assert (found["util"], found["used"], found["temperature"], found["xid"]) == ("87%", "100Gi", "61C", "79")
    assert section(DEVICES, cluster, GPU_0, "Usage") == [
        "utilization   87%",
        "memory        100Gi of 141Gi",
        "temperature   61 C",
        "power         512 W",
        "Xid errors    2 of number 79 in the exporter's window",
        "last Xid      79; when is not told",
    ]
    other = cells(DEVICES, cluster, GPU_1)
    assert (other["util"], other["used"], other["temperature"], other["xid"]) == ("", "", "", "")
    assert section(DEVICES, cluster, GPU_1, "Usage") == [
        "the DCGM exporter on the node names no device that is certainly this one"
    ]


@pytest.mark.parametrize(
    ("gpu", "text", "style"),
    [
        (GPU, "79", "bad"),
        (GpuUsage("GPU-a", last_xid=43), "(43)", "warn"),
        (GpuUsage("GPU-a", last_xid=0), "", ""),
        (GpuUsage("GPU-a", recent_xids=((48, 1), (79, 2))), "48 79", "bad"),
    ],
)
def test_xid_errors(cluster: Cluster, gpu: GpuUsage, text: str, style: str) -> None:
    cluster.measure(GpusReport("node-1", NOW, (gpu,)))
    row = DEVICES.row(cluster, GPU_0)
    assert row is not None
    cell = row.cells[[column.id for column in DEVICES.columns].index("xid")]
    assert (cell.text, cell.style) == (text, style)


def test_the_map_sums_up_a_node(cluster: Cluster) -> None:
    cluster.measure(GpusReport("node-1", NOW, (GPU, GpuUsage("GPU-b", utilization=12.6, temperature=30.0))))
    figures = devicemap.figures(cluster, (b.DRIVER, "node-1"))
    assert [cell.text for cell in figures] == [" 50%    100Gi  61C", "gpu-0 Xid 79"]
    assert len(figures[0].text) == FLEET_WIDTH
    assert devicemap.figures(cluster, (b.DRIVER, "elsewhere")) == ()


def test_json_has_numbers_and_null_for_what_is_not_told(cluster: Cluster) -> None:
    pod, gpu = PODS.item(cluster, TRAIN), DEVICES.item(cluster, GPU_0)
    assert pod is not None
    assert pod["usage"] == {
        "cpu": 1.5,
        "memory": 2**30,
        "window": 15.0,
        "timestamp": "2027-01-15T08:00:00Z",
        "containers": [{"name": "main", "cpu": 1.5, "memory": 2**30}],
    }
    assert gpu is not None
    expected: dict[str, Any] = {
        "utilization": 87.4,
        "engineActive": None,
        "memoryUsed": 100 * 2**30,
        "memoryTotal": 141 * 2**30,
        "temperature": 61.0,
        "power": 512.4,
        "lastXid": 79,
        "recentXids": [{"xid": 79, "count": 2}],
        "timestamp": "2027-01-15T08:00:00Z",
    }
    assert gpu["usage"] == expected
    without = DEVICES.item(cluster, GPU_1)
    assert without is not None
    assert without["usage"] is None


def test_a_filter_does_not_look_at_figures(cluster: Cluster) -> None:
    row = PODS.row(cluster, TRAIN)
    assert row is not None
    assert "1.5" not in search_text(row, PODS.columns)
    assert "train" in search_text(row, PODS.columns)


@pytest.mark.parametrize(
    ("cores", "text"), [("0", "0m"), ("0.0004", "0m"), ("0.25", "250m"), ("1", "1"), ("1.55", "1.6"), ("96.04", "96")]
)
def test_cpu_as_it_is_written(cores: str, text: str) -> None:
    assert format_cpu(Decimal(cores)) == text

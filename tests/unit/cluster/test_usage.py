"""Whose figures are whose."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.cluster.usage import age_if_old, gpu_usage, measured_age, offers
from ktui.kube.dcgm import parse_gpus
from ktui.model.usage import (
    ContainerUsage,
    GpusReport,
    GpuUsage,
    MetricsServed,
    NodeReport,
    NodeUsage,
    PodsReport,
    PodUsage,
    UsageMeta,
    UsageTrouble,
)
from tests.unit import builders as b

NOW = 1_800_000_000.0
EXPORTER = {"labels": {"app": "nvidia-dcgm-exporter"}}


def usage(name: str, cpu: str = "1", namespace: str = b.NAMESPACE) -> PodUsage:
    return PodUsage(
        metadata=UsageMeta(name, namespace),
        timestamp="2027-01-15T08:00:00Z",
        window="15s",
        containers=(ContainerUsage("main", {"cpu": cpu, "memory": "1Gi"}),),
    )


def device(name: str, **attributes: str) -> dict[str, Any]:
    return {"name": name, "attributes": {key.replace("__", "/"): {"string": text} for key, text in attributes.items()}}


def state(*devices: dict[str, Any], labels: dict[str, Any] | None = EXPORTER) -> Cluster:
    """A node with devices and, unless there are no `labels`, an exporter's pod."""
    pods = [b.pod("exporter", node="node-1", meta_=labels)] if labels else []
    return b.cluster_of(*pods, b.piece("slice", devices, nodeName="node-1"))


def says(cluster: Cluster, *gpus: GpuUsage) -> Cluster:
    cluster.measure(GpusReport("node-1", NOW, gpus))
    return cluster


def of(cluster: Cluster, name: str) -> GpuUsage | None:
    return gpu_usage(cluster, "node-1", (b.DRIVER, "node-1", name))


@pytest.mark.parametrize("attribute", ["uuid", "gpu.nvidia.com__uuid", "other.example.com__uuid"])
def test_a_gpu_is_found_by_its_uuid_in_any_domain(attribute: str) -> None:
    cluster = says(state(device("gpu-0", **{attribute: "GPU-a"}), device("gpu-1")), GpuUsage("GPU-a", utilization=5.0))
    assert of(cluster, "gpu-0") == GpuUsage("GPU-a", utilization=5.0)
    assert of(cluster, "gpu-1") is None


def test_an_exporter_that_names_the_device_is_believed_first() -> None:
    named = GpuUsage("GPU-z", device=(b.DRIVER, "node-1", "gpu-0"), utilization=7.0)
    cluster = says(state(device("gpu-0", uuid="GPU-a")), GpuUsage("GPU-a", utilization=5.0), named)
    assert of(cluster, "gpu-0") is named


def test_an_instance_is_found_by_its_gpu_and_its_profile_where_that_is_one() -> None:
    mig = device("gpu-0-mig-1", uuid="MIG-x", parentUUID="GPU-a", profile="1g.18gb")
    whole = GpuUsage("GPU-a", temperature=50.0)
    one = GpuUsage("GPU-a", instance="7", profile="1g.18gb", engine_active=40.0)
    assert of(says(state(mig), whole, one), "gpu-0-mig-1") is one
    another = GpuUsage("GPU-a", instance="8", profile="1g.18gb", engine_active=3.0)
    assert of(says(state(mig), whole, one, another), "gpu-0-mig-1") is None
    told = GpuUsage("GPU-a", instance="8", profile="1g.18gb", mig_uuid="MIG-x", engine_active=3.0)
    assert of(says(state(mig), whole, one, told), "gpu-0-mig-1") is told


def test_a_partition_that_was_not_made_has_no_figures() -> None:
    possible = device("gpu-0-mig-1", parentUUID="GPU-a", profile="1g.18gb")  # no UUID: it does not exist yet
    one = GpuUsage("GPU-a", instance="7", profile="1g.18gb", engine_active=40.0)
    assert of(says(state(possible), one), "gpu-0-mig-1") is None


@pytest.mark.parametrize(
    ("labels", "found"),
    [
        (EXPORTER, True),
        ({"labels": {"app.kubernetes.io/name": "dcgm-exporter"}}, True),
        ({"labels": {"app": "dcgm"}}, False),
        (None, False),
    ],
)
def test_exporters_are_known_by_their_labels(labels: dict[str, Any] | None, found: bool) -> None:
    cluster = says(state(device("gpu-0", uuid="GPU-a"), labels=labels), GpuUsage("GPU-a"))
    assert offers(cluster, "gpus") is found
    assert (of(cluster, "gpu-0") is not None) is found


def test_without_its_exporter_a_node_has_no_figures() -> None:
    cluster = says(state(device("gpu-0", uuid="GPU-a")), GpuUsage("GPU-a"))
    assert of(cluster, "gpu-0") is not None
    cluster.apply(b.changed("DELETED", b.pod("exporter", node="node-1", meta_={**EXPORTER, "resourceVersion": "2"})))
    assert of(cluster, "gpu-0") is None
    assert not offers(cluster, "gpus")


def test_a_pod_becomes_an_exporter_when_it_is_labelled() -> None:
    cluster = b.cluster_of(b.pod("exporter", node="node-1"))
    assert not offers(cluster, "gpus")
    cluster.apply(b.changed("MODIFIED", b.pod("exporter", node="node-1", meta_={**EXPORTER, "resourceVersion": "2"})))
    assert offers(cluster, "gpus")


def test_a_list_stands_for_all_pods_and_one_pod_for_itself() -> None:
    cluster = Cluster()
    assert cluster.measure(PodsReport({("ml", "a"): usage("a"), ("ml", "b"): usage("b")})).figures
    cluster.measure(PodsReport({("ml", "a"): usage("a", "2")}, "ml", ("ml", "a")))
    assert cluster.usage.pod(("ml", "a")) == usage("a", "2")
    cluster.measure(PodsReport({("ml", "b"): usage("b", "3")}))
    assert cluster.usage.pod(("ml", "a")) is None
    assert cluster.usage.pod(("ml", "b")) == usage("b", "3")


def test_trouble_is_over_with_the_next_figures_and_older_ones_stay() -> None:
    cluster = Cluster()
    cluster.measure(PodsReport({("ml", "a"): usage("a")}))
    cluster.measure(UsageTrouble("down"))
    assert (cluster.usage.trouble, cluster.usage.pod(("ml", "a"))) == ("down", usage("a"))
    cluster.measure(NodeReport("node-1", NodeUsage(usage={"cpu": "1"})))
    assert cluster.usage.trouble == ""
    cluster.measure(NodeReport("node-1", None))
    assert cluster.usage.node("node-1") is None
    cluster.measure(UsageTrouble("gone", "node-1"))
    assert cluster.usage.gpu_trouble == {"node-1": "gone"}
    says(cluster)
    assert cluster.usage.gpu_trouble == {}


def test_columns_follow_what_is_served() -> None:
    cluster = Cluster()
    assert offers(cluster, "")
    assert not offers(cluster, "metrics")
    cluster.measure(MetricsServed("v1beta1"))
    assert offers(cluster, "metrics")


def test_figures_are_old_after_two_windows() -> None:
    measured = usage("a")
    assert measured.at is not None
    assert measured_age(measured, measured.at + 30) is None
    assert measured_age(measured, measured.at + 31) == 31
    assert age_if_old(NOW, None, NOW + 59) is None  # an exporter's page does not tell its window
    assert age_if_old(NOW, None, NOW + 61) == 61
    assert age_if_old(None, 15.0, NOW) is None


def test_a_page_is_joined_to_the_devices_of_its_node() -> None:
    cluster = state(device("gpu-0", uuid="GPU-a"), device("gpu-1", uuid="GPU-b"))
    cluster.measure(GpusReport("node-1", NOW, parse_gpus('DCGM_FI_DEV_GPU_UTIL{UUID="GPU-b"} 3\n')))
    assert of(cluster, "gpu-0") is None
    assert of(cluster, "gpu-1") == GpuUsage("GPU-b", utilization=3.0)

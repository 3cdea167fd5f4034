"""What doctor says of a metrics server and of DCGM exporters."""

from __future__ import annotations

from ktui.cluster.state import Cluster
from ktui.doctor import usage
from ktui.doctor.facts import Unknown
from tests.unit import builders as b

from .facts import facts
from .test_access import only

EXPORTER = {"labels": {"app": "nvidia-dcgm-exporter"}}


def fleet() -> Cluster:
    """Two nodes with devices, one of them with an exporter."""
    return b.cluster_of(
        b.pod("exporter", node="node-1", meta_=EXPORTER, namespace="gpu-operator"),
        b.piece("one", ["gpu-0"], pool="node-1", nodeName="node-1"),
        b.piece("two", ["gpu-0"], pool="node-2", nodeName="node-2"),
    )


def test_a_metrics_server() -> None:
    assert only(usage.metrics(facts(metrics="v1"))).text.startswith("metrics.k8s.io v1 served")
    assert only(usage.metrics(facts(metrics=""))).status == "skipped"
    assert only(usage.metrics(facts(metrics=Unknown("?")))).status == "skipped"


def test_exporters_and_nodes_without_one() -> None:
    found = only(usage.gpus(facts(fleet(), proxies={"gpu-operator": True})))
    assert (found.status, found.objects) == ("ok", ("nodes/node-2",))
    assert found.text == "DCGM exporters on 1 node; 2 nodes with devices; none on nodes/node-2"


def test_exporters_that_may_not_be_asked() -> None:
    found = only(usage.gpus(facts(fleet(), proxies={"gpu-operator": False})))
    assert (found.status, found.objects) == ("ok", ("gpu-operator",))
    assert "get on pods/proxy in namespace gpu-operator" in found.todo


def test_no_exporter_or_no_way_to_know() -> None:
    assert only(usage.gpus(facts())).status == "skipped"
    assert only(usage.gpus(facts(fleet(), proxies=Unknown("no answer")))).status == "skipped"
    assert only(usage.gpus(facts(b.cluster_of(without=("Pod",))))).status == "skipped"

"""Whose figures are asked for, by what is on the screen."""

from __future__ import annotations

from ktui.cluster.state import Cluster
from ktui.model.usage import GpusReport, GpuUsage, MetricsServed, PodsReport, Wanted
from ktui.ui.measuring import Shown, wanted
from ktui.ui.viewmodel import ViewModel
from ktui.views.registry import VIEWS
from tests.unit import builders as b
from tests.unit.cluster.test_usage import EXPORTER, NOW, device, usage

METRICS, GPUS = frozenset(("metrics",)), frozenset(("gpus",))
TRAIN = (b.NAMESPACE, "train-0")
EXPORTED = ("node-1", (b.NAMESPACE, "exporter"))


def state(pods: int = 2) -> Cluster:
    return b.cluster_of(
        *(b.pod(f"train-{number}", node="node-1") for number in range(pods)),
        b.pod("waiting"),
        b.pod("exporter", node="node-1", meta_=EXPORTER),
        b.piece("one", [device("gpu-0", uuid="GPU-a")], pool="node-1", nodeName="node-1"),
        b.piece("two", [device("gpu-0", uuid="GPU-b")], pool="node-2", nodeName="node-2"),
    )


def test_pods_are_asked_for_where_their_columns_are_shown() -> None:
    assert wanted(state(), Shown("pods", (TRAIN,), METRICS)) == Wanted(pods=True)
    assert wanted(state(), Shown("pods", (TRAIN,))) == Wanted()
    assert wanted(state(), Shown("gangs", (TRAIN,), METRICS)) == Wanted()


def test_a_pods_detail_needs_its_node_and_its_devices() -> None:
    opened = Shown("pods", (TRAIN,), opened=("pods", TRAIN))
    assert wanted(state(), opened) == Wanted(pod=TRAIN, nodes=("node-1",), exporters=(EXPORTED,))
    both = Shown("pods", (TRAIN,), METRICS, opened=("pods", TRAIN))
    assert wanted(state(), both) == Wanted(pods=True, nodes=("node-1",), exporters=(EXPORTED,))
    waiting = (b.NAMESPACE, "waiting")
    assert wanted(state(), Shown("pods", opened=("pods", waiting))) == Wanted(pod=waiting)
    assert wanted(state(), Shown("pods", opened=("pods", ("ml", "gone")))) == Wanted()


def test_devices_need_the_exporters_of_the_nodes_on_the_screen() -> None:
    rows = ((b.DRIVER, "node-1", "gpu-0"), (b.DRIVER, "node-2", "gpu-0"), (b.DRIVER, "gone", "gpu-0"))
    assert wanted(state(), Shown("devices", rows, GPUS)) == Wanted(exporters=(EXPORTED,))
    assert wanted(state(), Shown("devices", rows[1:], GPUS)) == Wanted()
    assert wanted(state(), Shown("devices", rows)) == Wanted()
    pools = ((b.DRIVER, "node-1"), (b.DRIVER, "node-2"), (b.DRIVER, "gone"))
    assert wanted(state(), Shown("devices", pools=pools)) == Wanted(exporters=(EXPORTED,))


def test_a_devices_detail_needs_its_node_too_also_from_the_triage() -> None:
    opened = Shown("triage", opened=("devices", (b.DRIVER, "node-1", "gpu-0")))
    assert wanted(state(), opened) == Wanted(nodes=("node-1",), exporters=(EXPORTED,))


def test_columns_are_there_where_figures_are_to_be_had() -> None:
    cluster = b.cluster_of(b.pod("train-0", node="node-1"))
    pods, devices = ViewModel(VIEWS["pods"], cluster), ViewModel(VIEWS["devices"], cluster)
    assert [VIEWS["pods"].columns[index].id for index in sorted(pods.hidden)] == ["cpu", "memory"]
    assert len(devices.hidden) == 4
    cluster.measure(MetricsServed("v1"))
    cluster.apply(b.changed("ADDED", b.pod("exporter", node="node-1", meta_=EXPORTER)))
    assert pods.hidden == devices.hidden == frozenset()


def test_other_figures_make_only_looked_at_rows_anew() -> None:
    cluster = state(2_000)
    model = ViewModel(VIEWS["pods"], cluster)
    model.work(lambda: True)
    painted = model.row(TRAIN)
    cluster.measure(PodsReport({TRAIN: usage("train-0", "3")}))
    model.refigure()
    assert model.behind == 0
    now = model.row(TRAIN)
    assert now is not None
    assert now != painted
    assert "3" in [cell.text for cell in now.cells]
    cluster.measure(PodsReport({TRAIN: usage("train-0", "3")}))
    model.refigure()
    assert model.row(TRAIN) == now, "the same figures look the same"


def test_an_order_by_figures_follows_them() -> None:
    cluster = state()
    model = ViewModel(VIEWS["pods"], cluster)
    model.work(lambda: True)
    cpu = [column.id for column in VIEWS["pods"].columns].index("cpu")
    first, second = TRAIN, (b.NAMESPACE, "train-1")
    cluster.measure(PodsReport({first: usage("train-0", "3"), second: usage("train-1", "2")}))
    model.refigure()
    model.sort_by(cpu, descending=True)
    model.work(lambda: True)
    assert [model.index.key_at(0), model.index.key_at(1)] == [first, second]
    cluster.measure(PodsReport({first: usage("train-0", "1"), second: usage("train-1", "2")}))
    model.refigure()
    model.work(lambda: True)
    assert [model.index.key_at(0), model.index.key_at(1)] == [second, first]


def test_rows_without_figures_are_left_alone() -> None:
    cluster = state()
    model = ViewModel(VIEWS["claims"], cluster)
    cluster.measure(GpusReport("node-1", NOW, (GpuUsage("GPU-a"),)))
    model.work(lambda: True)
    model.refigure()
    assert model.behind == 0

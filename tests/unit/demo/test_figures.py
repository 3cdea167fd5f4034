"""What the demo says that it uses: plausible, moving, and only of what runs."""

from __future__ import annotations

import json
from typing import Any

from ktui.demo.cluster import DemoCluster
from ktui.demo.figures import NAMESPACE, Figures
from ktui.demo.fleet import Fleet
from ktui.demo.incidents import SICK
from ktui.demo.mvcc import Database, Key
from ktui.kube.dcgm import parse_gpus
from ktui.model.usage import GpuUsage, NodeUsage, PodUsage, decode_usage, decode_usages

NOON = 1_796_040_000.0


class Clock:
    now = NOON

    def __call__(self) -> float:
        return self.now


def fleet(size: int = 0) -> tuple[Database, Figures, Clock]:
    database, clock = Database(), Clock()
    Fleet(database, size).fill()
    return database, Figures(database, clock=clock, sick=SICK), clock


def pods(figures: Figures, namespace: str = "") -> dict[Key, PodUsage]:
    body = json.dumps(figures.pods("v1beta1", namespace)).encode()
    return {usage.key: usage for usage in decode_usages(PodUsage, body)}


def gpus(database: Database, figures: Figures, node: str) -> tuple[GpuUsage, ...]:
    exporter = next(
        key
        for key, pod in database.objects("Pod").items()
        if key[0] == NAMESPACE and pod["spec"].get("nodeName") == node
    )
    page = figures.page(exporter)
    assert page is not None
    return parse_gpus(page)


def _requested(pod: dict[str, Any]) -> int:
    return int(pod["spec"]["containers"][0]["resources"].get("requests", {}).get("cpu", "1"))


def test_what_runs_uses_less_than_it_asked_for_and_what_waits_nothing() -> None:
    database, figures, _ = fleet()
    measured = pods(figures)
    for key, pod in database.objects("Pod").items():
        assert (key in measured) == (pod["status"]["phase"] == "Running")
        if key in measured:
            cpu = measured[key].amounts.cpu
            assert cpu is not None
            assert 0 < cpu <= _requested(pod)


def test_figures_move_and_stay_until_they_are_measured_again() -> None:
    _, figures, clock = fleet()
    first = pods(figures)
    clock.now += 14
    assert pods(figures) == first
    clock.now += 120
    later = pods(figures)
    assert later.keys() == first.keys()
    assert all(later[key].amounts != first[key].amounts for key in first)
    assert all(usage.seconds == 15.0 for usage in later.values())


def test_one_namespace_and_one_pod_are_parts_of_the_whole() -> None:
    _, figures, _ = fleet()
    everywhere = pods(figures)
    vision = pods(figures, "vision")
    assert vision == {key: usage for key, usage in everywhere.items() if key[0] == "vision"}
    key = next(iter(vision))
    assert decode_usage(PodUsage, json.dumps(figures.pod("v1", key)).encode()) == vision[key]
    assert figures.pod("v1", ("vision", "gone")) is None


def test_a_node_uses_what_its_pods_do_and_a_little_more() -> None:
    database, figures, _ = fleet()
    measured = pods(figures)
    nodes = {n.metadata.name: n for n in decode_usages(NodeUsage, json.dumps(figures.nodes("v1")).encode())}
    assert len(nodes) == len(database.objects("Node"))
    for name, usage in nodes.items():
        cpu = sum(
            measured[key].amounts.cpu or 0
            for key, pod in database.objects("Pod").items()
            if key in measured and pod["spec"].get("nodeName") == name
        )
        assert usage.amounts.cpu is not None
        assert cpu < usage.amounts.cpu < cpu + 1


def test_gpus_in_use_are_busy_and_hot_and_the_sick_one_has_an_xid_error() -> None:
    database, figures, _ = fleet()
    busy = gpus(database, figures, "gpu-node-05")
    assert len(busy) == 8
    assert all((gpu.utilization or 0) > 80 and (gpu.temperature or 0) > 60 for gpu in busy)
    idle = gpus(database, figures, "gpu-node-01")
    assert all(gpu.utilization == 0 and not gpu.recent_xids and gpu.last_xid == 0 for gpu in idle)
    assert [gpu.recent_xids for gpu in gpus(database, figures, SICK[1])] == [()] * 3 + [((79, 1),)] + [()] * 4


def test_a_pod_that_is_no_exporter_has_no_page() -> None:
    database, figures, _ = fleet()
    key = next(key for key in database.objects("Pod") if key[0] == "vision")
    assert figures.page(key) is None
    assert figures.page((NAMESPACE, "gone")) is None


def test_of_a_large_fleet_every_pod_has_figures() -> None:
    database, figures, _ = fleet(500)
    running = sum(pod["status"]["phase"] == "Running" for pod in database.objects("Pod").values())
    assert len(pods(figures)) == running > 400


async def test_the_demo_has_a_metrics_server() -> None:
    async with DemoCluster(haste=0.01) as demo:
        assert demo.server.figures is not None
        assert demo.server.figures.versions == ("v1beta1",)

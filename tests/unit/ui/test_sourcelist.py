"""Each source and what it costs, as lines."""

from __future__ import annotations

from ktui.cluster.state import Cluster
from ktui.model.cost import Cost
from ktui.model.frame import Listed, Source, StreamState
from ktui.model.meta import ObjectMeta
from ktui.model.pod import Pod
from ktui.ui.sourcelist import lines

PODS = Source("Pod", "/api/v1/namespaces/ml/pods", "ml")
NODES = Source("Node", "/api/v1/nodes")


def cluster() -> Cluster:
    made = Cluster()
    made.apply(Listed(PODS, "7", (Pod(metadata=ObjectMeta(name="a", namespace="ml")),)))
    made.apply(StreamState(PODS, "watching"))
    made.apply(StreamState(NODES, "listing", progress=(500, 2000)))
    made.apply(StreamState(Source("VolcanoQueue", "/apis/scheduling.volcano.sh/v1beta1/queues"), "absent", "why"))
    made.apply(StreamState(Source("Owner/x", "/apis/x/v1/owners"), "watching"))
    return made


def texts(costs: list[Cost] | None) -> list[str]:
    return ["".join(cell.text for cell in line).rstrip() for line in lines(cluster(), costs, 0.0)]


def test_every_source_says_how_many_objects_it_has_and_how_it_is_doing() -> None:
    assert [line.split() for line in texts(None)] == [
        ["Source", "objects", "state"],
        ["Owner/x", "-", "live"],
        ["nodes", "-", "loading", "nodes", "500", "of", "2,000"],
        ["pods", "in", "ml", "1", "live"],
        ["queues.scheduling.volcano.sh", "-", "not", "served"],
    ]


def test_what_was_asked_is_counted_and_summed_up() -> None:
    costs = [
        Cost("list", "pods", 4, 1, 300 * 1024, 3 * 1024 * 1024),
        Cost("watch", "podgroups.scheduling.k8s.io", 2, 0, 2048, 2048, 1),
    ]
    asked = texts(costs)[6:]
    assert [line.split() for line in asked] == [
        ["Asked", "of", "the", "API", "server", "requests", "received"],
        ["list", "pods", "4", "300", "KiB", "3.0", "MiB", "unpacked,", "1", "failed"],
        ["watch", "podgroups.scheduling.k8s.io", "2", "2", "KiB", "1", "open"],
        ["in", "all", "6", "302", "KiB", "3.0", "MiB", "unpacked,", "1", "failed,", "1", "open"],
    ]


def test_nothing_is_said_of_requests_where_nobody_is_asked() -> None:
    assert not any("Asked" in line for line in texts(None))

"""The gangs of a pod in the Pods view: Kubernetes' own, Kueue's and Volcano's."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.model.kueue import KueueWorkload
from ktui.model.pod import Pod
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "p")
QUEUED = b.condition(
    "QuotaReserved", "False", "Pending", "insufficient unused quota for cpu in flavor h200, 8 more needed"
)
ANNOTATIONS = {"kueue": "kueue.x-k8s.io/workload", "volcano": "scheduling.k8s.io/group-name"}


def pod_of(source: str, name: str, group: str = "") -> Pod:
    return b.pod("p", group=group, meta_={"annotations": {ANNOTATIONS[source]: name}})


def workload(version: str = "1", job: str = "train") -> KueueWorkload:
    owners: b.Document = {"ownerReferences": [b.owner("Job", job)], "resourceVersion": version}
    document = {"spec": {"queueName": "main"}, "status": {"conditions": [QUEUED]}}
    return b.make(KueueWorkload, {"metadata": b.meta("w", **owners), **document})


def gang_cell(cluster: Cluster) -> str:
    row = VIEWS["pods"].row(cluster, KEY)
    assert row is not None
    return row.cells[4].text


def told(cluster: Cluster) -> tuple[str | None, str | None]:
    item = VIEWS["pods"].item(cluster, KEY)
    assert item is not None
    return item["gang"], item["gangSource"]


def text(cluster: Cluster) -> str:
    sections = VIEWS["pods"].detail(cluster, KEY, 0.0)
    return "\n".join("".join(cell.text for cell in line) for section in sections for line in section.lines)


@pytest.mark.parametrize("source", ANNOTATIONS)
def test_a_gang_of_another_program_is_named_with_it(source: str) -> None:
    cluster = b.cluster_of(pod_of(source, "w"))
    assert gang_cell(cluster) == f"w ({source})"
    assert told(cluster) == ("w", source)


def test_the_pod_waits_for_what_its_gang_waits_for() -> None:
    cluster = b.cluster_of(pod_of("kueue", "w"), workload())
    assert gang_cell(cluster) == "train (kueue)"
    assert told(cluster) == ("w", "kueue")
    assert "with its gang: " in text(cluster)
    assert "8 more" in text(cluster)


def test_kubernetes_own_gang_comes_first() -> None:
    cluster = b.cluster_of(pod_of("kueue", "w", group="g"), b.group("g", 2), workload())
    assert gang_cell(cluster) == "g"
    assert told(cluster) == ("g", "podgroup")
    assert "g, train (kueue)" in text(cluster)


def test_a_pod_alone_has_none() -> None:
    cluster = b.cluster_of(b.pod("p"))
    assert (gang_cell(cluster), told(cluster)) == ("", (None, None))
    assert "with its gang" not in text(cluster)


def test_the_row_changes_with_what_the_gang_is_called() -> None:
    cluster = b.cluster_of(pod_of("kueue", "w"), workload())
    dirty = cluster.apply(b.changed("MODIFIED", workload("2", job="other")))
    assert KEY in dirty.pods
    assert gang_cell(cluster) == "other (kueue)"

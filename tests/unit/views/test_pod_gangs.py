"""The gangs of a pod in the Pods view: Kubernetes' own, Kueue's and Volcano's."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.diagnose.blast import blast_of_taint
from ktui.model.kueue import KueueWorkload
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceTaint
from ktui.views import devicemap
from ktui.views.base import Cell
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "p")
QUEUED = b.condition(
    "QuotaReserved", "False", "Pending", "insufficient unused quota for cpu in flavor h200, 8 more needed"
)
DEVICE = (b.DRIVER, "node-1", "gpu-0")
TAINT = DeviceTaint(key="a", effect="NoExecute")
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


def holding(source: str) -> Cluster:
    """The pod runs and has a device, which a rule taints."""
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
    annotations = {"annotations": {ANNOTATIONS[source]: "w"}}
    claim = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")])
    rule = b.rule("r", {"driver": b.DRIVER})
    return b.cluster_of(b.pod("p", node="n", meta_=annotations, spec=spec), claim, b.piece("s", ["gpu-0"]), rule)


@pytest.mark.parametrize("source", ANNOTATIONS)
def test_claims_devices_and_taints_name_the_gang_too(source: str) -> None:
    cluster = holding(source)
    for view, key in (("claims", ("ml", "c")), ("devices", DEVICE), ("taints", ("rule", "r"))):
        sections = VIEWS[view].detail(cluster, key, 0.0)  # type: ignore[index]  # names of views
        assert f"w ({source})" in "\n".join(cell.text for s in sections for line in s.lines for cell in line), view
    claim, device = VIEWS["claims"].item(cluster, ("ml", "c")), VIEWS["devices"].item(cluster, DEVICE)
    assert claim is not None
    assert device is not None
    assert claim["usedByGangs"] == [{"name": "w", "source": source}]
    assert device["allocatedTo"][0]["gangs"] == [{"name": "w", "source": source}]
    line = devicemap.line(cluster, DEVICE[:2])
    assert line is not None
    assert Cell(f"w ({source}) 1") in line.summary


@pytest.mark.parametrize("source", ANNOTATIONS)
def test_who_goes_because_of_a_taint_is_said_with_its_gang(source: str) -> None:
    (hit,) = blast_of_taint(holding(source), DEVICE, TAINT).deleted
    assert (hit.gang, hit.gang_name) == (("ml", f"{source}:w"), f"w ({source})")

"""What is in the tree of workloads beside Workloads: groups of none, controllers' pods that take devices, what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.model.deployment import Deployment
from ktui.model.meta import Object
from ktui.model.owner import Owner
from ktui.model.pod import Pod
from ktui.views.base import Branch, Row
from ktui.views.registry import VIEWS
from ktui.views.targets import row_behind
from ktui.views.workloads import VIEW
from tests.unit import builders as b

CLAIM = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}
COUNTED = {"containers": [{"name": "main", "resources": {"requests": {"vendor.com/gpu": "8", "cpu": "4"}}}]}
NOT_DEVICES = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "4", "hugepages-2Mi": "1Gi"}}}]}
BY_TRAINER = b.owner("Trainer", "serve", api_version="example.com/v1")
BY_DEPLOYMENT = b.owner("Deployment", "serve", api_version="apps/v1")
TRAINER = b.TRAINER.name


def owned(name: str, above: b.Document = BY_TRAINER, spec: b.Document = CLAIM, **more: Any) -> Pod:
    return b.pod(name, meta_={"ownerReferences": [above], **more.pop("meta_", {})}, spec=dict(spec), **more)


def outline(cluster: Cluster) -> list[str]:
    """The whole tree, indented."""

    def lines(branch: Branch, depth: int) -> list[str]:
        row = branch.row
        told = f"{'  ' * depth}{row.cells[1].text} {row.cells[2].text} {row.cells[4].text}".rstrip()
        return [told, *(line for each in branch.below() for line in lines(each, depth + 1))]

    roots = [found for key in VIEW.keys(cluster) if (found := VIEW.branch(cluster, key)) is not None]
    return [line for root in roots for line in lines(root, 0)]


def live(*objects: Object) -> Cluster:
    """A cluster of which everything was read."""
    by_kind: dict[str, list[Object]] = {"Pod": [], "PodGroup": [], "Workload": [], TRAINER: []}
    for obj in objects:
        by_kind.setdefault(TRAINER if isinstance(obj, Owner) else type(obj).__name__, []).append(obj)
    cluster = Cluster()
    for kind, found in by_kind.items():
        cluster.apply(b.listed(kind, *found))
        cluster.apply(b.phase(kind, "watching"))
    return cluster


def row(cluster: Cluster, *way: tuple[str, str, str]) -> Row:
    found = VIEW.row(cluster, way)
    assert found is not None
    return found


def test_a_group_of_no_workload_is_a_root_or_below_its_owner() -> None:
    """Issue 6, item 1."""
    above = {"ownerReferences": [BY_TRAINER]}
    cluster = live(
        b.group("alone", 2),
        b.pod("alone-0", group="alone", node="n"),
        b.group("made", 1, meta_=above),
        b.pod("made-0", group="made"),
        b.trainer("serve"),
    )
    assert outline(cluster) == [
        "PodGroup/alone Degraded 1 of 2",
        "  Pod/alone-0 Running",
        "Trainer/serve Pending 0 of 1",
        "  PodGroup/made Pending 0 of 1",
        "    Pod/made-0 Pending",
    ]


def test_what_is_only_named_is_in_the_tree_and_said_to_be_missing() -> None:
    ref = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
    cluster = live(b.group("g", 1, spec=ref), b.pod("p", group="g", node="n"), b.pod("q", group="nobody-made-it"))
    assert outline(cluster) == [
        "PodGroup/nobody-made-it (missing) Pending 0 of 1",
        "  Pod/q Pending",
        "Workload/w (missing) Running 1 of 1",
        "  PodGroup/g Running 1 of 1",
        "    Pod/p Running",
    ]


@pytest.mark.parametrize(
    ("pod", "inside"),
    [
        (owned("p"), True),
        (owned("p", node="n"), True),
        (owned("p", spec=COUNTED), True),
        (owned("p", spec=NOT_DEVICES), False),
        (owned("p", spec={}), False),
        (b.pod("p", spec=dict(CLAIM)), False),
        (owned("p", b.owner("Workload", "w", api_version="scheduling.k8s.io/v1beta1")), False),
    ],
    ids=["waits", "runs", "counted devices", "no devices", "nothing", "nobody's", "of what has a place of its own"],
)
def test_pods_in_no_group_are_there_if_a_controller_made_them_and_they_take_devices(pod: Pod, inside: bool) -> None:
    assert any("Pod/p" in line for line in outline(live(pod))) is inside


def test_pods_of_a_controller_are_below_it_and_many_are_one_row() -> None:
    above = b.trainer("serve", BY_DEPLOYMENT)
    pods = [owned(f"serve-{n}", node="n" if n else None) for n in range(9)]
    cluster = live(b.make(Deployment, {"metadata": b.meta("serve")}), above, *pods)
    root, trainer = ("ml", "Deployment", "serve"), ("ml", TRAINER, "serve")
    assert outline(cluster)[:3] == [
        "Deployment/serve Pending 8 of 9",
        "  Trainer/serve Pending 8 of 9",
        "    9 pods: 8 Running, 1 Pending Pending 8 of 9",
    ]
    many = (root, trainer, ("ml", "Pods", "serve"))
    assert row(cluster, *many).folds
    assert row(cluster, *many, ("ml", "Pod", "serve-0")).problem
    assert VIEW.detail(cluster, many, 0.0) == VIEW.detail(cluster, many[:-1], 0.0)
    assert row_behind("workloads", many) == ("workloads", many[:-1])
    assert row_behind("workloads", (*many, ("ml", "Pod", "serve-0"))) == ("pods", ("ml", "serve-0"))


@pytest.mark.parametrize(
    ("pods", "told"),
    [
        ([owned("a", node="n"), owned("b")], "Pending 1 of 2"),
        ([owned("a", node="n"), owned("b", node="n", phase="Pending")], "Scheduling 1 of 2"),
        ([owned("a", node="n"), owned("b", node="n", phase="Failed")], "Running 1 of 1"),
        ([owned("a", node="n"), owned("b", meta_={"deletionTimestamp": "2026-11-30T05:00:00Z"})], "Running 1 of 1"),
        ([owned("a", node="n", phase="Succeeded")], "Completed 0 of 0"),
        ([owned("a", node="n", phase="Failed")], "Failed 0 of 0"),
        ([owned("a", node="n", meta_={"deletionTimestamp": "2026-11-30T05:00:00Z"})], "Deleting 0 of 0"),
    ],
    ids=["one waits", "one starts", "one was replaced", "one goes", "over", "failed", "all go"],
)
def test_the_state_of_pods_in_no_group_is_that_of_the_worst_that_is_to_run(pods: list[Pod], told: str) -> None:
    assert outline(live(*pods, b.trainer("serve")))[0] == f"Trainer/serve {told}"


def test_one_owner_may_have_pods_groups_and_workloads() -> None:
    ref = {"controllerRef": {"apiGroup": "example.com", "kind": "Trainer", "name": "serve"}}
    cluster = live(
        b.trainer("serve"),
        owned("head", node="n"),
        b.group("alone", 1, meta_={"ownerReferences": [BY_TRAINER]}),
        b.workload("w", spec=ref),
    )
    shown = outline(cluster)
    assert shown[0].startswith("Trainer/serve")
    assert [line.split()[0] for line in shown[1:]] == ["Pod/head", "PodGroup/alone", "Workload/w"]
    below = [
        "".join(cell.text for cell in line)
        for section in VIEW.detail(cluster, (("ml", TRAINER, "serve"),), 0.0)
        if section.title == "Below it"
        for line in section.lines
    ]
    assert below == ["PodGroup alone  Pending", "Workload w  -", "Pod head  Running"]


def test_a_pod_that_owns_what_owns_pods_is_passed_over() -> None:
    """A LeaderWorkerSet's worker pods are of a StatefulSet that the leader's pod owns: the leader is no row twice."""
    sets = b.owner("Trainer", "workers", api_version="example.com/v1")
    leader = owned("leader", node="n")
    cluster = live(
        b.trainer("serve"), leader, b.trainer("workers", b.owner("Pod", "leader")), owned("worker", sets, node="n")
    )
    expected = [
        "Trainer/serve Running 2 of 2",
        "  Pod/leader Running",
        "  Trainer/workers Running 1 of 1",
        "    Pod/worker Running",
    ]
    assert outline(cluster) == expected
    dirty = cluster.apply(b.deleted(leader))
    assert {(("ml", TRAINER, "serve"),), (("ml", TRAINER, "workers"),)} <= dirty.workloads
    assert outline(cluster) == ["Trainer/workers Running 1 of 1", "  Pod/worker Running"]
    cluster.apply(b.added(owned("leader", node="n", meta_={"resourceVersion": "9"})))
    assert outline(cluster) == expected


def test_a_controller_made_anew_under_its_name_has_the_pods_of_both_in_one_place() -> None:
    first = [owned(f"old-{n}", {**BY_TRAINER, "uid": "the first"}) for n in range(5)]
    cluster = live(b.trainer("serve"), *first, *(owned(f"new-{n}", node="n") for n in range(5)))
    assert outline(cluster)[1] == "  10 pods: 5 Pending, 5 Running Pending 5 of 10"


def test_the_document_of_each() -> None:
    cluster = live(b.trainer("serve", BY_DEPLOYMENT), owned("p", node="n"), b.group("alone", 2))
    items = {item["kind"]: item for key in VIEW.subjects(cluster) if (item := VIEWS["workloads"].item(cluster, key))}
    assert set(items) == {"PodGroup", "Trainer"}
    group, trainer = items["PodGroup"], items["Trainer"]
    assert (group["namespace"], group["name"], group["state"], group["children"]) == ("ml", "alone", "Pending", [])
    assert group["gangs"] == [{"name": "alone", "state": "Pending", "minCount": 2, "running": 0}]
    assert (trainer["group"], trainer["name"], trainer["state"]) == ("example.com", "serve", "Running")
    assert [(owner["kind"], owner["read"]) for owner in trainer["owners"]] == [("Deployment", False)]
    assert trainer["children"] == [{"kind": "Pod", "name": "p", "state": "Running"}]
    assert trainer["owner"] == {"kind": "Deployment", "name": "serve"}


def test_what_is_missing_is_told_in_the_document() -> None:
    cluster = live(b.pod("q", group="g"))
    item = VIEW.item(cluster, (("ml", "PodGroup", "g"),))
    assert item is not None
    assert (item["notRead"], item["owner"], item["owners"]) == ("missing", None, [])

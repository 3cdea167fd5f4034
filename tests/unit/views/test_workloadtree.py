"""What hangs below a Workload, and what its Job asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.job import Job
from ktui.model.meta import Object
from ktui.model.podgroup import PodGroup
from ktui.views.registry import VIEWS
from tests.unit import builders as b

WORKLOAD = ("ml", "Workload", "w")
ROOT = (("ml", "Job", "train"),)
REF = {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "train"}}


def told(cluster: Cluster) -> Any:
    item = VIEWS["workloads"].item(cluster, (WORKLOAD,))
    assert item is not None
    return item


def shown(cluster: Cluster) -> str:
    lines = (line for section in VIEWS["workloads"].detail(cluster, (WORKLOAD,), 0.0) for line in section.lines)
    return "\n".join("".join(cell.text for cell in line) for line in lines)


def part(name: str, parent: str | None = None, least: int = 1) -> PodGroup:
    ref = {"workloadName": "w", "templateName": "t"}
    return b.group(name, least, spec={"workloadRef": ref, "parentCompositePodGroupName": parent})


def composite(name: str, parent: str | None = None, least: int | None = 1, workload: str = "w") -> CompositePodGroup:
    policy: Any = {"gang": {"minGroupCount": least}} if least is not None else {"basic": {}}
    ref = {"workloadName": workload, "templateName": "t"}
    spec = {"workloadRef": ref, "parentCompositePodGroupName": parent, "schedulingPolicy": policy}
    return b.make(CompositePodGroup, {"metadata": b.meta(name), "spec": spec})


def job(scheduling: Any) -> Job:
    return b.make(Job, {"metadata": b.meta("train"), "spec": {"scheduling": scheduling}})


def outline(nodes: list[Any]) -> list[Any]:
    return [(n["kind"], n["name"], n["state"], outline(n.get("children", []))) for n in nodes]


def test_the_tree_has_composite_groups_groups_and_pods() -> None:
    """Issue 6, item 1: a composite group is as well as the worst of its groups; what is worst comes first."""
    cluster = b.cluster_of(
        b.workload("w", spec=REF),
        part("alone"),
        part("a", "replica-0"),
        part("z", "replica-0"),
        b.pod("alone-0", group="alone", node="n"),
        b.pod("a-0", group="a", node="n"),
        b.pod("z-0", group="z"),
    )
    assert outline(told(cluster)["children"]) == [
        (
            "CompositePodGroup",
            "replica-0",
            "Pending",
            [
                ("PodGroup", "z", "Pending", [("Pod", "z-0", "Pending", [])]),
                ("PodGroup", "a", "Running", [("Pod", "a-0", "Running", [])]),
            ],
        ),
        ("PodGroup", "alone", "Running", [("Pod", "alone-0", "Running", [])]),
    ]
    composite = told(cluster)["children"][0]
    assert (composite["running"], composite["needed"]) == (1, 2)
    assert "    Pod z-0  Pending\n  PodGroup a  Running  1 of 1 run" in shown(cluster)


def test_composite_groups_stand_below_each_other_and_need_as_many_groups_as_they_say() -> None:
    """Issue 6, item 1: nothing writes their state in 1.37, so it is counted as the scheduler counts."""
    cluster = b.cluster_of(
        b.workload("w", spec=REF),
        composite("all", least=2),
        composite("half", "all", least=1),
        composite("waits", "all", least=2),
        *(part(name, parent) for name, parent in (("a", "half"), ("b", "half"), ("c", "waits"), ("d", "waits"))),
        *(b.pod(f"{name}-0", group=name, node="n") for name in "ac"),
        *(b.pod(f"{name}-0", group=name) for name in "bd"),
    )
    (root,) = told(cluster)["children"]
    assert (root["name"], root["state"], root["minGroupCount"], root["readyGroups"]) == ("all", "Pending", 2, 1)
    found = {
        child["name"]: (child["state"], child["minGroupCount"], child["readyGroups"]) for child in root["children"]
    }
    assert found == {"half": ("Running", 1, 1), "waits": ("Pending", 2, 1)}
    assert (root["running"], root["needed"]) == (2, 4)
    assert "CompositePodGroup all  Pending  2 of 4 run, 1 of 2 groups, 2 needed" in shown(cluster)


@pytest.mark.parametrize(
    ("least", "nodes", "state"),
    [
        (None, ["n", None], "Running"),
        (2, ["n", None], "Pending"),
        (0, [None, None], "Pending"),
        (3, ["n", "n"], "Degraded"),
    ],
)
def test_the_policy_of_a_composite_group(least: int | None, nodes: list[str | None], state: str) -> None:
    """Without a gang policy one group is enough, as in the scheduler; more than there are cannot be had, and says so."""
    pods = [b.pod(f"p{n}", group=f"g{n}", node=node or "") for n, node in enumerate(nodes)]
    groups = [part(f"g{n}", "c") for n in range(len(nodes))]
    cluster = b.cluster_of(b.workload("w"), composite("c", least=least), *groups, *pods)
    (found,) = told(cluster)["children"]
    assert found["state"] == state
    assert found["minGroupCount"] == (1 if least is None else least)


def test_a_composite_group_without_groups_waits_for_them() -> None:
    cluster = b.cluster_of(b.workload("w"), composite("c", least=2))
    assert outline(told(cluster)["children"]) == [("CompositePodGroup", "c", "Pending", [])]


def test_composite_groups_that_name_each_other_are_shown_once() -> None:
    cluster = b.cluster_of(
        b.workload("w"), composite("a", "b"), composite("b", "a"), composite("c", "c"), part("g", "b")
    )
    seen = [node["name"] for node in walk(told(cluster)["children"])]
    assert sorted(seen) == ["a", "b", "c", "g"]


def test_a_long_row_of_composite_groups_is_cut_in_pieces() -> None:
    names = [f"c{n:03}" for n in range(300)]
    row = [composite(name, parent) for name, parent in zip(names, [None, *names], strict=False)]
    cluster = b.cluster_of(b.workload("w"), *row)
    assert sorted(node["name"] for node in walk(told(cluster)["children"])) == names


def test_a_composite_group_that_changes_names_its_workload() -> None:
    cluster = b.cluster_of(b.workload("w"))
    assert cluster.apply(b.added(composite("c"))).workloads == {(WORKLOAD,)}
    assert cluster.apply(b.deleted(composite("c"))).workloads == {(WORKLOAD,)}
    assert cluster.apply(b.added(composite("d", workload="other"))).workloads == {(("ml", "Workload", "other"),)}


def test_a_group_of_1_35_is_a_part_of_its_workload() -> None:
    cluster = b.cluster_of(b.workload("w", groups={"workers": 1}))
    assert outline(told(cluster)["children"]) == [("Group", "w/workers", "Pending", [])]


def test_pods_in_trouble_come_first_and_many_are_cut() -> None:
    pods = [b.pod(f"p{n:02}", group="g", node="n") for n in range(20)]
    cluster = b.cluster_of(b.workload("w"), part("g", least=21), *pods, b.pod("z", group="g"))
    assert told(cluster)["children"][0]["children"][0]["name"] == "z"
    text = shown(cluster)
    assert text.count("Pod p") == 7
    assert "and 13 more" in text


def walk(nodes: list[Any]) -> Iterator[Any]:
    for node in nodes:
        yield node
        yield from walk(node.get("children", []))


@pytest.mark.parametrize(
    ("scheduling", "words", "document"),
    [
        (None, "", None),
        ({}, "", {"policy": None, "minCount": None, "disruptionMode": None, "topology": []}),
        (
            {"schedulingPolicy": {"gang": {"minCount": 4}}, "disruptionMode": {"all": {}}},
            "gang of at least 4",
            {"policy": "gang", "minCount": 4, "disruptionMode": "all", "topology": []},
        ),
        (
            {"schedulingPolicy": {"gang": {}}, "schedulingConstraints": {"topology": [{"key": "rack"}]}},
            "gang of all parallel pods",
            {"policy": "gang", "minCount": None, "disruptionMode": None, "topology": ["rack"]},
        ),
        (
            {"schedulingPolicy": {"basic": {}}, "schedulingConstraints": {"topology": None}},
            "basic: pod by pod",
            {"policy": "basic", "minCount": None, "disruptionMode": None, "topology": []},
        ),
        (
            {"schedulingPolicy": {"odd": {}}},
            "",
            {"policy": None, "minCount": None, "disruptionMode": None, "topology": []},
        ),
    ],
)
def test_what_the_job_asks_for(scheduling: Any, words: str, document: Any) -> None:
    """Job.spec.scheduling, alpha in 1.37."""
    cluster = b.cluster_of(b.workload("w", spec=REF), job(scheduling))
    assert told(cluster)["scheduling"] == document
    assert ("asks for" in shown(cluster)) == bool(words)
    assert words in shown(cluster)


@pytest.mark.parametrize(
    ("ref", "objects"),
    [
        ({}, [job({"schedulingPolicy": {"basic": {}}})]),
        (
            {"controllerRef": {"apiGroup": "x", "kind": "Job", "name": "train"}},
            [job({"schedulingPolicy": {"basic": {}}})],
        ),
        (REF, []),
    ],
)
def test_without_a_job_nothing_is_made_up(ref: Any, objects: list[Object]) -> None:
    assert told(b.cluster_of(b.workload("w", spec=ref), *objects))["scheduling"] is None


def test_a_job_that_changes_names_its_workload() -> None:
    cluster = b.cluster_of(b.workload("w", spec=REF))
    assert cluster.apply(b.added(job(None))).workloads == {ROOT}

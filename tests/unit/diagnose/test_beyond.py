"""Members beyond minCount that wait, while their gang runs without them."""

from __future__ import annotations

from typing import Any

from ktui.cluster.gangs import gang
from ktui.cluster.state import Cluster
from ktui.diagnose.beyond import Beyond, waiting_beyond
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.model.node import Node
from ktui.model.pod import Pod
from ktui.views import why
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "g")
WORDS = "0/1 nodes are available: 1 Insufficient cpu."
NODE = b.make(Node, {"metadata": b.meta("n1", ""), "status": {"allocatable": {"cpu": "8", "pods": "9"}}})


def running(name: str) -> Pod:
    return b.pod(name, group="g", node="n1", spec=asking("1"))


def waiting(name: str, words: str = WORDS, cpu: str = "64", **spec: Any) -> Pod:
    refused = [b.condition("PodScheduled", "False", "Unschedulable", words)] if words else None
    return b.pod(name, group="g", conditions=refused, spec={**asking(cpu), **spec})


def asking(cpu: str) -> b.Document:
    return {"containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}]}


def cluster_of(*pods: Pod, least: int = 1) -> Cluster:
    return b.cluster_of(NODE, b.group("g", least), running("a"), *pods)


def beyond(cluster: Cluster) -> tuple[Beyond, ...]:
    found = gang(cluster, KEY)
    assert found is not None
    return waiting_beyond(diagnoses_of(cluster).supply, found)


def names(found: tuple[Beyond, ...]) -> list[list[str]]:
    return [[pod.name for pod in each.pods] for each in found]


def test_pods_that_wait_for_the_same_are_told_together() -> None:
    cluster = cluster_of(
        waiting("x"),
        waiting("y", "0/1 nodes are available: 1 Too many."),
        waiting("z", schedulingGates=[{"name": "hold"}]),
    )
    found = beyond(cluster)
    assert names(found) == [["x", "y"], ["z"]]
    assert [each.diagnosis.cause for each in found if each.diagnosis] == ["NotEnoughNodeResources", "Gated"]


def test_without_the_pods_it_does_not_run() -> None:
    """They are what the gang waits for then."""
    assert beyond(cluster_of(waiting("x"), least=2)) == ()
    assert beyond(cluster_of()) == ()


def test_pods_that_go_or_are_done_do_not_wait() -> None:
    going = b.pod("x", group="g", meta_={"deletionTimestamp": "2026-11-30T05:55:00Z"})
    assert beyond(cluster_of(going, b.pod("y", group="g", phase="Failed"))) == ()


def test_very_many_different_words_are_counted_and_not_guessed_at() -> None:
    cluster = cluster_of(*(waiting(f"p{n}", schedulerName=f"s{n}") for n in range(7)))
    found = beyond(cluster)
    assert found[-1].diagnosis is None
    assert sum(len(each.pods) for each in found) == 7


def test_the_answer_to_why_has_a_line() -> None:
    cluster = cluster_of(waiting("x"))
    subject = why.gang_subject(cluster, KEY)
    account = why.account(diagnoses_of(cluster).supply, subject)
    assert account is not None
    lines = ["".join(cell.text for cell in line) for line in why.lines(cluster, subject, account, 0.0)]
    (line,) = [line for line in lines if "the gang runs without it" in line]
    assert line.startswith("1 pod waits, ")
    assert f"  scheduler says  {WORDS}" in lines
    (document,) = why.document(subject, account)["waitingBeyond"]
    assert (document["pods"], document["cause"]) == (["x"], "NotEnoughNodeResources")


def test_the_views_say_it() -> None:
    cluster = cluster_of(waiting("x"), waiting("y"))

    def section(view: str, key: tuple[str, str], title: str) -> str:
        sections = {s.title: s for s in VIEWS[view].detail(cluster, key, 0.0)}  # type: ignore[index]
        return "\n".join("".join(cell.text for cell in line) for line in sections[title].lines)

    assert "2 pods wait, the gang runs without them: " in section("gangs", KEY, "Beyond minCount")
    assert "  x, y" in section("gangs", KEY, "Beyond minCount")
    assert "its gang runs without it: " in section("pods", ("ml", "x"), "Why it waits")
    item = VIEWS["gangs"].item(cluster, KEY)
    assert item is not None
    assert item["waitingBeyond"][0]["pods"] == ["x", "y"]

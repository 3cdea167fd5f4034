"""Who preempts whom, as the details and the JSON of gangs and pods tell it. One state is recorded from a real scheduler."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.dirty import Entity
from ktui.cluster.preemption import victims_of
from ktui.cluster.state import Cluster
from ktui.model.event import Event
from ktui.model.frame import Listed, Source
from ktui.model.meta import Key, Object
from ktui.model.pod import Pod
from ktui.model.time import parse_time
from ktui.views.registry import VIEWS
from tests.scenarios.outcome import cluster_of
from tests.unit import builders as b

THEN = "2026-11-30T05:54:09Z"
NOW = (parse_time(THEN) or 0.0) + 60
CHOSEN = [b.condition("DisruptionTarget", "True", "PreemptionByScheduler", since=THEN)]


def told(cluster: Cluster, view: Entity, key: Key) -> Any:
    item = VIEWS[view].item(cluster, key)
    assert item is not None
    return item


def shown(cluster: Cluster, view: Entity, key: Key, title: str = "Preemption") -> str:
    sections = VIEWS[view].detail(cluster, key, NOW)
    lines = (line for section in sections if section.title == title for line in section.lines)
    return "\n".join("".join(cell.text for cell in line) for line in lines)


def preempts(victim: str, by: str, kind: str = "PodGroup", *, name: str = "e", **more: Any) -> Event:
    related = {"kind": kind, "namespace": "ml", "name": by, "uid": b.uid_of(by)}
    document = {
        "metadata": b.meta(name),
        "involvedObject": {"kind": "Pod", "namespace": "ml", "name": victim, "uid": b.uid_of(victim)},
        "related": related,
        "reason": "Preempted",
        "eventTime": THEN,
    }
    return b.make(Event, {**document, **more})


def victim(name: str = "v", *, deleted: bool = True, **more: Any) -> Pod:
    gone = {"deletionTimestamp": THEN} if deleted else {}
    return b.pod(name, node="node-1", conditions=CHOSEN, meta_=gone, **more)


def test_a_real_gang_that_waits_for_victims() -> None:
    """Issue 6, item 2: a gang of higher priority, and one whose pods are disrupted together."""
    cluster = cluster_of("preempting-a-gang")
    found = told(cluster, "gangs", ("leine", "osprey"))
    assert (found["priority"], found["priorityClass"], found["disruptionMode"]) == (70, "gold", "single")
    assert [(v["name"], v["state"], v["gang"], v["priority"]) for v in found["preemption"]["victims"]] == [
        (f"newt-{n}", "going", "newt", 7) for n in range(3)
    ]
    assert sorted(each["node"] for each in found["preemption"]["nominated"]) == ["dill-1", "dill-2"]
    text = shown(cluster, "gangs", ("leine", "osprey"))
    assert "3 to go for it, 3 still there" in text
    assert "of newt, all of it goes, priority 7" in text
    assert "on dill-1" in text
    other = told(cluster, "gangs", ("leine", "newt"))
    assert other["disruptionMode"] == "all"
    by = {"kind": "PodGroup", "namespace": "leine", "name": "osprey"}
    assert other["preemption"]["preempted"] == [{"pod": f"newt-{n}", "by": by} for n in range(3)]
    assert "newt-0 for PodGroup leine/osprey" in shown(cluster, "gangs", ("leine", "newt"))
    assert "newt-0 for PodGroup leine/osprey" in shown(cluster, "pods", ("leine", "newt-0"))


def test_a_pod_that_preempts() -> None:
    pod = b.pod(
        "a", spec={"priority": 9, "preemptionPolicy": "PreemptLowerPriority"}, status={"nominatedNodeName": "n"}
    )
    cluster = b.cluster_of(pod, victim(spec={"priority": 1}), preempts("v", "a", "Pod"))
    found = told(cluster, "pods", ("ml", "a"))
    assert (found["priority"], found["preemptionPolicy"]) == (9, "PreemptLowerPriority")
    assert found["preemption"] == {
        "victims": [{"namespace": "ml", "name": "v", "state": "going", "gang": None, "priority": 1}],
        "nominated": [{"pod": "a", "node": "n"}],
        "preempted": [],
    }
    assert "ml/v  going  60s ago  priority 1" in shown(cluster, "pods", ("ml", "a"))


@pytest.mark.parametrize(
    ("pods", "state"),
    [
        pytest.param([victim()], "going", id="deleted"),
        pytest.param([victim(deleted=False)], "chosen", id="not deleted yet"),
        pytest.param([], "gone", id="no longer there"),
        pytest.param([victim(deleted=False, phase="Failed")], "gone", id="finished"),
        pytest.param([b.pod("v", node="n", meta_={"uid": "another"})], "gone", id="another pod of that name"),
        pytest.param([b.pod("v")], "chosen", id="waiting for a node, so only put back in memory"),
    ],
)
def test_states_of_a_victim(pods: list[Object], state: str) -> None:
    cluster = b.cluster_of(b.group("g", 1), preempts("v", "g"), preempts("v", "g", name="again"), *pods)
    assert [v["state"] for v in told(cluster, "gangs", ("ml", "g"))["preemption"]["victims"]] == [state]


def test_a_victim_that_cannot_be_seen_is_not_called_gone() -> None:
    """It is in a namespace that is not looked at."""
    of_ml = Source("Pod", "/api/v1/namespaces/ml/pods", "ml")
    event = b.make(
        Event,
        {
            "metadata": b.meta("e"),
            "involvedObject": {"kind": "Pod", "namespace": "lab", "name": "v", "uid": "uid-v"},
            "related": {"kind": "Pod", "namespace": "ml", "name": "a", "uid": b.uid_of("a")},
            "reason": "Preempted",
        },
    )
    cluster = b.cluster_of(event, without=["Pod"])
    cluster.apply(Listed(of_ml, "9", (b.pod("a"),)))
    assert [v.state for v in victims_of(cluster, [b.uid_of("a")])] == ["unknown"]
    assert "1 to go for it, 0 still there" in shown(cluster, "pods", ("ml", "a"))


def test_an_event_is_not_believed_against_the_pod() -> None:
    """Anyone who may create events can write one about a pod that runs undisturbed."""
    cluster = b.cluster_of(b.group("g", 1), b.pod("v", node="node-1"), preempts("v", "g"))
    assert victims_of(cluster, [b.uid_of("g")]) == ()
    assert told(cluster, "pods", ("ml", "v"))["preemption"]["preempted"] == []


def test_a_victim_whose_event_is_gone() -> None:
    cluster = b.cluster_of(victim())
    assert told(cluster, "pods", ("ml", "v"))["preemption"]["preempted"] == [{"pod": "v", "by": None}]
    assert "v, no event is left that says for whom" in shown(cluster, "pods", ("ml", "v"))


def test_an_event_without_an_other_side() -> None:
    cluster = b.cluster_of(victim(), preempts("v", "g", related=None))
    assert told(cluster, "pods", ("ml", "v"))["preemption"]["preempted"] == [{"pod": "v", "by": None}]


@pytest.mark.parametrize(
    ("mode", "said"), [(None, None), ({"all": {}}, "all"), ({"single": {}}, "single"), ({"some": {}}, None)]
)
def test_a_mode_of_disruption_is_never_made_up(mode: Any, said: str | None) -> None:
    cluster = b.cluster_of(b.group("g", 1, spec={"disruptionMode": mode}))
    assert told(cluster, "gangs", ("ml", "g"))["disruptionMode"] == said


def test_a_group_that_may_not_preempt() -> None:
    cluster = b.cluster_of(b.group("g", 1, spec={"preemptionPolicy": "Never"}))
    assert told(cluster, "gangs", ("ml", "g"))["preemptionPolicy"] == "Never"


def test_many_victims_are_counted_and_cut() -> None:
    events = [preempts(f"v{n:02}", "g", name=f"e{n}") for n in range(25)]
    cluster = b.cluster_of(b.group("g", 1), *events)
    text = shown(cluster, "gangs", ("ml", "g"))
    assert text.startswith("25 to go for it, 0 still there")
    assert text.endswith("and 5 more")


def test_nothing_to_tell() -> None:
    cluster = b.cluster_of(b.group("g", 1), b.pod("a", group="g", node="node-1"))
    assert shown(cluster, "gangs", ("ml", "g")) == ""
    assert told(cluster, "gangs", ("ml", "g"))["preemption"] == {"victims": [], "nominated": [], "preempted": []}


def test_both_sides_are_named_when_the_event_arrives() -> None:
    cluster = b.cluster_of(b.group("g", 1), victim(group="low"))
    dirty = cluster.apply(b.added(preempts("v", "g")))
    assert dirty.pods == {("ml", "v")}
    assert dirty.gangs == {("ml", "g"), ("ml", "low")}
    dirty = cluster.apply(b.added(preempts("v", "a", "Pod", name="other")))
    assert dirty.pods == {("ml", "v"), ("ml", "a")}

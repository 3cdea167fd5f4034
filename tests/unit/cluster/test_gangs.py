"""Gangs and their states, counted from pods (the API reference, section 1; D11)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from ktui.cluster.gangs import Gang, gang, gang_keys, gangs
from ktui.model.meta import Object
from ktui.model.pod import Pod
from tests.unit import builders as b

DECIDED, BEFORE, AFTER = "2026-11-30T05:54:15Z", "2026-11-30T05:54:10Z", "2026-11-30T05:54:20Z"
PLACED = b.condition("PodGroupInitiallyScheduled", "True", "Scheduled", since=DECIDED)
REFUSED = b.condition("PodScheduled", "False", "Unschedulable", "0/2 nodes are available")


def found(*objects: Object, name: str = "g", without: Iterable[str] = ()) -> Gang:
    result = gang(b.cluster_of(*objects, without=without), ("ml", name))
    assert result is not None
    return result


def group(min_count: int | None = 2, *conditions: b.Document, **more: Any) -> Object:
    return b.group("g", min_count, status={"conditions": list(conditions)}, **more)


def running(name: str, **more: Any) -> Pod:
    return b.pod(name, group="g", node="n", **more)


def waiting(name: str, created: str = BEFORE, **more: Any) -> Pod:
    return b.pod(name, group="g", meta_={"creationTimestamp": created, **more.pop("meta_", {})}, **more)


def bound(name: str) -> Pod:
    return b.pod(name, group="g", node="n", phase="Pending")


def going(name: str) -> Pod:
    return b.pod(name, group="g", node="n", phase="Running", meta_={"deletionTimestamp": AFTER})


def ended(name: str, phase: str = "Succeeded") -> Pod:
    return b.pod(name, group="g", node="n", phase=phase)


@pytest.mark.parametrize(
    ("objects", "state"),
    [
        pytest.param([group()], "Pending", id="no pods"),
        pytest.param([group(), waiting("a"), waiting("b")], "Pending", id="none placed"),
        pytest.param([group(), running("a"), running("b")], "Running", id="all run"),
        pytest.param([group(), running("a"), running("b"), waiting("c")], "Running", id="enough run"),
        pytest.param([group(), running("a"), bound("b")], "Scheduling", id="all on a node, not all run"),
        pytest.param([group(2, PLACED), waiting("a"), waiting("b")], "Scheduling", id="decided, being bound"),
        pytest.param([group(2, PLACED), running("a"), waiting("b")], "Scheduling", id="decided, half bound"),
        pytest.param([group(2, PLACED), running("a"), waiting("b", AFTER)], "Degraded", id="a replacement waits"),
        pytest.param(
            [group(2, PLACED), running("a"), waiting("b", conditions=[REFUSED])], "Degraded", id="refused since"
        ),
        pytest.param([group(2, PLACED), running("a")], "Degraded", id="a pod is gone"),
        pytest.param([group(2, PLACED), running("a"), going("b")], "Degraded", id="a pod is being deleted"),
        pytest.param([group(2, PLACED)], "Degraded", id="all pods gone"),
        pytest.param([group(2), running("a"), waiting("b")], "Degraded", id="some run, no condition"),
        pytest.param(
            [group(2, {**PLACED, "type": "PodGroupScheduled"}), running("a")], "Degraded", id="1.36's name of it"
        ),
        pytest.param(
            [group(2, {**PLACED, "lastTransitionTime": None}), running("a"), waiting("b")], "Degraded", id="no time"
        ),
        pytest.param([group(), ended("a"), ended("b")], "Completed", id="all done"),
        pytest.param([group(), ended("a"), running("b")], "Running", id="one done, one runs"),
        pytest.param([group(), ended("a"), ended("b", "Failed")], "Failed", id="one failed"),
        pytest.param([group(1), ended("a"), ended("b", "Failed")], "Completed", id="enough done"),
        pytest.param([group(), ended("a", "Failed"), waiting("b")], "Pending", id="a failure is made good"),
        pytest.param(
            [group(meta_={"deletionTimestamp": AFTER}), running("a"), running("b")], "Deleting", id="deleting"
        ),
        pytest.param([b.pod("a", group="g"), b.pod("b", group="g")], "Pending", id="no group object"),
    ],
)
def test_states(objects: list[Object], state: str) -> None:
    assert found(*objects).state == state


@pytest.mark.parametrize(
    "message",
    [
        "pod group is unschedulable, pod group preemption: found a placement for podgroup, preempting 3 victims",
        "pod group preemption: ongoing preemption on nominated nodes",
    ],
)
def test_preempting(message: str) -> None:
    refused = b.condition("PodGroupInitiallyScheduled", "False", "Unschedulable", message)
    assert found(group(2, refused), waiting("a"), waiting("b")).state == "Preempting"


def test_without_a_list_of_pods_nothing_is_known() -> None:
    assert found(group(), without=["Pod"]).state == "Unknown"


def test_counts() -> None:
    g = found(group(3), running("a"), bound("b"), going("c"), ended("d"), ended("e", "Failed"), waiting("f"))
    assert [p.name for p in g.members] == list("abcdef")
    assert (g.active, g.bound, g.running, g.succeeded, g.failed) == (4, 2, 1, 1, 1)


@pytest.mark.parametrize(("min_count", "needed"), [(0, 1), (-3, 1), (1, 1), (8, 8), (None, 1)])
def test_D11_odd_minimums(min_count: int | None, needed: int) -> None:
    g = found(group(min_count), waiting("a"))
    assert (g.needed, g.state) == (needed, "Pending")
    assert found(group(min_count)).state == "Pending"


def test_D11_more_needed_than_there_are_pods() -> None:
    g = found(group(8), running("a"))
    assert (g.needed, g.running, g.state) == (8, 1, "Degraded")


def test_D11_pods_of_one_group_in_two_namespaces_are_two_gangs() -> None:
    cluster = b.cluster_of(b.pod("a", group="g"), b.pod("a", group="g", namespace="lab"), b.group("g", 1))
    assert {g.key: (g.min_count, len(g.members)) for g in gangs(cluster)} == {
        ("ml", "g"): (1, 1),
        ("lab", "g"): (None, 1),
    }


def test_D11_pods_without_a_group_make_no_gang() -> None:
    assert list(gangs(b.cluster_of(b.pod("a")))) == []


def test_a_name_that_nobody_knows() -> None:
    assert gang(b.cluster_of(), ("ml", "g")) is None


def test_a_group_that_does_not_exist() -> None:
    g = found(b.pod("b", group="g", meta_={"creationTimestamp": AFTER}), waiting("a"))
    assert (g.min_count, g.wanted_text, g.group) == (None, "?", None)
    assert g.created == pytest.approx(1796018050)  # of its first pod


def test_the_workload_behind_a_group() -> None:
    spec = {"workloadRef": {"workloadName": "train", "templateName": "t"}}
    with_it, without = (group(spec=spec), b.workload("train")), (group(spec=spec),)
    assert found(*with_it).workload is not None
    assert found(*without).workload is None


# --- 1.35: groups inside Workloads ---


def member(name: str, part: str = "workers", replica: str | None = None, **more: Any) -> Pod:
    reference = {"name": "train", "podGroup": part, "podGroupReplicaKey": replica}
    return b.pod(name, spec={"workloadRef": reference}, **more)


TRAIN = b.workload("train", groups={"workers": 2, "idle": 3})


def test_1_35_a_group_of_a_workload() -> None:
    g = found(TRAIN, member("a", node="n"), member("b", node="n"), name="train/workers")
    assert (g.min_count, g.running, g.state, g.group) == (2, 2, "Running", None)
    assert gang_keys(b.cluster_of(TRAIN)) == {("ml", "train/workers"), ("ml", "train/idle")}


def test_1_35_replicas_of_a_group_are_gangs_of_their_own() -> None:
    cluster = b.cluster_of(TRAIN, *(member(f"{r}{i}", replica=r, node="n") for r in "01" for i in range(2)))
    found = {g.key[1]: (g.min_count, len(g.members), g.state) for g in gangs(cluster)}
    assert found == {
        "train/idle": (3, 0, "Pending"),
        "train/workers/0": (2, 2, "Running"),
        "train/workers/1": (2, 2, "Running"),
    }


def test_1_35_a_group_with_pods_of_both_kinds_keeps_its_own_row() -> None:
    cluster = b.cluster_of(TRAIN, member("a"), member("b", replica="0"))
    assert {g.key[1] for g in gangs(cluster)} == {"train/workers", "train/workers/0", "train/idle"}


@pytest.mark.parametrize("objects", [[member("a")], [member("a", part="typo"), TRAIN]])
def test_1_35_a_group_that_no_workload_has(objects: list[Object]) -> None:
    cluster = b.cluster_of(*objects)
    (g,) = [g for g in gangs(cluster) if g.members]
    assert g.min_count is None


def test_1_35_a_workload_being_deleted() -> None:
    gone = b.workload("train", groups={"workers": 2}, meta_={"deletionTimestamp": AFTER})
    assert found(gone, member("a"), name="train/workers").state == "Deleting"


@pytest.mark.parametrize("ref", [{"podGroup": "w"}, None], ids=["a 1.35 Workload's", "a PodGroup's"])
def test_a_gang_is_not_called_running_while_how_many_it_needs_was_not_read(ref: b.Document | None) -> None:
    """A state that lacks the one object with minCount would count one running pod of eight as enough."""
    kind, name = ("Workload", "w/w") if ref else ("PodGroup", "g")
    spec = {"spec": {"workloadRef": {"name": "w", **ref}}} if ref else {"group": "g"}
    pods = [b.pod("a", node="n", **spec), b.pod("b", **spec)]
    assert found(*pods, name=name, without=[kind]).state == "Unknown"
    assert found(*pods, name=name).state != "Unknown"

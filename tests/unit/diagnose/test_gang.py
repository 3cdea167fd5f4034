"""Why gangs wait: the truths of recordings from real control planes, and each cause by itself."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.gangs import gang
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import diagnose
from ktui.model.meta import Object
from tests.recordings import cluster_at
from tests.unit import builders as b

GROUP_CONDITION = "PodGroupInitiallyScheduled"

TRUTH: dict[str, tuple[str | None, dict[str, Any]]] = {
    "ok-train": (None, {}),
    "short": ("WaitingForPods", {"have": 3, "need": 4}),
    "orphan": ("GroupMissing", {"pods": 2}),
    "gated": ("Gated", {"gates": ["example.com/quota"]}),
    "no-template": ("ClaimNotCreated", {"template": "does-not-exist"}),
    "no-scheduler": ("NoScheduler", {"schedulerName": "volcano"}),
    "mixed-priority": ("GroupInvalid", {}),
    "too-big": ("NotEnoughDevices", {"need": 20}),
    "no-product": ("NoMatchingDevice", {"need": 2, "matching": 0}),
    "no-class": ("DeviceClassMissing", {"deviceClass": "gpu-premium"}),
    "numa": ("DeviceConstraint", {"attribute": "resource.kubernetes.io/numaNode"}),
    "stale-pool": ("PoolIncomplete", {"pool": "gpu-node-9"}),
    "tainted": ("DevicesTainted", {"taint": "example.com/maintenance", "need": 2, "free": 0}),
    "cpu-hog": ("NotEnoughNodeResources", {"resource": "cpu"}),
    "wrong-zone": ("NodeConstraints", {}),
}
"""What is known to hold each gang of the recording "causes", by how it was made."""

FROM_THE_OBJECTS = (
    "ok-train",
    "short",
    "orphan",
    "gated",
    "no-template",
    "no-scheduler",
    "mixed-priority",
)
"""Gangs whose cause their own objects tell, without a look at devices and nodes."""


def recorded(name: str, key: tuple[str, str]) -> Diagnosis:
    cluster, _ = cluster_at(name)
    found = gang(cluster, key)
    assert found is not None
    return diagnose(cluster, found)


@pytest.mark.parametrize("name", FROM_THE_OBJECTS)
def test_causes_that_objects_tell(name: str) -> None:
    cause, facts = TRUTH[name]
    found = recorded("causes", ("research", name))
    assert (found.cause, found.state) == (cause, "Running" if cause is None else "Pending")
    assert {key: found.facts.get(key) for key in facts} == facts
    assert "\n" not in found.message


@pytest.mark.parametrize("name", sorted(TRUTH.keys() - set(FROM_THE_OBJECTS)))
def test_no_cause_is_made_up(name: str) -> None:
    """The true cause with its facts, or none at all beside the scheduler's own words."""
    cause, facts = TRUTH[name]
    found = recorded("causes", ("research", name))
    assert found.state == "Pending"
    assert found.message
    if found.cause == "Unexplained":
        assert found.evidence
        assert any(found.message in item.text or item.text in found.message for item in found.evidence)
    else:
        assert found.cause == cause
        assert {key: found.facts.get(key) for key in facts} == facts


def test_the_group_that_is_invalid_says_what_the_scheduler_says() -> None:
    found = recorded("causes", ("research", "mixed-priority"))
    assert "priority" in found.message
    assert found.facts["message"] == found.message


@pytest.mark.parametrize(
    ("recording", "suffix"), [("v1.36", ""), ("v1.35", "/workers")], ids=["groups", "groups inside workloads"]
)
def test_older_clusters(recording: str, suffix: str) -> None:
    waiting = recorded(recording, ("older", f"waiting{suffix}"))
    assert (waiting.cause, waiting.facts) == ("WaitingForPods", {"have": 2, "need": 3})
    assert recorded(recording, ("older", f"fits{suffix}")).cause is None
    assert recorded(recording, ("older", f"toolarge{suffix}")).cause in ("Unexplained", "NotEnoughDevices")


# --- one by one ---


def diagnosed(*objects: Object, name: str = "g", unreadable: tuple[str, ...] = ()) -> Diagnosis:
    cluster = b.cluster_of(*objects)
    for kind in unreadable:
        cluster.apply(b.phase(kind, "waiting", "503"))
    found = gang(cluster, ("ml", name))
    assert found is not None
    return diagnose(cluster, found)


def member(name: str, **more: Any) -> Object:
    return b.pod(name, group="g", **more)


def refused(message: str, reason: str = "Unschedulable") -> list[b.Document]:
    return [b.condition("PodScheduled", "False", reason, message, "2026-11-30T05:54:09Z")]


def test_waiting_for_pods_counts_those_that_are_done() -> None:
    done = member("a", node="n", phase="Succeeded")
    found = diagnosed(b.group("g", 3), done, member("b"))
    assert (found.cause, found.facts) == ("WaitingForPods", {"have": 2, "need": 3})


def test_a_missing_group_is_only_claimed_when_groups_can_be_read() -> None:
    assert diagnosed(member("a"), member("b")).cause == "GroupMissing"
    assert diagnosed(member("a"), member("b"), unreadable=("PodGroup",)).cause == "Queued"


def test_a_missing_group_of_a_workload() -> None:
    spec = {"workloadRef": {"name": "w", "podGroup": "workers"}}
    found = diagnosed(b.pod("a", spec=spec), name="w/workers")
    assert (found.cause, found.facts) == ("GroupMissing", {"pods": 1})


def test_gates_of_all_members_are_named_once() -> None:
    gates = [{"schedulingGates": [{"name": n}]} for n in ("b", "a", "b")]
    found = diagnosed(b.group("g", 2), *(member(f"p{i}", spec=spec) for i, spec in enumerate(gates)))
    assert (found.cause, found.facts) == ("Gated", {"gates": ["a", "b"]})
    assert "3 pods" in found.message


@pytest.mark.parametrize(
    ("entry", "others", "facts", "words"),
    [
        ({"resourceClaimTemplateName": "t"}, [], {"template": "t"}, "claim template t does not exist"),
        ({"resourceClaimTemplateName": "t"}, [b.template("t")], {"template": "t"}, "no claim made from template t yet"),
        ({"resourceClaimName": "c"}, [], {"claim": "c"}, "claim c does not exist"),
    ],
)
def test_claims_that_are_not_there(entry: b.Document, others: list[Object], facts: b.Document, words: str) -> None:
    pod = member("a", spec={"resourceClaims": [{"name": "gpu", **entry}]})
    found = diagnosed(b.group("g", 1), pod, *others)
    assert (found.cause, found.facts, found.message) == ("ClaimNotCreated", facts, words)
    assert [e.name for e in found.evidence] == ["a"]


def test_a_missing_claim_is_only_claimed_when_claims_can_be_read() -> None:
    pod = member("a", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]})
    assert diagnosed(b.group("g", 1), pod, unreadable=("ResourceClaim",)).cause == "Queued"


def test_a_missing_template_is_only_claimed_when_templates_can_be_read() -> None:
    pod = member("a", spec={"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]})
    found = diagnosed(b.group("g", 1), pod, unreadable=("ResourceClaimTemplate",))
    assert found.message == "no claim made from template t yet"


@pytest.mark.parametrize("where", ["group", "pod"])
def test_a_group_that_the_scheduler_rejects(where: str) -> None:
    words = "member priority differs from the group's"
    on_group = [b.condition(GROUP_CONDITION, "False", "SchedulerError", words)] if where == "group" else []
    on_pod = refused(words, "SchedulerError") if where == "pod" else []
    found = diagnosed(b.group("g", 1, status={"conditions": on_group}), member("a", conditions=on_pod))
    assert (found.cause, found.message) == ("GroupInvalid", words)


def test_the_member_that_did_not_fit_says_more_than_the_group() -> None:
    group_words = "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 1 remaining"
    found = diagnosed(
        b.group("g", 2, status={"conditions": [b.condition(GROUP_CONDITION, "False", "Unschedulable", group_words)]}),
        member("a", conditions=refused(group_words)),
        member("b", conditions=refused("0/2 nodes are available: 2 cannot allocate all claims")),
    )
    assert (found.cause, found.message) == ("Unexplained", "0/2 nodes are available: 2 cannot allocate all claims")
    assert [(e.kind, e.name) for e in found.evidence] == [("Pod", "b"), ("PodGroup", "g")]


def test_equal_words_are_evidence_once() -> None:
    found = diagnosed(b.group("g", 2), *(member(n, conditions=refused("no room")) for n in "ab"))
    assert [(e.name, e.text, e.since is not None) for e in found.evidence] == [("a", "no room", True)]


def test_waiting_for_preemption() -> None:
    words = "pod group preemption: found a placement for podgroup, preempting 3 victims"
    group = b.group("g", 1, status={"conditions": [b.condition(GROUP_CONDITION, "False", "Unschedulable", words)]})
    found = diagnosed(group, member("a"))
    assert (found.state, found.cause) == ("Preempting", "WaitingForPreemption")


VOLCANO = {"schedulerName": "volcano"}


@pytest.mark.parametrize(
    ("others", "cause"),
    [
        ([], "NoScheduler"),
        ([b.pod("x", spec=VOLCANO)], "NoScheduler"),
        ([b.pod("x", spec=VOLCANO, node="n")], "Queued"),
        ([b.pod("x", spec=VOLCANO, conditions=refused("no room"))], "Queued"),
    ],
)
def test_a_scheduler_that_never_did_anything(others: list[Object], cause: str) -> None:
    assert diagnosed(b.group("g", 1), member("a", spec=VOLCANO), *others).cause == cause


def test_never_tried() -> None:
    assert diagnosed(b.group("g", 1), member("a")).cause == "Queued"


def test_a_degraded_gang_says_what_it_lacks_and_why() -> None:
    words = "0/2 nodes are available: 2 cannot allocate all claims"
    found = diagnosed(
        b.group("g", 2, status={"conditions": [b.condition(GROUP_CONDITION, "True", "Scheduled")]}),
        member("a", node="n"),
        member("b", conditions=refused(words)),
    )
    assert (found.state, found.cause, found.message) == ("Degraded", "Unexplained", f"1 of 2 run; {words}")


@pytest.mark.parametrize(
    ("objects", "state"),
    [
        ([b.group("g", 1), member("a", node="n")], "Running"),
        ([b.group("g", 1), member("a", node="n", phase="Succeeded")], "Completed"),
        ([b.group("g", 1), member("a", node="n", phase="Failed")], "Failed"),
        ([b.group("g", 1, meta_={"deletionTimestamp": "2026-11-30T05:54:09Z"})], "Deleting"),
    ],
)
def test_a_gang_that_does_not_wait_has_no_cause(objects: list[Object], state: str) -> None:
    found = diagnosed(*objects)
    assert (found.state, found.cause) == (state, None)


def test_without_pods_nothing_is_claimed() -> None:
    cluster = b.cluster_of(b.group("g", 2), without=["Pod"])
    found = gang(cluster, ("ml", "g"))
    assert found is not None
    diagnosis = diagnose(cluster, found)
    assert (diagnosis.state, diagnosis.cause, diagnosis.facts) == ("Unknown", None, {})


@pytest.mark.parametrize(("pods", "words"), [(1, "1 pod names the group g"), (2, "2 pods name the group g")])
def test_a_missing_group_is_said_in_the_right_number(pods: int, words: str) -> None:
    cluster = b.cluster_of(*(b.pod(f"p{i}", group="g") for i in range(pods)))
    found = gang(cluster, ("ml", "g"))
    assert found is not None
    assert diagnose(cluster, found).message.startswith(words)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("PodGroup", "podgroups are not read, so how many pods it needs is not known"),
        ("Pod", "pods are not read, so how many pods it has is not known"),
    ],
)
def test_what_was_not_read_is_named(kind: str, message: str) -> None:
    known = b.pod("p", group="g", node="n") if kind == "PodGroup" else b.group("g", 2)
    cluster = b.cluster_of(known, without=[kind])
    found = gang(cluster, ("ml", "g"))
    assert found is not None
    assert diagnose(cluster, found).message == message

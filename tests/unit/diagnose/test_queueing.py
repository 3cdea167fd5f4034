"""Gangs of Kueue and Volcano: their state, what holds them, their place in the queue.

The Kueue recording is from a real Kueue 0.17: one job has 16 of 24 CPUs, two wait for 8 and 4 more, one asks for more than there
ever is, and the cluster queue of one does not exist.
"""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.gangs import gang, gang_keys
from ktui.cluster.sources import gang_key, gang_text
from ktui.cluster.state import Cluster
from ktui.diagnose.blast import blast_of_taint
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.diagnose.diagnosis import Diagnosis
from ktui.model.event import Event
from ktui.model.kueue import (
    KueueAdmissionCheck,
    KueueClusterQueue,
    KueueLocalQueue,
    KueueResourceFlavor,
    KueueWorkload,
)
from ktui.model.meta import Object
from ktui.model.resourceslice import DeviceTaint
from ktui.model.volcano import VolcanoPodGroup, VolcanoQueue
from ktui.recording.anonymise import Anonymous
from ktui.ui.subjects import subject
from ktui.views import gangs as gangs_view
from ktui.views import why
from ktui.views.events import events_behind
from ktui.views.registry import VIEWS
from tests.recordings import cluster_at
from tests.unit import builders as b

VIEW = gangs_view.VIEW
SHORT = "couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor h200, 8 more needed"


def workload(name: str, *conditions: b.Document, job: str = "", **parts: Any) -> KueueWorkload:
    owners: b.Document = {"ownerReferences": [b.owner("Job", job)]} if job else {}
    spec = {"queueName": "main", "podSets": [{"name": "main", "count": 2}], **parts.get("spec", {})}
    status = {"conditions": list(conditions), **parts.get("status", {})}
    metadata = b.meta(name, **owners, **parts.get("meta", {}))
    return b.make(KueueWorkload, {"metadata": metadata, "spec": spec, "status": status}, parts.get("version", ""))


def local(name: str = "main", behind: str = "research", *conditions: b.Document) -> KueueLocalQueue:
    document = {"metadata": b.meta(name), "spec": {"clusterQueue": behind}, "status": {"conditions": list(conditions)}}
    return b.make(KueueLocalQueue, document)


def shared(reserved: str = "16", *conditions: b.Document, version: int = 1, **spec: Any) -> KueueClusterQueue:
    quota = [{"flavors": [{"name": "h200", "resources": [{"name": "cpu", "nominalQuota": "24"}]}]}]
    usage = [{"name": "h200", "resources": [{"name": "cpu", "total": reserved}]}]
    status = {"conditions": list(conditions), "flavorsReservation": usage}
    return b.make(
        KueueClusterQueue,
        {
            "metadata": b.meta("research", "", resourceVersion=str(version)),
            "spec": {"resourceGroups": quota, **spec},
            "status": status,
        },
    )


def pod_of(source: str, group: str, name: str, **more: Any) -> Object:
    annotation = {"kueue": "kueue.x-k8s.io/workload", "volcano": "scheduling.k8s.io/group-name"}[source]
    return b.pod(name, meta_={"annotations": {annotation: group}}, **more)


def pending(message: str, reason: str = "Pending") -> b.Document:
    return b.condition("QuotaReserved", "False", reason, message, "2026-11-30T07:02:10Z")


RESERVED = b.condition("QuotaReserved", "True", "QuotaReserved", "Quota reserved in ClusterQueue research")
ADMITTED = b.condition("Admitted", "True", "Admitted", "The workload is admitted")
READY = b.condition("PodsReady", "True", "Started", "All pods were ready")


def diagnosed(*objects: Object, source: str = "kueue", name: str = "w") -> Diagnosis:
    cluster = b.cluster_of(*objects)
    return diagnoses_of(cluster).at(gang_key(source, b.NAMESPACE, name))  # type: ignore[arg-type]


# --- the recording ---


def truth(name: str) -> tuple[b.Document, Cluster]:
    cluster, _ = cluster_at("kueue")
    keys = [key for key in VIEW.keys(cluster) if name in VIEW.names(cluster, key)]
    assert len(keys) == 1, keys
    item = VIEW.item(cluster, keys[0])
    assert item is not None
    return item, cluster


@pytest.mark.parametrize(
    ("job", "state", "cause", "facts"),
    [
        ("admitted", "Running", None, {}),
        (
            "second",
            "Pending",
            "QuotaExceeded",
            {"quota": "research", "resource": "cpu", "flavor": "h200", "more": "8", "needed": "16", "available": "8"},
        ),
        (
            "third",
            "Pending",
            "QuotaExceeded",
            {"quota": "research", "resource": "cpu", "flavor": "h200", "more": "4", "needed": "12", "available": "8"},
        ),
        (
            "huge",
            "Pending",
            "QuotaExceeded",
            {"quota": "research", "resource": "cpu", "flavor": "h200", "needed": "160", "available": "24"},
        ),
        ("nowhere", "Pending", "QueueUnavailable", {"queue": "does-not-exist"}),
    ],
)
def test_the_recorded_jobs(job: str, state: str, cause: str | None, facts: b.Document) -> None:
    item, _ = truth(job)
    assert (item["state"], item["cause"], item["facts"], item["source"]) == (state, cause, facts, "kueue")
    assert item["owner"] == {"kind": "Job", "name": job}


def test_the_recorded_queue() -> None:
    item, _ = truth("admitted")
    assert item["queue"]["flavors"] == ["h200"]
    assert item["queue"]["position"] is None
    assert item["pods"]["running"] == item["minCount"] == 4
    positions = {job: truth(job)[0]["queue"]["position"] for job in ("huge", "second", "third")}
    assert sorted(positions.values()) == [0, 1, 2]
    assert positions["second"] < positions["third"]
    nowhere = truth("nowhere")[0]["queue"]
    assert (nowhere["name"], nowhere["clusterQueue"]) == ("broken", "does-not-exist")


def test_why_says_what_kueue_says() -> None:
    _, cluster = truth("second")
    subject = why.find(cluster, "second", "team-a")
    found = why.account(diagnoses_of(cluster).supply, subject)
    assert found is not None
    text = "\n".join(
        "".join(cell.text for cell in line) for line in why.lines(cluster, subject, found, 1_796_000_000.0)
    )
    assert "8 more cpu of flavor h200 needed, 8 of 24 unused" in text
    assert "Kueue says" in text
    assert "cpu of h200 16 of 24 reserved" in text
    document = why.document(subject, found)
    assert document["name"] == "job-second-3a8a6"
    assert document["evidence"][0]["kind"] == "KueueWorkload"


# --- Kueue ---


@pytest.mark.parametrize(
    ("objects", "cause", "words"),
    [
        ((workload("w", pending(SHORT)), local(), shared()), "QuotaExceeded", "8 of 24 unused"),
        ((workload("w", pending(SHORT)), local(), shared(cohortName="all")), "QuotaExceeded", "h200 needed"),
        ((workload("w", pending(SHORT)),), "QuotaExceeded", "8 more cpu"),
        (
            (workload("w", pending(f"{SHORT}. Pending the preemption of 2 workload(s)")), local(), shared()),
            "WaitingForPreemption",
            "preemption of 2",
        ),
        ((workload("w", pending("LocalQueue main doesn't exist", "Inadmissible")),), "QueueUnavailable", "LocalQueue"),
        ((workload("w"),), "QueueUnavailable", "main does not exist"),
        (
            (workload("w"), local("main", "research", b.condition("Active", "False", "Stopped", "is stopped"))),
            "QueueUnavailable",
            "local queue main takes no jobs: is stopped",
        ),
        (
            (workload("w"), local(), shared("0", b.condition("Active", "False", "FlavorNotFound", "no flavor x"))),
            "QueueUnavailable",
            "cluster queue research takes no jobs: no flavor x",
        ),
        ((workload("w"), local(), shared()), "Queued", "queue main of cluster queue research"),
        ((workload("w", pending("odd \x1b[31mwords")), local(), shared()), "Unexplained", "odd"),
        ((workload("w", spec={"active": False}), local()), "Gated", "spec.active is false"),
        (
            (workload("w", RESERVED, status={"admissionChecks": [{"name": "capacity", "state": "Retry"}]}), local()),
            "Gated",
            "admission check capacity is Retry",
        ),
        (
            (workload("w", RESERVED, status={"nominatedClusterNames": ["eu", "us"]}), local()),
            "Queued",
            "tried on the clusters eu, us",
        ),
    ],
)
def test_what_kueue_holds_back(objects: tuple[Object, ...], cause: str, words: str) -> None:
    found = diagnosed(*objects)
    assert found.cause == cause
    assert words in found.message


def test_what_may_be_borrowed_is_not_computed() -> None:
    found = diagnosed(workload("w", pending(SHORT)), local(), shared(cohortName="all"))
    assert "available" not in found.facts
    assert "unused" not in found.message


def test_the_facts_follow_the_cluster_queue() -> None:
    cluster = b.cluster_of(workload("w", pending(SHORT)), local(), shared("16"))
    key = gang_key("kueue", b.NAMESPACE, "w")
    assert diagnoses_of(cluster).at(key).facts["available"] == "8"
    dirty = cluster.apply(b.changed("MODIFIED", shared("20", version=2)))
    assert key in dirty.gangs
    assert diagnoses_of(cluster).at(key).facts["available"] == "4"


@pytest.mark.parametrize(
    ("conditions", "pods", "state"),
    [
        ((), (), "Pending"),
        ((pending("x. Pending the preemption of 1 workload(s)"),), (), "Preempting"),
        ((RESERVED, ADMITTED), (), "Scheduling"),
        ((RESERVED, ADMITTED, READY), (), "Running"),
        ((RESERVED, ADMITTED), ("n1", "n2"), "Running"),
        ((RESERVED, ADMITTED), ("n1", ""), "Scheduling"),
        ((RESERVED, ADMITTED), ("", ""), "Pending"),
        ((RESERVED, ADMITTED, READY), ("n1", ""), "Degraded"),
        ((b.condition("Finished", "True", "Succeeded", "Job finished"),), (), "Completed"),
        ((b.condition("Finished", "True", "Failed", "Job failed"),), (), "Failed"),
    ],
)
def test_the_state_of_a_gang_of_kueue(conditions: tuple[b.Document, ...], pods: tuple[str, ...], state: str) -> None:
    members = [pod_of("kueue", "w", f"p{number}", node=node) for number, node in enumerate(pods)]
    cluster = b.cluster_of(workload("w", *conditions), local(), *members)
    found = gang(cluster, gang_key("kueue", b.NAMESPACE, "w"))
    assert found is not None
    assert found.state == state
    assert diagnoses_of(cluster).at(found.key).state == state


def test_an_admitted_gang_whose_pods_find_no_place_is_explained_like_any_other() -> None:
    refused = [b.condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")]
    members = [pod_of("kueue", "w", f"p{n}", conditions=refused) for n in range(2)]
    found = diagnosed(workload("w", RESERVED, ADMITTED), local(), *members)
    assert found.state == "Pending"
    assert found.evidence[0].kind == "Pod"
    assert "Insufficient cpu" in found.evidence[0].text


def test_position_counts_higher_priority_and_older_first() -> None:
    def waiting(name: str, priority: int, minute: int) -> KueueWorkload:
        made = {"creationTimestamp": f"2026-11-30T07:{minute:02}:00Z"}
        return workload(name, spec={"priority": priority}, meta=made)

    cluster = b.cluster_of(
        waiting("young", 0, 9),
        waiting("old", 0, 1),
        waiting("urgent", 10, 30),
        local(),
        shared(),
        workload("in", RESERVED),
    )
    item = {name: VIEW.item(cluster, gang_key("kueue", b.NAMESPACE, name)) for name in ("urgent", "old", "young", "in")}
    assert [found["queue"]["position"] for found in item.values() if found] == [0, 1, 2, None]


def test_kueue_and_native_gangs_of_one_job_know_each_other() -> None:
    job = {"ownerReferences": [b.owner("Job", "train")]}
    native = b.group("train-abc", 2, meta_=job, spec={"workloadRef": {"workloadName": "t", "templateName": "x"}})
    cluster = b.cluster_of(workload("job-train-1", job="train"), local(), native)
    kueue = gang_key("kueue", b.NAMESPACE, "job-train-1")
    assert VIEW.names(cluster, kueue) == ("job-train-1", "train (kueue)")
    assert why.find(cluster, "train", b.NAMESPACE).key == native.key
    items = [VIEW.item(cluster, key) for key in (kueue, native.key)]
    assert [item["samePods"] for item in items if item] == [["train-abc"], ["job-train-1"]]
    texts = [cell.text for section in VIEW.detail(cluster, native.key, 0.0) for line in section.lines for cell in line]
    assert "train (kueue)" in texts


def test_detail_shows_checks_flavors_and_where_it_runs() -> None:
    admission = {
        "clusterQueue": "research",
        "podSetAssignments": [{"name": "main", "flavors": {"cpu": "h200"}, "count": 2}],
    }
    status = {
        "admission": admission,
        "admissionChecks": [{"name": "multi", "state": "Ready", "message": "taken"}],
        "clusterName": "eu-1",
        "requeueState": {"count": 3, "requeueAt": "2026-11-30T07:10:00Z"},
    }
    check = b.make(
        KueueAdmissionCheck,
        {"metadata": b.meta("multi", ""), "spec": {"controllerName": "kueue.x-k8s.io/multikueue"}},
    )
    flavor = b.make(
        KueueResourceFlavor, {"metadata": b.meta("h200", ""), "spec": {"nodeLabels": {"accelerator": "h200"}}}
    )
    cluster = b.cluster_of(workload("w", RESERVED, ADMITTED, status=status), local(), shared(), check, flavor)
    key = gang_key("kueue", b.NAMESPACE, "w")
    text = "\n".join(
        "".join(cell.text for cell in line) for s in VIEW.detail(cluster, key, 1_796_022_000.0) for line in s.lines
    )
    for words in (
        "multi Ready by kueue.x-k8s.io/multikueue: taken",
        "h200 (accelerator=h200)",
        "eu-1",
        "3 times, next try",
        "cpu of h200 16 of 24 reserved",
    ):
        assert words in text
    assert diagnoses_of(cluster).at(key).message == "dispatched to the cluster eu-1, where its pods are"
    item = VIEW.item(cluster, key)
    assert item is not None
    assert (item["queue"]["cluster"], item["queue"]["requeues"]) == ("eu-1", 3)


def test_v1beta1_is_read_as_well() -> None:
    found = workload("w", spec={"priorityClassName": "high"}, version="v1beta1")
    assert found.priority_class == "high"
    queue = b.make(KueueClusterQueue, {"metadata": b.meta("q", ""), "spec": {"cohort": "all"}}, "v1beta1")
    assert queue.cohort == "all"


# --- Volcano ---


def group(phase: str | None, *conditions: b.Document, queue: str | None = "batch", members: int | None = 2) -> Object:
    document = {
        "metadata": b.meta("v"),
        "spec": {"minMember": members, "queue": queue},
        "status": {"phase": phase, "conditions": list(conditions)},
    }
    return b.make(VolcanoPodGroup, document)


def queue(state: str | None = "Open", name: str = "batch") -> Object:
    return b.make(VolcanoQueue, {"metadata": b.meta(name, ""), "spec": {"weight": 1}, "status": {"state": state}})


def unschedulable(message: str) -> b.Document:
    return b.condition("Unschedulable", "True", "NotEnoughResources", message, "2026-11-30T07:02:10Z")


NOT_READY = "2/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable"


@pytest.mark.parametrize(
    ("objects", "state", "cause", "words"),
    [
        ((group("Pending", unschedulable(NOT_READY)), queue()), "Pending", "Queued", NOT_READY),
        ((group(None), queue()), "Pending", "Queued", "not let in by queue batch"),
        ((group("Pending"), queue("Closed")), "Pending", "QueueUnavailable", "queue batch is closed"),
        ((group("Pending"),), "Pending", "QueueUnavailable", "queue batch does not exist"),
        ((group("Pending", queue=None), queue(name="default")), "Pending", "Queued", "queue default"),
        (
            (group("Pending", unschedulable("queue resource quota insufficient")), queue()),
            "Pending",
            "QuotaExceeded",
            "quota insufficient",
        ),
        ((group("Inqueue"), queue()), "Pending", "WaitingForPods", "0 of 2 pods exist"),
        (
            (group("Inqueue", unschedulable("3 minAvailable")), *(pod_of("volcano", "v", p) for p in "ab"), queue()),
            "Pending",
            "Unexplained",
            "3 minAvailable",
        ),
        (
            (group("Running"), *(pod_of("volcano", "v", p, node="n") for p in "ab"), queue()),
            "Running",
            None,
            "2 of 2 run",
        ),
        (
            (group("Unknown"), pod_of("volcano", "v", "a", node="n"), queue()),
            "Degraded",
            "WaitingForPods",
            "1 of 2 run",
        ),
        ((group("Completed"), queue()), "Completed", None, ""),
        ((group("Odd phase", members=None), queue()), "Pending", "WaitingForPods", "0 of 1"),
    ],
)
def test_gangs_of_volcano(objects: tuple[Object, ...], state: str, cause: str | None, words: str) -> None:
    found = diagnosed(*objects, source="volcano", name="v")
    assert (found.state, found.cause) == (state, cause)
    assert words in found.message


def test_one_name_in_three_programs_is_three_gangs() -> None:
    cluster = b.cluster_of(b.group("v", 1), group("Pending"), workload("v"))
    assert gang_keys(cluster) == {(b.NAMESPACE, "v"), (b.NAMESPACE, "kueue:v"), (b.NAMESPACE, "volcano:v")}
    items = [VIEW.item(cluster, key) for key in VIEW.keys(cluster)]
    assert {item["source"] for item in items if item} == {"podgroup", "kueue", "volcano"}
    assert {item["name"] for item in items if item} == {"v"}


def test_pods_alone_make_no_gang_of_another_program() -> None:
    cluster = b.cluster_of(pod_of("volcano", "gone", "a"), pod_of("kueue", "gone", "b"))
    assert gang_keys(cluster) == set()
    assert gang(cluster, gang_key("kueue", b.NAMESPACE, "gone")) is None


# --- what else leads to them ---


def test_yaml_and_events_of_a_gang_are_those_of_its_object() -> None:
    made = workload("w", pending(SHORT))
    said = b.make(
        Event,
        {
            "metadata": b.meta("e"),
            "involvedObject": {"kind": "Workload", "name": "w", "uid": made.metadata.uid, "namespace": b.NAMESPACE},
            "reason": "Pending",
            "message": SHORT,
        },
    )
    cluster = b.cluster_of(made, local(), shared(), said)
    key = gang_key("kueue", b.NAMESPACE, "w")
    assert subject(cluster, "gangs", key) == ("KueueWorkload", (b.NAMESPACE, "w"))
    assert any(SHORT in cell.text for line in events_behind(cluster, "gangs", key, 0.0) for cell in line)


def test_the_triage_names_them() -> None:
    cluster = b.cluster_of(workload("w", pending(SHORT)), local(), shared())
    row = VIEWS["triage"].row(cluster, ("gangs", gang_key("kueue", b.NAMESPACE, "w")))
    assert row is not None
    assert "w (kueue)" in [cell.text for cell in row.cells]


def test_a_taint_names_the_gangs_that_fall_short() -> None:
    claim = {"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}
    members = (pod_of("kueue", "w", "a", node="n", spec=claim), pod_of("kueue", "w", "b", node="n"))
    held = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("a")])
    cluster = b.cluster_of(workload("w", RESERVED, ADMITTED), local(), *members, held, b.piece("s", ["gpu-0"]))
    hit = DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")
    found = blast_of_taint(cluster, (b.DRIVER, "node-1", "gpu-0"), hit).gangs
    assert [(gang.name, gang.running, gang.left, gang.needed) for gang in found] == [("w (kueue)", 2, 1, 2)]
    assert gang_text(found[0].key) == f"{b.NAMESPACE}/w (kueue)"


@pytest.mark.parametrize("source", ["kueue", "volcano"])
def test_an_anonymised_recording_still_joins_pods_whatever_their_group_is_called(source: str) -> None:
    treat = Anonymous()
    made: Object = workload("train") if source == "kueue" else group("Running")
    name = made.name
    pod = treat.object(
        pod_of(source, name, "p", node="n")
    )  # the pod comes first, and its group has an ordinary word for a name
    cluster = b.cluster_of(pod, treat.object(made))
    (key,) = gang_keys(cluster)
    found = gang(cluster, key)
    assert found is not None
    assert [member.name for member in found.members] == [pod.name]
    assert name not in key[1].split(":")

"""Quotas that keep pods and claims from being made, while they do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.gangs import gang
from ktui.diagnose.quota import QuotaHit, parse_quota, quota_exceeded
from ktui.model.job import Job
from ktui.model.meta import Object
from tests.unit import builders as b

POD_TEXT = (
    'Error creating: pods "train-1" is forbidden: exceeded quota: team, requested: pods=1,requests.cpu=2,'
    " used: pods=2,requests.cpu=4, limited: pods=2,requests.cpu=5"
)
CLAIM_TEXT = (
    'PodResourceClaim gpu: resourceclaims.resource.k8s.io "p-gpu" is forbidden: exceeded quota: gpus,'
    " requested: gpu.deviceclass.resource.k8s.io/devices=1, used: gpu.deviceclass.resource.k8s.io/devices=8,"
    " limited: gpu.deviceclass.resource.k8s.io/devices=8"
)
OF_JOB = {"ownerReferences": [b.owner("Job", "train")]}
AWAITING = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}


def at(minute: int) -> str:
    return f"2026-11-30T05:{minute:02}:00Z"


def event(name: str, about: str, reason: str, message: str = POD_TEXT, minute: int = 10) -> Object:
    return b.event(name, b.uid_of(about), reason=reason, message=message, lastTimestamp=at(minute))


def member(name: str, minute: int = 5, **more: Any) -> Object:
    return b.pod(name, group="g", meta_={**OF_JOB, "creationTimestamp": at(minute)}, **more)


def found(*objects: Object) -> QuotaHit | None:
    cluster = b.cluster_of(b.group("g", 3, meta_=OF_JOB), *objects)
    known = gang(cluster, ("ml", "g"))
    assert known is not None
    return quota_exceeded(cluster, known)


def test_the_owner_was_refused_pods() -> None:
    hit = found(member("a"), event("e", "train", "FailedCreate"))
    assert hit is not None
    assert (hit.quota, hit.kind, hit.namespace, hit.name) == ("team", "Job", "ml", "train")
    assert hit.requested == (("pods", "1"), ("requests.cpu", "2"))
    assert (hit.used[0], hit.limited[1]) == (("pods", "2"), ("requests.cpu", "5"))
    assert hit.at is not None


def test_a_group_without_any_pod_has_an_owner_as_well() -> None:
    assert found(event("e", "train", "FailedCreate")) is not None


def test_a_later_success_ends_it() -> None:
    refused = event("e", "train", "FailedCreate")
    assert found(member("a", minute=10), refused) is not None
    assert found(member("a", minute=11), refused) is None
    assert found(refused, event("f", "train", "SuccessfulCreate", "Created pod: a", minute=11)) is None


def test_other_failures_and_other_objects_are_not_meant() -> None:
    assert found(member("a")) is None
    assert found(event("e", "train", "FailedCreate", "Error creating: admission webhook said no")) is None
    assert found(event("e", "train", "BackoffLimitExceeded")) is None
    assert found(member("a"), event("e", "other", "FailedCreate")) is None
    foreign = b.pod("a", group="g", meta_={"ownerReferences": [b.owner("Job", "other")], "creationTimestamp": at(11)})
    assert found(foreign, event("e", "train", "FailedCreate")) is not None


def test_claims_that_were_refused() -> None:
    refused = event("e", "a", "FailedResourceClaimCreation", CLAIM_TEXT)
    hit = found(member("a", spec=AWAITING), refused)
    assert hit is not None
    assert (hit.quota, hit.kind, hit.name) == ("gpus", "Pod", "a")
    assert hit.requested == (("gpu.deviceclass.resource.k8s.io/devices", "1"),)
    made = {"resourceClaimStatuses": [{"name": "gpu", "resourceClaimName": "a-gpu"}]}
    assert found(member("a", spec=AWAITING, status=made), refused) is None


def test_a_claim_of_the_group_that_was_refused() -> None:
    refused = event("e", "g2", "FailedResourceClaimCreation", CLAIM_TEXT)
    cluster = b.cluster_of(b.group("g2", 1, spec=AWAITING), refused)
    known = gang(cluster, ("ml", "g2"))
    assert known is not None
    hit = quota_exceeded(cluster, known)
    assert hit is not None
    assert (hit.kind, hit.name) == ("PodGroup", "g2")


def test_the_workload_of_1_35_names_its_job() -> None:
    workload = b.workload("w", groups={"all": 2}, spec={"controllerRef": {"kind": "Job", "name": "train"}})
    job = b.make(Job, {"metadata": b.meta("train")})
    cluster = b.cluster_of(workload, job, event("e", "train", "FailedCreate"))
    known = gang(cluster, ("ml", "w/all"))
    assert known is not None
    assert quota_exceeded(cluster, known) is not None


def test_the_jobs_own_condition() -> None:
    conditions = [b.condition("Suspended", "True", "Quota", POD_TEXT, at(10))]
    job = b.make(Job, {"metadata": b.meta("train"), "status": {"conditions": conditions}})
    hit = found(job)
    assert hit is not None
    assert (hit.quota, hit.kind, hit.name) == ("team", "Job", "train")


@pytest.mark.parametrize(
    ("text", "quota", "requested", "used"),
    [
        ("exceeded quota: q", "q", (), ()),
        ("exceeded quota: q, requested: a=1,b=", "q", (("a", "1"), ("b", "")), ()),
        ("exceeded quota: q, requested: a=1, used: a=0,brok", "q", (("a", "1"),), (("a", "0"),)),
        ("exceeded quota: q, requested: pods=1 ...", "q", (("pods", "1"),), ()),
    ],
)
def test_a_text_that_is_cut_says_what_it_can(text: str, quota: str, requested: Any, used: Any) -> None:
    parsed = parse_quota(text)
    assert parsed is not None
    assert parsed[:3] == (quota, requested, used)


@given(st.text(max_size=60) | st.just("exceeded quota: ") | st.text(max_size=20).map(lambda t: f"exceeded quota: {t}"))
def test_any_text_is_taken(text: str) -> None:
    parsed = parse_quota(text)
    assert parsed is None or parsed[0]

"""A cluster whose Workloads have owners above them and groups of groups below: for tests of the tree."""

from __future__ import annotations

from typing import Any

from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.frame import Frame, Listed, Source, StreamState
from ktui.model.job import Job
from ktui.model.meta import Object
from ktui.model.owner import Owner
from ktui.model.time import format_time
from ktui.model.workload import Workload
from tests.unit import builders as b

from .world import NOW, Scene, everything_live

JOBSET = "JobSet.jobset.x-k8s.io"
JOBSETS = "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
SETS = Source("LeaderWorkerSet.leaderworkerset.x-k8s.io", "/apis/leaderworkerset.x-k8s.io/v1/leaderworkersets")
AGE = {"creationTimestamp": format_time(NOW - 600)}
NAMESPACE = "research"


def _meta(name: str, above: b.Document | None = None) -> b.Document:
    owners = {"ownerReferences": [above]} if above else {}
    return b.meta(name, NAMESPACE, **AGE, **owners)


def owner(name: str, *conditions: b.Document) -> Owner:
    """Some object that owns others."""
    return b.make(Owner, {"metadata": _meta(name), "status": {"conditions": list(conditions)}})


def workload(name: str, group: str, kind: str, above: str) -> Workload:
    ref = {"apiGroup": group, "kind": kind, "name": above}
    return b.make(Workload, {"metadata": _meta(name), "spec": {"controllerRef": ref}})


def composite(name: str, workload_: str, least: int, parent: str | None = None) -> CompositePodGroup:
    spec = {
        "workloadRef": {"workloadName": workload_, "templateName": "t"},
        "parentCompositePodGroupName": parent,
        "schedulingPolicy": {"gang": {"minGroupCount": least}},
    }
    return b.make(CompositePodGroup, {"metadata": _meta(name), "spec": spec})


def gang(name: str, workload_: str, pods: int, running: int, parent: str | None = None) -> list[Object]:
    """A group and its pods, of which so many run."""
    spec = {"workloadRef": {"workloadName": workload_, "templateName": "t"}, "parentCompositePodGroupName": parent}
    made: list[Object] = [b.group(name, pods, namespace=NAMESPACE, spec=spec, meta_=AGE)]
    for number in range(pods):
        node: dict[str, Any] = {"node": "node-1"} if number < running else {}
        made.append(b.pod(f"{name}-{number}", namespace=NAMESPACE, group=name, meta_=AGE, **node))
    return made


def objects() -> list[Object]:
    """JobSet pretrain (one of two replicas waits), Job eval (runs), LeaderWorkerSet serve (may not be read; runs)."""
    above = b.owner("JobSet", "pretrain", api_version="jobset.x-k8s.io/v1alpha2", namespace=NAMESPACE)
    return [
        b.make(Job, {"metadata": _meta("pretrain-main", above)}),
        workload("pretrain-main-5d7f", "batch", "Job", "pretrain-main"),
        composite("pretrain", "pretrain-main-5d7f", 2),
        composite("pretrain-r0", "pretrain-main-5d7f", 2, "pretrain"),
        composite("pretrain-r1", "pretrain-main-5d7f", 2, "pretrain"),
        *gang("pretrain-r0-driver", "pretrain-main-5d7f", 1, 1, "pretrain-r0"),
        *gang("pretrain-r0-workers", "pretrain-main-5d7f", 9, 9, "pretrain-r0"),
        *gang("pretrain-r1-driver", "pretrain-main-5d7f", 1, 1, "pretrain-r1"),
        *gang("pretrain-r1-workers", "pretrain-main-5d7f", 9, 7, "pretrain-r1"),
        b.make(Job, {"metadata": _meta("eval")}),
        workload("eval-77b1", "batch", "Job", "eval"),
        *gang("eval", "eval-77b1", 3, 3),
        workload("serve-0", "leaderworkerset.x-k8s.io", "LeaderWorkerSet", "serve"),
        *gang("serve-0", "serve-0", 2, 2),
    ]


def frames() -> list[Frame]:
    lists: dict[str, list[Object]] = {}
    for obj in objects():
        lists.setdefault(type(obj).__name__, []).append(obj)
    jobsets = Source(JOBSET, JOBSETS)
    told = b.condition("StartupPolicyCompleted", "True", "AllJobsStarted", "all jobs have started")
    return [
        *everything_live(**lists),
        Listed(jobsets, "100", (owner("pretrain", told),)),
        StreamState(jobsets, "watching"),
        StreamState(SETS, "no-access", 'leaderworkersets is forbidden: User "oncall" cannot list it'),
    ]


def trees() -> Scene:
    return Scene(frames(), NOW)

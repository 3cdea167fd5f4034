"""Gangs in the shapes of each release: a PodGroup of 1.37 or 1.36, or a group within a Workload of 1.35.

Whoever reads one need not know the release: the objects themselves tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Key
from ktui.demo.releases import Release

PART: Final = "workers"
"""What a Workload of 1.35 calls its only group."""


class Gang(Struct, frozen=True):
    """A gang as the scheduler sees it. `group` is the PodGroup, None where the gang is a group within a Workload."""

    min_count: int
    group: JSON | None = None


def find(get: Callable[[str, Key], JSON | None], key: Key) -> Gang | None:
    """The gang that `group_of` gives this key to, if its object is there. `get` looks up (kind, key)."""
    namespace, name = key
    workload, within, part = name.partition("/")
    if not within:
        group = get("PodGroup", key)
        return Gang(_min_count(group["spec"].get("schedulingPolicy")), group) if group is not None else None
    found = get("Workload", (namespace, workload))
    parts = (found or {}).get("spec", {}).get("podGroups") or ()
    return next((Gang(_min_count(each.get("policy"))) for each in parts if each["name"] == part), None)


def keys_of(workload: JSON) -> Iterator[Key]:
    """The keys of the gangs that are groups within a Workload."""
    namespace, name = objects.key_of(workload)
    for part in workload["spec"].get("podGroups") or ():
        yield (namespace, f"{name}/{part['name']}")


def group_of(pod: JSON) -> Key | None:
    """The key of the pod's gang: that of its PodGroup, or on 1.35 (namespace, "WORKLOAD/GROUP"); None outside gangs."""
    namespace = pod["metadata"].get("namespace", "")
    if group := (pod["spec"].get("schedulingGroup") or {}).get("podGroupName"):
        return (namespace, group)
    workload = pod["spec"].get("workloadRef")
    return (namespace, f"{workload['name']}/{workload['podGroup']}") if workload else None


def key(release: Release, namespace: str, name: str) -> Key:
    """What `group_of` says of a member of the gang that is written under this name."""
    return (namespace, name if release.condition else f"{name}/{PART}")


def member(release: Release, spec: JSON, gang: str) -> JSON:
    """A pod's spec, as a member of a gang."""
    if release.condition:
        return {**spec, "schedulingGroup": {"podGroupName": gang}}
    return {**spec, "workloadRef": {"name": gang, "podGroup": PART}}


def job(release: Release, namespace: str, name: str, now: str, *, pods: int, spec: JSON) -> JSON:
    """A Job whose pods are a gang of the Job's name."""
    if release.jobs:
        made = objects.job(namespace, name, now, pods=pods, spec=spec)
        policy = {"schedulingPolicy": _policy(pods)}
        return {**made, "spec": {**made["spec"], "scheduling": policy}}
    return objects.job(namespace, name, now, pods=pods, spec=member(release, spec, name))


def written(
    release: Release, namespace: str, name: str, now: str, *, min_count: int, job_: JSON | None = None
) -> Iterator[tuple[str, JSON]]:
    """(kind, object) of what makes up a gang: of a Job's its Workload and its PodGroup, of one without a Job what its release
    needs for it to be one."""
    owner = objects.owned_by("batch/v1", "Job", job_) if job_ is not None else None
    metadata = _uncounted(objects.made(name, now, namespace, owner=owner))
    policy = _policy(min_count)
    of_job = {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": name}} if job_ is not None else {}
    if not release.condition:
        yield "Workload", {"metadata": metadata, "spec": {**of_job, "podGroups": [{"name": PART, "policy": policy}]}}
        return
    if job_ is not None:
        templates = [{"name": name, "schedulingPolicy": policy}]
        yield "Workload", {"metadata": metadata, "spec": {**of_job, "podGroupTemplates": templates}}
    metadata = _uncounted(objects.made(name, now, namespace, owner=owner))
    yield "PodGroup", _pod_group(release, metadata, policy, job_ is not None)


def _uncounted(metadata: JSON) -> JSON:
    """Of kinds that the API server keeps no generation of."""
    return {field: value for field, value in metadata.items() if field != "generation"}


def _pod_group(release: Release, metadata: JSON, policy: JSON, of_workload: bool) -> JSON:
    name = metadata["name"]
    spec: JSON = {"schedulingPolicy": policy}
    if "v1alpha2" in release.versions["PodGroup"]:
        template = {"workload": {"workloadName": name, "podGroupTemplateName": name}} if of_workload else None
        spec |= {"podGroupTemplateRef": template, "disruptionMode": "Pod"}
    elif of_workload:
        spec["workloadRef"] = {"workloadName": name, "templateName": name}
    return {"metadata": metadata, "spec": spec, "status": {}}


def placed(release: Release, group: JSON, now: str) -> JSON:
    """The PodGroup, once the scheduler has chosen nodes for it."""
    return objects.conditioned(group, now, release.condition, "True", "Scheduled")


def was_placed(release: Release, group: JSON) -> bool:
    """Whether that happened at any time: it is never taken back."""
    conditions = (group.get("status") or {}).get("conditions") or ()
    return any(each["type"] == release.condition and each["status"] == "True" for each in conditions)


def _policy(min_count: int) -> JSON:
    return {"gang": {"minCount": min_count}}


def _min_count(policy: JSON | None) -> int:
    return int(((policy or {}).get("gang") or {}).get("minCount", 1))

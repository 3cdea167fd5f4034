"""Whether a quota keeps a gang's pods or claims from being made.

Nothing says so but the event of the controller that was refused (FailedCreate on the owner, FailedResourceClaimCreation on the
pod or the group); where it is older than the latest success of the same controller, it is history.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from ktui.cluster.gangs import Gang
from ktui.cluster.state import Cluster
from ktui.model.event import Event
from ktui.model.job import Job
from ktui.model.meta import Object, OwnerReference
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.time import parse_time

_EXCEEDED: Final = re.compile(r"exceeded quota: ([^\s,]{1,253})")
_AMOUNTS: Final = {part: re.compile(rf", {part}: (\S+)") for part in ("requested", "used", "limited")}
_REFUSED: Final = ("FailedCreate", "FailedResourceClaimCreation")

Amounts = tuple[tuple[str, str], ...]
"""(resource as the quota names it, quantity as written)."""


class QuotaHit(Struct, frozen=True):
    """A quota that was exceeded, and the object whose event or condition says so, `at` Unix seconds."""

    quota: str
    requested: Amounts
    used: Amounts
    limited: Amounts
    kind: str
    namespace: str
    name: str
    message: str
    at: float | None = None


def quota_exceeded(cluster: Cluster, gang: Gang) -> QuotaHit | None:
    """The latest refusal that still holds, None when there is none."""
    hits = [*_of_owners(cluster, gang), *_of_claims(cluster, gang)]
    return max(hits, key=lambda hit: hit.at or 0, default=None)


def parse_quota(message: str) -> tuple[str, Amounts, Amounts, Amounts] | None:
    """(quota, requested, used, limited) of the admission plugin's words; what is cut off is left out."""
    match = _EXCEEDED.search(message)
    if match is None:
        return None
    requested, used, limited = (_amounts(form.search(message, match.end())) for form in _AMOUNTS.values())
    return match[1], requested, used, limited


def _amounts(match: re.Match[str] | None) -> Amounts:
    if match is None:
        return ()
    pairs = (part.partition("=") for part in match[1].rstrip(",.").split(","))
    return tuple((name, amount) for name, sign, amount in pairs if name and sign)


def _of_owners(cluster: Cluster, gang: Gang) -> Iterator[QuotaHit]:
    """Refused pods: their controller says so. A pod that was made since tells that it goes on."""
    for uid, (owner, job) in _owners(cluster, gang).items():
        success = _last_success(cluster, gang, uid)
        about = (owner.kind, gang.key[0], owner.name)
        for event in cluster.events_of(uid):
            if event.reason in _REFUSED and (hit := _hit(event, about)) is not None and (hit.at or 0) >= success:
                yield hit
        yield from _of_conditions(job, about)


def _of_conditions(job: Job | None, about: tuple[str, str, str]) -> Iterator[QuotaHit]:
    for said in (job.status.conditions or ()) if job else ():
        if said.status == "True" and (found := parse_quota(said.message or "")):
            yield QuotaHit(*found, *about, said.message or "", parse_time(said.last_transition_time))


def _owners(cluster: Cluster, gang: Gang) -> dict[str, tuple[OwnerReference, Job | None]]:
    """Controllers that make the gang's pods, by uid: of the pods there are, of the group, of the Workload."""
    references = [pod.metadata.controller for pod in gang.members]
    references += [o.metadata.controller for o in (gang.group, gang.workload, gang.beside) if o is not None]
    named = gang.workload.spec.controller_ref if gang.workload else None
    if named is not None and named.kind == "Job":
        found = cluster.stores["Job"].get((gang.key[0], named.name))
        if found is not None:
            references.append(OwnerReference("Job", found.name, found.metadata.uid))
    return {r.uid: (r, _job(cluster, gang.key[0], r)) for r in references if r is not None and r.uid}


def _job(cluster: Cluster, namespace: str, owner: OwnerReference) -> Job | None:
    found = cluster.stores["Job"].get((namespace, owner.name)) if owner.kind == "Job" else None
    return found if isinstance(found, Job) and found.metadata.uid == owner.uid else None


def _last_success(cluster: Cluster, gang: Gang, uid: str) -> float:
    """When the controller last made a pod, 0 when nothing tells."""
    pods = (p for p in gang.members if (owner := p.metadata.controller) is not None and owner.uid == uid)
    times = [parse_time(pod.metadata.creation_timestamp) for pod in pods]
    times += [parse_time(e.last_seen) for e in cluster.events_of(uid) if e.reason == "SuccessfulCreate"]
    return max((time for time in times if time is not None), default=0)


def _of_claims(cluster: Cluster, gang: Gang) -> Iterator[QuotaHit]:
    """Refused claims: the pod or the group that is still without one of its own."""
    waiting: list[Object] = [pod for pod in gang.members if not pod.finished and _lacks_claim(pod)]
    if gang.group is not None and _lacks_claim(gang.group):
        waiting.append(gang.group)
    for obj in waiting:
        for event in cluster.events_of(obj.metadata.uid):
            if event.reason in _REFUSED and (hit := _hit(event, (type(obj).__name__, *obj.key))) is not None:
                yield hit


def _lacks_claim(obj: Pod | PodGroup) -> bool:
    made = {status.name for status in obj.status.resource_claim_statuses or ()}
    return any(
        claim.resource_claim_template_name and claim.name not in made for claim in obj.spec.resource_claims or ()
    )


def _hit(event: Event, about: tuple[str, str, str]) -> QuotaHit | None:
    found = parse_quota(event.message or "")
    return QuotaHit(*found, *about, event.message or "", parse_time(event.last_seen)) if found else None

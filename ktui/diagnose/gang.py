"""Why a gang is not running, as far as its objects say so themselves.

The order is the scheduler's own: what keeps a group out of the queue comes before what happened when it was tried. Where
only the scheduler's words are left, they are given as they are and the cause is Unexplained: a wrong cause is worse than none.
"""

from __future__ import annotations

from collections import Counter
from typing import Final, NamedTuple

from msgspec import structs

from ktui.cluster.allocation import resolve
from ktui.cluster.gangs import Gang, GangState, pod_scheduled, scheduled_condition, unread_kind
from ktui.cluster.state import Cluster
from ktui.diagnose.demand import GangDemand, demand_of
from ktui.diagnose.diagnosis import Diagnosis, Evidence
from ktui.diagnose.explain import Told
from ktui.diagnose.queueing import held_by
from ktui.diagnose.quota import QuotaHit, quota_exceeded
from ktui.diagnose.room import Obstacle
from ktui.diagnose.shortage import DEVICE
from ktui.diagnose.supply import Supply
from ktui.diagnose.verdict import Verdict, judge
from ktui.diagnose.words import ReasonKind, Said, Words, parse, said
from ktui.model.kinds import KINDS
from ktui.model.pod import DEFAULT_SCHEDULER, Pod
from ktui.model.podstatus import in_trouble, status_word
from ktui.model.time import parse_time

_NAMED: Final[dict[ReasonKind, tuple[Obstacle, ...]]] = {
    "insufficient": ("resources",),
    "too_many_pods": ("resources",),
    "claims": DEVICE,
    "pool_invalid": DEVICE,
    "pool_updating": DEVICE,
    "constraint": DEVICE,
    "extended_claim": DEVICE,
    "claim_elsewhere": ("placement",),
    "name": ("placement",),
    "affinity": ("placement",),
    "taint": ("placement",),
    "unschedulable": ("placement",),
}
"""What can stand in the way, by the scheduler's reason."""

_RELATIVE: Final = ("pod_affinity", "anti_affinity", "spread", "ports")


class Tried(NamedTuple):
    """A gang that was tried in vain: why, nodes and devices have to say."""

    state: GangState
    prefix: str  # what comes before the reason
    words: Words  # the scheduler's, of the member that did not fit
    evidence: tuple[Evidence, ...]
    demand: GangDemand

    @property
    def named(self) -> frozenset[Obstacle]:
        """What the words speak of."""
        return frozenset(obstacle for reason in self.words.reasons for obstacle in _NAMED.get(reason.kind, ()))


def diagnose(cluster: Cluster, gang: Gang) -> Diagnosis:
    """The diagnosis of one gang, from scratch; `Diagnoses` keeps those of a whole cluster."""
    found = look_at(cluster, gang)
    return found if isinstance(found, Diagnosis) else conclude(found, judge(Supply(cluster), found.demand, found.named))


def look_at(cluster: Cluster, gang: Gang) -> Diagnosis | Tried:
    """What the gang's own objects say: all there is to say, unless it was tried in vain."""
    if gang.beside is not None and (held := held_by(cluster, gang, gang.beside)) is not None:
        return held
    if gang.state in ("Running", "Completed", "Scheduling", "Deleting", "Failed"):
        return Diagnosis(gang.state, None, _counts(gang))
    if gang.state == "Unknown":
        return Diagnosis(gang.state, None, _unread(cluster, gang))
    found = _blocked(cluster, gang) or _tried(cluster, gang) or _untried(cluster, gang)
    if gang.state != "Degraded":
        return found
    prefix = f"{_counts(gang)}; "
    if isinstance(found, Tried):
        return found._replace(prefix=prefix)
    return structs.replace(found, message=f"{prefix}{found.message}")


def conclude(tried: Tried, verdict: Verdict) -> Diagnosis:
    """The diagnosis of a gang that was tried in vain, with what nodes and devices say."""
    told = verdict.told or _beyond(tried.words, verdict)
    if told is None:
        return Diagnosis(
            tried.state,
            "Unexplained",
            f"{tried.prefix}{_unexplained(tried.words, verdict)}",
            {},
            tried.evidence,
            verdict.funnel,
        )
    message = f"{tried.prefix}{told.message}"
    return Diagnosis(tried.state, told.cause, message, told.facts, tried.evidence, verdict.funnel, told.unblock)


def _beyond(words: Words, verdict: Verdict) -> Told | None:
    """What only the scheduler sees: where the pods are that must be near one another, or apart. Nodes and devices say nothing
    against a place then."""
    reason = next((r for r in words.reasons if r.kind in _RELATIVE), None) if verdict.placeable else None
    return (
        Told("NodeConstraints", f"the scheduler says: {words.text}", {"selector": reason.text}, ()) if reason else None
    )


def _unexplained(words: Words, verdict: Verdict) -> str:
    said = words.text or "no reason was given"
    if verdict.placeable:
        return f"there is a place for it now; the scheduler's last words: {said}"
    return f"{said} ({verdict.reason})" if verdict.reason else said


def _counts(gang: Gang) -> str:
    done = f", {gang.succeeded} succeeded" if gang.succeeded else ""
    failed = f", {gang.failed} failed" if gang.failed else ""
    trouble = "".join(f", {count} in {word}" for word, count in sorted(troubles(gang).items()))
    return f"{gang.running} of {gang.needed} run{done}{failed}{trouble}"


def troubles(gang: Gang) -> Counter[str]:
    """What keeps containers of its pods from running, by kubectl's word for it: a pod's phase says Running all the same."""
    return Counter(status_word(pod) for pod in gang.members if in_trouble(pod))


def _unread(cluster: Cluster, gang: Gang) -> str:
    kind = unread_kind(cluster, gang)
    resource = KINDS[kind].plural if kind else "pods"
    what = "it needs" if kind in ("PodGroup", "Workload") else "it has"
    return f"{resource} are not read, so how many pods {what} is not known"


def _blocked(cluster: Cluster, gang: Gang) -> Diagnosis | None:
    """What keeps the group out of the scheduler's queue; the scheduler writes nothing about these."""
    if gang.min_count is None and cluster.readable("Workload" if "/" in gang.key[1] else "PodGroup"):
        facts: dict[str, object] = {"pods": len(gang.members)}
        pods = "1 pod names" if len(gang.members) == 1 else f"{len(gang.members)} pods name"
        text = f"{pods} the group {gang.key[1]}, which does not exist"
        return Diagnosis(gang.state, "GroupMissing", text, facts, _pods(gang.members[:1], "names the group"))
    have = gang.active + gang.succeeded
    if have < gang.needed:
        text = f"{have} of {gang.needed} pods exist"
        if (hit := quota_exceeded(cluster, gang)) is not None:
            return _over_quota(gang, hit, f"{text}, no more are made")
        return Diagnosis(gang.state, "WaitingForPods", text, {"have": have, "need": gang.needed})
    if gates := Counter(gate.name for pod in _waiting(gang) for gate in pod.spec.scheduling_gates or ()):
        gated = [pod for pod in _waiting(gang) if pod.spec.scheduling_gates]
        text = f"held by gate {', '.join(sorted(gates))} on {len(gated)} pod{'s' if len(gated) != 1 else ''}"
        return Diagnosis(gang.state, "Gated", text, {"gates": sorted(gates)}, _pods(gated, "has a scheduling gate"))
    found = _claim_not_created(cluster, gang)
    if found is not None and (hit := quota_exceeded(cluster, gang)) is not None:
        return _over_quota(gang, hit, found.message)
    return found


def _over_quota(gang: Gang, hit: QuotaHit, text: str) -> Diagnosis:
    limits = ", ".join(f"{name} {amount}" for name, amount in hit.limited)
    message = f"quota {hit.quota} is used up{f' ({limits})' if limits else ''}: {text}"
    evidence = (Evidence(hit.kind, hit.namespace, hit.name, hit.message, hit.at),)
    return Diagnosis(
        gang.state, "QuotaExceeded", message, {"quota": hit.quota}, evidence, None, (f"a higher quota {hit.quota}",)
    )


def _claim_not_created(cluster: Cluster, gang: Gang) -> Diagnosis | None:
    for pod in _waiting(gang):
        for entry in pod.spec.resource_claims or ():
            found = resolve(cluster, pod, entry)
            template = entry.resource_claim_template_name
            if found is None or found.state not in ("not created", "missing"):
                continue
            if template and found.state == "not created":
                missing = cluster.readable("ResourceClaimTemplate") and (
                    cluster.stores["ResourceClaimTemplate"].get((pod.namespace, template)) is None
                )
                why = (
                    f"claim template {template} does not exist"
                    if missing
                    else f"no claim made from template {template} yet"
                )
                return Diagnosis(
                    gang.state,
                    "ClaimNotCreated",
                    why,
                    {"template": template},
                    _pods((pod,), f"needs a claim from {template}"),
                )
            name = found.key[1]
            return Diagnosis(
                gang.state,
                "ClaimNotCreated",
                f"claim {name} does not exist",
                {"claim": name},
                _pods((pod,), f"names the claim {name}"),
            )
    return None


def _tried(cluster: Cluster, gang: Gang) -> Diagnosis | Tried | None:
    """What the scheduler said when it tried; None when it never did."""
    told = said(cluster, gang)
    if not told:
        return None
    evidence = tuple(
        Evidence(each.kind, each.namespace, each.name, each.words.text, each.at, said=True) for each in told
    )
    if message := _invalid(gang, told):
        return Diagnosis(gang.state, "GroupInvalid", message, {"message": message}, evidence)
    if gang.state == "Preempting":
        return _preempting(gang, told, evidence)
    return Tried(gang.state, "", told[0].words, evidence, demand_of(cluster, gang))


def _invalid(gang: Gang, told: tuple[Said, ...]) -> str:
    """Why the scheduler takes the group for invalid, "" when it does not. An error of one of its plugins (an expression that
    fails, an object that is gone) is the same to it, but not the group's fault."""
    known = (each.words.text for each in told if any(reason.kind == "group_invalid" for reason in each.words.reasons))
    if text := next(known, ""):
        return text
    conditions = (scheduled_condition(gang.group), *(pod_scheduled(pod) for pod in _waiting(gang)))
    errors = (c.message or "the scheduler rejects the group" for c in conditions if c and c.reason == "SchedulerError")
    return next((text for text in errors if not _of_plugin(text)), "")


def _of_plugin(text: str) -> bool:
    return "plugin" in text or any(reason.kind != "other" for reason in parse(text).reasons)


def _preempting(gang: Gang, told: tuple[Said, ...], evidence: tuple[Evidence, ...]) -> Diagnosis:
    outcomes = (each.words.preemption for each in told if each.words.preemption is not None)
    victims = next((outcome.victims for outcome in outcomes if outcome.outcome == "victims"), None)
    if victims is None:
        return Diagnosis(gang.state, "WaitingForPreemption", "waiting for victims of preemption to go", {}, evidence)
    text = f"waiting for {victims} victim{'s' if victims != 1 else ''} of preemption to go"
    return Diagnosis(gang.state, "WaitingForPreemption", text, {"victims": victims}, evidence)


def _untried(cluster: Cluster, gang: Gang) -> Diagnosis:
    """No attempt is recorded: a scheduler that nobody runs, or a place in the queue."""
    others = sorted(
        {s for pod in _waiting(gang) if (s := pod.spec.scheduler_name or DEFAULT_SCHEDULER) != DEFAULT_SCHEDULER}
    )
    if others and others[0] not in cluster.attempts_by_scheduler:
        text = f"its pods ask for the scheduler {others[0]}, and no pod was ever placed or refused by it"
        return Diagnosis(gang.state, "NoScheduler", text, {"schedulerName": others[0]}, _pods(gang.members[:1], text))
    return Diagnosis(gang.state, "Queued", "queued, no attempt recorded yet")


def _waiting(gang: Gang) -> list[Pod]:
    return [pod for pod in gang.members if not pod.finished and not pod.spec.node_name]


def _pods(pods: tuple[Pod, ...] | list[Pod], text: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence("Pod", p.namespace, p.name, text, parse_time(p.metadata.creation_timestamp)) for p in pods[:3]
    )

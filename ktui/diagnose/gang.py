"""Why a gang is not running, as far as its objects say so themselves.

The order is the scheduler's own: what keeps a group out of the queue comes before what happened when it was tried. Where
only the scheduler's words are left, they are given as they are and the cause is Unexplained: a wrong cause is worse than none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ktui.cluster.allocation import resolve
from ktui.cluster.gangs import Gang, pod_scheduled, scheduled_condition, unread_kind
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnosis import Diagnosis, Evidence
from ktui.model.kinds import KINDS
from ktui.model.meta import Condition
from ktui.model.pod import DEFAULT_SCHEDULER, Pod
from ktui.model.podstatus import in_trouble, status_word
from ktui.model.time import parse_time

_REPEATS = "pod group is unschedulable"
"""How messages of members begin that only repeat the group's; the member that did not fit says more."""


def diagnose(cluster: Cluster, gang: Gang) -> Diagnosis:
    """The diagnosis of one gang."""
    if gang.state in ("Running", "Completed", "Scheduling", "Deleting", "Failed"):
        return Diagnosis(gang.state, None, _counts(gang))
    if gang.state == "Unknown":
        return Diagnosis(gang.state, None, _unread(cluster, gang))
    found = _blocked(cluster, gang) or _tried(gang) or _untried(cluster, gang)
    if gang.state != "Degraded":
        return found
    return Diagnosis(gang.state, found.cause, f"{_counts(gang)}; {found.message}", found.facts, found.evidence)


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
    what = "how many pods it needs" if kind in ("PodGroup", "Workload") else "its pods"
    return f"{resource} are not read, so {what} is not known"


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
        return Diagnosis(gang.state, "WaitingForPods", text, {"have": have, "need": gang.needed})
    if gates := Counter(gate.name for pod in _waiting(gang) for gate in pod.spec.scheduling_gates or ()):
        gated = [pod for pod in _waiting(gang) if pod.spec.scheduling_gates]
        text = f"held by gate {', '.join(sorted(gates))} on {len(gated)} pod{'s' if len(gated) != 1 else ''}"
        return Diagnosis(gang.state, "Gated", text, {"gates": sorted(gates)}, _pods(gated, "has a scheduling gate"))
    return _claim_not_created(cluster, gang)


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


def _tried(gang: Gang) -> Diagnosis | None:
    """What the scheduler said when it tried, the most telling member's words first."""
    group = scheduled_condition(gang.group)
    refused = [(pod, c) for pod in _waiting(gang) if (c := pod_scheduled(pod)) is not None and c.status == "False"]
    evidence = tuple(_evidence(gang, group, refused))
    error = next((c for c in (group, *(c for _, c in refused)) if c is not None and c.reason == "SchedulerError"), None)
    if error is not None:
        message = error.message or "the scheduler rejects the group"
        return Diagnosis(gang.state, "GroupInvalid", message, {"message": message}, evidence)
    if gang.state == "Preempting":
        return Diagnosis(gang.state, "WaitingForPreemption", "waiting for victims of preemption to go", {}, evidence)
    own = [c.message for _, c in refused if c.message and not c.message.startswith(_REPEATS)]
    words = Counter(own).most_common(1)[0][0] if own else ""
    if not words and group is not None and group.status == "False":
        words = group.message or ""
    if not words and refused:
        words = refused[0][1].message or ""
    return Diagnosis(gang.state, "Unexplained", words, {}, evidence) if words else None


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


def _evidence(gang: Gang, group: Condition | None, refused: list[tuple[Pod, Condition]]) -> Iterator[Evidence]:
    if group is not None:
        yield _said("PodGroup", gang.key[0], gang.key[1], group)
    seen: set[str] = set()
    for pod, condition in refused:
        if (condition.message or "") not in seen:
            seen.add(condition.message or "")
            yield _said("Pod", pod.namespace, pod.name, condition)


def _said(kind: str, namespace: str, name: str, condition: Condition) -> Evidence:
    return Evidence(
        kind, namespace, name, condition.message or condition.reason or "", parse_time(condition.last_transition_time)
    )


def _pods(pods: tuple[Pod, ...] | list[Pod], text: str) -> tuple[Evidence, ...]:
    return tuple(
        Evidence("Pod", p.namespace, p.name, text, parse_time(p.metadata.creation_timestamp)) for p in pods[:3]
    )

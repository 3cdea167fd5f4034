"""Why Kueue or Volcano holds a gang back, in the words of its own objects.

What Kueue finds missing it writes into the condition QuotaReserved, as a sentence: the amounts are read from it where it has
the form of Kueue 0.9 to 0.17, and the sentence stands beside them as it is. What a queue has left is computed from the cluster
queue, unless it may borrow from others. Once a gang is let in, its pods are looked at like those of any other.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from ktui.cluster.beside import (
    Beside,
    cluster_queue,
    cluster_queue_name,
    local_queue,
    place,
    quota_of,
    unused,
    victims,
)
from ktui.cluster.gangs import Gang
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnosis import Cause, Diagnosis, Evidence
from ktui.model.kueue import KueueClusterQueue, KueueLocalQueue, KueueWorkload
from ktui.model.meta import Condition, condition
from ktui.model.quantity import parse_quantity
from ktui.model.time import parse_time
from ktui.model.volcano import VolcanoPodGroup, VolcanoQueue

_NAME: Final = r"[^\s,;]{1,253}"
_SHORT: Final = re.compile(
    rf"pod set ({_NAME}): .*?insufficient unused quota for ({_NAME}) in flavor ({_NAME}), (\S{{1,64}}) more needed"
)
_NEVER: Final = re.compile(
    rf"pod set ({_NAME}): .*?insufficient quota for ({_NAME}) in flavor ({_NAME}), .*?current podset request"
    r" \((\S{1,64})\) > maximum capacity \((\S{1,64})\)"
)
_NO_QUEUE: Final = re.compile(rf"(?:ClusterQueue|LocalQueue) ({_NAME}) (?:doesn't exist|is inactive|is stopped)")
_VOLCANO_QUOTA: Final = re.compile(r"queue.{0,40}\bquota\b|\bquota\b.{0,40}queue", re.IGNORECASE)
_CLOSED: Final = ("Closed", "Closing")


class _Held(NamedTuple):
    cause: Cause
    message: str
    facts: dict[str, object]
    unblock: tuple[str, ...] = ()


def held_by(cluster: Cluster, gang: Gang, found: Beside) -> Diagnosis | None:
    """What keeps the gang from being let in; None where it is in, or over: then its pods tell."""
    if gang.state == "Deleting":
        return None
    if isinstance(found, VolcanoPodGroup):
        return _held_by_volcano(cluster, gang, found)
    if gang.state == "Failed":
        end = condition(found.status.conditions, "Finished")
        return Diagnosis("Failed", None, (end.message if end else "") or "failed") if end else None
    if found.finished:
        return None
    if not found.says("Admitted"):
        held = _held(cluster, found)
        return Diagnosis(gang.state, held.cause, held.message, held.facts, _words(cluster, found), unblock=held.unblock)
    return None if gang.members else Diagnosis(gang.state, None, _elsewhere(gang, found))


def _elsewhere(gang: Gang, found: KueueWorkload) -> str:
    """Of a gang that was let in and none of whose pods is known."""
    if found.status.cluster_name:
        return f"dispatched to the cluster {found.status.cluster_name}, where its pods are"
    return f"admitted, and none of its {gang.needed} pods seen yet"


# --- Kueue ---


def _held(cluster: Cluster, found: KueueWorkload) -> _Held:
    if found.spec.active is False:
        text = "put aside: its spec.active is false"
        return _Held("Gated", text, {"gates": ["spec.active"]}, ("its spec.active set to true",))
    if found.says("QuotaReserved"):
        return _checked(found)
    said = condition(found.status.conditions, "QuotaReserved")
    message = said.message or "" if said is not None else ""
    return (
        _unavailable(cluster, found, message)
        or _preempting(found, message)
        or _short_of_quota(cluster, found, message)
        or _queued(cluster, found, message)
    )


def _checked(found: KueueWorkload) -> _Held:
    """Quota is reserved; something else has to agree."""
    open_ = [check for check in found.status.admission_checks or () if check.state != "Ready"]
    names: list[str] = sorted(check.name for check in open_)
    words = "; ".join(
        f"{check.name} is {check.state or 'unknown'}{f': {check.message}' if check.message else ''}" for check in open_
    )
    tried = ", ".join(found.status.nominated_cluster_names or ())
    clusters = f"; tried on the clusters {tried}" if tried else ""
    if not open_:
        return _Held("Queued", f"quota is reserved, not admitted yet{clusters}", {"queue": found.spec.queue_name})
    return _Held("Gated", f"quota is reserved, admission check {words}{clusters}", {"gates": names})


def _unavailable(cluster: Cluster, found: KueueWorkload, message: str) -> _Held | None:
    """A queue that is not there, or takes nothing."""
    match = _NO_QUEUE.search(message)
    if match:
        text = f"{message} (queue {found.spec.queue_name})"
        return _Held("QueueUnavailable", text, {"queue": match[1]}, (f"a queue {match[1]} that is active",))
    local = local_queue(cluster, found)
    if local is None:
        name = found.spec.queue_name
        if cluster.readable("KueueLocalQueue") and not message:
            text = f"its local queue {name} does not exist" if name else "it names no queue"
            return _Held("QueueUnavailable", text, {"queue": name}, (f"a local queue {name}",) if name else ())
        return None
    behind = cluster_queue(cluster, local.spec.cluster_queue)
    for kind, queue in (("local", local), ("cluster", behind)):
        if queue is not None and (why := _inactive(queue)):
            return _Held("QueueUnavailable", f"{kind} queue {queue.name} takes no jobs: {why}", {"queue": queue.name})
    return None


def _inactive(queue: KueueLocalQueue | KueueClusterQueue) -> str:
    active = condition(queue.status.conditions, "Active")
    if active is None or active.status != "False":
        return ""
    return active.message or active.reason or "not active"


def _preempting(found: KueueWorkload, message: str) -> _Held | None:
    count = victims(found)
    return _Held("WaitingForPreemption", message, {"victims": count}) if count else None


def _short_of_quota(cluster: Cluster, found: KueueWorkload, message: str) -> _Held | None:
    name = cluster_queue_name(cluster, found)
    if never := _NEVER.search(message):
        _, resource, flavor, needed, most = never.groups()
        text = f"{needed} {resource} of flavor {flavor} needed, cluster queue {name} has {most} at most"
        return _Held(
            "QuotaExceeded",
            text,
            {"quota": name, "resource": resource, "flavor": flavor, "needed": needed, "available": most},
            (f"a quota of {needed} {resource} of flavor {flavor} in cluster queue {name}",),
        )
    if (short := _SHORT.search(message)) is None:
        return None
    pods, resource, flavor, more = short.groups()
    needed, left, nominal = _needed(found, pods, resource), *_left(cluster, name, flavor, resource)
    have = f", {left} of {nominal} unused" if left else ""
    facts: dict[str, object] = {"quota": name, "resource": resource, "flavor": flavor, "more": more}
    facts |= {key: value for key, value in (("needed", needed), ("available", left)) if value}
    return _Held(
        "QuotaExceeded",
        f"{more} more {resource} of flavor {flavor} needed{have} in cluster queue {name}",
        facts,
        (f"{more} {resource} of flavor {flavor} given back, or added to cluster queue {name}",),
    )


def _needed(found: KueueWorkload, pods: str, resource: str) -> str:
    """What all pods of a set ask for, as Kueue counts it."""
    asked = (each.resources or {} for each in found.status.resource_requests or () if each.name == pods)
    return next((str(amounts[resource]) for amounts in asked if resource in amounts), "")


def _left(cluster: Cluster, name: str, flavor: str, resource: str) -> tuple[str, str]:
    """(what is unused, what there is in all) of a quota; empty where it may borrow, and where the queue is not known."""
    queue = cluster_queue(cluster, name)
    quota = quota_of(queue, flavor, resource) if queue is not None and not queue.cohort else None
    left = unused(quota) if quota is not None else ""
    return (left, quota.nominal) if quota is not None and left else ("", "")


def _queued(cluster: Cluster, found: KueueWorkload, message: str) -> _Held:
    where = place(cluster, found)
    facts: dict[str, object] = {"queue": where.name}
    behind = f" of cluster queue {where.cluster_queue}" if where.cluster_queue else ""
    if message:
        return _Held("Unexplained", f"queue {where.name}{behind}: {message}", facts)
    return _Held("Queued", f"waits in queue {where.name}{behind}, not tried yet", facts)


def _words(cluster: Cluster, found: KueueWorkload) -> tuple[Evidence, ...]:
    """Kueue's own sentences, and for those that wait for quota the cluster queue with what it has."""
    said = [
        c
        for kind in ("QuotaReserved", "Evicted", "Requeued")
        if (c := condition(found.status.conditions, kind)) is not None and _tells(c)
    ]
    words = tuple(
        Evidence("KueueWorkload", *found.key, c.message or "", parse_time(c.last_transition_time), said=True)
        for c in said
    )
    queue = cluster_queue(cluster, cluster_queue_name(cluster, found)) if found.waits else None
    if queue is None:
        return words
    return (*words, Evidence("KueueClusterQueue", "", queue.name, quotas_text(queue)))


def _tells(said: Condition) -> bool:
    return bool(said.message) and (said.type == "QuotaReserved" or said.status == "True")


def quotas_text(queue: KueueClusterQueue) -> str:
    """Every quota of a cluster queue: "cpu of h200 16 of 24 reserved"."""
    pairs = (
        (each.name, limit.name)
        for group in queue.spec.resource_groups or ()
        for each in group.flavors or ()
        for limit in each.resources or ()
    )
    quotas = ((flavor, resource, quota_of(queue, flavor, resource)) for flavor, resource in pairs)
    texts = [
        f"{resource} of {flavor} {quota.reserved} of {quota.nominal} reserved"
        for flavor, resource, quota in quotas
        if quota is not None and parse_quantity(quota.nominal) != 0
    ]
    return ", ".join(texts) or "has no quota"


# --- Volcano ---


def _held_by_volcano(cluster: Cluster, gang: Gang, found: VolcanoPodGroup) -> Diagnosis | None:
    said = condition(found.status.conditions, "Unschedulable", "NotInqueueable", "Unenqueueable")
    words = said if said is not None and said.status == "True" and said.message else None
    evidence = (
        (
            Evidence(
                "VolcanoPodGroup", *found.key, words.message or "", parse_time(words.last_transition_time), said=True
            ),
        )
        if words
        else ()
    )
    if gang.state != "Pending":
        return None
    if found.waits:
        held = _kept_out(cluster, found, words.message or "" if words else "")
        return Diagnosis(gang.state, held.cause, held.message, held.facts, evidence)
    if words is None or not gang.members or _refused(gang) or len(gang.members) < gang.needed:
        return None
    return Diagnosis(gang.state, "Unexplained", words.message or "", {}, evidence)


def _kept_out(cluster: Cluster, found: VolcanoPodGroup, message: str) -> _Held:
    """By its queue: Volcano has not let it in, so perhaps its pods are not even made."""
    name = found.queue
    queue = cluster.stores["VolcanoQueue"].get(("", name))
    if not isinstance(queue, VolcanoQueue):
        if cluster.readable("VolcanoQueue"):
            return _Held("QueueUnavailable", f"its queue {name} does not exist", {"queue": name})
    elif queue.status.state in _CLOSED:
        return _Held("QueueUnavailable", f"its queue {name} is {queue.status.state.lower()}", {"queue": name})
    if _VOLCANO_QUOTA.search(message):
        return _Held("QuotaExceeded", f"queue {name}: {message}", {"quota": name})
    return _Held("Queued", f"not let in by queue {name}{f': {message}' if message else ''}", {"queue": name})


def _refused(gang: Gang) -> bool:
    """Whether a scheduler said why of one of its pods."""
    said = (condition(pod.status.conditions, "PodScheduled") for pod in gang.members)
    return any(c is not None and c.status == "False" for c in said)

"""Who has to go for whom.

The scheduler writes three things: the condition DisruptionTarget with the reason PreemptionByScheduler on each victim, an
event "Preempted" about it whose `related` is the pod or the group that it goes for, and status.nominatedNodeName on the pods
that are to come. Only the event names both sides, and it lives for an hour; anyone who may create events can write one, so it is
held against what the victim itself says where the victim is still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ktui.cluster.state import Cluster
from ktui.model.event import PREEMPTED, Event, ObjectReference
from ktui.model.meta import Condition, condition
from ktui.model.pod import Pod
from ktui.model.time import parse_time

VictimState = Literal[
    "going",  # being deleted
    "gone",
    "chosen",  # neither yet; one that was still waiting for a node itself is only put back in the scheduler's memory
    "unknown",  # its namespace is not looked at
]


class Victim(NamedTuple):
    """A pod that goes for another. `pod` is None where it is gone or not seen; `at` is when it was chosen, in Unix seconds."""

    namespace: str
    name: str
    pod: Pod | None
    state: VictimState
    at: float | None


class Preemptor(NamedTuple):
    """The pod or group that a victim goes for. `at` is when that was decided, in Unix seconds."""

    ref: ObjectReference
    at: float | None


def preempted(pod: Pod) -> Condition | None:
    """The condition that says the scheduler chose the pod as a victim."""
    target = condition(pod.status.conditions, "DisruptionTarget")
    chosen = target is not None and target.status == "True" and target.reason == "PreemptionByScheduler"
    return target if chosen else None


def victims_of(cluster: Cluster, uids: Iterable[str]) -> tuple[Victim, ...]:
    """The pods that go for the objects with these uids (a group and its pods), each once, by namespace and name."""
    found: dict[str, Victim] = {}
    for uid in uids:
        for event in cluster.preemptions_by(uid):
            about = event.involved_object
            pod = cluster.pod((about.namespace, about.name))
            there = pod if pod is not None and pod.metadata.uid == about.uid else None
            if there is not None and there.spec.node_name and preempted(there) is None:
                continue  # the event alone says so
            known = found.get(about.uid)
            at = max((t for t in (known.at if known else None, _time(event)) if t is not None), default=None)
            seen = there is not None or cluster.sees("Pod", about.namespace)
            state = _state(there) if seen else "unknown"
            found[about.uid] = Victim(about.namespace, about.name, there, state, at)
    return tuple(sorted(found.values(), key=lambda victim: (victim.namespace, victim.name, victim.at or 0.0)))


def preemptor_of(cluster: Cluster, pod: Pod) -> Preemptor | None:
    """Whom the pod goes for, by the latest event that tells; None when it does not go, or no event is left."""
    if preempted(pod) is None:
        return None
    told = (e for e in cluster.events_of(pod.metadata.uid) if e.reason == PREEMPTED and e.related is not None)
    found = [Preemptor(e.related, _time(e)) for e in told if e.related is not None]
    return max(found, key=lambda p: (p.at or 0.0, p.ref.uid), default=None)


def nominated(pods: Iterable[Pod]) -> Iterator[tuple[Pod, str]]:
    """Pods without a node of their own for which the scheduler keeps room on one, and that node."""
    for pod in pods:
        if pod.status.nominated_node_name and not pod.spec.node_name and not pod.finished:
            yield pod, pod.status.nominated_node_name


def goes_whole(cluster: Cluster, victim: Pod) -> bool:
    """Whether all pods of the victim's group go with it (disruptionMode "all")."""
    group = cluster.group((victim.namespace, victim.group)) if victim.group else None
    mode = group.spec.disruption_mode if group else None
    return mode is not None and mode.variant == "all"


def _state(pod: Pod | None) -> VictimState:
    if pod is None or pod.finished:
        return "gone"
    return "going" if pod.metadata.deletion_timestamp is not None else "chosen"


def _time(event: Event) -> float | None:
    return parse_time(event.last_seen)

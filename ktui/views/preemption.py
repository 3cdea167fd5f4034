"""Preemption: whom a gang or a pod makes room by, where room is kept for it, and for whom it has to go itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ktui.cluster.gangs import Gang, display_name
from ktui.cluster.preemption import Victim, VictimState, goes_whole, nominated, preempted, preemptor_of, victims_of
from ktui.cluster.state import Cluster
from ktui.model.event import ObjectReference
from ktui.model.pod import Pod
from ktui.model.time import format_age, parse_time
from ktui.views.base import Cell, Document, Line

_SHOWN: Final = 20  # pods of each sort in a detail
_THERE: Final[tuple[VictimState, ...]] = ("chosen", "going")


def gang_preemption(cluster: Cluster, found: Gang, now: float) -> tuple[Line, ...]:
    return _lines(cluster, _uids(found), found.members, now)


def pod_preemption(cluster: Cluster, pod: Pod, now: float) -> tuple[Line, ...]:
    return _lines(cluster, (pod.metadata.uid,), (pod,), now)


def gang_preemption_document(cluster: Cluster, found: Gang) -> Document:
    return _document(cluster, _uids(found), found.members)


def pod_preemption_document(cluster: Cluster, pod: Pod) -> Document:
    return _document(cluster, (pod.metadata.uid,), (pod,))


def _uids(found: Gang) -> tuple[str, ...]:
    """Of those that others go for: the scheduler preempts for the group, on older versions for a member."""
    group = (found.group.metadata.uid,) if found.group else ()
    return (*group, *(pod.metadata.uid for pod in found.members))


def _lines(cluster: Cluster, uids: Sequence[str], pods: Sequence[Pod], now: float) -> tuple[Line, ...]:
    victims = victims_of(cluster, uids)
    left = sum(1 for victim in victims if victim.state in _THERE)
    lines: list[Line] = []
    if victims:
        lines.append((Cell(f"{len(victims)} to go for it, {left} still there", "warn" if left else "dim"),))
    lines += _cut([_victim(cluster, victim, now) for victim in victims])
    lines += _cut([(Cell("room kept  ", "dim"), Cell(f"{pod.name} on {node}")) for pod, node in nominated(pods)])
    lines += _cut([_goes(cluster, pod, now) for pod in pods if preempted(pod) is not None])
    return tuple(lines)


def _cut(lines: list[Line]) -> Iterable[Line]:
    more = len(lines) - _SHOWN
    return (*lines[:_SHOWN], (Cell(f"  and {more} more", "dim"),)) if more > 0 else lines


def _victim(cluster: Cluster, victim: Victim, now: float) -> Line:
    age = f"  {format_age(now - victim.at)} ago" if victim.at is not None else ""
    pod = victim.pod
    about = []
    if pod is not None and pod.group:
        whole = ", all of it goes" if goes_whole(cluster, pod) else ""
        about.append(f"of {display_name(cluster, (pod.namespace, pod.group))}{whole}")
    if pod is not None and (priority := _priority(cluster, pod)) is not None:
        about.append(f"priority {priority}")
    return (
        Cell("makes room  ", "dim"),
        Cell(f"{victim.namespace}/{victim.name}  "),
        Cell(victim.state, "warn" if victim.state in _THERE else "dim"),
        Cell(age, "dim"),
        Cell(f"  {', '.join(about)}" if about else "", "dim"),
    )


def _goes(cluster: Cluster, pod: Pod, now: float) -> Line:
    chosen = preempted(pod)
    since = parse_time(chosen.last_transition_time) if chosen else None
    by = preemptor_of(cluster, pod)
    whom = f" for {_named(by.ref)}" if by else ", no event is left that says for whom"
    age = f"  {format_age(now - since)} ago" if since is not None else ""
    return (Cell("has to go  ", "dim"), Cell(f"{pod.name}{whom}", "bad"), Cell(age, "dim"))


def _named(ref: ObjectReference) -> str:
    return f"{ref.kind} {ref.namespace}/{ref.name}"


def _priority(cluster: Cluster, pod: Pod) -> int | None:
    """What counts in a preemption: the group's priority stands for that of its pods."""
    group = cluster.group((pod.namespace, pod.group)) if pod.group else None
    said = group.spec.priority if group else None
    return said if said is not None else pod.spec.priority


def _document(cluster: Cluster, uids: Sequence[str], pods: Sequence[Pod]) -> Document:
    return {
        "victims": [
            {
                "namespace": victim.namespace,
                "name": victim.name,
                "state": victim.state,
                "gang": (victim.pod.group or None) if victim.pod else None,
                "priority": _priority(cluster, victim.pod) if victim.pod else None,
            }
            for victim in victims_of(cluster, uids)
        ],
        "nominated": [{"pod": pod.name, "node": node} for pod, node in nominated(pods)],
        "preempted": [_preempted_document(cluster, pod) for pod in pods if preempted(pod) is not None],
    }


def _preempted_document(cluster: Cluster, pod: Pod) -> Document:
    by = preemptor_of(cluster, pod)
    return {
        "pod": pod.name,
        "by": {"kind": by.ref.kind, "namespace": by.ref.namespace, "name": by.ref.name} if by else None,
    }

"""What a pod's containers, and the pod as a whole, ask for, have set aside, and are given: in-place resize (KEP-1287) and
resources of whole pods (KEP-2837, KEP-5419).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from ktui.cluster.allocation import POD_LEVEL, ContainerKind, containers
from ktui.model.meta import Condition, condition
from ktui.model.pod import (
    RESIZE_IN_PROGRESS,
    RESIZE_PENDING,
    ActualResources,
    Container,
    ContainerStatus,
    Pod,
    Quantities,
    Resources,
)
from ktui.model.podqos import has_pod_level
from ktui.model.quantity import parse_quantity
from ktui.model.time import parse_time

Written = str | int | float | None
"""A quantity as the API has it."""

ResizeState = Literal[
    "Infeasible",  # refused: the kubelet does not try again
    "Error",  # set aside, and could not be applied
    "Deferred",  # fits the node, but not now
    "Pending",  # not set aside, for a reason that is none of these
    "InProgress",  # set aside, and being applied
    "Requested",  # the kubelet has not answered yet
]
_WORST_FIRST: Final[tuple[ResizeState, ...]] = ("Infeasible", "Error", "Deferred", "Pending", "InProgress", "Requested")
STUCK: Final = frozenset(_WORST_FIRST[:3])
"""What does not pass by itself, or not soon."""


class ResourceState(NamedTuple):
    """Of one container, or of the pod as a whole. `allocated` is what the kubelet has set aside (requests only), `applied` what
    the runtime applies; None where the kubelet reports nothing, or just what is desired. `restarts_for` names the resources
    that the container is restarted for."""

    name: str
    kind: ContainerKind
    desired: Resources
    allocated: Quantities | None
    applied: ActualResources | None
    restarts_for: tuple[str, ...] = ()


class Resize(NamedTuple):
    """A resize that is not done. `reason` and `message` are the kubelet's own words, `since` is in Unix seconds, `generation`
    that of the spec it is about."""

    state: ResizeState
    reason: str = ""
    message: str = ""
    since: float | None = None
    generation: int | None = None


def container_resources(pod: Pod) -> Iterator[ResourceState]:
    """Of all containers, in the order they start."""
    reports = {report.name: report for report in reversed(pod.status.reports)}
    for container, kind in containers(pod):
        yield _of_container(container, kind, reports.get(container.name))


def whole_resources(pod: Pod) -> ResourceState | None:
    """Of the pod as a whole; None where it asks for nothing as a whole: its status has only the containers' sums then. Overhead,
    which the kubelet sets aside as well, counts as desired."""
    whole = pod.spec.resources
    if whole is None or not has_pod_level(pod):
        return None
    allocated, applied = pod.status.allocated_resources, pod.status.resources
    overhead = pod.spec.overhead or {}
    return ResourceState(
        POD_LEVEL,
        "pod",
        whole,
        None if _as_desired(allocated, whole.requests, whole.requests or {}, overhead) else allocated,
        applied if applied is not None and _differs_as_a_whole(applied, whole, overhead) else None,
    )


def resizes(pod: Pod) -> tuple[Resize, ...]:
    """The resizes of the pod that are not done, the worst first. There are two when a newer one was asked for before the older
    one was applied."""
    if pod.finished:
        return ()
    status = pod.status
    pending = condition(status.conditions, RESIZE_PENDING)
    under_way = condition(status.conditions, RESIZE_IN_PROGRESS)
    found = []
    if pending is not None and pending.status == "True":
        state: ResizeState = "Pending"
        if pending.reason in ("Infeasible", "Deferred"):
            state = "Infeasible" if pending.reason == "Infeasible" else "Deferred"
        found.append(_resize(state, pending))
    elif _unanswered(pod):
        found.append(Resize("Requested", generation=pod.metadata.generation))
    if under_way is not None and under_way.status == "True":
        found.append(_resize("Error" if under_way.reason == "Error" else "InProgress", under_way))
    return tuple(sorted(found, key=lambda each: _WORST_FIRST.index(each.state)))


def _of_container(container: Container, kind: ContainerKind, report: ContainerStatus | None) -> ResourceState:
    desired = container.resources or Resources()
    allocated = report.allocated_resources if report else None
    applied = report.resources if report else None
    return ResourceState(
        container.name,
        kind,
        desired,
        None if _as_desired(allocated, desired.requests, _names(allocated, desired.requests)) else allocated,
        applied if applied is not None and _differs(applied, desired) else None,
        tuple(p.resource_name for p in container.resize_policy or () if p.restart_policy == "RestartContainer"),
    )


def _differs(applied: ActualResources, desired: Resources) -> bool:
    if not (applied.requests or applied.limits):
        return False
    pairs = ((applied.requests, desired.requests), (applied.limits, desired.limits))
    return not all(_as_desired(said or {}, asked, _names(said, asked)) for said, asked in pairs)


def _differs_as_a_whole(applied: ActualResources, whole: Resources, overhead: Quantities) -> bool:
    pairs = ((applied.requests, whole.requests), (applied.limits, whole.limits))
    return not all(_as_desired(said, asked, asked or {}, overhead) for said, asked in pairs)


def _unanswered(pod: Pod) -> bool:
    """Whether the spec asks for something else than what the kubelet says it has set aside."""
    if not (pod.spec.node_name and pod.status.says_requests):
        return False
    whole = whole_resources(pod)
    return any(each.allocated is not None for each in container_resources(pod)) or (
        whole is not None and whole.allocated is not None
    )


def _resize(state: ResizeState, said: Condition) -> Resize:
    since = parse_time(said.last_transition_time)
    return Resize(state, said.reason or "", said.message or "", since, said.observed_generation)


def _names(*quantities: Quantities | None) -> set[str]:
    return {name for each in quantities for name in each or ()}


def _as_desired(
    said: Quantities | None, desired: Quantities | None, names: Iterable[str], overhead: Quantities | None = None
) -> bool:
    """Whether what is said of the names are the amounts that are desired, without or with the overhead. Nothing said is nothing
    that differs."""
    if said is None:
        return True
    asked, more = desired or {}, overhead or {}
    return all(_same(said.get(name), asked.get(name), more.get(name)) for name in names)


def _same(said: Written, asked: Written, more: Written) -> bool:
    if said == asked:
        return True
    amount, base = parse_quantity(said) or 0, parse_quantity(asked) or 0
    return amount in (base, base + (parse_quantity(more) or 0))

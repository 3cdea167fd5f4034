"""What a pod's containers ask for and have, a resize that is not done, and what Memory QoS would do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ktui.cluster.memoryqos import (
    PAGE_SIZE,
    RESERVATION_POLICY,
    THROTTLING_FACTOR,
    CgroupMemory,
    memory_qos,
)
from ktui.cluster.podresources import Resize, ResizeState, ResourceState, container_resources, resizes, whole_resources
from ktui.cluster.state import Cluster
from ktui.model.node import Node
from ktui.model.pod import ActualResources, Pod, Quantities, Resources
from ktui.model.quantity import format_bytes
from ktui.model.time import format_age, format_time
from ktui.views.base import Cell, Document, Line, Style

_STYLES: Final[dict[ResizeState, Style]] = {
    "Infeasible": "bad",
    "Error": "bad",
    "Deferred": "warn",
    "Pending": "warn",
    "InProgress": "warn",
    "Requested": "dim",
}
_WORDS: Final[dict[ResizeState, str]] = {
    "Infeasible": "infeasible, is not tried again",
    "Error": "failing: set aside, not applied",
    "Deferred": "deferred until there is room",
    "Pending": "pending",
    "InProgress": "in progress: set aside, not all applied",
    "Requested": "asked for, not answered by the kubelet yet",
}
_SIGNS: Final[dict[ResizeState, str]] = {
    "Infeasible": "Unresizable",
    "Error": "ResizeError",
    "Deferred": "ResizeLater",
}
"""Not longer than the narrowest column of a pod's status; the detail has the kubelet's own words."""
_NATIVE: Final = ("cpu", "memory")
_ASSUMED: Final = (
    f"memory.min and memory.low only with memoryReservationPolicy {RESERVATION_POLICY} in the kubelet's configuration,"
    f" memory.high only with memoryThrottlingFactor (here {THROTTLING_FACTOR}, pages of {PAGE_SIZE} bytes), both only on cgroup"
    " v2; neither is set unless somebody did. The API does not show it"
)


def resize_sign(pod: Pod) -> tuple[str, Style]:
    """A word for a resize that is stuck, ("", "") where none is."""
    worst = next(iter(resizes(pod)), None)
    return (_SIGNS[worst.state], _STYLES[worst.state]) if worst and worst.state in _SIGNS else ("", "")


def resource_lines(pod: Pod, now: float) -> Iterable[Line]:
    """A line for each container that asks for something, and one for the pod as a whole; more where less, or more, was set aside
    or is applied. Requests and limits are both given where they differ: "2/4", "2/-" without a limit."""
    states = [s for s in _states(pod) if s.desired.requests or s.desired.limits or s.allocated or s.applied]
    rows = [row for state in states for row in _rows(state)]
    yield from _aligned(rows)
    for each in resizes(pod):
        yield from _resize_lines(pod, each, now)
    for state in states:
        if state.restarts_for:
            yield (Cell(f"{state.name} restarts when its {' or '.join(state.restarts_for)} is resized", "dim"),)


def memory_lines(cluster: Cluster, pod: Pod) -> Iterable[Line]:
    """What Memory QoS would write, and under which assumptions; nothing where it would write nothing."""
    found = [(each, text) for each in memory_qos(cluster, pod) if (text := _memory_text(each))]
    if pod.finished or not found:
        return
    width = max(len(each.name) for each, _ in found)
    for each, text in found:
        yield (Cell(f"{each.name:<{width}}  ", "accent"), Cell(text))
    version = _kubelet_version(cluster, pod)
    whose = f", this node's is {version}" if version else ""
    yield (Cell(f"as a kubelet of 1.37 would do it{whose}: {_ASSUMED}", "dim"),)


def resize_document(pod: Pod) -> Document | None:
    """The resize that is not done, with the other one where there are two."""
    found = resizes(pod)
    if not found:
        return None
    return {**_resize(found[0]), "other": _resize(found[1]) if len(found) > 1 else None}


def container_documents(pod: Pod) -> dict[str, Document]:
    """By the container's name."""
    return {
        state.name: {**_resources(state), "restartsFor": list(state.restarts_for)} for state in container_resources(pod)
    }


def whole_document(pod: Pod) -> Document | None:
    """Of the pod as a whole."""
    state = whole_resources(pod)
    return _resources(state) if state else None


def memory_document(cluster: Cluster, pod: Pod) -> Document:
    """What Memory QoS would write, in bytes, with the assumptions."""
    *of_containers, whole = memory_qos(cluster, pod)
    return {
        "shownByAPI": False,
        "assuming": {
            "memoryReservationPolicy": RESERVATION_POLICY,
            "memoryThrottlingFactor": THROTTLING_FACTOR,
            "pageSize": PAGE_SIZE,
        },
        "pod": _memory(whole),
        "containers": [{"name": each.name, **_memory(each)} for each in of_containers],
    }


def _states(pod: Pod) -> Iterator[ResourceState]:
    yield from container_resources(pod)
    if (whole := whole_resources(pod)) is not None:
        yield whole


_Row = tuple[str, str, dict[str, str]]
"""Name, which of the three, and texts by resource."""


def _rows(state: ResourceState) -> Iterator[_Row]:
    differs = state.allocated is not None or state.applied is not None
    kind = f" ({state.kind})" if state.kind in ("init", "sidecar") else ""
    yield f"{state.name}{kind}", "asked" if differs else "", _texts(state.desired.requests, state.desired.limits)
    if state.allocated is not None:
        yield "", "allocated", {name: str(amount) for name, amount in state.allocated.items()}
    if state.applied is not None:
        yield "", "applied", _texts(state.applied.requests, state.applied.limits)


def _texts(requests: Quantities | None, limits: Quantities | None) -> dict[str, str]:
    names = dict.fromkeys((*(requests or {}), *(limits or {})))
    return {name: _both((requests or {}).get(name), (limits or {}).get(name)) for name in names}


def _both(request: str | float | None, limit: str | float | None) -> str:
    if request == limit:
        return str(request)
    return f"{'-' if request is None else request}/{'-' if limit is None else limit}"


def _aligned(rows: list[_Row]) -> Iterator[Line]:
    names, steps = (max((len(row[place]) for row in rows), default=0) for place in (0, 1))
    native = [name for name in _NATIVE if any(name in texts for _, _, texts in rows)]
    widths = {name: max(len(texts.get(name, "")) for _, _, texts in rows) for name in native}
    for name, step, texts in rows:
        cells = [Cell(f"{name:<{names}}  ", "accent")]
        if steps:
            cells.append(Cell(f"{step:<{steps}}  ", "dim"))
        for resource in native:
            shown = texts.get(resource)
            label = resource if shown else ""
            cells.append(Cell(f"{label:<{len(resource)}} ", "dim"))
            cells.append(Cell(f"{shown or '':<{widths[resource]}}  "))
        for resource, shown in texts.items():
            if resource not in native:
                cells += [Cell(f"{resource} ", "dim"), Cell(f"{shown}  ")]
        yield tuple(cells)


def _resize_lines(pod: Pod, resize: Resize, now: float) -> Iterator[Line]:
    since = f"{format_age(now - resize.since)} ago  " if resize.since is not None else ""
    style = _STYLES[resize.state]
    yield (Cell("resize  ", "dim"), Cell(f"{_WORDS[resize.state]}  ", style), Cell(since, "dim"), Cell(_said(resize)))
    seen = pod.status.observed_generation if resize.state == "Requested" else resize.generation
    current = pod.metadata.generation
    if seen is not None and current is not None and seen < current:
        who = "the kubelet has seen" if resize.state == "Requested" else "said of"
        yield (Cell(f"  {who} generation {seen} of the pod, which is at {current}", "dim"),)


def _said(resize: Resize) -> str:
    """The reason is in the state's word, but for one that is none of Kubernetes'."""
    reason = resize.reason if resize.state in ("Pending", "InProgress") else ""
    return ": ".join(part for part in (reason, resize.message) if part)


def _memory_text(found: CgroupMemory) -> str:
    parts = [f"{name} {format_bytes(amount)}" for name, amount in _written(found)]
    if found.high_at_least is not None:
        parts.append(f"memory.high {format_bytes(found.high_at_least)} or more, from what the node has")
    if found.node_unknown:
        parts.append("memory.high from what its node has, which is not known")
    return "  ".join(parts)


def _written(found: CgroupMemory) -> Iterator[tuple[str, int]]:
    for name, amount in (("memory.min", found.min), ("memory.low", found.low), ("memory.high", found.high)):
        if amount is not None:
            yield name, amount


def _kubelet_version(cluster: Cluster, pod: Pod) -> str:
    node = cluster.stores["Node"].get(("", pod.spec.node_name or ""))
    info = node.status.node_info if isinstance(node, Node) else None
    return info.kubelet_version if info else ""


def _resize(resize: Resize) -> Document:
    return {
        "state": resize.state,
        "reason": resize.reason or None,
        "message": resize.message or None,
        "since": format_time(resize.since) if resize.since is not None else None,
        "generation": resize.generation,
    }


def _resources(state: ResourceState) -> Document:
    return {
        "desired": _amounts(state.desired),
        "allocated": {"requests": state.allocated} if state.allocated is not None else None,
        "applied": _amounts(state.applied) if state.applied is not None else None,
    }


def _amounts(of: Resources | ActualResources) -> Document:
    return {"requests": of.requests or {}, "limits": of.limits or {}}


def _memory(found: CgroupMemory) -> Document:
    return {
        "memoryMin": found.min,
        "memoryLow": found.low,
        "memoryHigh": found.high,
        "memoryHighAtLeast": found.high_at_least,
    }

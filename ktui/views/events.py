"""Events: what happened to one object, or to all objects behind a row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ktui.cluster.allocation import holders
from ktui.cluster.beside import beside
from ktui.cluster.state import Cluster
from ktui.model.event import Event
from ktui.model.meta import Object
from ktui.model.time import format_age, parse_time
from ktui.views.base import Cell, Line, RowKey
from ktui.views.shared import OBJECT_KINDS, as_key, as_way, object_at
from ktui.views.targets import devices_behind, row_behind
from ktui.views.timeline import target

if TYPE_CHECKING:
    from ktui.cluster.dirty import Entity

_SHOWN = 500


def event_lines(cluster: Cluster, uid: str, now: float, limit: int = 12) -> Iterable[Line]:
    """The latest events about an object, newest first."""
    events = sorted(cluster.events_of(uid), key=lambda e: (parse_time(e.last_seen) or 0.0, e.key), reverse=True)
    for event in events[:limit]:
        yield _event(event, now)


def _event(event: Event, now: float) -> Line:
    seen = parse_time(event.last_seen)
    count = (event.series.count if event.series else None) or event.count or 1
    times = f" x{count}" if count > 1 else ""
    return (
        Cell(f"{format_age(now - seen) if seen is not None else '-':>6}{times}  ", "dim"),
        Cell(f"{event.reason or '-'}  ", "warn" if event.type == "Warning" else ""),
        Cell(event.message or ""),
    )


def events_behind(cluster: Cluster, view: Entity, key: RowKey, now: float) -> list[Line]:
    """Events about the objects a row stands for, newest first: a gang's are its pods', a device's those of whoever has it."""
    found: dict[str, tuple[Event, str]] = {}
    for obj in _objects(cluster, view, key):
        for event in cluster.events_of(obj.metadata.uid):
            found[event.metadata.uid or event.name] = (event, f"{type(obj).__name__} {obj.name}")
    newest = sorted(found.values(), key=lambda pair: (-(parse_time(pair[0].last_seen) or 0.0), pair[0].name))
    return [(*_event(event, now), Cell(f"  {about}", "dim")) for event, about in newest[:_SHOWN]]


def _objects(cluster: Cluster, view: Entity, key: RowKey) -> Iterator[Object]:
    meant = row_behind(view, key)
    if meant is not None:
        yield from _objects_of(cluster, *meant)


def _objects_of(cluster: Cluster, view: Entity, key: RowKey) -> Iterator[Object]:
    match view:
        case "pods" | "claims" | "autoscalers":
            found = cluster.stores[OBJECT_KINDS[view]].get(as_key(key))
            if found is not None:
                yield found
        case "gangs":
            group = cluster.group(as_key(key)) or beside(cluster, as_key(key))
            if group is not None:
                yield group
            yield from cluster.members(as_key(key))
        case "workloads":
            if (obj := object_at(cluster, as_way(key)[-1])) is not None:
                yield obj
        case "timeline":
            changed = target(cluster, key)
            if changed is not None:
                yield from _objects(cluster, *changed)
        case "devices" | "taints":
            for device in devices_behind(cluster, view, key)[:_SHOWN]:
                for claim, _ in holders(cluster, device):
                    yield claim
                    pods = (cluster.pod(pod_key) for pod_key in cluster.pods_by_claim[claim.key])
                    yield from (pod for pod in pods if pod is not None)

"""Which object stands behind a row, and how it reads as YAML."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple, cast

import msgspec

from ktui.cluster.dirty import Entity, TriageKey
from ktui.cluster.sources import GANG_KINDS, gang_source, object_key
from ktui.cluster.state import Cluster
from ktui.model.meta import Key, Object
from ktui.model.resourceslice import DeviceId
from ktui.ui.feeds import Reading
from ktui.ui.session import Session
from ktui.views.base import RowKey
from ktui.views.shared import OBJECT_KINDS, as_way
from ktui.views.targets import row_behind
from ktui.views.timeline import target


def subject(cluster: Cluster, view: Entity, key: RowKey) -> tuple[str, Key] | None:
    """Kind and key of the object behind a row; None when there is none."""
    match view:
        case "gangs":
            return _gang(cluster, cast("Key", key))
        case "devices":
            device = cast("DeviceId", key)
            published = cluster.device(device)
            return ("ResourceSlice", ("", published.slice_name)) if published else None
        case "taints":
            parts = cast("tuple[str, ...]", key)
            if parts[0] == "rule":
                return ("DeviceTaintRule", ("", parts[1]))
            return subject(cluster, "devices", parts[1:4])
        case "triage":
            return _triaged(cluster, cast("TriageKey", key))
        case "workloads":
            view, row = row_behind(view, key) or (view, key)
            namespace, kind, name = as_way(key)[-1]
            return (kind, (namespace, name)) if view == "workloads" else subject(cluster, view, row)
        case "timeline":
            found = target(cluster, key)
            return subject(cluster, *found) if found is not None else None
        case _:
            return (OBJECT_KINDS[view], cast("Key", key))


def _triaged(cluster: Cluster, key: TriageKey) -> tuple[str, Key] | None:
    """Of a pool, its first slice: there what is wrong with it begins."""
    what, inner = key
    if what != "pools":
        return subject(cluster, what, inner)
    pool = cluster.pool((inner[0], inner[1]))
    return ("ResourceSlice", ("", pool.slice_names[0])) if pool is not None else None


def _gang(cluster: Cluster, key: Key) -> tuple[str, Key]:
    """On 1.35 a gang is a part of a Workload and named WORKLOAD/GROUP; one of Kueue or Volcano is an object of theirs."""
    if (source := gang_source(key)) != "podgroup":
        return (GANG_KINDS[source], object_key(key))
    workload, slash, _ = key[1].partition("/")
    if slash and cluster.group(key) is None:
        return ("Workload", (key[0], workload))
    return ("PodGroup", key)


class Yaml(NamedTuple):
    title: str
    text: str


async def yaml_of(session: Session, view: Entity, key: RowKey) -> Yaml | None:
    """The object behind a row: fetched whole where the feed can, otherwise the fields ktui keeps. Raises KtuiError."""
    found = subject(session.cluster, view, key)
    if found is None:
        return None
    kind, object_key = found
    if isinstance(session.feed, Reading):
        document, note = await session.feed.read(kind, object_key), ""
    else:
        document, note = _kept(session.cluster, kind, object_key), "  the fields that ktui keeps"
    if document is None:
        return None
    title = f"{kind} {'/'.join(part for part in object_key if part)}{note}"
    return Yaml(title, await asyncio.to_thread(_to_yaml, document))


def _kept(cluster: Cluster, kind: str, key: Key) -> dict[str, Any] | None:
    store = cluster.stores.get(kind)
    found: Object | None = store.get(key) if store is not None else None
    return None if found is None else {"kind": kind, **msgspec.to_builtins(found)}


def _to_yaml(document: dict[str, Any]) -> str:
    """The YAML library is imported here: nothing before the first paint needs it."""
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=10_000)

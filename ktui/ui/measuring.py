"""Whose figures the screen shows: only they are asked for, and nothing while nobody looks at any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from msgspec import Struct

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.cluster.usage import exporter_of
from ktui.model.meta import Key
from ktui.model.resourceslice import DeviceId, PoolId
from ktui.model.usage import Wanted
from ktui.views.base import RowKey


class Shown(Struct, frozen=True):
    """What is on the screen: rows of a view, and what the figures in their columns come from; lines of the map; the row whose
    detail is open."""

    view: Entity
    rows: tuple[RowKey, ...] = ()
    needs: frozenset[str] = frozenset()
    pools: tuple[PoolId, ...] = ()
    opened: tuple[Entity, RowKey] | None = None


def wanted(cluster: Cluster, shown: Shown) -> Wanted:
    """The figures to ask for. A pod's detail shows its containers, its node and its devices; a device's its node as well."""
    pod = cluster.pod(cast("Key", shown.opened[1])) if shown.opened and shown.opened[0] == "pods" else None
    listed = shown.view == "pods" and "metrics" in shown.needs
    nodes = [node for node in _opened_nodes(cluster, shown) if node]
    exporters = _exporters(cluster, (*nodes, *_shown_nodes(cluster, shown)))
    return Wanted(listed, pod.key if pod is not None and not listed else None, tuple(nodes), tuple(exporters))


def shown_nodes(cluster: Cluster, shown: Shown) -> tuple[str, ...]:
    """The nodes whose devices are on the screen."""
    return tuple(dict.fromkeys((*_opened_nodes(cluster, shown), *_shown_nodes(cluster, shown))))


def _opened_nodes(cluster: Cluster, shown: Shown) -> Iterator[str]:
    match shown.opened:
        case ("pods", key):
            pod = cluster.pod(cast("Key", key))
            if pod is not None and pod.spec.node_name and not pod.finished:
                yield pod.spec.node_name
        case ("devices", key):
            yield _node_of(cluster, cast("DeviceId", key))


def _shown_nodes(cluster: Cluster, shown: Shown) -> Iterator[str]:
    for pool_id in shown.pools:
        pool = cluster.pool(pool_id)
        yield pool.node if pool is not None else ""
    if shown.view == "devices" and "gpus" in shown.needs:
        for key in shown.rows:
            yield _node_of(cluster, cast("DeviceId", key))


def _node_of(cluster: Cluster, device: DeviceId) -> str:
    published = cluster.device(device)
    return published.node if published is not None else ""


def _exporters(cluster: Cluster, nodes: Iterable[str]) -> Iterator[tuple[str, Key]]:
    for node in dict.fromkeys(nodes):
        if (exporter := exporter_of(cluster, node)) is not None:
            yield (node, exporter)

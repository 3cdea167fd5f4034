"""What an action on a row would be about: the devices behind it, the autoscaler it is."""

from __future__ import annotations

from typing import cast

from ktui.cluster.allocation import devices_of
from ktui.cluster.dirty import Entity, TriageKey
from ktui.cluster.lineage import TreeKey
from ktui.cluster.state import Cluster
from ktui.cluster.taints import TaintKey
from ktui.model.resourceslice import DeviceId
from ktui.model.taintrule import DeviceTaintRule
from ktui.views.base import RowKey
from ktui.views.shared import GROUPS, as_key, as_way, one_of


def row_behind(view: Entity, key: RowKey) -> tuple[Entity, RowKey] | None:
    """The view and the row that is meant: in the triage another view's, None for a pool, which no other view has; in the tree of
    workloads that of a gang or a pod."""
    if view == "workloads":
        return _row_in_tree(as_way(key))
    if view != "triage":
        return view, key
    what, inner = cast("TriageKey", key)
    return (what, inner) if what != "pools" else None


def _row_in_tree(row: TreeKey) -> tuple[Entity, RowKey]:
    way = one_of(row)
    namespace, kind, name = way[-1]
    if kind == "Pod":
        return "pods", (namespace, name)
    return ("gangs", (namespace, name)) if kind in GROUPS else ("workloads", way)


def devices_behind(cluster: Cluster, view: Entity, key: RowKey) -> list[DeviceId]:
    """The devices a row stands for, in a stable order; several for a pod, a claim or a gang, [] where there are none."""
    match view:
        case "devices":
            return [cast("DeviceId", key)]
        case "taints":
            return _tainted(cluster, cast("TaintKey", key))
        case "claims":
            claim = cluster.claim(as_key(key))
            return sorted({result.id for result in claim.results}) if claim else []
        case "pods":
            pod = cluster.pod(as_key(key))
            return sorted({use.device for c in devices_of(cluster, pod) for use in c.devices}) if pod else []
        case "gangs":
            pods = cluster.members(as_key(key))
            return sorted({use.device for pod in pods for c in devices_of(cluster, pod) for use in c.devices})
        case _:
            return []


def _tainted(cluster: Cluster, key: TaintKey) -> list[DeviceId]:
    if key[0] == "rule":
        rule = cluster.stores["DeviceTaintRule"].get(("", key[1]))
        return sorted(cluster.devices_of_rule(rule)) if isinstance(rule, DeviceTaintRule) else []
    return [(key[1], key[2], key[3])]

"""The tree of workloads as JSON: one document for each Workload, group of none and controller with pods in no group."""

from __future__ import annotations

from ktui.cluster.forest import exists
from ktui.cluster.gangs import Gang
from ktui.cluster.lineage import Reference, TreeKey
from ktui.cluster.state import Cluster
from ktui.cluster.stems import PLAIN, Step
from ktui.model.meta import Condition, Object
from ktui.views.base import Document
from ktui.views.shared import object_at
from ktui.views.trees import STEMS, gangs_of, missing, node_at, reading, reference_of, stems_below, tell, way_of
from ktui.views.workloadtree import job_of, node_document, scheduling_document


def document(cluster: Cluster, way: TreeKey) -> Document | None:
    """Of a stem, whatever is above it, or of an owner with the Workloads below it; None for other rows."""
    if way[-1][1] in STEMS:
        return _stem_document(cluster, way[-1]) if exists(cluster, way[-1]) else None
    stems = stems_below(cluster, way)
    reference = reference_of(cluster, way, stems)
    if reference is None:
        return None
    above = cluster.lineage.owners(stems[0])[: len(way) - 1]
    node = node_at(cluster, way)
    return {
        "namespace": way[-1][0],
        **_owner_document(cluster, reference),
        "owner": _owner(cluster.lineage.object(reference)),
        "owners": [_owner_document(cluster, each) for each in above],
        "state": tell(cluster, stems).state,
        "scheduling": None,
        "children": [node_document(each) for each in (node.children if node else ())],
        "gangs": [],
        "workloads": [_stem_document(cluster, stem) for stem in stems if stem[1] != PLAIN],
    }


def _stem_document(cluster: Cluster, stem: Step) -> Document:
    """Of a Workload, or of a group of none."""
    namespace, kind, name = stem
    found, node = gangs_of(cluster, stem), node_at(cluster, way_of(cluster, stem))
    workload = cluster.workload((namespace, name)) if kind == "Workload" else None
    ref = workload.spec.controller_ref if workload else None
    return {
        "namespace": namespace,
        "kind": kind,
        "name": name,
        "notRead": missing(cluster, stem) or None,
        "owner": {"kind": ref.kind, "name": ref.name} if ref else _owner(object_at(cluster, stem)),
        "owners": [_owner_document(cluster, reference) for reference in cluster.lineage.owners(stem)],
        "state": found[0].state if found else "-",
        "scheduling": scheduling_document(job_of(cluster, workload)) if workload else None,
        "children": [node_document(each) for each in (node.children if node else ())],
        "gangs": [_gang_document(each) for each in found],
    }


def _gang_document(found: Gang) -> Document:
    return {"name": found.key[1], "state": found.state, "minCount": found.min_count, "running": found.running}


def _owner(obj: Object | None) -> Document | None:
    owner = obj.metadata.controller if obj is not None else None
    return {"kind": owner.kind, "name": owner.name} if owner is not None else None


def _owner_document(cluster: Cluster, reference: Reference) -> Document:
    obj = cluster.lineage.object(reference)
    return {
        "group": reference.type.group,
        "kind": reference.type.kind,
        "name": reference.step[2],
        "read": obj is not None,
        "notRead": not_read(cluster, reference) or None,
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
            for each in conditions(obj)
        ],
    }


def not_read(cluster: Cluster, reference: Reference) -> str:
    """Why the owner is known by its name only, in the words of its source; "" where it was read."""
    why_not = reading(cluster, reference)
    if why_not in ("", "gone"):
        return why_not
    streams = cluster.streams_of((reference.step[1],))
    return next((stream.message for stream in streams if stream.message), "it is known by its name only")


def conditions(obj: Object | None) -> tuple[Condition, ...]:
    """Whatever kind it is: `status.conditions` is a convention that most follow."""
    status = getattr(obj, "status", None)
    return getattr(status, "conditions", None) or ()

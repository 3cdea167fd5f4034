"""Workloads: which controller asked for which gangs, as a tree from the owner that nobody owns down to the pods."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ktui.cluster.lineage import Reference, TreeKey
from ktui.cluster.state import Cluster
from ktui.model.meta import Condition, Object
from ktui.model.owner import named_type
from ktui.model.time import parse_time
from ktui.model.workload import Workload
from ktui.views import gangs, pods
from ktui.views.base import Branch, Cell, Column, Document, Line, Row, RowKey, Section, pairs
from ktui.views.shared import GROUPS, as_way, object_at, owner_text, time_text
from ktui.views.trees import (
    branch,
    gangs_of,
    groups_below,
    reading,
    reference_of,
    row_at,
    tell,
    way_to,
    workloads_below,
)
from ktui.views.workloadtree import (
    COMPOSITE,
    Node,
    job_of,
    node_document,
    node_lines,
    scheduling_document,
    scheduling_text,
)


class WorkloadsView:
    id: Final = "workloads"
    title = "Workloads"
    order = "namespace"
    trunk = 1
    kinds = ("Workload",)
    joins = ("Pod", "PodGroup", "CompositePodGroup", "ResourceClaim", "Job")
    makers = ()
    unseen = ("Job",)
    labelled = "Workload"
    named = ""  # a Workload is found by its owners' names as well
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=4),
        Column("workload", "WORKLOAD", 32, 4, priority=9),
        Column("state", "STATE", 10, 0, priority=8),
        Column("gangs", "GANGS", 5, 0, priority=5, kind="number"),
        Column("pods", "PODS", 8, 0, priority=7),
        Column("age", "AGE", 6, 0, priority=3, kind="age"),
    )

    def keys(self, cluster: Cluster) -> Iterable[TreeKey]:
        return sorted(cluster.lineage.roots())

    def subjects(self, cluster: Cluster) -> Iterable[TreeKey]:
        """Workloads, whatever is above them."""
        for namespace, name in sorted(cluster.stores["Workload"].objects):
            yield way_to(cluster, (namespace, name))

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        way = as_way(key)
        if all(kind != "Workload" for _, kind, _ in way[:-1]):
            return row_at(cluster, way)
        found = _find(cluster, way)
        return found.row if found is not None else None

    def branch(self, cluster: Cluster, root: RowKey) -> Branch | None:
        return branch(cluster, as_way(root)[:1])

    def reads(self, kinds: frozenset[str]) -> bool:
        return any(named_type(kind) is not None for kind in kinds)

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:  # noqa: ARG002 - the key says it
        """Its own and those of its owners."""
        return tuple(name for _, _, name in reversed(as_way(key)))

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        found = object_at(cluster, as_way(key)[-1])
        return (found.metadata.labels or {}) if found else {}

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        way = as_way(key)
        namespace, kind, name = way[-1]
        if kind == "Pod":
            return pods.VIEW.detail(cluster, (namespace, name), now)
        if kind in GROUPS:
            return gangs.VIEW.detail(cluster, (namespace, name), now)
        if kind == COMPOSITE:
            return _composite_detail(cluster, way, now)
        workload = cluster.workload((namespace, name)) if kind == "Workload" else None
        return _workload_detail(cluster, workload, now) if workload else _owner_detail(cluster, way, now)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        """Of a Workload, or of an owner with its Workloads below it."""
        way = as_way(key)
        namespace, kind, name = way[-1]
        if kind == "Workload":
            workload = cluster.workload((namespace, name))
            return _workload_document(cluster, workload) if workload else None
        below = workloads_below(cluster, way)
        reference = reference_of(cluster, way, below)
        if reference is None:
            return None
        return {
            "namespace": namespace,
            **_owner_document(cluster, reference),
            "state": tell(cluster, below).state,
            "workloads": [_workload_document(cluster, each) for each in below],
        }


def _find(cluster: Cluster, way: TreeKey) -> Branch | None:
    found = branch(cluster, way[:1])
    for depth in range(2, len(way) + 1):
        below = found.below() if found is not None else ()
        found = next((each for each in below if each.row.key == way[:depth]), None)
    return found


# --- details ---


def _workload_detail(cluster: Cluster, workload: Workload, now: float) -> tuple[Section, ...]:
    about = pairs(
        ("owner", _owner(workload)),
        ("asks for", scheduling_text(job_of(cluster, workload))),
        ("created", time_text(parse_time(workload.metadata.creation_timestamp), now)),
    )
    owners = tuple(_owner_line(cluster, reference) for reference in cluster.lineage.owners(workload.key))
    lines = tuple(node_lines(groups_below(cluster, workload)))
    return _filled(
        Section(f"Workload {workload.namespace}/{workload.name}", about),
        Section("Above it", owners),
        Section("Below it", lines),
    )


def _owner_detail(cluster: Cluster, way: TreeKey, now: float) -> tuple[Section, ...]:
    workloads = workloads_below(cluster, way)
    reference = reference_of(cluster, way, workloads)
    if reference is None:
        return ()
    obj = cluster.lineage.object(reference)
    told = tell(cluster, workloads)
    about = pairs(
        ("api group", reference.type.group),
        ("state", told.state, told.style),
        ("pods", f"{told.running} of {told.needed} run"),
        ("not read", _not_read(cluster, reference), "warn"),
        ("owner", owner_text(obj)),
        ("created", time_text(parse_time(obj.metadata.creation_timestamp) if obj else None, now)),
    )
    said = tuple(_condition_line(each) for each in _conditions(obj))
    below = tuple(
        (Cell("Workload ", "dim"), Cell(f"{each.name}  "), Cell(found.state, found.style))
        for each in workloads
        for found in (tell(cluster, [each]),)
    )
    title = f"{reference.type.kind} {way[-1][0]}/{way[-1][2]}"
    return _filled(Section(title, about), Section("Conditions", said), Section("Below it", below))


def _composite_detail(cluster: Cluster, way: TreeKey, now: float) -> tuple[Section, ...]:
    node = _node_at(cluster, way)
    if node is None:
        return ()
    namespace, _, name = way[-1]
    obj = cluster.stores[COMPOSITE].get((namespace, name)) if node.min_groups is not None else None
    asked = "" if node.min_groups is None else f", {node.min_groups} needed"
    unread = next((stream.message for stream in cluster.streams_of((COMPOSITE,)) if stream.message), "")
    about = pairs(
        ("state", node.state, node.style),
        ("groups", f"{node.ready} of {len(node.children)} run{asked}"),
        ("pods", f"{node.running} of {node.needed} run"),
        ("not read", (unread or "known from the groups that name it") if obj is None else "", "warn"),
        ("created", time_text(parse_time(obj.metadata.creation_timestamp) if obj else None, now)),
    )
    lines = tuple(node_lines(node.children))
    return _filled(Section(f"{COMPOSITE} {namespace}/{name}", about), Section("Below it", lines))


def _node_at(cluster: Cluster, way: TreeKey) -> Node | None:
    """The group of groups at a place below a Workload."""
    at = next((place for place, (_, kind, _) in enumerate(way) if kind == "Workload"), len(way))
    workload = cluster.workload((way[at][0], way[at][2])) if at < len(way) else None
    found: Node | None = None
    below = groups_below(cluster, workload) if workload else ()
    for _, kind, name in way[at + 1 :]:
        found = next((node for node in below if (node.kind, node.name) == (kind, name)), None)
        below = found.children if found else ()
    return found


def _filled(*sections: Section) -> tuple[Section, ...]:
    return tuple(section for section in sections if section.lines)


def _owner_line(cluster: Cluster, reference: Reference) -> Line:
    why_not = reading(cluster, reference)
    told = ", ".join(each.type for each in _conditions(cluster.lineage.object(reference)) if each.status == "True")
    return (
        Cell(f"{reference.type.kind} ", "dim"),
        Cell(f"{reference.step[2]}  "),
        Cell(why_not or told, "warn" if why_not else "dim"),
    )


def _not_read(cluster: Cluster, reference: Reference) -> str:
    why_not = reading(cluster, reference)
    if why_not in ("", "gone"):
        return why_not
    streams = cluster.streams_of((reference.step[1],))
    return next((stream.message for stream in streams if stream.message), "it is known by its name only")


def _conditions(obj: Object | None) -> tuple[Condition, ...]:
    """Whatever kind it is: `status.conditions` is a convention that most follow."""
    status = getattr(obj, "status", None)
    return getattr(status, "conditions", None) or ()


def _condition_line(said: Condition) -> Line:
    return (
        Cell(f"{said.type} ", "dim"),
        Cell(f"{said.status}  "),
        Cell(": ".join(part for part in (said.reason, said.message) if part)),
    )


def _owner(workload: Workload) -> str:
    ref = workload.spec.controller_ref
    return f"{ref.kind}/{ref.name}" if ref else owner_text(workload)


# --- documents ---


def _workload_document(cluster: Cluster, workload: Workload) -> Document:
    found = gangs_of(cluster, workload)
    ref = workload.spec.controller_ref
    return {
        "namespace": workload.namespace,
        "name": workload.name,
        "owner": {"kind": ref.kind, "name": ref.name} if ref else None,
        "owners": [_owner_document(cluster, reference) for reference in cluster.lineage.owners(workload.key)],
        "state": found[0].state if found else "-",
        "scheduling": scheduling_document(job_of(cluster, workload)),
        "children": [node_document(node) for node in groups_below(cluster, workload)],
        "gangs": [{"name": g.key[1], "state": g.state, "minCount": g.min_count, "running": g.running} for g in found],
    }


def _owner_document(cluster: Cluster, reference: Reference) -> Document:
    obj = cluster.lineage.object(reference)
    return {
        "group": reference.type.group,
        "kind": reference.type.kind,
        "name": reference.step[2],
        "read": obj is not None,
        "notRead": _not_read(cluster, reference) or None,
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
            for each in _conditions(obj)
        ],
    }


VIEW = WorkloadsView()

"""Workloads: which controller asked for which gangs, as a tree from the owner that nobody owns down to the pods.

What is in it beside Workloads, and why: `ktui.cluster.stems`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ktui.cluster.forest import stems
from ktui.cluster.lineage import Reference, TreeKey
from ktui.cluster.state import Cluster
from ktui.cluster.stems import PLAIN, Step
from ktui.model.meta import Condition
from ktui.model.owner import named_type
from ktui.model.time import parse_time
from ktui.model.workload import Workload
from ktui.views import gangs, pods
from ktui.views.base import Branch, Cell, Column, Document, Line, Row, RowKey, Section, pairs
from ktui.views.shared import GROUPS, as_way, object_at, one_of, owner_text, time_text
from ktui.views.treedocuments import conditions, document, not_read
from ktui.views.trees import (
    GROWN,
    STEMS,
    branch,
    missing,
    node_at,
    now_at,
    reading,
    reference_of,
    row_at,
    stems_below,
    tell,
    way_of,
)
from ktui.views.workloadtree import COMPOSITE, Node, job_of, node_lines, scheduling_text


class WorkloadsView:
    id: Final = "workloads"
    title = "Workloads"
    order = "namespace"
    trunk = 1
    kinds = ("Workload",)
    joins = ("Pod", "PodGroup", "CompositePodGroup", "ResourceClaim", "Job")
    makers = ("PodGroup", "Pod")
    unseen = ("Job",)  # read where it owns something
    labelled = ""
    named = ""  # a Workload is found by its owners' names as well
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=4),
        Column("workload", "WORKLOAD", 31, 4, priority=9),
        Column("state", "STATE", 11, 1, priority=8),
        Column("gangs", "GANGS", 5, 0, priority=5, kind="number"),
        Column("pods", "PODS", 8, 0, priority=7),
        Column("age", "AGE", 6, 0, priority=3, kind="age"),
    )

    def keys(self, cluster: Cluster) -> Iterable[TreeKey]:
        return sorted({cluster.lineage.root(stem) for stem in stems(cluster)})

    def subjects(self, cluster: Cluster) -> Iterable[TreeKey]:
        """Workloads, groups of none, and what has pods in no group; whatever is above them."""
        ways = {way_of(cluster, stem) for stem in stems(cluster)}
        return sorted(ways, key=lambda way: (way[-1][0], way[-1][2], way))

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        way = as_way(key)
        if way[-1][1] not in GROWN and all(kind not in STEMS for _, kind, _ in way[:-1]):
            return row_at(cluster, way)
        found = _find(cluster, way)
        return found.row if found is not None else None

    def branch(self, cluster: Cluster, root: RowKey) -> Branch | None:
        return branch(cluster, as_way(root)[:1])

    def now_at(self, cluster: Cluster, key: RowKey) -> RowKey:
        return now_at(cluster, as_way(key))

    def reads(self, kinds: frozenset[str]) -> bool:
        return any(named_type(kind) is not None for kind in kinds)

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:  # noqa: ARG002 - the key says it
        """Its own and those of its owners."""
        return tuple(name for _, _, name in reversed(as_way(key)))

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        found = object_at(cluster, one_of(as_way(key))[-1])
        return (found.metadata.labels or {}) if found else {}

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        way = one_of(as_way(key))
        namespace, kind, name = way[-1]
        if kind == "Pod":
            return pods.VIEW.detail(cluster, (namespace, name), now)
        if kind in GROUPS:
            return gangs.VIEW.detail(cluster, (namespace, name), now)
        if kind == COMPOSITE:
            return _composite_detail(cluster, way, now)
        return _workload_detail(cluster, way, now) if kind == "Workload" else _owner_detail(cluster, way, now)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        """Of a stem, or of an owner with the stems below it."""
        return document(cluster, as_way(key))


def _find(cluster: Cluster, way: TreeKey) -> Branch | None:
    found = branch(cluster, way[:1])
    for depth in range(2, len(way) + 1):
        below = found.below() if found is not None else ()
        found = next((each for each in below if each.row.key == way[:depth]), None)
    return found


# --- details ---


def _workload_detail(cluster: Cluster, way: TreeKey, now: float) -> tuple[Section, ...]:
    namespace, _, name = way[-1]
    node = node_at(cluster, way_of(cluster, way[-1]))
    if node is None:
        return ()
    workload = cluster.workload((namespace, name))
    about = pairs(
        ("owner", _owner(workload) if workload else ""),
        ("asks for", scheduling_text(job_of(cluster, workload)) if workload else ""),
        ("not read", missing(cluster, way[-1]), "warn"),
        ("created", time_text(parse_time(workload.metadata.creation_timestamp) if workload else None, now)),
    )
    owners = tuple(_owner_line(cluster, reference) for reference in cluster.lineage.owners(way[-1]))
    return _filled(
        Section(f"Workload {namespace}/{name}", about),
        Section("Above it", owners),
        Section("Below it", tuple(node_lines(node.children))),
    )


def _owner_detail(cluster: Cluster, way: TreeKey, now: float) -> tuple[Section, ...]:
    below = stems_below(cluster, way)
    reference = reference_of(cluster, way, below)
    if reference is None:
        return ()
    obj = cluster.lineage.object(reference)
    told = tell(cluster, below)
    about = pairs(
        ("api group", reference.type.group),
        ("state", told.state, told.style),
        ("pods", f"{told.running} of {told.needed} run"),
        ("not read", not_read(cluster, reference), "warn"),
        ("owner", owner_text(obj)),
        ("created", time_text(parse_time(obj.metadata.creation_timestamp) if obj else None, now)),
    )
    said = tuple(_condition_line(each) for each in conditions(obj))
    node = node_at(cluster, way)
    lines = (*(_stem_line(cluster, stem) for stem in below), *(node_lines(node.children) if node else ()))
    title = f"{reference.type.kind} {way[-1][0]}/{way[-1][2]}"
    return _filled(Section(title, about), Section("Conditions", said), Section("Below it", tuple(filter(None, lines))))


def _stem_line(cluster: Cluster, stem: Step) -> Line:
    """Nothing for pods, which have lines of their own."""
    if stem[1] == PLAIN:
        return ()
    found = tell(cluster, [stem])
    return (Cell(f"{stem[1]} ", "dim"), Cell(f"{stem[2]}  "), Cell(found.state, found.style))


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
    at = next((place for place, (_, kind, _) in enumerate(way, 1) if kind == "Workload"), 0)
    found = node_at(cluster, way[:at]) if at else None
    for _, kind, name in way[at:]:
        below = found.children if found else ()
        found = next((node for node in below if (node.kind, node.name) == (kind, name)), None)
    return found


def _filled(*sections: Section) -> tuple[Section, ...]:
    return tuple(section for section in sections if section.lines)


def _owner_line(cluster: Cluster, reference: Reference) -> Line:
    why_not = reading(cluster, reference)
    told = ", ".join(each.type for each in conditions(cluster.lineage.object(reference)) if each.status == "True")
    return (
        Cell(f"{reference.type.kind} ", "dim"),
        Cell(f"{reference.step[2]}  "),
        Cell(why_not or told, "warn" if why_not else "dim"),
    )


def _condition_line(said: Condition) -> Line:
    return (
        Cell(f"{said.type} ", "dim"),
        Cell(f"{said.status}  "),
        Cell(": ".join(part for part in (said.reason, said.message) if part)),
    )


def _owner(workload: Workload) -> str:
    ref = workload.spec.controller_ref
    return f"{ref.kind}/{ref.name}" if ref else owner_text(workload)


VIEW = WorkloadsView()

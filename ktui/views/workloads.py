"""Workloads: which controller asked for which gangs."""

from __future__ import annotations

from typing import Final

from ktui.cluster.gangs import Gang, gang
from ktui.cluster.state import Cluster
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.time import parse_time
from ktui.model.workload import Workload
from ktui.views.base import Cell, Column, Document, Row, RowKey, Section, pairs
from ktui.views.gangs import PROBLEMS, STYLES, WORST_FIRST
from ktui.views.shared import OBJECT_KINDS, ObjectsView, as_key, owner_text, time_text
from ktui.views.workloadtree import job_of, node_document, node_lines, nodes_of, scheduling_document, scheduling_text


class WorkloadsView(ObjectsView):
    id: Final = "workloads"
    title = "Workloads"
    order = "namespace"
    kind = OBJECT_KINDS["workloads"]
    kinds = ("Workload",)
    joins = ("Pod", "PodGroup", "CompositePodGroup", "ResourceClaim", "Job")
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=4),
        Column("workload", "WORKLOAD", 14, 3, priority=9),
        Column("owner", "OWNER", 12, 2, priority=6),
        Column("state", "STATE", 10, 0, priority=8),
        Column("gangs", "GANGS", 6, 0, priority=5, kind="number"),
        Column("pods", "PODS", 10, 0, priority=7),
        Column("age", "AGE", 6, 0, priority=3, kind="age"),
    )

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        workload = cluster.workload(as_key(key))
        if workload is None:
            return None
        found = gangs_of(cluster, workload)
        state = _state(found)
        running, needed = sum(g.running for g in found), sum(g.needed for g in found)
        created = parse_time(workload.metadata.creation_timestamp)
        owner = _owner(workload)
        cells = (
            Cell(workload.namespace),
            Cell(workload.name),
            Cell(owner),
            Cell(state, STYLES[found[0].state] if found and state != "-" else "dim"),
            Cell(str(len(found))),
            Cell(f"{running} of {needed}"),
            Cell("", "dim"),
        )
        return Row(
            key=workload.key,
            cells=cells,
            sort=(workload.namespace, workload.name, owner, state, len(found), running, -(created or 0.0)),
            uid=workload.metadata.uid,
            namespace=workload.namespace,
            since=created,
            problem=state in PROBLEMS,
        )

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        workload = cluster.workload(as_key(key))
        if workload is None:
            return ()
        about = pairs(
            ("owner", _owner(workload)),
            ("asks for", scheduling_text(job_of(cluster, workload))),
            ("created", time_text(parse_time(workload.metadata.creation_timestamp), now)),
        )
        lines = tuple(node_lines(nodes_of(gangs_of(cluster, workload), composites_of(cluster, workload))))
        sections = (Section(f"Workload {workload.namespace}/{workload.name}", about), Section("Below it", lines))
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        workload = cluster.workload(as_key(key))
        if workload is None:
            return None
        found = gangs_of(cluster, workload)
        ref = workload.spec.controller_ref
        return {
            "namespace": workload.namespace,
            "name": workload.name,
            "owner": {"kind": ref.kind, "name": ref.name} if ref else None,
            "state": _state(found),
            "scheduling": scheduling_document(job_of(cluster, workload)),
            "children": [node_document(node) for node in nodes_of(found, composites_of(cluster, workload))],
            "gangs": [
                {"name": g.key[1], "state": g.state, "minCount": g.min_count, "running": g.running} for g in found
            ],
        }


def gangs_of(cluster: Cluster, workload: Workload) -> list[Gang]:
    """The workload's gangs, the one in the worst state first."""
    keys = {*cluster.groups_by_workload[workload.key]}
    keys.update((workload.namespace, f"{workload.name}/{group.name}") for group in workload.spec.pod_groups or ())
    pods = (cluster.pod(key) for key in cluster.pods_by_workload[workload.key])
    keys.update((pod.namespace, pod.group) for pod in pods if pod is not None)  # replicas of groups, on 1.35
    found = [g for key in sorted(keys) if (g := gang(cluster, key)) is not None]
    return sorted(found, key=lambda g: WORST_FIRST.index(g.state))


def composites_of(cluster: Cluster, workload: Workload) -> list[CompositePodGroup]:
    """The workload's groups of groups, as far as their objects can be read."""
    store = cluster.stores["CompositePodGroup"]
    found = (store.get(key) for key in cluster.composites_by_workload[workload.key])
    return [each for each in found if isinstance(each, CompositePodGroup)]


def _state(found: list[Gang]) -> str:
    return found[0].state if found else "-"


def _owner(workload: Workload) -> str:
    ref = workload.spec.controller_ref
    return f"{ref.kind}/{ref.name}" if ref else owner_text(workload)


VIEW = WorkloadsView()

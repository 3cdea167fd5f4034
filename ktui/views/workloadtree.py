"""What hangs below a Workload: groups of groups, groups and their pods; and the Job above it.

A composite group is known by its name only, from the groups that name it as their parent: the API server serves the object in an
alpha version, and the scheduler of 1.37 writes no state to it. So its state is that of the worst group below.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from ktui.cluster.gangs import Gang
from ktui.cluster.state import Cluster
from ktui.model.job import Job, JobScheduling
from ktui.model.pod import Pod
from ktui.model.podstatus import status_word
from ktui.model.workload import Workload
from ktui.views.base import Cell, Document, Line, Style
from ktui.views.gangs import STYLES, WORST_FIRST
from ktui.views.shared import pod_style

_PODS: Final = 8  # of each group that the detail shows


class Node(Struct, frozen=True):
    """One object with what is below it. `running` and `needed` count pods; of a pod both are 0."""

    kind: str
    name: str
    state: str
    style: Style
    running: int = 0
    needed: int = 0
    children: tuple[Node, ...] = ()


def nodes_of(gangs: Iterable[Gang]) -> tuple[Node, ...]:
    """The groups of one Workload, those with a parent below it; the worst first."""
    alone: list[Gang] = []
    composites: dict[str, list[Gang]] = {}
    for found in gangs:
        parent = found.group.spec.parent_composite_pod_group_name if found.group else None
        composites.setdefault(parent, []).append(found) if parent else alone.append(found)
    made = [(_rank(g), _group(g)) for g in alone]
    made += [(min(map(_rank, below)), _composite(name, below)) for name, below in composites.items()]
    return tuple(node for _, node in sorted(made, key=lambda pair: (pair[0], pair[1].name)))


def node_document(node: Node) -> Document:
    document: Document = {"kind": node.kind, "name": node.name, "state": node.state}
    if node.kind != "Pod":
        document |= {
            "running": node.running,
            "needed": node.needed,
            "children": [node_document(child) for child in node.children],
        }
    return document


def node_lines(nodes: Iterable[Node], depth: int = 0) -> Iterator[Line]:
    """Indented by depth; of many pods of one group the first ones."""
    below = tuple(nodes)
    shown = below[:_PODS] if below and below[0].kind == "Pod" else below
    for node in shown:
        count = f"  {node.running} of {node.needed} run" if node.kind != "Pod" else ""
        yield (
            Cell(f"{'  ' * depth}{node.kind} ", "dim"),
            Cell(f"{node.name}  "),
            Cell(node.state, node.style),
            Cell(count, "dim"),
        )
        yield from node_lines(node.children, depth + 1)
    if more := len(below) - len(shown):
        yield (Cell(f"{'  ' * depth}and {more} more", "dim"),)


def job_of(cluster: Cluster, workload: Workload) -> Job | None:
    """The Job that the Workload belongs to, as its spec.controllerRef names it."""
    ref = workload.spec.controller_ref
    if ref is None or (ref.api_group, ref.kind) != ("batch", "Job"):
        return None
    found = cluster.stores["Job"].get((workload.namespace, ref.name))
    return found if isinstance(found, Job) else None


def scheduling_document(job: Job | None) -> Document | None:
    """Job.spec.scheduling (alpha, gate WorkloadWithJob); None where the Job does not ask for anything."""
    asked = job.spec.scheduling if job else None
    if asked is None:
        return None
    return {
        "policy": _policy(asked),
        "minCount": _min_count(asked),
        "disruptionMode": asked.disruption_mode.variant if asked.disruption_mode else None,
        "topology": [c.key for c in (asked.scheduling_constraints.topology or ())]
        if asked.scheduling_constraints
        else [],
    }


def scheduling_text(job: Job | None) -> str:
    asked = job.spec.scheduling if job else None
    policy = _policy(asked) if asked else None
    if asked is None or policy is None:
        return ""
    if policy == "basic":
        return "basic: pod by pod"
    least = _min_count(asked)
    return f"gang of at least {least}" if least is not None else "gang of all parallel pods"


def _policy(asked: JobScheduling) -> str | None:
    policy = asked.scheduling_policy
    if policy is None:
        return None
    return "gang" if policy.gang is not None else "basic" if policy.basic is not None else None


def _min_count(asked: JobScheduling) -> int | None:
    gang = asked.scheduling_policy.gang if asked.scheduling_policy else None
    return gang.min_count if gang else None


def _group(found: Gang) -> Node:
    kind = "PodGroup" if found.group else "Group"
    pods = sorted(found.members, key=lambda pod: (_calm(pod), pod.name))
    return Node(
        kind, found.key[1], found.state, STYLES[found.state], found.running, found.needed, tuple(map(_pod, pods))
    )


def _composite(name: str, below: list[Gang]) -> Node:
    worst = min(below, key=_rank)
    children = tuple(_group(g) for g in sorted(below, key=lambda g: (_rank(g), g.key)))
    running, needed = sum(g.running for g in below), sum(g.needed for g in below)
    return Node("CompositePodGroup", name, worst.state, STYLES[worst.state], running, needed, children)


def _pod(pod: Pod) -> Node:
    return Node("Pod", pod.name, status_word(pod), pod_style(pod))


def _calm(pod: Pod) -> bool:
    """Whether it needs no look: these come last."""
    return pod_style(pod) in ("ok", "dim")


def _rank(found: Gang) -> int:
    return WORST_FIRST.index(found.state)

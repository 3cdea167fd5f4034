"""What hangs below a Workload: groups of groups, groups and their pods; and the Job above it.

The scheduler of 1.37 writes no state to a composite group. So it is counted from the groups below, as the scheduler counts: it
runs when as many of them do as it asks for. Where its object cannot be read (the API is alpha), it is known by its name, from the
groups that name it as their parent; nobody says then how many of them it needs, and it is as well as the worst of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final, cast

from msgspec import Struct

from ktui.cluster.gangs import Gang, GangState
from ktui.cluster.state import Cluster
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.job import Job, JobScheduling
from ktui.model.pod import Pod
from ktui.model.podstatus import status_word
from ktui.model.workload import Workload
from ktui.views.base import Cell, Document, Line, Style
from ktui.views.gangs import STYLES, WORST_FIRST
from ktui.views.shared import pod_style

COMPOSITE: Final = "CompositePodGroup"
_PODS: Final = 8  # of each group that the detail shows
_DEEPEST: Final = 8  # composite groups below each other; the API server takes four
_READY: Final = ("Running", "Completed")


class Node(Struct, frozen=True):
    """One object with what is below it. `running` and `needed` count pods; of a pod both are 0. `min_groups` is how many of its
    groups a composite group needs, None where nobody says."""

    kind: str
    name: str
    state: str
    style: Style
    running: int = 0
    needed: int = 0
    children: tuple[Node, ...] = ()
    min_groups: int | None = None

    @property
    def ready(self) -> int:
        """How many of its groups run, or have."""
        return sum(child.state in _READY for child in self.children)


def nodes_of(gangs: Iterable[Gang], composites: Iterable[CompositePodGroup] = ()) -> tuple[Node, ...]:
    """The groups of one Workload, those with a parent below it; the worst first."""
    return _Grove(gangs, composites).roots()


def group_node(found: Gang) -> Node:
    """A group with its pods."""
    kind = "PodGroup" if found.group or "/" not in found.key[1] else "Group"
    return Node(
        kind, found.key[1], found.state, STYLES[found.state], found.running, found.needed, pod_nodes(found.members)
    )


def pod_nodes(pods: Iterable[Pod]) -> tuple[Node, ...]:
    """Those that need a look first."""
    return tuple(map(_pod, sorted(pods, key=lambda pod: (_calm(pod), pod.name))))


def node_document(node: Node) -> Document:
    document: Document = {"kind": node.kind, "name": node.name, "state": node.state}
    if node.kind != "Pod":
        document |= {
            "running": node.running,
            "needed": node.needed,
            **({"minGroupCount": node.min_groups, "readyGroups": node.ready} if node.kind == COMPOSITE else {}),
            "children": [node_document(child) for child in node.children],
        }
    return document


def node_lines(nodes: Iterable[Node], depth: int = 0) -> Iterator[Line]:
    """Indented by depth; of many pods of one group the first ones."""
    below = tuple(nodes)
    shown = below[:_PODS] if below and below[0].kind == "Pod" else below
    for node in shown:
        count = f"  {count_text(node)}" if node.kind != "Pod" else ""
        yield (
            Cell(f"{'  ' * depth}{node.kind} ", "dim"),
            Cell(f"{node.name}  "),
            Cell(node.state, node.style),
            Cell(count, "dim"),
        )
        yield from node_lines(node.children, depth + 1)
    if more := len(below) - len(shown):
        yield (Cell(f"{'  ' * depth}and {more} more", "dim"),)


def count_text(node: Node) -> str:
    """How many of its pods run, and of a composite group how many of its groups."""
    pods = f"{node.running} of {node.needed} run"
    if node.kind != COMPOSITE:
        return pods
    asked = "" if node.min_groups is None else f", {node.min_groups} needed"
    return f"{pods}, {node.ready} of {len(node.children)} groups{asked}"


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


class _Grove:
    """Groups by the name of their parent, and what grows of them. Each composite group is grown once, also where parents go round
    in a circle; what would be too deep stands beside the rest."""

    def __init__(self, gangs: Iterable[Gang], composites: Iterable[CompositePodGroup]) -> None:
        self._objects = {each.name: each for each in composites}
        self._groups: dict[str, list[Gang]] = {}
        self._nested: dict[str, list[str]] = {}
        for found in gangs:
            parent = found.group.spec.parent_composite_pod_group_name if found.group else None
            self._groups.setdefault(parent or "", []).append(found)
        names = dict.fromkeys((*self._objects, *filter(None, self._groups)))
        names |= dict.fromkeys(filter(None, map(self._parent, names)))
        for name in sorted(names):
            self._nested.setdefault(self._parent(name), []).append(name)
        self._names = sorted(names)
        self._grown: set[str] = set()

    def roots(self) -> tuple[Node, ...]:
        made = self._below("", 0)
        made += [self._composite(name, 1) for name in self._names if name not in self._grown]
        return _sorted(made)

    def _parent(self, name: str) -> str:
        found = self._objects.get(name)
        return (found.spec.parent_composite_pod_group_name or "") if found else ""

    def _below(self, name: str, depth: int) -> list[Node]:
        found = [group_node(each) for each in self._groups.get(name, ())]
        if depth < _DEEPEST:
            nested = (each for each in self._nested.get(name, ()) if each not in self._grown)
            found += [self._composite(each, depth + 1) for each in nested]
        return found

    def _composite(self, name: str, depth: int) -> Node:
        self._grown.add(name)
        children = _sorted(self._below(name, depth))
        found = self._objects.get(name)
        least = found.min_groups if found else None
        state = _composite_state(children, least)
        running, needed = sum(child.running for child in children), sum(child.needed for child in children)
        return Node(COMPOSITE, name, state, STYLES[state], running, needed, children, least)


def _composite_state(children: tuple[Node, ...], least: int | None) -> GangState:
    """Where groups are missing it waits for them to be made; if others run, they did not wait for it, so it was there before."""
    states = [cast("GangState", child.state) for child in children]
    ready = sum(state in _READY for state in states)
    if least is not None and states and ready >= max(1, least):
        return "Completed" if set(states) == {"Completed"} else "Running"
    unready = [state for state in states if state not in _READY]
    if not unready and least is not None:
        return "Degraded" if "Running" in states else "Pending"
    return min(unready or states, key=WORST_FIRST.index, default="Pending")


def _sorted(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: (WORST_FIRST.index(cast("GangState", node.state)), node.name)))


def _pod(pod: Pod) -> Node:
    return Node("Pod", pod.name, status_word(pod), pod_style(pod))


def _calm(pod: Pod) -> bool:
    """Whether it needs no look: these come last."""
    return pod_style(pod) in ("ok", "dim")

"""The tree above and below stems (`ktui.cluster.stems`), as rows: owners, Workloads, groups, pods.

What a row says is counted from what is below it: its state is that of the worst of it. Only the names are sure to be known:
references tell them, whether the objects can be read or not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, cast

from ktui.cluster.forest import exists
from ktui.cluster.gangs import Gang, GangState, gang
from ktui.cluster.lineage import Reference, TreeKey
from ktui.cluster.state import Cluster
from ktui.cluster.stems import PLAIN, Step, stem_of_group, workload_stem
from ktui.model.compositepodgroup import CompositePodGroup
from ktui.model.meta import Key, Object
from ktui.model.owner import named_type
from ktui.model.time import parse_time
from ktui.views.base import Branch, Cell, Row, Style
from ktui.views.gangs import PROBLEMS, STYLES, WORST_FIRST
from ktui.views.plainpods import plain_node
from ktui.views.shared import PODS, as_way
from ktui.views.workloadtree import COMPOSITE, Node, group_node, nodes_of

STEMS: Final = ("Workload", "PodGroup")
"""Kinds of rows below which groups and pods grow, and no more owners."""

GROWN: Final = ("Pod", PODS)
"""Kinds of rows below which there is nothing else."""

_MANY: Final = 8  # pods of one group from which on they fold into one row
_SHORT: Final = {COMPOSITE: "Composite"}  # it stands far to the right, and names are long
_READING: Final = {"no-access": "no access"}


class Told(NamedTuple):
    """What is said of everything below a row: the worst state ("-" where there is nothing), how many gangs there are, pods that
    run and that are needed, and names for the filter."""

    state: GangState | Literal["-"] = "-"
    gangs: int = 0
    running: int = 0
    needed: int = 0
    names: str = ""

    @property
    def style(self) -> Style:
        return STYLES[self.state] if self.state != "-" else "dim"


class _Tellings:
    """What is said of each stem, counted again only where something changed: an owner may have thousands of them."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._known: dict[Step, Told] = {}
        self._seen, self._sight = 0, -1

    def of(self, stem: Step) -> Told:
        journal = self._cluster.stem_journal
        if (journal.position, self._cluster.sight) != (self._seen, self._sight):
            self._forget()
        found = self._known.get(stem)
        if found is None:
            found = self._known[stem] = _count(self._cluster, stem)
        return found

    def _forget(self) -> None:
        self._seen, changed = self._cluster.stem_journal.since(self._seen)
        if (
            changed is None or self._sight != self._cluster.sight
        ):  # gangs of which not all was read are of unknown state
            self._known.clear()
        else:
            for stem in changed:
                self._known.pop(stem, None)
        self._sight = self._cluster.sight


# --- what there is ---


def gangs_of(cluster: Cluster, stem: Step) -> list[Gang]:
    """The stem's gangs, the one in the worst state first."""
    namespace, kind, name = stem
    if kind == "PodGroup":
        found = gang(cluster, (namespace, name))
        return [found] if found is not None else []
    if kind != "Workload":
        return []
    workload = cluster.workload((namespace, name))
    keys = {*cluster.groups_by_workload[namespace, name]}
    keys.update((namespace, f"{name}/{group.name}") for group in (workload.spec.pod_groups or () if workload else ()))
    pods = (cluster.pod(key) for key in cluster.pods_by_workload[namespace, name])
    keys.update((pod.namespace, pod.group) for pod in pods if pod is not None)  # replicas of groups, on 1.35
    gangs = [g for key in sorted(keys) if (g := gang(cluster, key)) is not None]
    return sorted(gangs, key=lambda g: WORST_FIRST.index(g.state))


def composites_of(cluster: Cluster, stem: Step) -> list[CompositePodGroup]:
    """A Workload's groups of groups, as far as their objects can be read."""
    namespace, kind, name = stem
    if kind != "Workload":
        return []
    store = cluster.stores["CompositePodGroup"]
    found = (store.get(key) for key in cluster.composites_by_workload[namespace, name])
    return [each for each in found if isinstance(each, CompositePodGroup)]


def node_at(cluster: Cluster, way: TreeKey) -> Node | None:
    """The object of an owner's or a stem's row with the groups and pods that grow right from it; None where nothing does."""
    own = [stem for stem in stems_below(cluster, way) if way_of(cluster, stem) == way]
    if not own or own[0][1] == PLAIN:
        return plain_node(cluster, way[-1], own) if own else None
    gangs = gangs_of(cluster, own[0])
    if own[0][1] == "PodGroup":
        return group_node(gangs[0])
    return Node("Workload", own[0][2], "", "", children=nodes_of(gangs, composites_of(cluster, own[0])))


def way_to(cluster: Cluster, workload: Key) -> TreeKey:
    """The key of a Workload's row."""
    return way_of(cluster, workload_stem(workload))


def way_of(cluster: Cluster, stem: Step) -> TreeKey:
    """The key of the row that stands for a stem: its own, and of pods in no group that of their controller."""
    above = tuple(reference.step for reference in cluster.lineage.owners(stem))
    return above if stem[1] == PLAIN else (*above, stem)


def now_at(cluster: Cluster, way: TreeKey) -> TreeKey:
    """Where the row of this key is by now: owners may have come above it, or gone. The key itself where there is no such row."""
    at = next((place for place, (_, kind, _) in enumerate(way) if kind in STEMS), -1)
    if at < 0:
        owners = tuple(step for step in way if step[1] not in GROWN)
        place = cluster.lineage.place(owners[-1]) if owners else ()
        return (*place, *way[len(owners) :]) if place else way
    stem = way[at]
    group = cluster.group((stem[0], stem[2])) if stem[1] == "PodGroup" else None
    above = stem_of_group(group) if group is not None else stem
    if above == stem:
        return (*way_of(cluster, stem), *way[at + 1 :])
    found = _find_below(branch(cluster, way_of(cluster, above)), stem)
    return (*found, *way[at + 1 :]) if found is not None else way


def _find_below(at: Branch | None, step: Step) -> TreeKey | None:
    for each in at.below() if at is not None else ():
        key = as_way(each.row.key)
        if key[-1] == step:
            return key
        if (found := _find_below(each, step)) is not None:
            return found
    return None


def stems_below(cluster: Cluster, way: TreeKey) -> list[Step]:
    """The stems at or below a row that is no row of pods, by name."""
    last = way[-1]
    if last[1] in STEMS:
        return [last] if exists(cluster, last) and way_of(cluster, last) == way else []
    return cluster.lineage.inside(way)


def reference_of(cluster: Cluster, way: TreeKey, below: list[Step]) -> Reference | None:
    """How the stems below an owner's row name it; None for what owns none."""
    owners = cluster.lineage.owners(below[0]) if below else ()
    return owners[len(way) - 1] if len(way) <= len(owners) else None


def reading(cluster: Cluster, reference: Reference) -> str:
    """Why the owner is known by its name only, "" where its object was read."""
    if cluster.lineage.object(reference) is not None:
        return ""
    kind = reference.step[1]
    streams = cluster.streams_of((kind,))
    if not any(stream.phase == "absent" for stream in streams) and cluster.synced(kind):
        return "gone"
    return next((_READING[stream.phase] for stream in streams if stream.phase in _READING), "not read")


def missing(cluster: Cluster, stem: Step) -> str:
    """Why a Workload, or a group of none, is known by its name only: "" where its object was read."""
    namespace, kind, name = stem
    if cluster.stores[kind].get((namespace, name)) is not None:
        return ""
    return "missing" if cluster.synced(kind) else "not read"


def tell(cluster: Cluster, stems: Iterable[Step]) -> Told:
    tellings = cluster.derived(_Tellings)
    stems = tuple(stems)
    found = [tellings.of(stem) for stem in stems]
    owners = {reference.step[2] for stem in stems for reference in cluster.lineage.owners(stem)}
    return Told(
        min((each.state for each in found), key=_rank, default="-"),
        sum(each.gangs for each in found),
        sum(each.running for each in found),
        sum(each.needed for each in found),
        " ".join((*sorted(owners), *(each.names for each in found))),
    )


def _count(cluster: Cluster, stem: Step) -> Told:
    if stem[1] == PLAIN:
        pods = plain_node(cluster, stem, (stem,))
        return Told(cast("GangState", pods.state), 0, pods.running, pods.needed, " ".join(_names(pods)))
    gangs = gangs_of(cluster, stem)
    names = {stem[2], *(each.name for each in composites_of(cluster, stem))}
    for each in gangs:
        names.add(each.key[1])
        names.update(pod.name for pod in each.members)
    return Told(
        gangs[0].state if gangs else "-",
        len(gangs),
        sum(each.running for each in gangs),
        sum(each.needed for each in gangs),
        " ".join(sorted(names)),
    )


# --- rows ---


def row_at(cluster: Cluster, way: TreeKey) -> Row | None:
    """The row of an owner or of a stem; None where there is none."""
    below = stems_below(cluster, way)
    if not below:
        return None
    told = tell(cluster, below)
    reference = reference_of(cluster, way, below)
    if reference is not None:
        return _told_row(way, cluster.lineage.object(reference), told, reading(cluster, reference))
    namespace, kind, name = way[-1]
    return _told_row(way, cluster.stores[kind].get((namespace, name)), told, missing(cluster, way[-1]))


def branch(cluster: Cluster, way: TreeKey) -> Branch | None:
    """An owner or a stem with all that is below it."""
    row = row_at(cluster, way)
    return Branch(row, lambda: tuple(_below(cluster, way))) if row is not None else None


def _below(cluster: Cluster, way: TreeKey) -> Iterator[Branch]:
    node = node_at(cluster, way)
    for each in _folded(node) if node is not None else ():
        yield _node_branch(cluster, way[-1][0], each, way)
    ways = (way_of(cluster, stem)[: len(way) + 1] for stem in stems_below(cluster, way))
    for longer in dict.fromkeys(ways):
        if longer != way and (found := branch(cluster, longer)) is not None:
            yield found


def _told_row(key: TreeKey, obj: Object | None, told: Told, why_not: str) -> Row:
    namespace, kind, name = key[-1]
    type_ = named_type(kind)
    label = f"{type_.kind if type_ else kind}/{name}"
    created = parse_time(obj.metadata.creation_timestamp) if obj else None
    problem = told.state in PROBLEMS
    cells = (
        Cell(namespace, "dim" if len(key) > 1 else ""),
        Cell(f"{label} ({why_not})" if why_not else label, "dim" if why_not else ""),
        Cell(told.state, told.style),
        Cell(str(told.gangs)),
        Cell(f"{told.running} of {told.needed}"),
        Cell("", "dim"),
    )
    return Row(
        key=key,
        cells=cells,
        sort=(namespace, label, _rank(told.state), told.gangs, told.running, -(created or 0.0)),
        uid=obj.metadata.uid if obj else "/".join(key[-1]),
        namespace=namespace,
        since=created,
        problem=problem,
        within=told.names,
        folds=True,
        unfolded=problem,
    )


def _node_branch(cluster: Cluster, namespace: str, node: Node, above: TreeKey) -> Branch:
    key = (*above, (namespace, node.kind, node.name))
    below = _folded(node)

    def grow() -> tuple[Branch, ...]:
        return tuple(_node_branch(cluster, namespace, child, key) for child in below)

    return Branch(_node_row(cluster, node, key), grow, sums_up=node.kind == PODS)


def _folded(node: Node) -> tuple[Node, ...]:
    """What is below: many pods are in one row of their own."""
    pods = node.children
    if node.kind == PODS or len(pods) < _MANY or pods[0].kind != "Pod":
        return pods
    states = Counter(pod.state for pod in pods)
    said = ", ".join(f"{count} {state}" for state, count in states.most_common())
    return (Node(PODS, node.name, f"{len(pods)} pods: {said}", pods[0].style, node.running, node.needed, pods),)


def _node_row(cluster: Cluster, node: Node, key: TreeKey) -> Row:
    namespace, name = key[-1][0], node.name
    many = node.kind == PODS
    obj = _object(cluster, node, (namespace, name))
    created = parse_time(obj.metadata.creation_timestamp) if obj else None
    label = node.state if many else f"{_SHORT.get(node.kind, node.kind)}/{name}"
    state = node.children[0].state if many else node.state
    problem = _is_problem(node)
    groups = len(node.children) if node.kind == COMPOSITE else 0
    cells = (
        Cell(namespace, "dim"),
        Cell(label),
        Cell(state, node.style),
        Cell(str(groups) if groups else ""),
        Cell(f"{node.running} of {node.needed}" if node.kind != "Pod" else ""),
        Cell("", "dim"),
    )
    return Row(
        key=key,
        cells=cells,
        sort=(namespace, label, _rank(state), groups, node.running, -(created or 0.0)),
        uid=obj.metadata.uid if obj else "/".join(key[-1]),
        namespace=namespace,
        since=created,
        problem=problem,
        within=" ".join(_names(node)),
        folds=bool(node.children),
        unfolded=problem and not many,
    )


def _names(node: Node) -> Iterator[str]:
    """Of everything below it."""
    for child in node.children:
        yield child.name
        yield from _names(child)


def _is_problem(node: Node) -> bool:
    if node.kind in ("Pod", PODS):
        return node.style in ("warn", "bad")
    return node.state in PROBLEMS or any(map(_is_problem, node.children) if node.kind == COMPOSITE else ())


def _object(cluster: Cluster, node: Node, key: Key) -> Object | None:
    """A composite group that is known by its name only may have an object of that name that says it is of another Workload."""
    known = node.kind in ("PodGroup", "Pod") or (node.kind == COMPOSITE and node.min_groups is not None)
    return cluster.stores[node.kind].get(key) if known else None


def _rank(state: str) -> float:
    """Groups by how bad their state is, then whatever else has one."""
    known: tuple[str, ...] = WORST_FIRST
    return float(known.index(state)) if state in known else float(len(known))

"""Gangs: groups of pods that are placed together, counted from their pods.

A gang is a PodGroup (1.36 and later), a pod group of a Workload (1.35, named WORKLOAD/GROUP), a Workload of Kueue, a PodGroup
of Volcano, or just a name that pods give while no such object exists. A PodGroup's own condition says only whether it was
placed once; it stays True whatever happens later, so the state is counted from pods and the condition only tells "placed
before" from "never placed".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ktui.cluster.beside import Beside, beside, beside_keys, said_state, twins, was_placed
from ktui.cluster.sources import GangSource, gang_source, object_key
from ktui.cluster.state import Cluster
from ktui.model.meta import Condition, Key, condition
from ktui.model.pod import Pod
from ktui.model.podgroup import SCHEDULED_CONDITIONS, PodGroup
from ktui.model.time import parse_time
from ktui.model.workload import Workload, WorkloadGroup

GangState = Literal[
    "Pending", "Scheduling", "Running", "Degraded", "Preempting", "Completed", "Failed", "Deleting", "Unknown"
]
_PREEMPTING = re.compile(r"preempting \d+ victims|ongoing preemption")


class Gang(NamedTuple):
    """One gang with its counts. `members` are all its pods, `active` those that have not finished."""

    key: Key
    group: PodGroup | None
    workload: Workload | None
    min_count: int | None  # None when no object says it
    members: tuple[Pod, ...]
    active: int
    bound: int  # active, on a node, not being deleted
    running: int
    succeeded: int
    failed: int
    state: GangState
    beside: Beside | None = None

    @property
    def object(self) -> PodGroup | Workload | Beside | None:
        """What makes it a gang, None for a mere name."""
        return self.group or self.workload or self.beside

    @property
    def source(self) -> GangSource:
        return gang_source(self.key)

    @property
    def needed(self) -> int:
        """How many pods must run for the gang to count as running; at least 1."""
        return max(1, self.min_count or 1)

    @property
    def wanted_text(self) -> str:
        """How many pods there should be, as shown beside those that run: all that exist, at least minCount; "?" while no
        object says how many are needed."""
        return "?" if self.min_count is None else str(max(self.needed, self.active + self.succeeded))

    @property
    def created(self) -> float | None:
        """Unix seconds since when the gang exists; for a group without an object, since its first pod."""
        owner = self.object
        if owner is not None:
            return parse_time(owner.metadata.creation_timestamp)
        times = [t for pod in self.members if (t := parse_time(pod.metadata.creation_timestamp)) is not None]
        return min(times, default=None)


def gang_keys(cluster: Cluster) -> set[Key]:
    """Every gang: group objects, groups inside 1.35 Workloads, names that pods give, and gangs of Kueue and Volcano."""
    keys = set(cluster.stores["PodGroup"].objects)
    keys.update(key for key in cluster.pods_by_group.values() if gang_source(key) == "podgroup")
    keys.update(beside_keys(cluster))
    for workload in cluster.all(Workload):
        for group in workload.spec.pod_groups or ():
            key = (workload.namespace, f"{workload.name}/{group.name}")
            if not _has_replicas(cluster, key):
                keys.add(key)
    return keys


def exists(cluster: Cluster, key: Key) -> bool:
    """Whether an object or a pod knows the gang: whether `gang` has one for the key, without counting its pods."""
    if gang_source(key) != "podgroup":
        return beside(cluster, key) is not None
    if key in cluster.stores["PodGroup"].objects or key in cluster.pods_by_group:
        return True
    return _workload_group(cluster, key)[1] is not None and not _has_replicas(cluster, key)


def gang(cluster: Cluster, key: Key) -> Gang | None:
    """The gang with this key, None when neither an object nor a pod knows it."""
    group, other = cluster.group(key), beside(cluster, key)
    workload, part = (None, None) if group else _workload_group(cluster, key)
    members = tuple(pod for name in sorted(cluster.pods_by_group[key]) if (pod := cluster.pod(name)) is not None)
    if group is None and part is None and other is None and (not members or gang_source(key) != "podgroup"):
        return None
    if part is not None and not members and _has_replicas(cluster, key):
        return None  # its replicas stand for it
    said_by = group or part or other
    min_count = said_by.min_count if said_by is not None else None
    count = _count(members)
    counted = Gang(
        key=key,
        group=group,
        workload=workload or _workload_of(cluster, group),
        min_count=min_count,
        members=members,
        active=len(members) - count.succeeded - count.failed,
        bound=count.bound,
        running=count.running,
        succeeded=count.succeeded,
        failed=count.failed,
        state="Unknown",
        beside=other,
    )
    return counted._replace(state=_state(cluster, counted))


class _Counted(NamedTuple):
    """Pods; `bound` and `running` are those that stay."""

    bound: int
    running: int
    succeeded: int
    failed: int


def _count(members: Iterable[Pod]) -> _Counted:
    """In one go: whatever happens to a pod, its gang is counted."""
    bound = running = succeeded = failed = 0
    for pod in members:
        phase = pod.status.phase
        if phase == "Succeeded":
            succeeded += 1
        elif phase == "Failed":
            failed += 1
        elif pod.spec.node_name and pod.metadata.deletion_timestamp is None:
            bound += 1
            running += phase == "Running"
    return _Counted(bound, running, succeeded, failed)


def gangs(cluster: Cluster) -> Iterator[Gang]:
    """Every gang, by namespace and name."""
    return (found for key in sorted(gang_keys(cluster)) if (found := gang(cluster, key)) is not None)


def display_name(cluster: Cluster, gang: Key) -> str:
    """What people call the gang: its owner's name (the Job) where the group's own name was generated for it alone. One of Kueue
    or Volcano says so."""
    if (source := gang_source(gang)) != "podgroup":
        return f"{_owner_name(cluster, gang) or object_key(gang)[1]} ({source})"
    group = cluster.group(gang)
    ref = group.spec.workload_ref if group else None
    owner = group.metadata.controller if group else None
    if group is None or ref is None or owner is None or not owner.name:
        return gang[1]
    alone = cluster.groups_by_workload.count((group.namespace, ref.workload_name)) == 1
    return owner.name if alone else gang[1]


def plain_names(cluster: Cluster, key: Key) -> tuple[str, ...]:
    """What a gang of Kueue or Volcano may be called besides its full name: by its object, and by its owner unless a group of
    Kubernetes' own goes by that name already."""
    name = object_key(key)[1]
    called = _owner_name(cluster, key) or name
    return (name,) if called == name or twins(cluster, key) else (name, called)


def _owner_name(cluster: Cluster, key: Key) -> str:
    found = beside(cluster, key)
    owner = found.metadata.controller if found is not None else None
    return owner.name if owner is not None else ""


def unread_kind(cluster: Cluster, g: Gang) -> str:
    """The kind that has to be read before anything can be said of the gang, "" when all was.

    Without the object that says how many pods are needed, one running pod would pass for a running gang.
    """
    said_by = "Workload" if "/" in g.key[1] else "PodGroup"
    needed = ("Pod",) if g.min_count is not None else ("Pod", said_by)
    return next((kind for kind in needed if not cluster.synced(kind)), "")


def scheduled_condition(group: PodGroup | None) -> Condition | None:
    """The scheduler's condition on the group, under its name in 1.37 or in 1.36."""
    return condition(group.status.conditions, *SCHEDULED_CONDITIONS) if group else None


def pod_scheduled(pod: Pod) -> Condition | None:
    return condition(pod.status.conditions, "PodScheduled")


def _state(cluster: Cluster, g: Gang) -> GangState:
    if unread_kind(cluster, g):
        return "Unknown"
    owner = g.group or g.beside or (g.workload if "/" in g.key[1] else None)
    if owner is not None and owner.metadata.deletion_timestamp is not None:
        return "Deleting"
    if g.beside is not None and (said := said_state(g.beside, has_pods=bool(g.members))) is not None:
        return said
    if g.members and not g.active:
        return "Failed" if g.failed and g.succeeded < g.needed else "Completed"
    if g.running + g.succeeded >= g.needed:
        return "Running"
    if g.bound + g.succeeded >= g.needed:
        return "Scheduling"
    if g.beside is not None:
        return _state_beside(g, g.beside)
    placed = scheduled_condition(g.group)
    if (placed is not None and placed.status == "True") or g.running:
        return "Scheduling" if _binding(g, placed) else "Degraded"
    if placed is not None and _PREEMPTING.search(placed.message or ""):
        return "Preempting"
    return "Pending"


def _state_beside(g: Gang, found: Beside) -> GangState:
    """Of a gang that was let in and lacks pods: nobody says when all of them had a place, so while none is refused they are on
    their way."""
    if was_placed(found):
        return "Degraded"
    refused = any(pod_scheduled(pod) is not None for pod in g.members if not pod.spec.node_name and not pod.finished)
    if not g.running:
        return "Pending"
    return "Degraded" if refused or g.failed else "Scheduling"


def _binding(g: Gang, placed: Condition | None) -> bool:
    """Whether the first placement is still being carried out: all pods it was made for are there and none was refused since.

    The condition turns True when the scheduler has decided, before pods are bound. A pod made later is a replacement.
    """
    decided = parse_time(placed.last_transition_time) if placed else None
    if decided is None or g.active + g.succeeded < g.needed:
        return False
    for pod in g.members:
        if pod.finished or pod.spec.node_name:
            continue
        made = parse_time(pod.metadata.creation_timestamp)
        refused = pod_scheduled(pod)
        if made is None or made > decided or (refused is not None and refused.status == "False"):
            return False
    return all(pod.metadata.deletion_timestamp is None for pod in g.members)


def _workload_group(cluster: Cluster, key: Key) -> tuple[Workload | None, WorkloadGroup | None]:
    """The 1.35 Workload and its group behind "WORKLOAD/GROUP" or "WORKLOAD/GROUP/REPLICA"."""
    name, slash, rest = key[1].partition("/")
    workload = cluster.workload((key[0], name)) if slash else None
    if workload is None:
        return None, None
    wanted = rest.partition("/")[0]
    return workload, next((g for g in workload.spec.pod_groups or () if g.name == wanted), None)


def _workload_of(cluster: Cluster, group: PodGroup | None) -> Workload | None:
    ref = group.spec.workload_ref if group else None
    return cluster.workload((group.namespace, ref.workload_name)) if group and ref else None


def _has_replicas(cluster: Cluster, key: Key) -> bool:
    """Whether pods name replicas of this 1.35 group ("W/G/0", …) and none the group itself; or it is a replica itself, that
    no pod names."""
    is_replica = key[1].count("/") > 1
    return key not in cluster.pods_by_group and (is_replica or key in cluster.pods_by_replicated_group)

"""Gangs of Kueue and Volcano: the object behind each, what the program says of it, and its place in a queue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from ktui.cluster import joins
from ktui.cluster.sources import GANG_KINDS, gang_key, gang_source, object_key
from ktui.cluster.state import Cluster
from ktui.model.kueue import KueueClusterQueue, KueueLocalQueue, KueueWorkload
from ktui.model.meta import Key, condition
from ktui.model.quantity import parse_quantity
from ktui.model.time import parse_time
from ktui.model.volcano import VolcanoPodGroup

Beside: TypeAlias = KueueWorkload | VolcanoPodGroup
BesideState = Literal["Pending", "Scheduling", "Preempting", "Running", "Completed", "Failed"]

_VICTIMS: Final = re.compile(r"[Pp]ending the preemption of (\d+) workload")
_SUCCEEDED: Final = ("Succeeded", "JobFinished")
_POSITIONS: WeakKeyDictionary[Cluster, tuple[int, dict[str, dict[Key, int]]]] = WeakKeyDictionary()


class Place(NamedTuple):
    """Where a gang queues up. `position`: how many come before it, None when it does not wait or that is not known. `flavors`:
    those that its quota is reserved in, each once."""

    name: str
    cluster_queue: str
    position: int | None
    flavors: tuple[str, ...]


class Quota(NamedTuple):
    """Of one resource in one flavor of a cluster queue, as quantities."""

    nominal: str
    reserved: str


def beside(cluster: Cluster, key: Key) -> Beside | None:
    """The object of Kueue or Volcano behind a gang; None for Kubernetes' own, and when there is none."""
    source = gang_source(key)
    if source == "podgroup":
        return None
    found = cluster.stores[GANG_KINDS[source]].get(object_key(key))
    return found if isinstance(found, KueueWorkload | VolcanoPodGroup) else None


def beside_keys(cluster: Cluster) -> Iterator[Key]:
    """Every gang of Kueue and Volcano."""
    yield from (gang_key("kueue", *key) for key in cluster.stores["KueueWorkload"].objects)
    yield from (gang_key("volcano", *key) for key in cluster.stores["VolcanoPodGroup"].objects)


def said_state(found: Beside, *, has_pods: bool) -> BesideState | None:
    """What its program alone decides; None where it is up to the pods."""
    if isinstance(found, VolcanoPodGroup):
        if found.status.phase == "Completed":
            return "Completed"
        return "Pending" if found.waits and not has_pods else None
    return _kueue_state(found, has_pods=has_pods)


def _kueue_state(found: KueueWorkload, *, has_pods: bool) -> BesideState | None:
    end = condition(found.status.conditions, "Finished")
    if end is not None and end.status == "True":
        return "Failed" if end.reason not in _SUCCEEDED else "Completed"
    if not found.says("Admitted"):
        return "Preempting" if found.waits and victims(found) else "Pending"
    if has_pods:
        return None
    return "Running" if found.says("PodsReady") else "Scheduling"


def was_placed(found: Beside) -> bool:
    """Whether its program says that it ran as a whole once."""
    if isinstance(found, VolcanoPodGroup):
        return found.status.phase in ("Running", "Unknown")
    return found.says("PodsReady")


def victims(found: KueueWorkload) -> int:
    """How many workloads Kueue preempts for it."""
    said = condition(found.status.conditions, "QuotaReserved")
    match = _VICTIMS.search(said.message or "") if said is not None and said.status != "True" else None
    return int(match[1]) if match else 0


def twins(cluster: Cluster, key: Key) -> tuple[Key, ...]:
    """Gangs of the same owner that another program keeps: the same pods, seen twice."""
    found = beside(cluster, key)
    if isinstance(found, KueueWorkload):
        return tuple(sorted(group for uid in joins.kueue_owners(found) for group in cluster.groups_by_owner[uid]))
    group = cluster.group(key)
    uids = joins.group_owner(group) if group is not None else ()
    return tuple(sorted(gang_key("kueue", *other) for uid in uids for other in cluster.kueue_by_owner[uid]))


def local_queue(cluster: Cluster, found: KueueWorkload) -> KueueLocalQueue | None:
    queue = cluster.stores["KueueLocalQueue"].get((found.namespace, found.spec.queue_name))
    return queue if isinstance(queue, KueueLocalQueue) else None


def cluster_queue(cluster: Cluster, name: str) -> KueueClusterQueue | None:
    queue = cluster.stores["KueueClusterQueue"].get(("", name))
    return queue if isinstance(queue, KueueClusterQueue) else None


def cluster_queue_name(cluster: Cluster, found: KueueWorkload) -> str:
    """The one its quota is reserved in, else the one its queue leads to; "" when that is not known."""
    if not found.waits and found.status.admission is not None and found.status.admission.cluster_queue:
        return found.status.admission.cluster_queue
    queue = local_queue(cluster, found)
    return queue.spec.cluster_queue if queue is not None else ""


def place(cluster: Cluster, found: Beside) -> Place:
    if isinstance(found, VolcanoPodGroup):
        return Place(found.queue, "", None, ())
    name = cluster_queue_name(cluster, found)
    assigned = (found.status.admission.pod_set_assignments or ()) if found.status.admission else ()
    flavors = sorted({flavor for each in assigned for flavor in (each.flavors or {}).values()})
    position = _positions(cluster, name).get(found.key) if found.waits and name else None
    return Place(found.spec.queue_name, name, position, tuple(flavors))


def _positions(cluster: Cluster, name: str) -> dict[Key, int]:
    """How many come before each that waits in a cluster queue: those of higher priority, and of the same the older ones.
    Counted once for all of them, until anything changes. Without access to all namespaces nobody's place is known."""
    revision, known = _POSITIONS.get(cluster, (-1, {}))
    if revision != cluster.revision:
        known = {}
        _POSITIONS[cluster] = (cluster.revision, known)
    if name not in known:
        complete = cluster.sees_all("KueueWorkload") and cluster.sees_all("KueueLocalQueue")
        waiting = sorted(_waiting(cluster, name), key=_turn) if complete else ()
        known[name] = {found.key: before for before, found in enumerate(waiting)}
    return known[name]


def _waiting(cluster: Cluster, name: str) -> Iterable[KueueWorkload]:
    store = cluster.stores["KueueWorkload"]
    for queue in cluster.local_queues_by_cluster_queue[name]:
        for key in cluster.kueue_waiting_by_queue[queue]:
            if isinstance(found := store.get(key), KueueWorkload):
                yield found


def _turn(found: KueueWorkload) -> tuple[int, float, Key]:
    """Its turn among those that wait. One that was evicted queues up anew at that moment, as Kueue does by default."""
    evicted = condition(found.status.conditions, "Evicted")
    since = evicted.last_transition_time if evicted is not None and evicted.status == "True" else None
    return (-(found.spec.priority or 0), parse_time(since or found.metadata.creation_timestamp) or 0.0, found.key)


def quota_of(queue: KueueClusterQueue, flavor: str, resource: str) -> Quota | None:
    """What a cluster queue has of a resource in a flavor; None when it has no such quota."""
    flavors = (each for group in queue.spec.resource_groups or () for each in group.flavors or ())
    limits = (limit for each in flavors if each.name == flavor for limit in each.resources or ())
    nominal = next((limit.nominal_quota for limit in limits if limit.name == resource), None)
    if nominal is None:
        return None
    used = (each for each in queue.status.flavors_reservation or () if each.name == flavor)
    totals = (usage.total for each in used for usage in each.resources or () if usage.name == resource)
    return Quota(str(nominal), str(next((total for total in totals if total is not None), "0")))


def unused(quota: Quota) -> str:
    """What is left of it, as a quantity that is plain for counts; "" when it cannot be told."""
    nominal, reserved = parse_quantity(quota.nominal), parse_quantity(quota.reserved)
    if nominal is None or reserved is None:
        return ""
    left = max(nominal - reserved, nominal * 0)
    return f"{left.normalize():f}"

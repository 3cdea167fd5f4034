"""Which stems there are (`ktui.cluster.stems`), and which of them a pod hangs from: looked up, in whatever order objects came."""

from __future__ import annotations

from ktui.cluster.inventory import Inventory
from ktui.cluster.joins import group_workload, pod_workload
from ktui.cluster.sources import gang_source
from ktui.cluster.stems import PLAIN, Step, group_stem, plain_stem, stem_of_group, workload_stem
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup


def stems(known: Inventory) -> set[Step]:
    """Every stem: Workloads, also those that only their groups or (1.35) their pods name; groups of no Workload, also those that
    only pods name; and controllers' pods in no group."""
    groups = set(known.stores["PodGroup"].objects)
    found = {stem_of_group(group) for group in known.all(PodGroup)}
    found.update(map(workload_stem, known.stores["Workload"].objects))
    found.update(map(workload_stem, known.pods_by_workload.values()))
    found.update(group_stem(key) for key in known.pods_by_group.values() if key not in groups and _is_plain_name(key))
    found.update(known.pods_by_stem.values())
    return found


def exists(known: Inventory, stem: Step) -> bool:
    """Whether anything makes the stem, without a look at all of them."""
    namespace, kind, name = stem
    key = (namespace, name)
    if kind == PLAIN:
        return stem in known.pods_by_stem
    if kind == "Workload":
        named = key in known.groups_by_workload or key in known.pods_by_workload
        return named or known.workload(key) is not None
    group = known.group(key)
    if group is not None:
        return not group_workload(group)
    return key in known.pods_by_group and _is_plain_name(key)


def stems_of(known: Inventory, pod: Pod) -> tuple[Step, ...]:
    """What the pod hangs from; nothing where it is not in the tree."""
    if not pod.group:
        return plain_stem(pod)
    key = (pod.namespace, pod.group)
    if (group := known.group(key)) is not None:
        return (stem_of_group(group),)
    return tuple(map(workload_stem, pod_workload(pod))) or (group_stem(key),)


def _is_plain_name(key: Key) -> bool:
    """Whether it may be a PodGroup's: neither a part of a Workload of 1.35 nor of another program."""
    return "/" not in key[1] and gang_source(key) == "podgroup"

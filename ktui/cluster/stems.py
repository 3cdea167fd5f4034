"""What hangs in the tree of workloads, below owners: the stems, from which groups and pods grow.

The tree is of gangs, and of what takes devices beside them. A stem is a Workload, whether its object can be read or its groups
only name it; a PodGroup without one; or the pods of one controller that are in no group. Of these last only pods that ask for
devices are in the tree, whether they run or wait: they take what gangs wait for. All pods of a cluster would drown the gangs, and
are in a view of their own. So are pods that nobody owns: a tree says no more of them, as nothing is above or below them.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ktui.model.devicedemand import asks_for_devices
from ktui.model.kinds import kind_name
from ktui.model.meta import Key
from ktui.model.owner import type_of
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup

Step: TypeAlias = tuple[str, str, str]
"""(namespace, kind's name, name): an object in a tree. The namespace is that of what it owns."""

PLAIN: Final = "Pods"
"""The kind of a stem of pods in no group. Its name tells its owner, by uid as well: another one may have had the same name."""

OWN_PLACE: Final = frozenset(("Workload", "CompositePodGroup", "PodGroup", "Pod"))
"""Kinds that are in the tree by themselves, and so above nothing as owners."""


def workload_stem(key: Key) -> Step:
    return (key[0], "Workload", key[1])


def group_stem(key: Key) -> Step:
    """Of a group that names no Workload."""
    return (key[0], "PodGroup", key[1])


def stem_of_group(group: PodGroup) -> Step:
    ref = group.spec.workload_ref
    return workload_stem((group.namespace, ref.workload_name)) if ref and ref.workload_name else group_stem(group.key)


def plain_stem(pod: Pod) -> tuple[Step, ...]:
    """Of a pod that is in no group, asks for devices and has a controller; else nothing."""
    owner = pod.metadata.controller
    if owner is None or pod.group or not owner.kind or not owner.name or not asks_for_devices(pod):
        return ()
    kind = kind_name(type_of(owner))
    return () if kind in OWN_PLACE else ((pod.metadata.namespace, PLAIN, f"{kind}/{owner.name}/{owner.uid}"),)

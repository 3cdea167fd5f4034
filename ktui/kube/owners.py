"""Which kinds own what hangs in the tree of workloads, found from the references that objects carry.

Nobody says beforehand which kinds these are. A Workload names its owner, that one its own, and so on: a kind is read from the
moment on at which an object that leads to it is seen. The same goes for a group of no Workload, and for a pod in no group that
asks for devices. Kinds whose objects own none of these are never asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from ktui.model.devicedemand import asks_for_devices
from ktui.model.frame import Changed, Frame, Listed, Source, StreamState
from ktui.model.kinds import kind_name
from ktui.model.meta import Object
from ktui.model.owner import Owner, OwnerType, type_of
from ktui.model.pod import Pod
from ktui.model.podgroup import PodGroup
from ktui.model.workload import Workload

STEMS: Final = ("Workload", "PodGroup", "Pod")
"""Kinds with which it begins: those of what hangs in the tree."""

_OWNED: Final = frozenset((*STEMS, "Job", "Deployment"))
_MOST: Final = 20
"""Types that are followed: each costs a list and a watch, and references may hold anything."""


class Owners:
    """Told of every frame, says which types are to be read now. `stems`: of whose owners."""

    def __init__(self, stems: Collection[str] = STEMS) -> None:
        self._above: dict[str, set[OwnerType]] = {}  # by the name of a kind, what owns objects of it
        self._followed: dict[str, None] = dict.fromkeys(stems)
        self._most = len(self._followed) + _MOST

    def see(self, frame: Frame) -> list[OwnerType]:
        """The types that were not known to lead to a stem before this frame."""
        match frame:
            case Listed(items=items) if items:
                kind, objects = frame.source.kind, items
            case Changed() if frame.type != "DELETED":
                kind, objects = frame.source.kind, (frame.object,)
            case _:
                return []
        if kind not in _OWNED and not isinstance(objects[0], Owner):
            return []
        above = self._above.setdefault(kind, set())
        found = {type_ for obj in objects if not _is_of_a_group(obj) for type_ in owner_types(obj)} - above
        above |= found
        return list(self._follow(kind)) if found and kind in self._followed else []

    def _follow(self, kind: str) -> Iterator[OwnerType]:
        for type_ in sorted(self._above.get(kind, ())):
            name = kind_name(type_)
            if name not in self._followed and len(self._followed) < self._most:
                self._followed[name] = None
                yield type_
                yield from self._follow(name)


def _is_of_a_group(obj: Object) -> bool:
    """Said at once of most pods: a list of a hundred thousand is seen in one turn of the event loop."""
    if not isinstance(obj, Pod) or (group := obj.spec.scheduling_group) is None:
        return False
    return bool(group.pod_group_name)


def owner_types(obj: Object) -> Iterable[OwnerType]:
    """What the object says it belongs to: a Workload by its controllerRef, everything by its controller. Of a group with a
    Workload, and of a pod with a group or without devices, nobody asks."""
    if isinstance(obj, Pod):
        if obj.group or not asks_for_devices(obj):
            return
    elif isinstance(obj, PodGroup) and obj.spec.workload_ref is not None:
        return
    ref = obj.spec.controller_ref if isinstance(obj, Workload) else None
    if ref is not None and ref.kind and ref.api_group:
        yield OwnerType(ref.api_group, ref.kind)
    owner = obj.metadata.controller
    if owner is not None and owner.kind and (type_ := type_of(owner)).group:
        yield type_


def unserved(type_: OwnerType) -> StreamState:
    """What is said of a type that discovery does not tell of. A dash stands for the version that nobody knows."""
    message = f"the server's discovery has no {type_.kind} of {type_.group}"
    return StreamState(Source(type_.name, f"/apis/{type_.group}/-/{type_.kind}"), "absent", message)

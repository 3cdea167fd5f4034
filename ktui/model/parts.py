"""What the objects of a list have in common is kept once: times, owners, conditions, the nodes and templates that they name.

A list comes in no order that could be relied on (a streaming one least of all), so equal parts are found by their value. It is
worth it: 100,000 pods with their claims and devices, in the order in which an API server streams them, take 220 MiB less.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import Struct
from msgspec.structs import force_setattr

from ktui.model.claim import Allocation, AllocationDevices, AllocationResult, Consumer
from ktui.model.meta import Object, ObjectMeta, OwnerReference
from ktui.model.node import Node, NodeSelectorRequirement, NodeSelectorTerm
from ktui.model.pod import PodClaimStatus
from ktui.model.resourceslice import Capacity, Counter, Device, ResourceSlice

O = TypeVar("O", bound=Object)  # noqa: E741 - the conventional name of an object type

_KEPT: Final = 30_000
"""Parts that are looked among, twice: those found or met since the last change of tables, and those of the time before."""

_OWN: Final = frozenset((Allocation, AllocationDevices, AllocationResult, Consumer, Device, ObjectMeta, PodClaimStatus))
"""No two objects have an equal one; what is in it they may have in common."""

_FOUND_WHOLE: Final = frozenset((NodeSelectorTerm, NodeSelectorRequirement))
"""Whoever has an equal one has all that it is in: every claim says on which node its devices are."""

_NAMING: Final[dict[type, tuple[str, ...]]] = {
    ObjectMeta: ("name", "uid"),
    OwnerReference: ("name", "uid"),
    Consumer: ("name", "uid"),
    PodClaimStatus: ("resource_claim_name",),
}
"""Texts that no other object of the list has. This one may say them more than once, and those that belong to it."""

_ALONE: Final = "resource_version"
"""Nobody else ever says it."""

_OWN_MAPPINGS: Final = frozenset(("labels", "attributes"))
"""Of most pods and devices they are unlike any others, but have the same keys."""

_PLAIN: Final = frozenset((bool, int, float))

_QUANTITIES: Final = frozenset((Capacity, Counter))
"""They hold a number or a text, however it was written: 1 and 1.0 are equal and stay as they are."""


_WORTH_IT: Final = 10_000
"""Small objects, or devices, that are not looked at before there are more. Looking takes three times as long as
decoding, 0.5 s of the start on a cluster of 8,000 pods, which has the memory."""

_OF_A_NODE: Final = 8
"""Devices, or pods: of a large cluster nodes are few, and much alike."""

_AT_A_TIME: Final = 3
"""Of those, with each object that comes later, so that they are no burst."""


class Names(dict[str, str]):
    """For lists of several kinds that are read at the same time: a pod and its claim call each other by name. To be forgotten
    with the last of these lists."""


class Parts:
    """For one list, or a few; made anew for the next, so that nothing is kept that no object has any more. Of so many objects as
    are not worth it, nothing is looked at."""

    def __init__(self, worth_it: int = _WORTH_IT, names: Names | None = None) -> None:
        self._left = worth_it
        self._waiting: list[Object] = []
        self._new: dict[object, Any] = {}
        self._old: dict[object, Any] = {}
        self._names = names
        self._own: dict[str, str] = {} if names is None else names
        self._unlike = False  # whether the struct that is looked at holds something that no other object has
        self._compared_as_written: set[type] = set(_QUANTITIES)  # and those that hold a mapping, as they are met

    def share(self, obj: O) -> O:
        """The object, which stays the value that it is: equal parts of others are put in the place of its own."""
        if self._left > 0:
            self._left -= _weight(obj)
            self._waiting.append(obj)
            return obj
        for waiting in self._waiting[-_AT_A_TIME:]:
            self._share(waiting)
        del self._waiting[-_AT_A_TIME:]
        self._share(obj)
        return obj

    def _share(self, obj: Object) -> None:
        if self._names is None:
            self._own.clear()
        for name in obj.__struct_fields__:  # metadata, spec and status
            if isinstance(part := getattr(obj, name), Struct):
                self._unlike = False
                self._share_fields(part)
                if not self._unlike and (found := self._whole(part)) is not part:
                    force_setattr(obj, name, found)

    def _whole(self, part: Struct) -> Any:
        """An equal one, told by the identity of its parts, which were found by their values: those of one that is kept live as
        long as it does."""
        values = (getattr(part, name) for name in part.__struct_fields__)
        name = (type(part), *(v if v is None or type(v) in _PLAIN else id(v) for v in values))
        found = self._find(name)
        if found is None:
            self._new[name] = found = part
        return found

    def _share_fields(self, struct: Struct) -> None:
        kind = type(struct)
        naming, find = _NAMING.get(kind, ()), self._find
        for name in kind.__struct_fields__:
            part = getattr(struct, name)
            if part is None:
                continue
            of, found = type(part), part
            if of is str:
                if name in naming:
                    self._unlike = True
                    found = self._own.setdefault(part, part)
                elif name == _ALONE:
                    continue
                elif (found := find(part)) is None:
                    self._new[part] = part
                    continue
            elif of is dict and name in _OWN_MAPPINGS:
                found = self._mapping_in_common(part)
            elif of in _PLAIN:
                continue
            else:
                found = self._common(part)
            if found is not part:
                force_setattr(struct, name, found)

    def _common(self, part: Any) -> Any:
        """An equal part that was met before; else this one, of whose own parts the same is true."""
        kind = type(part)
        if kind is str:
            found = self._find(part)
            if found is None:
                self._new[part] = found = part
            return found
        if _is_own(part):
            self._unlike = True
            self._share_fields(part)
            return part
        if kind is tuple:
            return self._common_tuple(part)
        if kind is dict:
            return self._common_mapping(part)
        return self._common_struct(part) if isinstance(part, Struct) else part

    def _common_struct(self, part: Struct) -> Any:
        name = self._name_of(part)
        found = self._find(name)
        if found is None:
            self._share_fields(part)
            self._new[name] = found = part
        return found

    def _common_tuple(self, part: tuple[Any, ...]) -> tuple[Any, ...]:
        if not part:
            return part
        if _is_own(part[0]):
            self._unlike = True
            for each in part:
                self._share_fields(each)
            return part
        name = self._name_of(part)
        found = self._find(name)
        if found is None:
            self._new[name] = found = tuple(map(self._common, part))
        return cast("tuple[Any, ...]", found)

    def _common_mapping(self, part: dict[Any, Any]) -> dict[Any, Any]:
        name = self._name_of(part)
        found = self._find(name)
        if found is None:
            self._new[name] = found = self._mapping_in_common(part)
        return cast("dict[Any, Any]", found)

    def _mapping_in_common(self, part: dict[Any, Any]) -> dict[Any, Any]:
        """An equal one with keys that others have: those of labels are long, and every object has them."""
        return {self._common(key): self._common(value) for key, value in part.items()}

    def _name_of(self, part: Any) -> object:
        """What only equal parts have: the part itself where it has a hash, which mappings have not, nor what holds one."""
        kind = type(part)
        if kind is not dict and kind not in self._compared_as_written:
            try:
                hash(part)
            except TypeError:
                if kind is not tuple:
                    self._compared_as_written.add(kind)
            else:
                # To Python (1,) and (True,) are equal.
                return (type(part[0]), part) if kind is tuple and type(part[0]) in _PLAIN else part
        return (kind, _kind_inside(part), msgspec.json.encode(part))

    def _find(self, name: object) -> Any:
        found = self._new.get(name)
        if found is None:
            if len(self._new) >= _KEPT:
                self._old, self._new = self._new, {}
            found = self._old.get(name)
            if found is not None:
                self._new[name] = found
        return found


def _weight(obj: Object) -> int:
    """Of how many small objects it has the size."""
    if isinstance(obj, ResourceSlice):
        return len(obj.spec.devices or ())
    return _OF_A_NODE if isinstance(obj, Node) else 1


def _kind_inside(part: object) -> type | None:
    """Of what a mapping or a tuple holds: counters are written as capacities are, and would pass for them."""
    if isinstance(part, dict):
        part = tuple(part.values())
    return type(part[0]) if isinstance(part, tuple) and part else None


def _is_own(part: object) -> bool:
    kind = type(part)
    return kind in _OWN or kind in _FOUND_WHOLE or (isinstance(part, OwnerReference) and part.kind == "Pod")

"""What two objects have in common is kept once: objects of one gang, or one node's and the next one's, differ in little more than
their names, and a change leaves most of an object as it was. Where they differ is found on the way."""

from __future__ import annotations

import functools
from itertools import compress
from operator import is_not
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import astuple, force_setattr

from ktui.model.meta import Object

T = TypeVar("T")

Field: TypeAlias = str
"""A field by the struct that it is of: "ContainerStatus.ready"."""


def shared(new: T, old: T | None) -> T:
    """A value equal to `new` that is `old`, or holds parts of it, wherever these are equal. Structs and mappings of `new` are
    given those parts in place: they stay the values that they are."""
    if new is None or old is None:
        return new
    return old if new == old else cast("T", _share("", new, old, []))


def share(new: Object, old: Object) -> frozenset[Field]:
    """Give `new` the parts of `old` that are equal, in place, and say where the two differ: the innermost fields. Of tuples and
    mappings that are not alike it is the field that holds them."""
    different: list[Field] = []
    _share("", new, old, different)
    return frozenset(different)


def _share(where: Field, new: Any, old: Any, different: list[Field]) -> Any:
    """Of two values that are not equal."""
    if type(new) is not type(old):
        different.append(where)
    elif isinstance(new, Struct):
        _share_fields(new, old, different)
    elif isinstance(new, tuple):
        if len(new) != len(old):
            different.append(where)
        both = [b if a is b or a == b else _share(where, a, b, different) for a, b in zip(new, old, strict=False)]
        return (*both, *new[len(old) :])
    else:
        different.append(where)
        if isinstance(new, dict):
            for key in new.keys() & old.keys():
                mine, theirs = new[key], old[key]
                new[key] = theirs if mine == theirs else _share(where, mine, theirs, different)
    return new


def _share_fields(new: Struct, old: Struct, different: list[Field]) -> None:
    """Each event of a watch comes by here, and most fields are empty: a loop of its own passes over those."""
    mine, theirs = astuple(new), astuple(old)
    for at, name, where in compress(_fields_of(type(new)), map(is_not, mine, theirs)):
        a, b = mine[at], theirs[at]
        found = b if a == b else _share(where, a, b, different)
        if found is not a:
            force_setattr(new, name, found)


@functools.cache
def _fields_of(struct: type[Struct]) -> tuple[tuple[int, str, Field], ...]:
    return tuple((at, name, f"{struct.__name__}.{name}") for at, name in enumerate(struct.__struct_fields__))

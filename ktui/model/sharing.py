"""What two objects have in common is kept once: objects of one gang, or one node's and the next one's, differ in little more than
their names, and a change leaves most of an object as it was."""

from __future__ import annotations

from typing import Any, TypeVar, cast

from msgspec import Struct
from msgspec.structs import force_setattr

T = TypeVar("T")


def shared(new: T, old: T | None) -> T:
    """A value equal to `new` that is `old`, or holds parts of it, wherever these are equal. Structs and mappings of `new` are
    given those parts in place: they stay the values that they are."""
    return cast("T", _shared(new, old))


def _shared(new: Any, old: Any) -> Any:
    if new is old or new is None or old is None:
        return new
    if new == old:
        return old
    if type(new) is type(old):
        if isinstance(new, Struct):
            _share_fields(new, old)
        elif isinstance(new, tuple):
            return (*map(_shared, new, old), *new[len(old) :])
        elif isinstance(new, dict):
            for key in new.keys() & old.keys():
                new[key] = _shared(new[key], old[key])
    return new


def _share_fields(new: Struct, old: Struct) -> None:
    """Most fields are empty or texts; to go on with those costs as much as all the rest."""
    for name in new.__struct_fields__:
        mine = getattr(new, name)
        if mine is None:
            continue
        found = getattr(old, name)
        if mine is found or found is None:
            continue
        if type(mine) is not str:
            found = _shared(mine, found)
        elif mine != found:
            continue
        if found is not mine:
            force_setattr(new, name, found)

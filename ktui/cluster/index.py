"""Reverse look-ups kept up to date one change at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from ktui.model.meta import Key, Object

V = TypeVar("V", bound=Hashable)
_NONE: dict[Key, None] = {}


class Index(Generic[V]):
    """Value → keys of the objects that have it. `values` says which values an object has."""

    def __init__(self, values: Callable[[Object], Iterable[V]]) -> None:
        self._values = values
        self._keys: dict[V, dict[Key, None]] = {}

    def update(self, key: Key, old: Object | None, new: Object | None) -> None:
        before = frozenset(self._values(old)) if old is not None else frozenset()
        after = frozenset(self._values(new)) if new is not None else frozenset()
        for value in before - after:
            keys = self._keys[value]
            del keys[key]
            if not keys:
                del self._keys[value]
        for value in after - before:
            self._keys.setdefault(value, {})[key] = None

    def __getitem__(self, value: V) -> Iterable[Key]:
        """The keys that have `value`, in the order they came."""
        return self._keys.get(value, _NONE).keys()

    def count(self, value: V) -> int:
        return len(self._keys.get(value, _NONE))

    def __contains__(self, value: V) -> bool:
        return value in self._keys

    def __bool__(self) -> bool:
        return bool(self._keys)

    def values(self) -> Iterable[V]:
        return self._keys.keys()

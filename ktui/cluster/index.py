"""Reverse look-ups kept up to date one change at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any, Generic, TypeVar

from ktui.model.meta import Key, Object

V = TypeVar("V", bound=Hashable)


class Index(Generic[V]):
    """Value → keys of the objects that have it. `values` says which values an object has; all objects are of one kind."""

    def __init__(self, values: Callable[[Any], tuple[V, ...]]) -> None:
        self._values = values
        self._keys: dict[V, Key | dict[Key, None]] = {}  # most values are of one object: a dict each would be megabytes

    def update(self, key: Key, old: Object | None, new: Object | None) -> None:
        if old is None and new is not None:  # all of a list is new, the first time
            for value in self._values(new):
                self._add(value, key)
            return
        before = self._values(old) if old is not None else ()
        after = self._values(new) if new is not None else ()
        if before == after:
            return
        if before and after:
            common = frozenset(before).intersection(after)
            before = tuple(value for value in before if value not in common)
            after = tuple(value for value in after if value not in common)
        for value in before:
            self._remove(value, key)
        for value in after:
            self._add(value, key)

    def _add(self, value: V, key: Key) -> None:
        known = self._keys.get(value)
        if known is None:
            self._keys[value] = key
        elif isinstance(known, dict):
            known[key] = None
        elif known != key:
            self._keys[value] = {known: None, key: None}

    def _remove(self, value: V, key: Key) -> None:
        known = self._keys.get(value)
        if known == key:
            del self._keys[value]
        elif isinstance(known, dict):
            known.pop(key, None)  # an object may have a value twice
            if len(known) == 1:
                self._keys[value] = next(iter(known))

    def rename(self, value: V) -> None:
        """Have this very object for the equal value that is known, if there is one: whoever else has it has it for good."""
        if (known := self._keys.pop(value, None)) is not None:
            self._keys[value] = known

    def __getitem__(self, value: V) -> Iterable[Key]:
        """The keys that have `value`, in the order they came."""
        known = self._keys.get(value)
        if known is None:
            return ()
        return known.keys() if isinstance(known, dict) else (known,)

    def count(self, value: V) -> int:
        known = self._keys.get(value)
        return len(known) if isinstance(known, dict) else int(known is not None)

    def __contains__(self, value: V) -> bool:
        return value in self._keys

    def __bool__(self) -> bool:
        return bool(self._keys)

    def values(self) -> Iterable[V]:
        return self._keys.keys()

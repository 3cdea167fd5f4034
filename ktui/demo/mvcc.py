"""The demo server's database: objects, and every change to them in order, like etcd under an API server.

One revision counter for all kinds. A change is kept until it is compacted, so lists can be continued at the revision they began
with and watches can start in the past. Objects are plain dicts without kind and apiVersion and are never changed in place; of a
large fleet, whose objects differ in a few words, only the words are kept until somebody asks (`Lazy`).
"""

from __future__ import annotations

import asyncio
import bisect
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

JSON = dict[str, Any]
Key = tuple[str, str]
"""(namespace, name)."""


class Lazy(Struct, frozen=True, gc=False):
    """An object that nobody has changed yet: `write(number)` gives its JSON, resourceVersion included, the same each time."""

    write: Callable[[int], bytes]
    number: int

    def encoded(self) -> bytes:
        return self.write(self.number)


Stored = JSON | Lazy


def plain(stored: Stored) -> JSON:
    if isinstance(stored, Lazy):
        found: JSON = msgspec.json.decode(stored.encoded())
        return found
    return stored


class Compacted(Exception):
    """The revision asked for is older than what is remembered."""


class Change(Struct, frozen=True):
    """`object` carries the change's revision, also on DELETED; `previous` is the object before it. `encoded` is the watch
    handler's cache: one line of JSON for each representation."""

    revision: int
    type: Literal["ADDED", "MODIFIED", "DELETED"]
    key: Key
    object: JSON
    previous: JSON | None
    encoded: dict[str, bytes] = field(default_factory=dict)


class Database:
    def __init__(self, history: int = 20_000) -> None:
        """`history` is how many changes of a kind are remembered."""
        self.revision = 1
        self.compacted = 0
        self._history = history
        self._objects: dict[str, dict[Key, Stored]] = defaultdict(dict)
        self._changes: dict[str, list[Change]] = defaultdict(list)
        self._forgotten: dict[str, int] = defaultdict(int)
        self._watchers: dict[str, set[asyncio.Event]] = defaultdict(set)

    def get(self, kind: str, key: Key) -> JSON | None:
        found = self._objects[kind].get(key)
        return plain(found) if found is not None else None

    def objects(self, kind: str) -> Mapping[Key, JSON]:
        """Everything of a kind as it is, not a copy: for those who look and do not wait while they do."""
        return _Plain(self._objects[kind])

    def active(self, kind: str) -> dict[Key, JSON]:
        """What is there of a kind, but for what nobody has changed since it was laid."""
        return {key: obj for key, obj in self._objects[kind].items() if not isinstance(obj, Lazy)}

    def advance(self) -> int:
        """Take the next revision, for objects to be laid."""
        self.revision += 1
        return self.revision

    def lay(self, kind: str, objects: Mapping[Key, Lazy]) -> None:
        """Put objects there that carry a revision that was taken before, all of them one, as after one transaction of etcd. No
        watch tells of it: this is for a database that is being filled."""
        self._objects[kind].update(objects)

    def put(self, kind: str, key: Key, new: JSON) -> JSON:
        """Store `new` under the next revision; returns it as stored."""
        previous = self.get(kind, key)
        stored = self._commit(kind, "MODIFIED" if previous else "ADDED", key, new, previous)
        self._objects[kind][key] = stored
        return stored

    def remove(self, kind: str, key: Key) -> JSON:
        """Delete; returns the last state with the deletion's revision."""
        previous = plain(self._objects[kind].pop(key))
        return self._commit(kind, "DELETED", key, previous, previous)

    def stored(self, kind: str, revision: int | None = None) -> dict[Key, Stored]:
        """Everything of a kind, now or at a past revision. Raises Compacted."""
        objects = dict(self._objects[kind])
        if revision is None:
            return objects
        for change in reversed(self.changes(kind, revision)):
            if change.previous is None:
                del objects[change.key]
            else:
                objects[change.key] = change.previous
        return objects

    def snapshot(self, kind: str, revision: int | None = None) -> dict[Key, JSON]:
        """The same, every object written out."""
        return {key: plain(each) for key, each in self.stored(kind, revision).items()}

    def changes(self, kind: str, after: int) -> list[Change]:
        """The changes of a kind after a revision, oldest first. Raises Compacted."""
        if after < max(self.compacted, self._forgotten[kind]):
            raise Compacted
        log = self._changes[kind]
        return log[bisect.bisect_right(log, after, key=lambda change: change.revision) :]

    def compact(self, revision: int | None = None) -> None:
        """Forget all changes up to a revision (default: the present one), as etcd does and as a restart of the server does."""
        self.compacted = self.revision if revision is None else revision
        for kind, log in self._changes.items():
            self._changes[kind] = [change for change in log if change.revision > self.compacted]

    @contextmanager
    def watching(self, *kinds: str) -> Iterator[asyncio.Event]:
        """An event that is set whenever something of the kinds changes; the caller clears it."""
        event = asyncio.Event()
        for kind in kinds:
            self._watchers[kind].add(event)
        try:
            yield event
        finally:
            for kind in kinds:
                self._watchers[kind].discard(event)

    def wake(self, kind: str) -> None:
        """Let the watchers of a kind look up, though nothing changed."""
        for event in self._watchers[kind]:
            event.set()

    def _commit(
        self, kind: str, type_: Literal["ADDED", "MODIFIED", "DELETED"], key: Key, new: JSON, previous: JSON | None
    ) -> JSON:
        self.revision += 1
        stored = {**new, "metadata": {**new["metadata"], "resourceVersion": str(self.revision)}}
        log = self._changes[kind]
        log.append(Change(self.revision, type_, key, stored, previous))
        if len(log) > 2 * self._history:
            self._forgotten[kind] = log[-self._history - 1].revision
            del log[: -self._history]
        self.wake(kind)
        return stored


class _Plain(Mapping[Key, JSON]):
    """A look at stored objects that writes out what it is asked for."""

    def __init__(self, objects: Mapping[Key, Stored]) -> None:
        self._objects = objects

    def __getitem__(self, key: Key) -> JSON:
        return plain(self._objects[key])

    def __contains__(self, key: object) -> bool:
        return key in self._objects

    def __iter__(self) -> Iterator[Key]:
        return iter(self._objects)

    def __len__(self) -> int:
        return len(self._objects)

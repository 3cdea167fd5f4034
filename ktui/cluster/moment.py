"""The objects and sources of a cluster at one moment, without the indexes that rows are computed from.

It is what frames change (`ktui.cluster.state` adds the joins), and what a recording keeps of moments to come back to: objects
are values, so a copy costs a reference an object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from msgspec import Struct, structs

from ktui.cluster.store import Delta, Store
from ktui.model.frame import Changed, Frame, Listed, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS


class Stream(Struct):
    """How one source is doing. `synced` once a complete list arrived; rows stay when the phase turns bad later."""

    source: Source
    phase: StreamPhase = "listing"
    message: str = ""
    until: float | None = None
    progress: tuple[int, int] | None = None
    synced: bool = False


class Moment:
    """One store a kind, one stream a source."""

    def __init__(self) -> None:
        self.stores: dict[str, Store] = {name: Store(name) for name in KINDS}
        self.streams: dict[tuple[str, str, str], Stream] = {}
        self._lent: set[str] = set()  # kinds whose store another moment has as well: to be copied before it is changed

    @property
    def size(self) -> int:
        """How many objects there are."""
        return sum(len(store.objects) for store in self.stores.values())

    def take(self, frame: Frame) -> None:
        """Take one frame."""
        for _ in self.deltas(frame):
            pass

    def deltas(self, frame: Frame) -> Iterator[Delta | None]:
        """Take one frame, each change when its delta is asked for. None now and then where there is much to look at."""
        match frame:
            case Changed():
                yield from self.change(frame)
            case Listed():
                yield from self._store(frame.source.kind).replacements(frame)
                stream = self._stream(frame.source)
                stream.synced, stream.progress = True, None
                if stream.phase == "listing":
                    stream.phase, stream.message = "watching", ""
            case StreamState():
                stream = self._stream(frame.source)
                stream.phase, stream.message = frame.phase, frame.message
                stream.until, stream.progress = frame.until, frame.progress

    def change(self, frame: Changed) -> list[Delta]:
        """Take one event; what really changed."""
        return self._store(frame.source.kind).change(frame)

    def copy(self) -> Self:
        """The same moment, to go on from in another direction. It costs nothing until one of the two changes."""
        copy = type(self)()
        copy.stores = self.stores.copy()
        self._lent, copy._lent = set(self.stores), set(self.stores)
        copy.streams = {source: structs.replace(stream) for source, stream in self.streams.items()}
        return copy

    def become(self, other: Moment) -> Iterator[Delta | None]:
        """Turn into `other`, each change when its delta is asked for. Only what differs costs more than a look: objects that
        the two share are told by their identity, and so are whole stores. `other` stays as it is. None now and then where there
        is much to look at."""
        self.streams.clear()
        self.streams.update((source, structs.replace(stream)) for source, stream in other.streams.items())
        for kind in self.stores.keys() - other.stores.keys():  # of owners that were not known then
            other.stores[kind] = Store(kind)
        for kind, store in other.stores.items():
            if self.stores.get(kind) is store:
                continue
            yield from self._store(kind).become(store)
            self.stores[kind] = (
                store  # the two are the same now, and told to be next time without a look at their objects
            )
            self._lent.add(kind)
            other._lent.add(kind)

    def _store(self, kind: str) -> Store:
        """The store of a kind, to be changed."""
        if kind not in self.stores:
            self.stores[kind] = Store(kind)
        elif kind in self._lent:
            self._lent.discard(kind)
            self.stores[kind] = self.stores[kind].copy()
        return self.stores[kind]

    def _stream(self, source: Source) -> Stream:
        stream = self.streams.get(source.id)
        if stream is None:
            stream = self.streams[source.id] = Stream(source)
        stream.source = source  # its path follows the served version
        return stream

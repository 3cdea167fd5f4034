"""The demo's control plane: controllers that answer to changes in the server's own database, one piece of work at a time.

A controller says which of its work a change calls for and does one piece of it when its turn comes. Nothing polls; what has to
happen later waits on a timer.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias

from ktui.demo import objects
from ktui.demo.ledger import Ledger, Resting
from ktui.demo.mvcc import JSON, Change, Compacted, Database, Key
from ktui.demo.registry import utc_now

Item: TypeAlias = tuple[str, ...]
"""One piece of a controller's work: mostly a key."""

_TURN: Final = 0.005  # seconds of work before others have their turn


class Controller(Protocol):
    """`kinds` are those whose changes it wants to be told of."""

    @property
    def kinds(self) -> tuple[str, ...]: ...

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        """The pieces of work that a change calls for."""
        ...

    def sync(self, item: Item) -> None:
        """Bring one thing into the wanted state; does nothing when it is."""
        ...


class Plane:
    """Where controllers read and write. `resting` is what they need not look at before it changes, `haste` scales every delay,
    above 0: tests do not want to wait."""

    def __init__(
        self,
        database: Database,
        resting: Iterable[Resting] = (),
        *,
        haste: float = 1.0,
        now: Callable[[], str] = utc_now,
    ) -> None:
        self.database = database
        self.ledger = Ledger(database, resting)
        self.now = now
        self._haste = haste
        self._began = time.monotonic()
        self._controllers: Sequence[Controller] = ()
        self._queue: dict[tuple[Controller, Item], None] = {}
        self._timers: list[tuple[float, int, Controller, Item]] = []
        self._count = itertools.count()
        self._seen = database.revision

    def get(self, kind: str, key: Key) -> JSON | None:
        return self.database.get(kind, key)

    def put(self, kind: str, obj: JSON) -> None:
        """Store the object, unless it is so already."""
        key = objects.key_of(obj)
        if obj != self.database.get(kind, key):
            self.database.put(kind, key, obj)

    def remove(self, kind: str, key: Key) -> None:
        if self.database.get(kind, key) is not None:
            self.database.remove(kind, key)

    def delete_pod(self, key: Key) -> None:
        """As a DELETE of it: a pod that has a node is marked, and goes when its kubelet has stopped it."""
        pod = self.database.get("Pod", key)
        if pod is None:
            return
        if seconds := objects.grace_period(pod):
            self.put("Pod", objects.marked_for_deletion(pod, self.now(), seconds))
        else:
            self.database.remove("Pod", key)

    def tell(self, about: JSON, kind: str, reason: str, message: str, *, by: str, warning: bool = False) -> None:
        """An Event about an object."""
        said = objects.event(about, kind, self.now(), reason=reason, message=message, warning=warning, by=by)
        self.put("Event", said)

    def later(self, seconds: float, controller: Controller, item: Item) -> None:
        due = time.monotonic() + seconds * self._haste
        heapq.heappush(self._timers, (due, next(self._count), controller, item))

    def clock(self) -> float:
        """Seconds since the plane was made, as controllers count them: haste lets them pass faster."""
        return (time.monotonic() - self._began) / self._haste

    def enqueue(self, controller: Controller, item: Item) -> None:
        self._queue[controller, item] = None

    async def run(self, controllers: Sequence[Controller]) -> None:
        """Work until cancelled, beginning with everything there is."""
        self._controllers = controllers
        kinds = sorted({*Ledger.KINDS, *(kind for each in controllers for kind in each.kinds)})
        with self.database.watching(*kinds) as changed:
            await self._look_at_all(kinds)
            while True:
                changed.clear()
                await self._work(kinds)
                wait = max(0.0, self._timers[0][0] - time.monotonic()) if self._timers else None
                try:
                    async with asyncio.timeout(wait):
                        await changed.wait()
                except TimeoutError:
                    pass

    async def _work(self, kinds: Sequence[str]) -> None:
        turn = time.monotonic()
        while True:
            if not self._take_in(kinds):
                self.ledger, self._seen = Ledger(self.database), self.database.revision
                await self._look_at_all(kinds)
            while self._timers and self._timers[0][0] <= time.monotonic():
                _, _, controller, item = heapq.heappop(self._timers)
                self.enqueue(controller, item)
            if not self._queue:
                return
            controller, item = next(iter(self._queue))
            del self._queue[controller, item]
            controller.sync(item)
            if time.monotonic() - turn > _TURN:
                await asyncio.sleep(0)
                turn = time.monotonic()

    def _take_in(self, kinds: Iterable[str]) -> bool:
        """Note what changed since the last look, and queue what it calls for; False when that is not remembered any more."""
        if self.database.revision == self._seen:
            return True
        try:
            news = [(kind, change) for kind in kinds for change in self.database.changes(kind, self._seen)]
        except Compacted:
            return False
        self._seen = self.database.revision
        for kind, change in sorted(news, key=lambda each: each[1].revision):
            if kind in Ledger.KINDS:
                after = change.object if change.type != "DELETED" else None
                self.ledger.record(kind, change.key, change.previous, after)
            self._notify(kind, change)
        return True

    async def _look_at_all(self, kinds: Iterable[str]) -> None:
        """Queue what everything calls for that is there and does not rest; others have their turn meanwhile."""
        turn = time.monotonic()
        for kind in kinds:
            for key, obj in self.database.active(kind).items():
                self._notify(kind, Change(self._seen, "ADDED", key, obj, None))
                if time.monotonic() - turn > _TURN:
                    await asyncio.sleep(0)
                    turn = time.monotonic()

    def _notify(self, kind: str, change: Change) -> None:
        for controller in self._controllers:
            if kind in controller.kinds:
                for item in controller.affected(kind, change):
                    self.enqueue(controller, item)

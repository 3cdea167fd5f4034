"""One source, kept up to date for ever: list, watch, and begin again.

    Absent ──served──► Listing ──complete──► Watching ⇄ Quiet
                          ▲  ▲                   │
                     410… │  └──── Waiting ◄─────┤ failures     NoAccess, NeedsLogin: parked
                          └──────────────────────┘              Polling: may list, may not watch

`run` alternates between one attempt and one pause. An attempt returns at a clean end and raises otherwise; `recovery` turns the
exception into the pause. Two rules hold throughout: what is shown is replaced only by a complete list, and a version is
remembered only after its event was handed on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, NoReturn

from ktui.errors import KtuiError
from ktui.kube import reviews
from ktui.kube.failures import ApiError, Unreachable, one_line, status_error
from ktui.kube.feed import Feed
from ktui.kube.host import Host
from ktui.kube.listing import MAX_OBJECTS, SMALLEST_PAGE, Snapshot, TooMany, read_pages
from ktui.kube.pacing import Pacing
from ktui.kube.position import Position, older
from ktui.kube.recovery import Absent, Cut, NeverClosed, Pause, Recovery, ShortWatch, SlowStream, StreamError
from ktui.kube.reporter import Reporter
from ktui.model.decode import DecodeError, Status, WatchEvent, decode_event, decode_list
from ktui.model.frame import Changed, Frame, Listed, Source
from ktui.model.kinds import Kind
from ktui.model.meta import Key, Object
from ktui.model.parts import Parts
from ktui.turns import TURNS

Sink = Callable[[Frame], object]
"""Takes a frame and has dealt with it when it returns."""

_METADATA: Final = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
_CACHED: Final = "possibly stale until the next event"


class Watcher:
    """Feeds `sink` with the frames of one source. `run` it as a task; everything else is called from the same loop."""

    def __init__(self, kind: Kind, namespace: str, selector: str, host: Host, sink: Sink) -> None:
        self.kind = kind
        self.position = Position(epoch=host.epoch)
        self._host = host
        self._timers = host.timers
        self._sink = sink
        self._version = ""
        source = Source(kind.name, kind.path(kind.versions[0], namespace), namespace, selector)
        self._reporter = Reporter(source, sink, host.timers, host.clock)
        self._recovery = Recovery(kind, self.position, host)
        self._nudge = asyncio.Event()
        self._feed: Feed | None = None
        self._resetting = False
        self._slice_ends = 0.0

    @property
    def source(self) -> Source:
        return self._reporter.source

    async def run(self) -> NoReturn:
        while True:
            self._resetting = False
            try:
                await self._attempt()
                pause = Pause(self._timers.reconnect.draw())
            except Exception as error:  # noqa: BLE001 (a stream must outlive whatever happens to it)
                pause = Pause(self._timers.reconnect.draw()) if self._resetting else self._recovery.after(error)
            self._feed = None
            if pause.phase is not None:
                self._reporter.tell(pause.phase, pause.message, pause.seconds)
            await self._sleep(pause.seconds)

    def served(self, version: str | None) -> None:
        """What discovery says of the kind. Another version than before leads to a new list at its path."""
        if (version or "") == self._version:
            return
        self._version = version or ""
        self.position.list_again()
        if version:
            source = self.source
            path = self.kind.path(version, source.namespace)
            self._reporter.source = Source(source.kind, path, source.namespace, source.selector)
            self._recovery.path = path
        self.reset()

    def retry_now(self) -> None:
        """End a pause. What the server asked for stays: that is the gate's."""
        self._nudge.set()

    def reset(self) -> None:
        """Drop the connection, also one that is being opened, and begin a new one, from where this one is."""
        self._resetting = True
        if self._feed is not None:
            self._feed.abort()
        self._nudge.set()

    async def _attempt(self) -> None:
        if not self._version:
            raise Absent(self.kind.enable)
        if self.position.barred_for is not None:
            await self._ask_for_access()
        if self.position.poll_until is not None:
            await self._poll(self.position.poll_until)
            return
        if self.position.resource_version:
            await self._check_epoch()
        async with AsyncExitStack() as stack:
            feed = None
            if not self.position.resource_version:
                async with self._host.gate.sync_slot():
                    feed = await self._sync(stack)
            if feed is None:
                feed = await stack.enter_async_context(self._open({"resourceVersion": self.position.resource_version}))
            self.position.watching_since = self._host.clock.monotonic()
            self._reporter.watching()
            await self._follow(feed)

    # ------------------------------------------------------------------ lists

    async def _sync(self, stack: AsyncExitStack) -> Feed | None:
        """A complete list, handed on. After a streaming one the watch is already open, and returned, unless it is compressed:
        events are better read as they are than each as a gzip member of its own."""
        self.position.enter(self._host.epoch)
        self._reporter.tell("listing", self._sync_message)
        if self._recovery.streams:
            initial = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
            async with AsyncExitStack() as listing:
                feed = await listing.enter_async_context(self._open(initial, compressed=True))
                await self._receive_initial(feed)
                if not feed.packed:
                    await stack.enter_async_context(listing.pop_all())
                    return feed
            return None
        self._commit(await self._read_pages())
        return None

    async def _receive_initial(self, feed: Feed) -> None:
        """Into a staging store, in whatever order they come, until the bookmark that says: that was all."""
        self._reporter.tell("listing", self._sync_message)
        clock = self._host.clock.monotonic
        staged: dict[Key, Object] = {}
        parts = Parts(names=self._host.names())
        last_event_at = clock()
        pacing = Pacing(self._host)
        while True:
            patience = min(self._timers.sync_stall, last_event_at + self._timers.sync_idle - clock())
            try:
                lines = await feed.lines(patience)
            except TimeoutError:
                raise NeverClosed("the server does not complete its streaming list") from None
            except Unreachable as error:
                raise Cut(str(error)) from None
            if lines is None:
                raise Cut("the connection ended before the list was complete")
            for number, line in enumerate(lines):
                event = self._decode(line)
                if event.initial_events_end and event.resource_version:
                    feed.give_back(lines[number + 1 :])
                    self._commit(Snapshot(tuple(staged.values()), event.resource_version))
                    # To forget what a long list was put together with takes as long as to hand it on.
                    await self._breathe()
                    return
                if event.object is not None:
                    last_event_at = clock()
                    _stage(staged, event.type, parts.share(event.object))
                    if len(staged) > MAX_OBJECTS:
                        raise TooMany(self.kind)
                if time.perf_counter() > self._slice_ends:
                    await self._breathe()
            self._reporter.progress(self._sync_message, len(staged), 0)
            if not feed.packed and pacing.is_slow():
                raise SlowStream("the link is slow: the list is read in compressed pages")

    async def _read_pages(self) -> Snapshot:
        await self._host.gate.list_turn()

        def progress(received: int, expected: int) -> None:
            self._reporter.progress(self._sync_message, received, expected)

        try:
            return await read_pages(self.kind, self._version, self._fetch, progress, self.position.page_size)
        except Unreachable:
            self.position.page_size = max(SMALLEST_PAGE, self.position.page_size // 2)
            raise

    async def _fetch(self, query: dict[str, str]) -> bytes:
        transport = self._host.transport
        query = {**query, **self._selection}
        async with self._host.gate.admission(self._reporter.held):
            answer = await transport.request(
                "GET", self.source.path, params=query, headers=transport.compression, stall=self._timers.page_stall
            )
        await self._breathe()
        return answer.body

    def _commit(self, snapshot: Snapshot) -> None:
        """The one place where what is shown of a source is replaced."""
        position = self.position
        if not snapshot.cached and older(snapshot.resource_version, position.seen):
            self._went_back()
            position.enter(self._host.epoch)
        self._sink(Listed(self.source, snapshot.resource_version, snapshot.items, position.epoch))
        position.resource_version = position.seen = snapshot.resource_version
        position.synced = True
        position.pages_next = False
        position.cuts = 0
        count = snapshot.undecodable
        self._reporter.note = (
            _CACHED if snapshot.cached else f"{count} undecodable object{'s' * (count > 1)}" if count else ""
        )

    async def _poll(self, until: float) -> None:
        """One round for those who may list but not watch, or whose proxy swallows watches."""
        self.position.enter(self._host.epoch)
        self._commit(await self._read_pages())
        low, high = self._timers.poll
        self._reporter.tell("polling", f"no watch is possible: read every {low:.0f} to {high:.0f} s")
        if self._host.clock.monotonic() < until:
            await self._sleep(self._timers.poll.draw())
        else:
            self.position.poll_until = None

    # ------------------------------------------------------------------ watches

    @asynccontextmanager
    async def _open(self, which: dict[str, str], *, compressed: bool = False) -> AsyncIterator[Feed]:
        seconds = max(1, round(self._timers.server_timeout.draw()))
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(seconds),
            **which,
            **self._selection,
        }
        async with AsyncExitStack() as stack:
            async with self._host.gate.admission(self._reporter.held):
                stream = await stack.enter_async_context(
                    self._host.transport.stream(self.source.path, query, compressed=compressed)
                )
            self.position.late_headers = 0
            self._feed = feed = Feed(stream, self._host.clock)
            if self._resetting:
                feed.abort()
            yield feed

    async def _follow(self, feed: Feed) -> None:
        """Hand on what comes. Returns when it is time for a new connection."""
        idle = self._timers.idle.draw()
        empty = True
        while (lines := await self._next_lines(feed, idle)) is not None:
            for line in lines:
                event = self._decode(line)
                empty = empty and event.type == "BOOKMARK"  # servers may end every watch with one
                self._apply(event)
                if time.perf_counter() > self._slice_ends:
                    await self._breathe()
            if feed.dropped:
                self._reporter.note = f"{feed.dropped} event{'s' * (feed.dropped > 1)} too large to show"
                self._reporter.watching()
            if feed.outdated:
                return
        if empty and feed.age < self._timers.short_watch:
            raise ShortWatch("the server ends every watch at once")

    async def _next_lines(self, feed: Feed, idle: float) -> list[bytes] | None:
        """None at a clean end, after too much silence, and when the credentials have changed."""
        patience = self._timers.quiet
        while True:
            try:
                lines = await feed.lines(patience)
            except TimeoutError:
                if feed.silence >= idle or feed.outdated:
                    return None
                self._reporter.tell("quiet", f"no data for {feed.silence:.0f} s")
                if not await self._host.alive():
                    raise Unreachable(f"{self._host.transport.target.host} does not answer") from None
                patience = min(self._timers.probe, idle - feed.silence)
            else:
                if lines is not None:
                    self._reporter.watching()
                return lines

    def _apply(self, event: WatchEvent) -> None:
        match event.type:
            case "ADDED" | "MODIFIED" | "DELETED" if event.object is not None:
                self._sink(Changed(self.source, event.type, event.object, self.position.epoch))
                if self._reporter.note == _CACHED:
                    self._reporter.note = ""
            case "BOOKMARK":
                pass
            case _:
                raise DecodeError(f'an event of the unknown type "{one_line(event.type, 20)}"')
        # Only now: a crash in between repeats the event, never skips it.
        self.position.advance(event.resource_version)

    def _decode(self, line: bytes) -> WatchEvent:
        event = decode_event(self.kind, self._version, line)
        if event.type == "ERROR":
            raise self._error(event.status)
        return event

    def _error(self, status: Status | None) -> KtuiError:
        """Of an ERROR event. It holds neither an object nor a version of ours, so nothing of it is kept."""
        if status is None:
            return StreamError("the server reported an error that it did not explain")
        error = status_error(status, self._host.transport.redact)
        if error.status in (401, 403, 410, 429) or error.version_too_large:
            self._host.gate.asked_to_wait(error)
            return error
        return StreamError(str(error))

    # ------------------------------------------------------------------ questions

    async def _check_epoch(self) -> None:
        """Before going on from a version: is it still in the server's past? A watch from the future is silent, not an error."""
        position = self.position
        if position.epoch == self._host.epoch:
            try:
                async with self._host.gate.admission(self._reporter.held):
                    answer = await self._host.transport.request(
                        "GET", self.source.path, params={"limit": "1"}, headers={"Accept": _METADATA}
                    )
            except ApiError as error:
                if error.status != 403:  # those who may watch but not list do without this check
                    raise
                return
            present = decode_list(self.kind, self._version, answer.body).resource_version
            if older(present, position.resource_version):
                self._went_back()
        if position.epoch != self._host.epoch:
            position.list_again()
            self._reporter.tell("listing", "the server's state went back in time: reading everything again")

    def _went_back(self) -> None:
        """Many streams find the same thing at the same time; it is one new epoch."""
        if self.position.epoch == self._host.epoch:
            self._host.new_epoch(self)

    async def _ask_for_access(self) -> None:
        """Raises ApiError (403) while neither list nor watch is allowed. Asking is cheaper and quieter than being refused."""
        for verb in ("list", "watch"):
            async with self._host.gate.admission(self._reporter.held):
                if await reviews.allowed(self._host.transport, verb, self.kind, self.source.namespace):
                    self.position.barred_for = None
                    return
        raise ApiError(403, "Forbidden", f"list {self.kind.resource}")

    @property
    def _selection(self) -> dict[str, str]:
        return {"labelSelector": self.source.selector} if self.source.selector else {}

    @property
    def _sync_message(self) -> str:
        return "resyncing" if self.position.synced else ""

    # ------------------------------------------------------------------ time

    async def _sleep(self, seconds: float | None) -> None:
        """Until the time is up, or somebody wants to go on."""
        if seconds != 0.0:
            try:
                async with asyncio.timeout(seconds):
                    await self._nudge.wait()
            except TimeoutError:
                pass
        self._nudge.clear()

    async def _breathe(self) -> None:
        """Let the screen and the other streams have their turn."""
        await TURNS.give_way()
        self._slice_ends = time.perf_counter() + self._timers.decode_slice


def _stage(staged: dict[Key, Object], change: str, obj: Object) -> None:
    if change == "DELETED":
        staged.pop(obj.key, None)
    else:
        staged[obj.key] = obj

"""One generation of a context: a transport, discovery, and one supervised watcher for each source.

A connection is started once and stopped once; switching contexts makes a new one. After `stop` nothing of it reaches the sink.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final, NoReturn

import msgspec

from ktui.errors import KtuiError
from ktui.kube.backoff import Backoff
from ktui.kube.discovery import Discovery, Served
from ktui.kube.gate import Hold
from ktui.kube.host import Host
from ktui.kube.owners import Owners, unserved
from ktui.kube.target import Target
from ktui.kube.timers import Clock, Timers
from ktui.kube.transport import CredentialSource, Transport
from ktui.kube.watch import Sink, Watcher
from ktui.model.decode import NOT_DECODED
from ktui.model.frame import Frame, Listed, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS, Kind, kind_name
from ktui.model.meta import Object
from ktui.model.owner import OwnerType

MOST_NAMESPACES: Final = 20
"""Of which one kind is watched at once, where all namespaces together are forbidden."""

_log = logging.getLogger(__name__)
_generations = itertools.count(1)

_SourceId = tuple[str, str, str]


class Connection:
    """`served` and `transport` are for whoever else talks to the cluster; `cluster_uid` is kube-system's, "" when unknown."""

    def __init__(
        self,
        target: Target,
        credentials: CredentialSource,
        sink: Sink,
        *,
        environ: Mapping[str, str],
        read_only: bool = False,
        fallback_namespaces: Iterable[str] = (),
        timers: Timers | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`fallback_namespaces` are watched one by one where a kind may not be read in all namespaces."""
        self.generation = next(_generations)
        self.transport = Transport(
            target, credentials, read_only=read_only, environ=environ, timers=timers, clock=clock
        )
        self.cluster_uid = ""
        self._sink = sink
        self._host = Host(self.transport)
        self._host.on_new_epoch = self._reset_others
        self._timers = self._host.timers
        self._discovery = Discovery(self.transport, on_hold=self._held, tries=None)
        self._owners = Owners()
        self._unserved: list[OwnerType] = []
        self._namespaces: tuple[str, ...] = ()
        self._selector = ""
        self._fallback = tuple(dict.fromkeys(fallback_namespaces))[:MOST_NAMESPACES]
        self._watchers: dict[_SourceId, Watcher] = {}
        self._tasks: dict[_SourceId, asyncio.Task[NoReturn]] = {}
        self._chores: list[asyncio.Task[NoReturn]] = []
        self._live = True
        self._discovered = asyncio.Event()
        self._replaced = asyncio.Event()

    @property
    def served(self) -> Served | None:
        """What discovery said last; None before its first answer."""
        return self._discovery.served

    async def discovered(self) -> Served:
        """What the server serves, waiting for its first answer."""
        await self._discovered.wait()
        if self.served is None:
            raise KtuiError("discovery has not answered")
        return self.served

    async def replaced(self) -> None:
        """Wait until another cluster answers at this address."""
        await self._replaced.wait()

    async def start(
        self, kinds: Iterable[str] = tuple(KINDS), namespaces: tuple[str, ...] = (), label_selector: str = ""
    ) -> None:
        """Begin to watch `kinds` (names), in all or some namespaces; may be called again for more. Returns at once: what does
        not work, and why, is told by the sources' states. `label_selector` applies to every one of the kinds. The kinds that
        turn out to own Workloads are added by themselves."""
        self._namespaces, self._selector = namespaces, label_selector
        for name in kinds:
            self._add_everywhere(KINDS[name])
        if not self._chores:
            self._chores = [
                asyncio.create_task(self._keep_running("discovery", self._discover_for_ever)),
                asyncio.create_task(self._keep_running("the clock's watch", self._mind_the_clocks)),
            ]

    def retry_now(self) -> None:
        """A person does not want to wait any longer. The server's own wish to be left alone is respected."""
        self.transport.allow_login()
        self._host.gate.retry_now()
        self._host.rediscover.set()
        for watcher in self._watchers.values():
            watcher.retry_now()

    async def stop(self) -> None:
        """Within a second: no task, no socket, no frame is left of this connection."""
        self._live = False
        tasks = [*self._chores, *self._tasks.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=self._timers.stop)
        await self.transport.close()

    # ------------------------------------------------------------------ sources

    def _add_everywhere(self, kind: Kind) -> None:
        for namespace in self._namespaces if self._namespaces and kind.namespaced else ("",):
            self._add(kind, namespace, self._selector)

    def _follow(self, type_: OwnerType) -> None:
        """Read what owns Workloads too, as soon as it is served."""
        if self.served is None:
            return
        kind = KINDS.get(kind_name(type_)) or self.served.owner(type_)
        if kind is not None:
            self._add_everywhere(kind)
            return
        self._unserved.append(type_)
        if self._discovery.want(type_.group):
            self._host.rediscover.set()
        else:
            self._take(unserved(type_))

    def _add(self, kind: Kind, namespace: str, selector: str) -> None:
        watcher = Watcher(kind, namespace, selector, self._host, self._take)
        if watcher.source.id in self._watchers:
            return
        self._watchers[watcher.source.id] = watcher
        if self.served is not None:
            self._supervise(watcher, self.served)
        else:
            self._take(StreamState(watcher.source, "listing", "asking what the server serves"))

    def _supervise(self, watcher: Watcher, served: Served) -> None:
        watcher.served(served.version(watcher.kind))
        if watcher.source.id not in self._tasks:
            name = f"the watcher of {watcher.source.path}"
            self._tasks[watcher.source.id] = asyncio.create_task(self._keep_running(name, watcher.run))

    async def _keep_running(self, name: str, run: Callable[[], Awaitable[NoReturn]]) -> NoReturn:
        """Each task takes care of its own failures. What gets past it is a defect: it must not leave a dead table behind."""
        while True:
            try:
                await run()
            except Exception as error:  # noqa: BLE001 (see above)
                _log.warning("%s: unexpected %s", name, type(error).__name__)
                _log.debug("%s", name, exc_info=True)
                await asyncio.sleep(self._timers.backoff_cap)

    def _take(self, frame: Frame) -> None:
        if not self._live:
            return
        self._sink(frame)
        if isinstance(frame, StreamState) and frame.phase == "no-access":
            self._narrow(frame.source)
        elif isinstance(frame, Listed):
            self._widen(frame.source)
        for type_ in self._owners.see(frame):
            self._follow(type_)

    def _narrow(self, source: Source) -> None:
        """All namespaces together are forbidden: try the ones that were named."""
        watcher = self._watchers.get(source.id)
        if watcher is not None and watcher.kind.namespaced and not source.namespace:
            for namespace in self._fallback:
                self._add(watcher.kind, namespace, source.selector)

    def _widen(self, source: Source) -> None:
        """All namespaces together are allowed by now: the single ones would only repeat them."""
        if source.namespace or not self._fallback:
            return
        for namespace in self._fallback:
            key = (source.kind, namespace, source.selector)
            watcher, task = self._watchers.pop(key, None), self._tasks.pop(key, None)
            if watcher is not None and task is not None:
                task.cancel()
                self._sink(StreamState(watcher.source, "stopped", "part of all namespaces now"))

    def _reset_others(self, finder: object) -> None:
        for watcher in self._watchers.values():
            if watcher is not finder:
                watcher.reset()

    # ------------------------------------------------------------------ discovery

    async def _discover_for_ever(self) -> NoReturn:
        backoff = Backoff(self._timers)
        while True:
            self._host.rediscover.clear()
            try:
                served = await self._discovery.refresh()
            except Exception as error:  # noqa: BLE001 (without discovery nothing works, so it never gives up)
                if self._host.gate.hold is None:
                    seconds = backoff.next()
                    message = str(error) if isinstance(error, KtuiError) else f"internal error ({type(error).__name__})"
                    self._tell_waiting("waiting", message, seconds)
                    await self._rediscovery(seconds)
                continue
            backoff.reset()
            self._discovered.set()
            self._host.streaming = served.streaming_lists
            for watcher in tuple(self._watchers.values()):
                self._supervise(watcher, served)
            missing, self._unserved = self._unserved, []
            for type_ in missing:
                self._follow(type_)
            await self._check_identity()
            await self._rediscovery(self._timers.rediscover.draw())

    async def _rediscovery(self, seconds: float) -> None:
        """Until it is due. A request for it is granted after a moment, so that many at once count as one."""
        try:
            async with asyncio.timeout(seconds):
                await self._host.rediscover.wait()
        except TimeoutError:
            return
        await asyncio.sleep(self._timers.relist.draw())

    def _held(self, hold: Hold) -> None:
        self._tell_waiting(hold.phase, hold.message, max(0.0, hold.until - self._host.clock.monotonic()))

    def _tell_waiting(self, phase: StreamPhase, message: str, seconds: float) -> None:
        """For the sources that have no task yet, and so cannot speak for themselves."""
        until = self._host.clock.wall() + seconds
        for key, watcher in self._watchers.items():
            if key not in self._tasks:
                self._take(StreamState(watcher.source, phase, message, until))

    async def _check_identity(self) -> None:
        """Another kube-system at the same address is another cluster: nothing that was known of the old one holds."""
        try:
            answer = await self.transport.request("GET", "/api/v1/namespaces/kube-system")
            uid = msgspec.json.decode(answer.body, type=Object).metadata.uid
        except (KtuiError, *NOT_DECODED):
            return
        if uid and self.cluster_uid and uid != self.cluster_uid:
            self._host.new_epoch(self)
            self._replaced.set()
        self.cluster_uid = uid or self.cluster_uid

    # ------------------------------------------------------------------ sleep

    async def _mind_the_clocks(self) -> NoReturn:
        """After a sleep, Ctrl-Z or a debugger, connections are dead and tokens stale, but no timer knows."""
        before = self._host.clock.wall()
        while True:
            await asyncio.sleep(self._timers.clock_check)
            now = self._host.clock.wall()
            if abs(now - before - self._timers.clock_check) > self._timers.clock_jump:
                await self.transport.reset()
                self._reset_others(self)
            before = now

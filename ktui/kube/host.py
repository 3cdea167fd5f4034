"""What the streams of one connection share beside the transport: the epoch, what the server cannot do, whether it is alive."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable

from ktui.errors import KtuiError
from ktui.kube.failures import ApiError
from ktui.kube.login import NeedsLogin
from ktui.kube.transport import Transport
from ktui.model.parts import Names

_log = logging.getLogger(__name__)


class Host:
    """`epoch` grows when the server's state went back in time. `no_streaming` holds paths whose streaming list was refused or
    never closed; `is_far` says that lists come slowly, and so are better compressed; `rediscover` is set by whoever finds that
    discovery must be asked again."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.gate = transport.gate
        self.timers = transport.timers
        self.clock = transport.clock
        self.epoch = 0
        self.streaming = True
        self.is_far = False
        self.no_streaming: set[str] = set()
        self.rediscover = asyncio.Event()
        self.on_new_epoch: Callable[[object], None] = lambda _: None
        self._probing = asyncio.Lock()
        self._probed_at: float | None = None
        self._alive = True
        self._names: Callable[[], Names | None] = lambda: None

    def names(self) -> Names:
        """Of the lists that are read now; whoever reads one keeps them until it is complete."""
        names = self._names()
        if names is None:
            names = Names()
            self._names = weakref.ref(names)
        return names

    def new_epoch(self, finder: object) -> None:
        """Versions remembered so far mean nothing any more. `finder` is the stream that noticed; the others are to be told."""
        self.epoch += 1
        _log.debug("the server's state went back in time: epoch %d", self.epoch)
        self.on_new_epoch(finder)

    async def alive(self) -> bool:
        """Whether the server answers, asked at most once per `Timers.probe` for all streams, and not while it wants to be left
        alone."""
        async with self._probing:
            now = self.clock.monotonic()
            if now - self.transport.heard_at < self.timers.probe:
                return True  # on a slow link a question would wait behind what is on its way
            hold = self.gate.hold
            if hold is not None and hold.firm and now < hold.until:
                return self._alive
            if self._probed_at is None or now - self._probed_at >= self.timers.probe:
                self._alive = await self._probe()
                self._probed_at = self.clock.monotonic()
            return self._alive

    async def _probe(self) -> bool:
        try:
            await self.transport.request("GET", "/version", timeout=self.timers.probe)
        except (ApiError, NeedsLogin):
            return True  # a refusal is an answer; a stream that is open needs no new login
        except KtuiError as error:
            self.gate.lost(str(error))  # so that not every quiet stream finds out by itself
            return False
        return True

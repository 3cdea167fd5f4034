"""One gate a host: what all streams of a connection share, so that many streams behave like one polite client.

It owns three limits: how many first syncs run at once, how fast lists may follow each other, and the **hold**: when the server
asks to wait (429, Retry-After), cannot be reached, or wants a new login, every stream waits for the same moment. Then a single
one tries; the others follow, spread over a moment, once it got an answer. So a total outage costs one request a step, however
many streams there are.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from msgspec import Struct
from msgspec.structs import replace

from ktui.kube.backoff import Backoff
from ktui.kube.failures import ApiError, Unreachable
from ktui.kube.login import NeedsLogin
from ktui.kube.retry_after import retry_after
from ktui.kube.timers import Clock, Timers
from ktui.model.frame import StreamPhase


class Hold(Struct, frozen=True):
    """Why nothing is sent until `until` (monotonic). A `firm` hold is the server's wish: "retry now" does not shorten it."""

    until: float
    message: str
    phase: StreamPhase = "waiting"
    firm: bool = False


class Gate:
    def __init__(self, timers: Timers, clock: Clock, *, syncs: int = 4, rate: float = 5.0, burst: int = 10) -> None:
        """`syncs` first lists at once; `rate` lists a second after a `burst` (client-go's QPS and burst). `on_wait` is told once
        of each time that the host is waited for."""
        self._timers = timers
        self._clock = clock
        self._syncs = asyncio.Semaphore(syncs)
        self._rate = rate
        self._burst = burst
        self._tokens = float(burst)
        self._filled_at = clock.monotonic()
        self._backoff = Backoff(timers)
        self._changed = asyncio.Event()
        self._trying = False
        self._spread_until = 0.0
        self.hold: Hold | None = None
        self.on_wait: Callable[[Hold], object] = lambda _: None

    @asynccontextmanager
    async def sync_slot(self) -> AsyncIterator[None]:
        """Held during one attempt at a first list."""
        async with self._syncs:
            yield

    async def list_turn(self) -> None:
        """Wait for a list's turn; watches and actions are exempt."""
        self._refill()
        self._tokens -= 1.0
        if self._tokens < 0.0:
            await asyncio.sleep(-self._tokens / self._rate)

    @asynccontextmanager
    async def admission(self, on_hold: Callable[[Hold], None]) -> AsyncIterator[None]:
        """Around the sending of one request, up to its status line: waits while there is a hold, says so by `on_hold`, and
        judges the outcome. After an exception `hold` is set if it concerns the host, and the next admission waits for it.
        """
        tries = await self._admit(on_hold)
        try:
            yield
        except ApiError as error:
            if not self.asked_to_wait(error):
                self._answered()
            raise
        except NeedsLogin as error:
            self._set(self._timers.needs_login, str(error), firm=False, phase="needs-login")
            raise
        except Unreachable as error:
            self.lost(str(error))
            raise
        except Exception:
            # Something answered, if not an API server. A hold that stayed although its time is up would stop nobody.
            self._answered()
            raise
        else:
            self._answered()
        finally:
            if tries:
                self._trying = False
                self._wake()

    def lost(self, message: str) -> None:
        """The host does not answer."""
        self._set(self._backoff.next(), message, firm=False)

    def retry_now(self) -> None:
        """End the wait, unless the server asked for it."""
        if self.hold is not None and not self.hold.firm:
            self.hold = replace(self.hold, until=self._clock.monotonic())
            self._wake()

    def _answered(self) -> None:
        # An answer to a request that was under way before the hold began says nothing about it.
        if self.hold is None or self.hold.until <= self._clock.monotonic():
            self._backoff.reset()
            if self.hold is not None:
                self.hold = None
                self._spread_until = self._clock.monotonic() + self._timers.stagger
                self._wake()

    def asked_to_wait(self, error: ApiError) -> bool:
        """Whether all streams wait now: after 401, 429, and any 5xx that says when to come back. Not when a server only lags
        behind a version: that concerns one stream.
        """
        if error.status == 401:
            self._set(self._timers.needs_login, f"sign-in needed: {error.message}", firm=False, phase="needs-login")
            return True
        seconds = retry_after(error.retry_after, self._clock.wall(), self._timers.retry_after_cap)
        if error.version_too_large or (error.status != 429 and (seconds is None or error.status < 500)):
            return False
        if seconds is None:
            self._set(self._backoff.next(), f"the server is overloaded: {error.message}", firm=False)
        else:
            self._set(seconds * random.uniform(1.0, 1.25), f"the server asks to wait {seconds:.0f} s", firm=True)  # noqa: S311 (spreads load)
        return True

    def _set(self, seconds: float, message: str, *, firm: bool, phase: StreamPhase = "waiting") -> None:
        until = self._clock.monotonic() + seconds
        # Answers to requests that were already under way must not shorten what another one was told.
        before = self.hold
        if before is None or until > before.until or phase != before.phase:
            self.hold = Hold(until, message, phase, firm)
            self._wake()
            if before is None or before.until <= self._clock.monotonic():
                self.on_wait(self.hold)

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def _admit(self, on_hold: Callable[[Hold], None]) -> bool:
        """True when this caller is the one that tries whether the hold's reason is gone."""
        told: Hold | None = None
        spread = False
        while True:
            hold, now = self.hold, self._clock.monotonic()
            if hold is None:
                if spread or now >= self._spread_until:
                    return False
                spread = True
                await asyncio.sleep(random.uniform(0.0, self._spread_until - now))  # noqa: S311 (spreads load)
                continue
            if hold is not told:
                on_hold(hold)
                told = hold
            if now >= hold.until and not self._trying:
                self._trying = True
                return True
            await self._change(hold.until - now if now < hold.until else None)

    async def _change(self, timeout: float | None) -> None:
        try:
            async with asyncio.timeout(timeout):
                await self._changed.wait()
        except TimeoutError:
            pass

    def _refill(self) -> None:
        now = self._clock.monotonic()
        self._tokens = min(float(self._burst), self._tokens + (now - self._filled_at) * self._rate)
        self._filled_at = now

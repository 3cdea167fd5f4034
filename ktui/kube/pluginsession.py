"""One exec plug-in's credential over time: one run for all who wait, renewal before expiry, no storm of failing runs."""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from ktui.errors import KtuiError
from ktui.kube.execplugin import PluginCredential, PluginError

MIN_PAUSE: Final = 30.0  # seconds between runs that failed or were forced by a 401
MAX_UNATTENDED: Final = 10  # of such runs in an hour
_HOUR: Final = 3600.0
_SHORT_LIFE: Final = 120.0
# Answers to requests that were sent with the previous certificate come in this long after it was replaced.
_LATE: Final = 5.0
_REFUSED: Final = "the server does not accept what the exec plug-in gives"


class Refused(KtuiError):
    """The server does not take what the plug-in gives, and asking the plug-in again would not help now."""


class PluginSession:
    """`run` makes one run and raises PluginError or KtuiError; `clock` gives Unix seconds."""

    def __init__(self, run: Callable[[], Awaitable[PluginCredential]], clock: Callable[[], float]) -> None:
        self._run = run
        self._clock = clock
        self._credential: PluginCredential | None = None
        self._renew_at = -math.inf
        self._finished_at = -math.inf
        self._task: asyncio.Task[None] | None = None
        self._waiting = 0
        self._started_at: float | None = None
        self._failure: KtuiError | None = None
        self._penalties: deque[float] = deque(maxlen=MAX_UNATTENDED)

    @property
    def current(self) -> PluginCredential | None:
        return self._credential

    @property
    def running_since(self) -> float | None:
        """Unix seconds, None when the plug-in does not run."""
        return self._started_at

    async def credential(self) -> PluginCredential:
        """A credential that is not about to expire. Raises the run's error, without a run while it is too soon for one."""
        if self._credential is None or self._clock() >= self._renew_at:
            await self._renewed()
        if self._credential is None:
            raise self._last_failure()
        return self._credential

    async def renew(self, used_token: str | None) -> bool:
        """After a 401 for `used_token` (None: only a certificate). True if there is a credential that was not refused.

        Raises Refused if the server refuses the plug-in's newest credential.
        """
        current = self._credential
        if current is None:
            return True
        if self._task is None:
            if self._replaced(current, used_token):
                return True
            if not self._may_run():
                raise Refused(_REFUSED)
            self._penalties.append(self._clock())
        await self._join()
        if _same(current, self._credential):
            raise self._last_failure() if self._failure else Refused(_REFUSED)
        return True

    def allow_run(self) -> None:
        """A person asks for a new attempt now."""
        self._penalties.clear()
        self._failure = None

    def cancel(self) -> None:
        """Stop a run that is under way; all who wait for it get a PluginError."""
        if self._task is not None:
            self._task.cancel()

    def _replaced(self, current: PluginCredential, used_token: str | None) -> bool:
        if used_token is not None or current.token:
            return used_token != current.token
        return self._clock() - self._finished_at < _LATE

    def _may_run(self) -> bool:
        now = self._clock()
        if len(self._penalties) == MAX_UNATTENDED and now - self._penalties[0] < _HOUR:
            return False
        return not self._penalties or now - self._penalties[-1] >= MIN_PAUSE

    async def _renewed(self) -> None:
        if self._task is None and self._failure is not None and not self._may_run():
            if self._expired():
                raise self._last_failure()
            return
        await self._join()
        if self._failure is not None and self._expired():
            raise self._last_failure()

    def _last_failure(self) -> KtuiError:
        """To raise again, without the frames that the error went through when it was raised before."""
        failure = self._failure or PluginError("the exec plug-in gave no credential")
        return failure.with_traceback(None)

    def _expired(self) -> bool:
        """Nothing to fall back on when a renewal fails."""
        credential = self._credential
        return credential is None or (credential.expires is not None and self._clock() >= credential.expires)

    async def _join(self) -> None:
        """Wait for the run that is under way, or start one. The last one to give up waiting ends it."""
        task = self._task
        if task is None:
            self._started_at = self._clock()
            task = self._task = asyncio.create_task(self._attempt(self._started_at), name="ktui-exec-plugin")
            task.add_done_callback(self._ended)
        self._waiting += 1
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError:
            # Either this waiter was cancelled, or `cancel` ended the run for everybody.
            me = asyncio.current_task()
            if me is not None and me.cancelling():
                raise
            raise PluginError("the exec plug-in was cancelled") from None
        finally:
            self._waiting -= 1
            if not self._waiting and not task.done():
                self._task = None  # who comes now gets a run of its own, not the end of this one
                task.cancel()
                await asyncio.wait([task])

    def _ended(self, task: asyncio.Task[None]) -> None:
        """Not in `_attempt`: a task that is cancelled before it first runs never gets there."""
        self._finished_at = self._clock()
        if self._task in {task, None}:
            self._started_at = None
            self._task = None

    async def _attempt(self, started: float) -> None:
        """One run; its outcome is in `_credential` or `_failure`."""
        try:
            credential = await self._run()
        except KtuiError as error:
            self._failure = error
            if not self._penalties or self._penalties[-1] < started:  # a forced run is counted already
                self._penalties.append(self._clock())
        else:
            self._failure = None
            self._credential = credential
            self._renew_at = _renew_at(credential, self._clock())


def _renew_at(credential: PluginCredential, now: float) -> float:
    """Expiry less 60 s or a tenth of the life, whichever is more; the last second for lives that are shorter than that."""
    if credential.expires is None:
        return math.inf
    life = credential.expires - now
    if life <= 0:
        # Expired on arrival: more likely this machine's clock is wrong than the plug-in. The server decides.
        return now + MIN_PAUSE
    return credential.expires - (1.0 if life <= _SHORT_LIFE else max(60.0, life / 10))


def _same(a: PluginCredential, b: PluginCredential | None) -> bool:
    return b is not None and (a.token, a.certificate, a.key) == (b.token, b.certificate, b.key)

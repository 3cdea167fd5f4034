"""What a stream does after a failure: how long it waits, what it shows meanwhile, what it forgets.

Only the reasons written here lead to a new list: 410 in either form, a version that the server does not come to know, three
watches that end at once, an event that cannot be understood twice. Everything else goes on from the last version.
"""

from __future__ import annotations

import logging
from typing import Final, NamedTuple

from ktui.errors import KtuiError
from ktui.kube.backoff import Backoff
from ktui.kube.failures import ApiError, HeadersLate, Unreachable
from ktui.kube.host import Host
from ktui.kube.login import NeedsLogin
from ktui.kube.position import Position
from ktui.model.frame import StreamPhase
from ktui.model.kinds import Kind

TRIES: Final = 3
"""Of what may pass: short watches in a row, late headers, versions that the server does not know yet."""

_log = logging.getLogger(__name__)


class Pause(NamedTuple):
    """How long to wait (None: until something happens) before the next attempt, and what to show; no phase: nothing new."""

    seconds: float | None
    phase: StreamPhase | None = None
    message: str = ""


class Absent(KtuiError):
    """Discovery does not list the kind; the message says what would enable it."""


class Cut(KtuiError):
    """A streaming list ended before the bookmark that completes it."""


class NeverClosed(KtuiError):
    """A streaming list went on without that bookmark."""


class SlowStream(KtuiError):
    """A streaming list comes so slowly that the same list in pages, which are compressed, is there sooner."""


class ShortWatch(KtuiError):
    """A watch ended at once and cleanly, without an event."""


class StreamError(KtuiError):
    """An ERROR event that names no condition with a treatment of its own."""


class Recovery:
    """Turns the exception of one attempt into the next pause, and changes `position` accordingly."""

    def __init__(self, kind: Kind, position: Position, host: Host) -> None:
        self.path = ""
        self._kind = kind
        self._position = position
        self._host = host
        self._timers = host.timers
        self._backoff = Backoff(host.timers)

    @property
    def streams(self) -> bool:
        """Whether the next list is to be a streaming one."""
        host = self._host
        return host.streaming and not (host.is_far or self._position.pages_next or self.path in host.no_streaming)

    def after(self, error: Exception) -> Pause:
        since, self._position.watching_since = self._position.watching_since, None
        if since is not None and self._host.clock.monotonic() - since >= self._timers.backoff_reset:
            self._backoff.reset()
        if isinstance(error, ApiError):
            return self._refused(error)
        if isinstance(error, (Unreachable, NeedsLogin)):
            # With a hold, the gate does the waiting, for all streams.
            return Pause(0.0) if self._host.gate.hold is not None else self._back_off(error)
        match error:
            case Absent():
                return Pause(None, "absent", str(error))
            case NeverClosed():
                return self._without_streaming()
            case StreamError() if not self._position.resource_version:
                return self._without_streaming()
            case SlowStream():
                self._host.is_far = True
                return Pause(0.0)
            case Cut():
                self._position.cuts += 1
                self._position.pages_next = self._position.cuts > 1  # pages can be gone on with, a stream cannot
            case HeadersLate():
                self._position.late_headers += 1
                if self._position.late_headers >= TRIES:
                    return self._poll()
            case ShortWatch():
                self._position.short_watches += 1
                if self._position.short_watches >= TRIES:
                    self._position.short_watches = 0
                    self._position.list_again()
            case _:
                self._bad_event(error)
        return self._back_off(error)

    def _refused(self, error: ApiError) -> Pause:
        if error.expired:
            return self._expired()
        if error.version_too_large:
            return self._lagging(error)
        if self._host.gate.hold is not None and error.status in (401, 429, 503):
            return Pause(0.0)
        if error.status in (400, 422) and not self._position.resource_version and self.streams:
            return self._without_streaming()
        if error.status == 403:
            return self._denied()
        if error.status == 404:
            self._host.rediscover.set()
        return self._back_off(error)

    def _expired(self) -> Pause:
        """Normal for every stream after a restart of the server, so the first time costs only a moment."""
        self._position.list_again()
        self._position.relists += 1
        if self._position.relists > 1:
            return Pause(self._backoff.next(), "waiting", "the server forgets its history at once")
        return Pause(self._timers.relist.draw(), "listing", "resyncing")

    def _lagging(self, error: ApiError) -> Pause:
        self._position.lagging += 1
        if self._position.lagging < TRIES:
            return Pause(self._timers.too_large, "waiting", "the server is behind the version already seen")
        self._position.lagging = 0
        self._position.list_again()
        return self._back_off(error)

    def _denied(self) -> Pause:
        position = self._position
        if not position.resource_version and self.streams:
            position.pages_next = True  # a streaming list is a watch: perhaps only that is forbidden
            return Pause(0.0)
        if position.resource_version and position.poll_until is None:
            return self._poll()
        position.poll_until = None
        position.pages_next = False
        position.list_again()
        first, longest = self._timers.access
        position.barred_for = first if position.barred_for is None else min(longest, position.barred_for * 2)
        return Pause(position.barred_for, "no-access", f"no access: list {self._kind.resource}")

    def _poll(self) -> Pause:
        self._position.late_headers = 0
        self._position.poll_until = self._host.clock.monotonic() + self._timers.access.high
        return Pause(0.0)

    def _without_streaming(self) -> Pause:
        self._host.no_streaming.add(self.path)
        return Pause(0.0)

    def _bad_event(self, error: Exception) -> None:
        """What could not be understood, or taken. The second time at the same version, go around it by a list in pages."""
        if not isinstance(error, KtuiError):
            _log.warning("stream of %s: unexpected %s", self.path, type(error).__name__)
            _log.debug("stream of %s", self.path, exc_info=error)
        self._position.bad_events += 1
        if self._position.bad_events > 1:
            self._position.bad_events = 0
            self._position.pages_next = True
            self._position.list_again()

    def _back_off(self, error: Exception) -> Pause:
        message = (
            str(error) if isinstance(error, KtuiError) else f"internal error ({type(error).__name__}), trying again"
        )
        return Pause(self._backoff.next(), "waiting", message)

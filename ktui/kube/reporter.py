"""How a source is doing, told once for every change."""

from __future__ import annotations

import logging
from collections.abc import Callable

from ktui.kube.gate import Hold
from ktui.kube.timers import Clock, Timers
from ktui.model.frame import Frame, Source, StreamPhase, StreamState

_log = logging.getLogger(__name__)


class Reporter:
    """`note` is said along with "watching": what is not quite right although the stream is live."""

    def __init__(self, source: Source, sink: Callable[[Frame], object], timers: Timers, clock: Clock) -> None:
        self.source = source
        self.note = ""
        self._sink = sink
        self._timers = timers
        self._clock = clock
        self._told: StreamState | None = None
        self._progress_at = 0.0

    @property
    def phase(self) -> StreamPhase | None:
        return self._told.phase if self._told else None

    def tell(self, phase: StreamPhase, message: str = "", seconds: float | None = None) -> None:
        """`seconds` is how long the phase is going to last, when it is a wait."""
        told = self._told
        if seconds is None and told and told.until is None and (told.phase, told.message) == (phase, message):
            return
        what, wait = self.source.selector or "all", "" if seconds is None else f" for {seconds:.1f} s"
        _log.debug("stream of %s (%s): %s%s %s", self.source.path, what, phase, wait, message)
        self._send(StreamState(self.source, phase, message, None if seconds is None else self._clock.wall() + seconds))

    def watching(self) -> None:
        self.tell("watching", self.note)

    def held(self, hold: Hold) -> None:
        self.tell(hold.phase, hold.message, max(0.0, hold.until - self._clock.monotonic()))

    def progress(self, message: str, received: int, expected: int) -> None:
        """During a list; `expected` is 0 when nobody knows."""
        now = self._clock.monotonic()
        if now - self._progress_at >= self._timers.progress:
            self._progress_at = now
            self._send(StreamState(self.source, "listing", message, None, (received, expected)))

    def _send(self, state: StreamState) -> None:
        self._told = state
        self._sink(state)

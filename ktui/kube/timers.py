"""Every waiting time of the watch layer in one place, and the two clocks it reads.

All values are seconds. Tests scale them down; nothing else in the package holds a duration.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import asdict


class Span(NamedTuple):
    """A waiting time drawn evenly between two bounds, so that many streams do not act in step."""

    low: float
    high: float

    def draw(self) -> float:
        return random.uniform(self.low, self.high)  # noqa: S311 (spreads load; guards nothing)


class Clock(NamedTuple):
    """`monotonic` measures waits, `wall` (Unix seconds) is shown to people and tells a sleep from a pause."""

    monotonic: Callable[[], float] = time.monotonic
    wall: Callable[[], float] = time.time


class Timers(Struct, frozen=True, kw_only=True):
    """The defaults are those of `Watcher`'s state machine; each comment says what the value protects against."""

    connect: float = 10.0  # TCP and TLS together
    short_get: float = 30.0  # discovery, /version, access reviews: total
    page_stall: float = 30.0  # a list page has no total limit (slow links), only one between two reads
    headers: float = 15.0  # some proxies hold a watch's headers until there is data
    sync_stall: float = 10.0  # no byte of a streaming list
    sync_idle: float = 60.0  # bytes, but neither an initial event nor the closing bookmark
    slow_link: float = 1.0  # a plain streaming list not complete by then is judged by how fast the host's bytes come
    quiet: float = 75.0  # API servers send a bookmark about once a minute, so this is unusual but no error
    idle: Span = Span(130.0, 170.0)  # half-open connections: assume the stream is dead
    server_timeout: Span = Span(240.0, 360.0)  # asked of the server; below the limits of most load balancers
    probe: float = 15.0
    reconnect: Span = Span(0.05, 0.3)  # after a clean end
    relist: Span = Span(0.0, 1.0)  # after a 410: a restarted server refuses every stream at once
    stagger: float = 1.0  # streams that waited for the host go on spread over this time
    backoff_first: float = 0.8
    backoff_cap: float = 30.0
    backoff_reset: float = 120.0  # in Watching
    short_watch: float = 1.0  # a watch that ends sooner, without an event, is a failure
    too_large: float = 1.0  # the server is behind the version we know: a lagging replica catches up
    retry_after_cap: float = 60.0
    needs_login: float = 60.0
    access: Span = Span(50.0, 300.0)  # re-check of a refusal: first and longest wait
    poll: Span = Span(15.0, 30.0)
    usage: float = 15.0  # between two looks at what is used: metrics-server measures no oftener
    rediscover: Span = Span(240.0, 360.0)
    clock_check: float = 1.0
    clock_jump: float = 15.0
    stop: float = 1.0
    progress: float = 0.25  # between two progress reports of a list
    decode_slice: float = 0.004  # of decoding before other tasks of the loop get their turn

    def scaled(self, factor: float) -> Timers:
        """All waits times `factor`; what is left alone is no wait but a share of the event loop."""
        values: dict[str, Any] = {
            name: Span(value.low * factor, value.high * factor) if isinstance(value, Span) else value * factor
            for name, value in asdict(self).items()
            if name != "decode_slice"
        }
        return Timers(**values)

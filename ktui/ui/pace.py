"""How often something is done that takes a while: so that it takes but a small part of the time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import inf


class Pace:
    """After each time there is a rest: `rest` times as long as it took, `longest` at most; none after what took `quick` or less.
    Seconds, of the `clock`."""

    def __init__(self, clock: Callable[[], float], *, rest: float, longest: float = inf, quick: float = 0.0) -> None:
        self._clock = clock
        self._rest = rest
        self._longest = longest
        self._quick = quick
        self._due = -inf

    def is_due(self) -> bool:
        return self._clock() >= self._due

    def hurry(self) -> None:
        """The next time is at once."""
        self._due = -inf

    @contextmanager
    def doing(self) -> Iterator[None]:
        began = self._clock()
        yield
        done = self._clock()
        took = done - began
        self._due = done + min(self._rest * took, self._longest) if took > self._quick else -inf

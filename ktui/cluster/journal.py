"""What has changed since somebody last looked: nodes on which there is more or less to be had, gangs that may look different.
Whoever keeps what follows from them finds out what to look at again."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final, Generic, TypeVar

EVERYWHERE: Final = ""
"""Noted instead of a node for what several nodes can reach, and for what may be of any node."""

T = TypeVar("T", bound=Hashable)
_MOST: Final = 65_536  # entries that are kept: half a minute of 2,000 changes a second


class Journal(Generic[T]):
    """Names of things in the order in which something of them changed; only the latest are kept."""

    def __init__(self) -> None:
        self._names: list[T] = []
        self._forgotten = 0

    def note(self, name: T) -> None:
        """Something of it changed."""
        self._names.append(name)
        if len(self._names) > _MOST:
            self._forgotten += _MOST // 2
            del self._names[: _MOST // 2]

    @property
    def position(self) -> int:
        return self._forgotten + len(self._names)

    def since(self, position: int) -> tuple[int, frozenset[T] | None]:
        """The position now, and what was noted since `position` (0, or one that was returned before). None when that is too long
        ago to tell: anything may have changed then."""
        if position < self._forgotten:
            return self.position, None
        return self.position, frozenset(self._names[position - self._forgotten :])

"""On which nodes there is more or less to be had than before: what a diagnosis that was made then has to look at again."""

from __future__ import annotations

from typing import Final

EVERYWHERE: Final = ""
"""Noted instead of a node for what several nodes can reach, and for what may be of any node."""

_MOST: Final = 65_536  # entries that are kept: half a minute of 2,000 changes a second


class Journal:
    """Names of nodes in the order in which something of them changed; only the latest are kept."""

    def __init__(self) -> None:
        self._nodes: list[str] = []
        self._forgotten = 0

    def note(self, node: str) -> None:
        """Something that decides what fits on the node changed: the node, its pods, its devices, their taints or holders."""
        self._nodes.append(node)
        if len(self._nodes) > _MOST:
            self._forgotten += _MOST // 2
            del self._nodes[: _MOST // 2]

    @property
    def position(self) -> int:
        return self._forgotten + len(self._nodes)

    def since(self, position: int) -> tuple[int, frozenset[str] | None]:
        """The position now, and what was noted since `position` (0, or one that was returned before): nodes, and `EVERYWHERE`.
        None when that is too long ago to tell: anything may have changed then."""
        if position < self._forgotten:
            return self.position, None
        return self.position, frozenset(self._nodes[position - self._forgotten :])

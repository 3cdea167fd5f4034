"""The symbols that are drawn, for terminals with Unicode and for those with ASCII only.

Every state has a symbol of its own beside its colour: colour never carries meaning alone.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct


class Glyphs(Struct, frozen=True):
    """One cell each, except `ellipsis` and `separator`."""

    cursor: str
    mark: str
    ascending: str
    descending: str
    ellipsis: str
    separator: str
    live: str
    busy: str
    trouble: str
    used: str
    free: str
    tainted: str
    unhealthy: str
    unusable: str
    group: str  # between the devices of two NUMA nodes
    rule: str  # of a line across
    folded: str
    unfolded: str  # a row of a tree, with rows below it

    @property
    def ascii(self) -> bool:
        return self.cursor.isascii()


UNICODE: Final = Glyphs(
    cursor="▌",
    mark="✓",
    ascending="▲",
    descending="▼",
    ellipsis="…",
    separator=" · ",
    live="●",
    busy="○",
    trouble="▲",
    used="■",
    free="□",
    tainted="✖",
    unhealthy="▲",
    unusable="?",
    group="│",
    rule="─",
    folded="▸",
    unfolded="▾",
)
ASCII: Final = Glyphs(
    cursor=">",
    mark="*",
    ascending="^",
    descending="v",
    ellipsis="...",
    separator=" | ",
    live="o",
    busy=".",
    trouble="!",
    used="#",
    free="-",
    tainted="x",
    unhealthy="!",
    unusable="?",
    group="|",
    rule="-",
    folded="+",
    unfolded="-",
)

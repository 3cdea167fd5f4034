"""Where a stream stands, and what it has learnt about its server: the data that outlives one connection."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ktui.kube.listing import PAGE

_LONGEST: Final = 20  # digits of an unsigned 64-bit number


class Position(Struct):
    """`resource_version` is of the last change that was handed on, "" when a list is due. `seen` is the same, but survives until
    the next list, which must not be older. `poll_until` (monotonic) is set while watching is impossible, `barred_for` (seconds)
    while the server refuses us. The counters are of failures in a row.
    """

    resource_version: str = ""
    seen: str = ""
    epoch: int = 0
    synced: bool = False
    page_size: int = PAGE
    pages_next: bool = False  # the next list is read in pages, for a reason of this source alone
    poll_until: float | None = None
    barred_for: float | None = None
    watching_since: float | None = None
    cuts: int = 0
    short_watches: int = 0
    late_headers: int = 0
    lagging: int = 0
    relists: int = 0
    bad_events: int = 0

    def advance(self, version: str) -> None:
        """After an event or bookmark of the watch. "0" and "" are no versions."""
        if version not in ("", "0"):
            self.resource_version = self.seen = version
            self.relists = self.bad_events = self.short_watches = self.lagging = 0

    def enter(self, epoch: int) -> None:
        """Before a list. What was seen in another epoch says nothing about the versions of this one."""
        if epoch != self.epoch:
            self.epoch, self.seen = epoch, ""

    def list_again(self) -> None:
        self.resource_version = ""


def older(version: str, than: str) -> bool:
    """Versions of one resource compare as numbers (KEP-5504); what is no number compares with nothing."""
    return _is_number(version) and _is_number(than) and int(version) < int(than)


def _is_number(version: str) -> bool:
    return version.isascii() and version.isdigit() and len(version) <= _LONGEST

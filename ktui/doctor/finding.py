"""What a check says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

from msgspec import Struct

Status = Literal["skipped", "ok", "warn", "fail"]
"""From best to worst. "skipped": it could not be told, the text says why; it makes nothing worse."""

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
_NAMED: Final = 3


class Finding(Struct, frozen=True):
    """`check` is a stable code, `objects` are the names of all that is concerned, as RESOURCE/NAME or what it is called by."""

    check: str
    status: Status
    text: str
    todo: str = ""
    objects: tuple[str, ...] = ()


def worst(findings: Iterable[Finding]) -> Status:
    return max((finding.status for finding in findings), key=STATUSES.index, default="skipped")


def skipped(check: str, why: str) -> Finding:
    return Finding(check, "skipped", why)


def some(names: Iterable[str], most: int = _NAMED) -> str:
    """The first names, and how many more there are."""
    listed = list(names)
    more = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {more} more" if more > 0 else "")


def counted(number: int, one: str, many: str = "") -> str:
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"

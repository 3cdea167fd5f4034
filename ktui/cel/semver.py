"""Semantic versions, as Kubernetes compares them (semver.org 2.0.0; build metadata does not count)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_UINT64: Final = 2**64
_NUMBER: Final = r"(0|[1-9][0-9]{0,19})"  # no number within 64 bits is longer
_LABELS: Final = r"([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)"
_VERSION: Final = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-{_LABELS})?(?:\+{_LABELS})?\Z")
_PRERELEASE_NUMBER: Final = re.compile(r"[0-9]+\Z")


@dataclass(frozen=True, slots=True, order=True)
class Semver:
    """Ordered by precedence: equal where only the build metadata differs."""

    major: int
    minor: int
    patch: int
    precedence: tuple[object, ...] = field(repr=False)
    """Sorts releases after their pre-releases, and numbers in a pre-release before words."""
    text: str = field(compare=False)


def parse_semver(text: str) -> Semver | None:
    """None for what is not MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD], numbers without leading zeros and within 64 bits."""
    match = _VERSION.match(text)
    if match is None:
        return None
    major, minor, patch = (int(part) for part in match.group(1, 2, 3))
    labels = match[4].split(".") if match[4] else []
    numbers = [label for label in labels if _PRERELEASE_NUMBER.match(label)]
    if any(len(number) > 20 or (len(number) > 1 and number[0] == "0") for number in numbers):
        return None
    if max(major, minor, patch, *map(int, numbers)) >= _UINT64:
        return None
    return Semver(major, minor, patch, _precedence(labels), text)


def _precedence(labels: list[str]) -> tuple[object, ...]:
    if not labels:
        return (1,)
    return (0, tuple((0, int(x), "") if _PRERELEASE_NUMBER.match(x) else (1, 0, x) for x in labels))


def normalised(text: str) -> str | None:
    """What semver(text, true) parses: without "v", without leading zeros, filled up to three numbers.

    None where a shortened version has a pre-release or build metadata, which Kubernetes refuses.
    """
    parts = [_without_zeros(part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        return None
    return ".".join(parts + ["0"] * (3 - len(parts)))


def _without_zeros(part: str) -> str:
    if len(part) < 2:
        return part
    stripped = part.lstrip("0")
    return stripped if stripped[:1].isascii() and stripped[:1].isdigit() else "0" + stripped

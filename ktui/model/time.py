"""Times and ages, as the API writes them and as kubectl shows them."""

from __future__ import annotations

import functools
import re
from datetime import UTC, datetime

_RFC3339 = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-]\d\d):(\d\d))\Z", re.ASCII
)


@functools.lru_cache(maxsize=8192)
def parse_time(text: str | None) -> float | None:
    """Unix seconds of an RFC 3339 time (metav1.Time, MicroTime), None when it is none. A leap second counts as the next one;
    the API's zero time (year 1) counts as absent."""
    if text is None or not (match := _RFC3339.match(text)):
        return None
    year, month, day, hour, minute, second = (int(g) for g in match.groups()[:6])
    fraction, off_hours, off_minutes = match.group(7), match.group(8), match.group(9)
    if year < 1970 or second > 60:
        return None
    try:
        start = datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()
    except ValueError:
        return None
    offset = 0
    if off_hours is not None:
        sign = -1 if off_hours[0] == "-" else 1
        offset = sign * (abs(int(off_hours)) * 3600 + int(off_minutes) * 60)
    return start + second + (float(f"0.{fraction}") if fraction else 0.0) - offset


def format_time(seconds: float) -> str:
    """RFC 3339 in UTC with whole seconds: "2026-11-30T05:54:09Z"."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def format_age(seconds: float) -> str:
    """A duration as kubectl writes ages: "41s", "2m10s", "41m", "3h5m", "2d", "3y20d". A negative one is "in 3d"."""
    if seconds <= -1:
        return f"in {format_age(-seconds)}"
    s = max(0, int(seconds))
    minutes, hours, days = s // 60, s // 3600, s // 86400
    if s < 120:
        return f"{s}s"
    if minutes < 10:
        return _two(minutes, "m", s % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two(days // 365, "y", days % 365, "d")


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"

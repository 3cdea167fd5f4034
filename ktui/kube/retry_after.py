"""The Retry-After header (RFC 9110, section 10.2.3): whole seconds, or a date."""

from __future__ import annotations

from email.utils import parsedate_to_datetime
from typing import Final

SHORTEST: Final = 1.0


def retry_after(value: str | None, now: float, longest: float) -> float | None:
    """Seconds to wait, kept between 1 and `longest`; None when the server did not say, or nothing that makes sense.

    `now` is Unix time, for dates. API servers send whole seconds; proxies before them send either form.
    """
    if value is None:
        return None
    text = value.strip()
    seconds = float(text) if text.isascii() and text.isdigit() and len(text) < 20 else _huge(text) or _until(text, now)
    return None if seconds is None else min(max(seconds, SHORTEST), longest)


def _huge(text: str) -> float | None:
    """ "1e9" and twenty digits are no valid header, but what they mean is clear: very long."""
    try:
        seconds = float(text) if text.isascii() else 0.0
    except ValueError:
        return None
    return seconds if seconds >= SHORTEST else None


def _until(text: str, now: float) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError, IndexError, TypeError):
        return None

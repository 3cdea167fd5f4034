"""What the movement commands mean, for everything that scrolls."""

from __future__ import annotations


def target(how: str, here: int, page: int, last: int) -> int:
    """Where a "move." command leads from `here`; `page` and `last` in lines. Within 0 and `last`."""
    half = max(1, page // 2)
    page = max(1, page)
    steps = {
        "down": 1,
        "up": -1,
        "half_down": half,
        "half_up": -half,
        "page_down": page,
        "page_up": -page,
        "top": -here,
        "home": -here,
        "bottom": last - here,
        "end": last - here,
    }
    return max(0, min(here + steps[how], last))

"""What a person still has to be told when the application ends: what an action that was under way left in a cluster."""

from __future__ import annotations

import sys
from typing import Final

from ktui.ui.safe import safe

LEFT_BEHIND: Final[dict[str, str]] = {}
"""Words by the name of what is left; whoever takes it away takes the words away."""


def take_leave() -> None:
    """Say it where the person is then: on the terminal that the screens have given back."""
    for words in LEFT_BEHIND.values():
        sys.stderr.write(f"ktui: {safe(words, 400)}\n")

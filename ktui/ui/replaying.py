"""What the replay commands do to a player."""

from __future__ import annotations

from typing import Final

from ktui.ui.session import Playing

_SKIP: Final = 10.0  # seconds


def drive(player: Playing, what: str) -> None:
    """`what` is the second part of a "replay." command."""
    match what:
        case "pause":
            player.pause()
        case "back":
            player.step(-1)
        case "forward":
            player.step(1)
        case "slower":
            player.set_speed(-1)
        case "faster":
            player.set_speed(1)
        case "rewind":
            player.seek(player.position - _SKIP)
        case "skip":
            player.seek(player.position + _SKIP)
        case "start":
            player.seek(0)
        case "end":
            player.seek(player.duration)

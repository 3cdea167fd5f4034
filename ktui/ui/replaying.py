"""What the replay commands do to a player."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, cast

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.model.frame import ActionTaken, Changed, Frame, Mark
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.ui.feeds import Playing
from ktui.ui.subjects import subject
from ktui.views.base import RowKey

_SKIP: Final = 10.0  # seconds

Selected = tuple[Entity, RowKey]
"""View and key of the row under the cursor."""


def drive(player: Playing, what: str, cluster: Cluster, selected: Selected | None) -> str:
    """`what` is the second part of a "replay." command. Returns what there is to say, "" when it shows by itself."""
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
        case "mark" | "mark_back":
            return _look(player, what, "mark", _is_mark)
        case "change" | "change_back" if selected is not None:
            return _look(player, what, "change of it", _about(cluster, selected))
    return ""


def _look(player: Playing, what: str, name: str, wanted: Callable[[Frame], bool]) -> str:
    direction = -1 if what.endswith("_back") else 1
    if player.seek_to(direction, wanted):
        return ""
    return f"no {name} {'before' if direction < 0 else 'after'} this moment"


def _is_mark(frame: Frame) -> bool:
    """A note, or something that a person did."""
    return isinstance(frame, Mark | ActionTaken)


def _about(cluster: Cluster, selected: Selected) -> Callable[[Frame], bool]:
    """Whether a frame changes the object behind a row; of a gang, also its pods."""
    view, row = selected
    found = subject(cluster, view, row)
    gang = cast("Key", row) if view == "gangs" else None

    def is_about(frame: Frame) -> bool:
        if not isinstance(frame, Changed):
            return False
        obj = frame.object
        if gang is not None and isinstance(obj, Pod) and (obj.namespace, obj.group) == gang:
            return True
        return (frame.source.kind, obj.key) == found

    return is_about

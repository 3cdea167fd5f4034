"""Look back: the last minutes of a live session as a replay beside it, while it goes on."""

from __future__ import annotations

from ktui.cluster.moment import Moment
from ktui.model.frame import Mark
from ktui.recording.player import Player
from ktui.recording.remembered import Remembered
from ktui.recording.tape import Tape
from ktui.ui.session import Session, Sink, Travel


class Past(Player[Moment]):
    """Stands still at its end, the moment at which somebody looked back. `tape` is the live session's."""

    def __init__(self, remembered: Remembered, tape: Tape, sink: Sink, travel: Travel) -> None:
        super().__init__(remembered, sink, travel, Moment(), start=remembered.duration)
        self.remembered = remembered
        self.tape = tape
        self.paused = True


def look_back(live: Session) -> Session | None:
    """A session of what the live one remembers now; None when that is nothing."""
    tape = live.tape
    if tape is None or not (frames := tape.frames()):
        return None
    remembered = Remembered([*frames, (live.feed.now(), Mark("looked back"))])
    return Session(live.target, lambda sink, travel: Past(remembered, tape, sink, travel))

"""What a session remembers of its last minutes, as a recording that was never a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ktui.model.frame import Frame
from ktui.recording.reader import Glimpse, Timed


class Remembered:
    """Frames with their times in Unix seconds, at least one. They stay as they are, whatever happens next."""

    name = "the last minutes"

    def __init__(self, frames: Sequence[tuple[float, Frame]]) -> None:
        self.taken = frames
        self.start = frames[0][0]
        self.duration = max(at for at, _ in frames) - self.start

    def frames(self, given_up: Callable[[], bool] = lambda: False) -> Iterator[Timed]:
        """As `Recording.frames`: a clock that was set back does not turn time back."""
        t = 0.0
        for at, frame in self.taken:
            if given_up():
                return
            t = max(t, at - self.start)
            yield Timed(t, frame)

    def glimpses(self) -> Iterator[Glimpse]:
        """None: everything is decoded already."""
        yield from ()

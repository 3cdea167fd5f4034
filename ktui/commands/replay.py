"""Open a recording for the screens. Nothing here can reach a cluster."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ktui.ui.session import Session, Target


class ReplayOpener:
    """Plays `file`, beginning `at` seconds from its start. `clock` tells how time passes while it plays."""

    def __init__(self, file: str, at: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._file = Path(file)
        self._at = at
        self._clock = clock

    def title(self) -> str:
        return f"recording {self._file.name}"

    async def open(self, context: str = "") -> Session:  # noqa: ARG002 - a recording has one
        from ktui.cluster.moment import Moment
        from ktui.recording.player import Player
        from ktui.recording.reader import Recording

        recording = Recording(self._file)
        header = recording.header
        target = Target(
            context=header.context or header.title or self._file.name,
            version=header.server.git_version,
            read_only=True,
        )
        start, clock = self._at, self._clock
        return Session(target, lambda sink, travel: Player(recording, sink, travel, Moment(), start=start, clock=clock))

    async def contexts(self) -> Sequence[str]:
        return ()

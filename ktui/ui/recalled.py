"""The timeline of a recording, worked out beside the screens as the recording becomes known."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import closing
from typing import Final

from ktui.cluster.changes import chronicle
from ktui.cluster.state import Cluster
from ktui.cluster.timeline import Change, Timeline
from ktui.ui.feeds import Remembering

_GIVE_WAY: Final = 0.005  # seconds


class Recalled(Timeline):
    """Filled by a thread, emptied by the loop."""

    def __init__(self) -> None:
        super().__init__()
        self._found: deque[Change] = deque()

    def add(self, change: Change) -> None:
        self._found.append(change)

    def pass_on(self, timeline: Timeline, most: int | None) -> None:
        """Give what was found to another one, so many at most (None: all)."""
        for _ in range(len(self._found) if most is None else min(most, len(self._found))):
            timeline.add(self._found.popleft())

    async def work_out(self, feed: Remembering, is_busy: Callable[[], bool]) -> None:
        """Find all changes, in a thread that gives way while the loop `is_busy`: what is shown comes first, and threads of Python
        take turns with the loop."""
        given_up = threading.Event()
        history = feed.history(given_up.is_set)

        def give_way() -> bool:
            if is_busy():
                time.sleep(_GIVE_WAY)
            return given_up.is_set()

        def find() -> None:
            with closing(Cluster()) as cluster:
                chronicle(cluster, self, history, give_way)

        try:
            await asyncio.to_thread(find)
        finally:
            given_up.set()  # a thread that nobody waits for any longer would hold up the end of the program

"""How much is on its way to the terminal, told by the terminal itself.

Between a program and a terminal over SSH there are buffers of megabytes, which take everything at once and deliver it when they
can: what a person sees is seconds old, and keys are answered after all of it. So now and then the terminal is asked where its
cursor is, which every terminal answers since the VT100, and no more is sent than a little ahead of its last answer.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final

QUESTION: Final = "\x1b[6n"  # DSR: report the position of the cursor
AHEAD: Final = 2048  # bytes on their way at most when more is sent: a tenth of a second at 20 kB/s
_UNASKED: Final = 512  # bytes that may go without a question
PATIENCE: Final = 5.0  # seconds without an answer after which there will be none
FAR: Final = 0.03  # seconds there and back


class Flow:
    """Counts bytes. A terminal that never answers, or no longer does, is sent what its driver takes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._sent = 0
        self._arrived = 0
        self._asked: deque[tuple[int, float]] = deque()  # bytes that were sent up to each question, and when it was
        self._heard = 0.0  # when an answer came last, or when one began to be waited for
        self._answers = False
        self.is_far = False  # the last answer took long: what is gathered for a moment comes sooner than in parts

    @property
    def on_the_way(self) -> int:
        """Bytes that are not known to have arrived; 0 for a terminal that does not say."""
        return self._sent - self._arrived if self._answers else 0

    def may_send(self) -> bool:
        if self._asked and self._clock() - self._heard > PATIENCE:
            self._asked.clear()
            self._answers = False
        return self.on_the_way <= AHEAD

    def sending(self, output: str) -> str:
        """The output, with a question at its end where one is due."""
        asks = len(output) + self._sent - (self._asked[-1][0] if self._asked else self._arrived) > _UNASKED
        if not self._answers:
            asks = not self._asked
        output += QUESTION if asks else ""
        self._sent += len(output)
        if asks:
            now = self._clock()
            if not self._asked:
                self._heard = now
            self._asked.append((self._sent, now))
        return output

    def answered(self) -> None:
        """The terminal has taken everything up to the oldest question."""
        if self._asked:
            self._arrived, asked_at = self._asked.popleft()
            self._answers = True
            self._heard = self._clock()
            self.is_far = self._heard - asked_at > FAR

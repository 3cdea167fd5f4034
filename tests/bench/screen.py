"""What a terminal's user sees, and since when: the output of a command, drawn by an emulator after it has been timed.

Drawing takes longer than reading, and the machine's time is the command's. So output is read, and its time noted, as long as
there is any; it is drawn after a lull, piece by piece, and what a piece made visible was visible when that piece was read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Final, TypeVar

import pyte

from tests.bench.terminal import Terminal

T = TypeVar("T")

_LULL: Final = 0.25  # seconds without output, after which there is time to draw
_LULL_AFTER_KEY: Final = 0.005
_PATIENCE: Final = 4  # lulls of output without one, after which it is drawn all the same


class Screen:
    """The screen of a command on a terminal of `columns` x `rows`."""

    def __init__(self, terminal: Terminal, *, columns: int, rows: int) -> None:
        self._terminal = terminal
        self._emulator = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._emulator)
        self._drawn = 0  # pieces of output
        self._at = 0.0  # when the last one of them came

    @property
    def lines(self) -> list[str]:
        return list(self._emulator.display)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self._emulator.display)

    @property
    def cursor(self) -> int | None:
        """The number of the line that stands out: whose background, from side to side, no other line has. None without one.

        That is how programs show which row a key would act on; the terminal's own cursor is hidden, or somewhere else.
        """
        backgrounds = [self._background(line) for line in range(self._emulator.lines)]
        times = Counter(backgrounds)
        single = [line for line, each in enumerate(backgrounds) if each is not None and times[each] == 1]
        return single[0] if len(single) == 1 else None

    def wait_for(self, seen: Callable[[Screen], T], what: str, limit: float = 60.0, lull: float = _LULL) -> float:
        """Seconds from the start of the command until the screen was as wanted; of the last output, where it is already.
        TimeoutError after `limit` seconds of waiting."""
        if seen(self):
            return self._at
        begun = self._terminal.elapsed
        while True:
            if (at := self._draw(seen)) is not None:
                return at
            if self._terminal.elapsed - begun > limit or not self._terminal.read(0.1):
                raise TimeoutError(f"{what}: not seen; the screen shows:\n{self.text}")
            flood = self._terminal.elapsed + _PATIENCE * lull
            while self._terminal.elapsed < flood and self._more(lull):
                pass

    def answer_to(self, key: str, limit: float = 10.0) -> float:
        """Seconds from pressing a key until the cursor was on another line."""
        self._draw(lambda _: None)
        before = self.cursor
        pressed = self._terminal.elapsed
        self._terminal.press(key)
        moved = self.wait_for(
            lambda now: now.cursor not in (None, before), f"answer to {key!r}", limit, _LULL_AFTER_KEY
        )
        return moved - pressed

    def rest(self, seconds: float) -> None:
        """Lets the command go on for a while."""
        end = self._terminal.elapsed + seconds
        while (left := end - self._terminal.elapsed) > 0:
            if not self._terminal.read(left):
                raise TimeoutError(f"the command ended; the screen shows:\n{self.text}")
        self._draw(lambda _: None)

    def _more(self, lull: float) -> bool:
        """Reads on; False when there is a lull."""
        before = self._terminal.pieces
        return self._terminal.read(lull) and self._terminal.pieces > before

    def _draw(self, seen: Callable[[Screen], T]) -> float | None:
        """Draws what was read, up to the piece that made `seen` true: its time."""
        for at, data in self._terminal.chunks(self._drawn):
            self._at = at
            self._drawn += 1
            self._stream.feed(data)
            if seen(self):
                return at
        return None

    def _background(self, line: int) -> Hashable | None:
        """Of the whole line, judged by three of its cells."""
        row, width = self._emulator.buffer[line], self._emulator.columns
        first, *others = ((row[x].bg, row[x].reverse) for x in (width // 4, width // 2, width * 3 // 4))
        return first if all(each == first for each in others) else None

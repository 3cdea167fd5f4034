"""What is measured: when something can be seen, and what it costs to keep showing it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from tests.bench.terminal import ANYTHING, FULL_SCREEN, Ended, Terminal

_SIZES: Final = ((80, 24), (200, 50))
_SETTLE_SECONDS: Final = 3.0
_LONG_RUN_SECONDS: Final = 600.0
_BETWEEN_KEYS_SECONDS: Final = 0.05
_KEYS: Final = "j" * 40 + "k" * 40
_GANGS: Final = "2"  # the key of the view that has a row for everything that runs


class Failed(Exception):
    """The command that was to be measured did not work; one line."""


class Figures(NamedTuple):
    """What one run gave: any number of values, and what the process had cost by its end."""

    values: list[float]
    ended: Ended


class Measure(NamedTuple):
    """One line of the table. One run of `take` is enough where `once`; else it is repeated for more values."""

    name: str
    unit: str
    take: Callable[[], Figures]
    once: bool = False


@dataclass(frozen=True)
class Bench:
    """Runs `command` on a new terminal for each measure."""

    command: Path
    environment: Mapping[str, str]

    def replayed(self, recording: Path, rows: re.Pattern[str]) -> Iterator[Measure]:
        """Start-up, with nothing but a recording of a small cluster. `rows` is a text that only its rows contain.

        The replay starts 80 s in, when there is something to show.
        """
        yield Measure("ktui --version", "ms", partial(self._whole, "--version"))
        get = partial(self._whole, "get", "gangs", "-A", "--recording", str(recording))
        yield Measure("get gangs, recording", "ms", get)
        for size in _SIZES:
            replay = ("replay", "--at", "80", str(recording))
            shape = "x".join(map(str, size))
            yield Measure(f"first frame, {shape}", "ms", partial(self._until, ANYTHING, size, *replay))
            yield Measure(f"first rows, {shape}", "ms", partial(self._until, rows, size, *replay, keys=_GANGS))

    def long(self, recording: Path, length: str) -> Iterator[Measure]:
        """A recording made by `tests.bench.recorded`; `length` is how the screens write its duration."""
        size = _SIZES[-1]
        replay = ("replay", str(recording))
        gangs = partial(self._until, re.compile("gang-0"), size, *replay, keys=_GANGS)
        yield Measure("first gangs, long recording", "ms", gangs)
        yield Measure("first pods, long recording", "ms", partial(self._pods, size, *replay))
        yield Measure(
            "key to paint while it is read", "ms", partial(self._keys_while_read, length, size, *replay), once=True
        )
        for name, keys in (
            ("10 s back and on, all drawn", ",.,,..,."),
            ("first to last moment, all drawn", "\x1b[H\x1b[F" * 3),
        ):
            found = re.findall(r"\x1b\[.|.", keys)
            yield Measure(name, "ms", partial(self._moves, found, length, size, *replay), once=True)

    def _pods(self, size: tuple[int, int], *arguments: str) -> Figures:
        """From the start of the process to the first pod, which is asked for with the first gang."""
        with self._terminal(size, *arguments) as terminal:
            terminal.wait_for(ANYTHING, after=FULL_SCREEN)
            terminal.press(_GANGS)
            terminal.wait_for(re.compile("gang-0"), after=FULL_SCREEN)
            terminal.press("8")
            seconds = terminal.wait_for(re.compile(r"gang-\d+-\d"), after=FULL_SCREEN, limit=60)
            return Figures([seconds * 1000], _quit(terminal))

    def _keys_while_read(self, length: str, size: tuple[int, int], *arguments: str) -> Figures:
        answers = []
        with self._terminal(size, *arguments) as terminal:
            terminal.wait_for(ANYTHING, after=FULL_SCREEN)
            terminal.press(_GANGS)
            terminal.wait_for(re.compile("gang-0"), after=FULL_SCREEN)
            for key in _KEYS:
                answers.append(terminal.answer_to(key) * 1000)
                terminal.watch(_BETWEEN_KEYS_SECONDS)
            terminal.wait_for(re.compile(length), after=FULL_SCREEN, limit=60)
            return Figures(answers, _quit(terminal, _LONG_RUN_SECONDS))

    def _moves(self, keys: list[str], length: str, size: tuple[int, int], *arguments: str) -> Figures:
        """Each from a key to the last that is drawn for it, in the middle of a recording that is known whole."""
        with self._terminal(size, *arguments, "--at", "800") as terminal:
            terminal.wait_for(re.compile(length), after=FULL_SCREEN, limit=90)
            terminal.press(" ")
            terminal.watch(_SETTLE_SECONDS * 4)
            moves = [terminal.last_answer_to(key, silence=_SETTLE_SECONDS) * 1000 for key in keys]
            return Figures(moves, _quit(terminal, _LONG_RUN_SECONDS))

    def _whole(self, *arguments: str) -> Figures:
        """From the start of the process to its end."""
        with self._terminal(_SIZES[0], *arguments) as terminal:
            ended = terminal.ended()
        if ended.status:
            raise Failed(f"ktui {' '.join(arguments)} ended with status {ended.status}")
        return Figures([ended.seconds * 1000], ended)

    def _until(self, text: re.Pattern[str], size: tuple[int, int], *arguments: str, keys: str = "") -> Figures:
        """From the start of the process to when `text` was written to the terminal; `keys` are pressed at the first frame."""
        with self._terminal(size, *arguments) as terminal:
            if keys:
                terminal.wait_for(ANYTHING, after=FULL_SCREEN)
                terminal.press(keys)
            seconds = terminal.wait_for(text, after=FULL_SCREEN)
            return Figures([seconds * 1000], _quit(terminal))

    def _terminal(self, size: tuple[int, int], *arguments: str) -> Terminal:
        columns, lines = size
        return Terminal([str(self.command), *arguments], self.environment, columns=columns, rows=lines)


def _quit(terminal: Terminal, limit: float = 30.0) -> Ended:
    """`limit` is in seconds from the start of the process."""
    terminal.press("q")
    ended = terminal.ended(limit)
    if ended.status:
        raise Failed(f"ktui ended with status {ended.status} when asked to quit")
    return ended

"""Scripts: what is pressed when, for a recording that plays by itself. Plain text, a line for each moment:

    # what is shown
    0      seek 25         # go to second 25 of the recording
    0      speed 4         # play four times as fast; one of the player's speeds
    2      3 m             # press 3, and then m
    +1.5   slash "numa"    # a second and a half later, press /, and type the rest
    +1     enter
    20     end

TIME is in seconds since the beginning of the result, or after a "+" since the line before. Keys have Textual's names or are
single characters; what stands in double quotes is typed. A "#" on its own begins a comment. Without "end" it is over soon after
the last line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from msgspec import Struct
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from ktui.errors import UsageError
from ktui.recording.player import SPEEDS

KEY_GAP: Final = 0.1  # seconds between two keys of one line
LONGEST: Final = 3600.0  # seconds
LARGEST: Final = 2**20  # bytes of a script

_HOLD: Final = 2.0  # seconds that the last screen stays when the script does not say when it ends
_TIME: Final = re.compile(r"(\+?)(\d{1,9}(?:\.\d{1,9})?)\Z", re.ASCII)
_SECONDS: Final = re.compile(r"\d{1,9}(?:\.\d{1,9})?\Z", re.ASCII)
_TOKEN: Final = re.compile(r'"([^"]*)"(?!\S)|(\S+)')
_NAMED: Final = frozenset(key.value for key in Keys if not key.value.startswith("<"))


class Press(Struct, frozen=True):
    """A key, by Textual's name for it."""

    key: str


class Seek(Struct, frozen=True):
    """Go to that second of the recording."""

    to: float


class Speed(Struct, frozen=True):
    """Play that many times as fast as it happened."""

    factor: float


Action: TypeAlias = Press | Seek | Speed


class Step(Struct, frozen=True):
    """`at` is in seconds since the beginning."""

    at: float
    action: Action


class Script(Struct, frozen=True):
    """Steps in order, and when it is over."""

    steps: tuple[Step, ...]
    end: float


def parse(text: str, name: str) -> Script:
    """The script that `text` is, called `name` in messages. Raises UsageError with the line that is wrong."""
    reading = _Reading()
    for number, line in enumerate(text.splitlines(), 1):
        try:
            reading.line(line)
        except UsageError as error:
            raise UsageError(f"{name}, line {number}: {error}") from None
    try:
        return reading.script()
    except UsageError as error:
        raise UsageError(f"{name}: {error}") from None


def keys(text: str) -> list[str]:
    """Keys as they stand in a line of a script. Raises UsageError."""
    return [key for token in _TOKEN.finditer(text) for key in _keys(token)]


class _Reading:
    """What has been read so far."""

    def __init__(self) -> None:
        self._steps: list[Step] = []
        self._time = 0.0  # of the line before
        self._free = 0.0  # from when on the keys of the lines before are done
        self._end: float | None = None

    def line(self, text: str) -> None:
        tokens = list(_TOKEN.finditer(text))
        comment = next(
            (i for i, token in enumerate(tokens) if token[0].startswith("#") and (i == 0 or token[0] == "#")), None
        )
        tokens = tokens[:comment]
        if not tokens:
            return
        if self._end is not None:
            raise UsageError("nothing comes after the end")
        self._time = self._moment(tokens[0][0])
        words = tokens[1:]
        if not words:
            raise UsageError("a time, and nothing to do")
        if words[0][0] == "end" and len(words) == 1:
            self._end = max(self._time, self._free)
            return
        at = max(self._time, self._free)
        for action in _actions(words):
            self._steps.append(Step(round(at, 3), action))
            at += KEY_GAP if isinstance(action, Press) else 0.0
        self._free = at

    def _moment(self, text: str) -> float:
        match = _TIME.match(text)
        if match is None:
            raise UsageError(
                f"{text[:40]!r} is no time; a line begins with seconds, or with + and seconds since the line before"
            )
        time = float(match[2]) + (self._time if match[1] else 0.0)
        if time < self._time:
            raise UsageError(f"{text} is before the line before")
        if time > LONGEST:
            raise UsageError(f"{time:g} s is too long; at most {LONGEST:g} s")
        return time

    def script(self) -> Script:
        end = self._end if self._end is not None else self._free + _HOLD
        if end > LONGEST:
            raise UsageError(f"{end:g} s is too long; at most {LONGEST:g} s")
        return Script(tuple(self._steps), round(end, 3))


def _actions(words: list[re.Match[str]]) -> Iterator[Action]:
    match [word[0] for word in words]:
        case ["seek", seconds]:
            if not _SECONDS.match(seconds):
                raise UsageError(f"{seconds[:40]!r} is no number of seconds")
            yield Seek(float(seconds))
        case ["speed", factor]:
            if not _SECONDS.match(factor) or float(factor) not in SPEEDS:
                raise UsageError(
                    f"{factor[:40]!r} is no speed; there are {', '.join(f'{speed:g}' for speed in SPEEDS)}"
                )
            yield Speed(float(factor))
        case ["seek" | "speed" | "end" as what, *_]:
            raise UsageError(f"{what} stands alone in its line" if what == "end" else f"{what} takes one number")
        case _:
            for word in words:
                yield from map(Press, _keys(word))


def _keys(token: re.Match[str]) -> list[str]:
    typed, name = token.groups()
    if typed is not None:
        if not typed.isprintable():
            raise UsageError("only characters that print can be typed")
        return list(typed)
    if _is_key(name):
        return [name]
    raise UsageError(f"{name[:40]!r} is no key; text to type stands in double quotes")


def _is_key(name: str) -> bool:
    if len(name) == 1:
        return name.isprintable()
    return name in _NAMED or name in KEY_NAME_REPLACEMENTS.values() or key_to_character(name) is not None

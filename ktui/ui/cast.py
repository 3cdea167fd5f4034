"""A replay as an asciicast, version 2: a header and one event for each change of the screen, JSON lines both.

https://docs.asciinema.org/manual/asciicast/v2/. The screens are looked at ten times a second of their own time, and what is
written for a moment are the lines that differ from the moment before: the text comes from the screens, the sequences around it
are the few below.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from itertools import pairwise
from typing import Final

import orjson

from ktui.recording.player import SPEEDS
from ktui.ui.safe import safe
from ktui.ui.script import LONGEST, Press, Script, Seek, Speed, Step
from ktui.ui.stage import Stage

_TICKS: Final = 10  # looks a second
_CLEAR: Final = "\x1b[?25l\x1b[0m\x1b[2J"  # the cursor is hidden, as it is while the screens are shown
_END: Final = "\x1b[0m\x1b[?25h"
_TITLE: Final = 200  # cells

_SENSIBLE: Final = 60.0  # seconds that a recording should take
_IDLE: Final = 5.0  # seconds without any frame that are played; more are left out
_BEFORE: Final = 1.0  # seconds before what follows them
_HOLD: Final = 3.0  # seconds that the last moment stays


async def cast(
    stage: Stage,
    script: Script,
    *,
    size: tuple[int, int],
    created: float,
    title: str = "",
    progress: Callable[[float], None] = lambda _: None,
) -> AsyncIterator[bytes]:
    """The lines of the cast. `created` is the start of the recording in Unix seconds; `progress` is told what part is done."""
    yield _header(size, created + stage.player.position, title)
    steps = deque(script.steps)
    end = max(1, round(script.end * _TICKS))
    shown: list[str] = []
    restless = True
    for tick in range(end + 1):
        while steps and round(steps[0].at * _TICKS) <= tick and not stage.ended():
            await _do(stage, steps.popleft())
            restless = True
        if restless:
            await stage.settle()
        if output := _difference(shown, stage.lines):
            yield _event(tick, output if shown else _CLEAR + output)
            shown = list(stage.lines)
        progress(tick / end)
        if stage.ended() or tick == end:
            break
        restless = stage.advance(1 / _TICKS)
    yield _event(tick, _END)


def plain_script(times: Iterable[float]) -> Script:
    """To play a recording through once, a minute long if its speeds allow it, without what is idle. `times`: of its frames, in
    seconds since its start."""
    moments = sorted({time for time in times if time > 0}) or [0.0]
    first, last = moments[0], moments[-1]
    speed = next((speed for speed in SPEEDS if speed >= 1 and (last - first) / speed <= _SENSIBLE), SPEEDS[-1])
    steps = [Step(0.0, Speed(speed)), Step(0.0, Seek(first))]
    left_out = first
    for before, after in pairwise(moments):
        if (after - before) / speed > _IDLE:
            to = after - _BEFORE * speed
            steps.append(Step(round((before - left_out) / speed + _BEFORE, 3), Seek(to)))
            left_out += to - before - _BEFORE * speed
    return Script(tuple(steps), min(LONGEST, round((last - left_out) / speed + _HOLD, 3)))


async def _do(stage: Stage, step: Step) -> None:
    match step.action:
        case Press(key):
            await stage.press(key)
        case Seek(to):
            stage.player.seek(to)
        case Speed(factor):
            stage.set_speed(factor)


def _difference(before: list[str], after: list[str]) -> str:
    """What draws `after` where `before` stands, "" for nothing. Both have the size of the screen, or `before` is empty."""
    changed = ((row, line) for row, line in enumerate(after, 1) if len(before) != len(after) or before[row - 1] != line)
    return "".join(f"\x1b[{row};1H{line}" for row, line in changed)


def _header(size: tuple[int, int], at: float, title: str) -> bytes:
    document: dict[str, object] = {"version": 2, "width": size[0], "height": size[1], "timestamp": int(at)}
    if title:
        document["title"] = safe(title, _TITLE)
    return _line(document | {"env": {"TERM": "xterm-256color"}})


def _event(tick: int, output: str) -> bytes:
    return _line([tick / _TICKS, "o", output])


def _line(document: object) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE)

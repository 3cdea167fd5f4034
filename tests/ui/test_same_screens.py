"""G12: what was recorded beside the screens shows, on replay, the same screens at the same moments."""

from __future__ import annotations

import re
import time
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from ktui.commands.replay import ReplayOpener
from ktui.recording.reader import Recording
from ktui.ui.app import KtuiApp
from tests.recordings import PATHS

from .screen import lines, running, shows, wait_for
from .world import Scene, TapedOpener

VIEWS = {"2": "gang", "3": "device", "4": "claim", "5": "taint", "8": "pod"}
MOMENTS = (8.0, 18.0, 40.0)
SETTLED = 0.8  # seconds without a change: eight times as long as the screens wait before they draw what is new
SIZE = (160, 45)


def rows(app: KtuiApp) -> list[str]:
    """The screen without the lines that say whether it is live: the header, the state of the streams, the keys."""
    return lines(app)[3:-1]


async def settled(app: KtuiApp, pilot: Pilot[int], noun: str) -> list[str]:
    """The rows of a view, once nothing moves any more."""
    await wait_for(pilot, lambda: re.search(rf"\d {noun}s?$", lines(app)[2]) is not None, noun)
    seen, since = rows(app), time.monotonic()
    while time.monotonic() < since + SETTLED:
        await pilot.pause(0.05)
        if (now := rows(app)) != seen:
            seen, since = now, time.monotonic()
    return seen


async def test_g12_live_and_replayed_screens_are_the_same(tmp_path: Path) -> None:
    incident = Recording(PATHS["xid-eviction"])
    timed, start = list(incident.frames()), incident.header.start
    path = tmp_path / "again.ktui.gz"
    live: dict[tuple[float, str], list[str]] = {}

    opener = TapedOpener(Scene([], start))
    async with running(opener, SIZE) as (app, pilot):
        feed = opener.feed
        opener.tape.start(path)
        for moment in MOMENTS:
            while timed and timed[0].t <= moment:
                feed.moment = start + timed[0].t
                feed.give(timed.pop(0).frame)
            feed.moment = start + moment
            for key, noun in VIEWS.items():
                await pilot.press(key)
                live[moment, key] = await settled(app, pilot, noun)
        opener.tape.stop()
    assert [" Degraded " in "".join(live[moment, "2"]) for moment in MOMENTS] == [False, True, False]

    begun = Recording(path).header.start
    for moment in MOMENTS:
        await look_again(path, start + moment - begun, {key: live[moment, key] for key in VIEWS})


async def look_again(path: Path, at: float, expected: dict[str, list[str]]) -> None:
    app = KtuiApp(ReplayOpener(str(path), at, clock=lambda: 0.0))
    async with app.run_test(size=SIZE) as pilot:
        await shows(pilot, "REPLAY")
        for key, then in expected.items():
            await pilot.press(key)
            await wait_for(pilot, partial(_same, app, then), "\n".join(then))


def _same(app: KtuiApp, then: list[str]) -> bool:
    return rows(app) == then

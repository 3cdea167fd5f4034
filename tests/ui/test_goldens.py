"""The main screens as text, at three sizes: what a person reads, line by line.

`KTUI_GOLDENS=write pytest tests/ui/test_goldens.py` writes them anew; the difference is then reviewed like code.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from .screen import lines, running, shows, wait_for
from .world import ScriptedOpener, example

GOLDENS = Path(__file__).parent / "goldens"
SIZES = [(80, 24), (120, 40), (200, 60)]
SCREENS = {
    # name: (keys from the start, texts that show it is complete)
    "gangs": ([], ["2 gangs"]),
    "gang-detail": (["enter"], ["Pods (2)"]),
    "devices": (["3"], ["16 devices"]),
    "map": (["3", "m"], ["■ used"]),
    "pods-filtered": (["8", "slash", *"numa", "enter"], ["2 of 7 pods"]),
    "help": (["question_mark"], ["Keys of this screen"]),
}


@pytest.fixture(autouse=True)
def _utc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("name", SCREENS)
async def test_screen(name: str, size: tuple[int, int]) -> None:
    keys, complete = SCREENS[name]
    async with running(ScriptedOpener(example()), size) as (app, pilot):
        await shows(pilot, "2 gangs", "live")
        await pilot.press(*keys)
        await shows(pilot, *complete)
        path = GOLDENS / f"{name}-{size[0]}x{size[1]}.txt"
        if os.environ.get("KTUI_GOLDENS") == "write":
            await pilot.pause(0.3)
            path.parent.mkdir(exist_ok=True)
            path.write_text("\n".join(lines(app)) + "\n")
        expected = path.read_text().splitlines()
        await wait_for(pilot, lambda: lines(app) == expected, f"the screen in {path.name}:\n{path.read_text()}")

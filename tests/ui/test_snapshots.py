"""Colours and shapes of a few screens as SVG; texts are in the goldens. `pytest --snapshot-update` draws them anew."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from textual.pilot import Pilot

from ktui.ui.app import KtuiApp

from .screen import shows
from .world import ScriptedOpener, degraded

SCREENS = {
    # name: (theme, size, keys, texts that show it is complete)
    "gangs-with-detail": ("dark", (120, 40), ["slash", *"train", "enter", "enter"], ["Pods (8)"]),
    "devices": ("light", (80, 24), ["3"], ["16 devices"]),
    "map": ("colorblind", (80, 24), ["3", "m"], ["■ used"]),
    "triage": ("dark", (80, 24), ["1"], ["4 need you"]),
    "picker": ("ansi", (80, 24), ["n"], ["all namespaces"]),
}


@pytest.mark.parametrize("name", SCREENS)
def test_screen(name: str, snap_compare: Callable[..., bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    theme, size, keys, complete = SCREENS[name]

    async def look(pilot: Pilot[int]) -> None:
        await shows(pilot, "Gangs that need you")
        await pilot.press("2")
        await shows(pilot, "3 gangs")
        await pilot.press(*keys)
        await shows(pilot, *complete)
        await pilot.pause(0.3)

    app = KtuiApp(ScriptedOpener(degraded()), theme=theme)
    # In a thread: the plug-in runs the application with asyncio.run, which would drop this thread's event loop unclosed.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(snap_compare, app, terminal_size=size, run_before=look).result()

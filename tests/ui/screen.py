"""What is on the screen, as text, and waiting for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from textual.pilot import Pilot

from ktui.ui.app import KtuiApp
from ktui.ui.commands import VIEW_NUMBERS
from ktui.ui.main.panes import Panes
from ktui.ui.screens.main import MainScreen

from .world import ScriptedOpener

PATIENCE = 20.0  # seconds


def lines(app: KtuiApp) -> list[str]:
    """The screen's lines, without trailing spaces."""
    return [strip.text.rstrip() for strip in app.screen._compositor.render_strips()]


def text(app: KtuiApp) -> str:
    return "\n".join(lines(app))


def panes(app: KtuiApp) -> Panes:
    """Of the main screen, which must be the one that is shown."""
    assert isinstance(app.screen, MainScreen)
    return app.screen.panes


async def wait_for(pilot: Pilot[int], condition: Callable[[], bool], what: str = "") -> None:
    """Until the condition holds; fails with what is on the screen."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            app = pilot.app
            shown = text(app) if isinstance(app, KtuiApp) else ""
            raise AssertionError(f"never came: {what or condition}\n{shown}")
        await pilot.pause(0.01)


async def shows(pilot: Pilot[int], *wanted: str) -> None:
    """Until all of the texts are on the screen."""
    app = pilot.app
    assert isinstance(app, KtuiApp)
    for part in wanted:
        await wait_for(pilot, lambda part=part: part in text(app), part)  # type: ignore[misc]


async def lacks(pilot: Pilot[int], unwanted: str) -> None:
    """Until the text is not on the screen."""
    app = pilot.app
    assert isinstance(app, KtuiApp)
    await wait_for(pilot, lambda: unwanted not in text(app), f"no {unwanted}")


@asynccontextmanager
async def running(
    opener: ScriptedOpener, size: tuple[int, int] = (100, 30), *, view: str = "gangs", **options: object
) -> AsyncIterator[tuple[KtuiApp, Pilot[int]]]:
    """The application on a screen of that size, its session open, and a view chosen unless it is the one it begins with."""
    app = KtuiApp(opener, **options)  # type: ignore[arg-type]
    async with app.run_test(size=size) as pilot:
        main = app.screen
        assert isinstance(main, MainScreen)
        # Before, a key for a view means nothing.
        await wait_for(
            pilot, lambda: bool(opener.opened and (main.menu.situation().view or main.decks.failure)), "opening"
        )
        if main.menu.situation().view not in ("", view):
            await pilot.press(str(VIEW_NUMBERS[view]))
        yield app, pilot
        await asyncio.sleep(0)

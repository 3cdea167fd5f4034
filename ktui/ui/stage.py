"""The screens without a terminal, on a recording and with a time of their own: what is drawn of them is the same every time.

The clock of the player stands still; time passes when `advance` says so. Everything else (lists that are taken in, rows that are
computed, keys on their way) is waited for before anything is looked at, so nothing depends on how fast the machine is.
Notices are not shown: they last for a time that nobody here measures.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from rich.console import Console
from textual._compositor import LayoutUpdate
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Input

from ktui.errors import KtuiError
from ktui.recording.player import SPEEDS, Player
from ktui.ui.app import KtuiApp
from ktui.ui.screens.main import MainScreen
from ktui.ui.session import Opener, Session

_PATIENCE: Final = 120.0  # seconds of real time for the screens to come to rest
_AFTER_KEY: Final = 0.1  # seconds of real time; a filter is applied that soon after its last key
_SAME: Final = 2  # looks that must find nothing new
_WEB_FONTS: Final = re.compile(r"@font-face \{.*?\n    \}\n", re.DOTALL)


def stopped_clock() -> float:
    """For the player of a stage."""
    return 0.0


class Stage:
    """`lines` is what is on the screen, each line with the escape sequences that draw it."""

    def __init__(self, app: KtuiApp, pilot: Pilot[int], opened: Callable[[], Session | None]) -> None:
        self.lines: list[str] = []
        self._app = app
        self._pilot = pilot
        self._opened = opened
        self._console = Console(color_system="truecolor", force_terminal=True, _environ={})

    @property
    def player(self) -> Player[Any]:
        session = self._opened()
        player = session.player if session is not None else None
        if not isinstance(player, Player):
            raise KtuiError("only a recording can be played here")
        return player

    def ended(self) -> bool:
        """Whether a key has ended the application. The lines stay as they were."""
        return self._app.return_code is not None

    def advance(self, seconds: float) -> bool:
        """Let time pass: the recording plays on unless it is paused. Whether there is anything new to wait for."""
        player = self.player
        before = player.position
        if not player.paused:
            player.seek(before + seconds * player.speed)
        return player.position != before

    def set_speed(self, factor: float) -> None:
        """`factor` is one of the player's."""
        self.player.set_speed(SPEEDS.index(factor) - SPEEDS.index(self.player.speed))

    async def press(self, key: str) -> None:
        """Press a key and wait for what it does."""
        await self._pilot.press(key)
        await asyncio.sleep(_AFTER_KEY)
        await self.settle()

    async def settle(self) -> None:
        """Wait until nothing is left to be done. Raises KtuiError when the recording cannot be read on."""
        deadline = time.monotonic() + _PATIENCE
        same = 0
        while same < _SAME and not self.ended():
            if time.monotonic() > deadline:
                raise KtuiError("the screens did not come to rest")
            self._main.flusher.flush(anyway=True)
            await self._pilot.pause(0)
            if self.ended():
                return
            if self._main.decks.failure:
                raise KtuiError(self._main.decks.failure)
            shown = self._drawn()
            same = same + 1 if shown == self.lines and not self._busy() else 0
            self.lines = shown

    async def open(self, at: float) -> None:
        """Wait until all of the recording is known, and go to `at` seconds of it; beyond its end, to the end."""
        await self.settle()
        self.player.seek(at)
        await self.settle()

    def picture(self) -> str:
        """The screen as SVG, the same text for the same screen.

        The exporter names fonts on the web, and this fetches nothing; and some programs cut blanks at the ends of texts.
        """
        picture = _WEB_FONTS.sub("", self._app.export_screenshot(title="ktui", simplify=True))
        return picture.replace("<svg ", '<svg xml:space="preserve" ', 1)

    @property
    def _main(self) -> MainScreen:
        screen = self._app.screen_stack[0]
        assert isinstance(screen, MainScreen)  # noqa: S101 - the application has no other
        return screen

    def _busy(self) -> bool:
        session = self._opened()
        if session is None or session.busy or not self.player.loaded:
            return True
        return any(not worker.is_finished for worker in self._app.workers if worker.group != "feed")

    def _drawn(self) -> list[str]:
        """By way of Textual's compositor, as its own picture of the screen is made: what is written to a terminal depends on how
        many updates were drawn together, what stands there afterwards does not."""
        for field in self._app.screen.query(Input):
            field.cursor_blink = False
        update = self._app.screen._compositor.render_update(
            full=True, screen_stack=self._app._background_screens, simplify=True
        )
        assert isinstance(update, LayoutUpdate)  # noqa: S101 - a full one always is
        return [Strip.join(line).render(self._console) for line in update.strips]


class _Kept:
    """An opener that remembers the session it opened."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self.session: Session | None = None

    def title(self) -> str:
        return self._opener.title()

    async def open(self, context: str = "") -> Session:
        self.session = await self._opener.open(context)
        return self.session

    async def contexts(self) -> Sequence[str]:
        return await self._opener.contexts()


@asynccontextmanager
async def staged(
    opener: Opener, at: float, *, size: tuple[int, int], theme: str, ascii_only: bool = False
) -> AsyncIterator[Stage]:
    """The screens on a recording at `at` seconds. `opener` gives it a `stopped_clock`. Raises KtuiError."""
    kept = _Kept(opener)
    app = KtuiApp(kept, theme=theme, ascii_only=ascii_only)
    app.animation_level = "none"
    async with app.run_test(size=size) as pilot:
        stage = Stage(app, pilot, lambda: kept.session)
        await stage.open(at)
        yield stage

"""The application: themes, keys, the main screen, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual._compositor import CompositorUpdate
from textual.app import App
from textual.events import Resize
from textual.screen import Screen

from ktui import resources
from ktui.turns import TURNS
from ktui.ui.driver import PatientDriver, is_behind
from ktui.ui.glyphs import ASCII, UNICODE
from ktui.ui.keymap import keymap
from ktui.ui.screens.main import MainScreen
from ktui.ui.theme import DARK, THEMES

if TYPE_CHECKING:
    from rich.console import RenderableType
    from textual.command import Provider

    from ktui.ui.session import Opener

_STYLES = ("base", "main", "dialogs")
_FLUSHES = 10.0  # a second
_FLUSHES_REMOTE = 4.0  # over SSH every frame is bytes on a slow line


def _command_provider() -> type[Provider]:
    from ktui.ui.palette import CommandProvider

    return CommandProvider


class KtuiApp(App[int]):
    """The terminal UI on whatever `opener` opens.

    `keys` maps command ids to keys, as the settings have them; UsageError for those that cannot be. `on_painted` is
    called when the first frame is drawn, `on_settled` when the first lists are in, and before that when they take long.
    """

    TITLE = "ktui"
    PAUSE_GC_ON_SCROLL = True
    COMMANDS: ClassVar = {_command_provider}

    def __init__(
        self,
        opener: Opener,
        *,
        theme: str = DARK.name,
        ascii_only: bool = False,
        keys: Mapping[str, str] | None = None,
        on_painted: Callable[[], None] | None = None,
        on_settled: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(driver_class=PatientDriver, css_path=[resources.style(name) for name in _STYLES])
        self.failure: BaseException | None = None  # what ended the application, if it was not a person
        self._opener = opener
        self._on_painted = on_painted
        self._on_settled = on_settled
        self.glyphs = ASCII if ascii_only else UNICODE
        self.set_class(ascii_only, "-ascii")
        for known in THEMES.values():
            self.register_theme(known)
        self.theme = theme
        self._keys = keymap(keys or {})
        self.set_keymap(self._keys)

    def get_default_screen(self) -> Screen[None]:
        return MainScreen(
            self._opener,
            glyphs=self.glyphs,
            keys=self._keys,
            output_is_slow=lambda: is_behind(self._driver),
            on_painted=self._on_painted,
            on_settled=self._on_settled,
            flushes_per_second=_FLUSHES_REMOTE if "SSH_CONNECTION" in os.environ else _FLUSHES,
        )

    def on_mount(self) -> None:
        if isinstance(self._driver, PatientDriver):
            keys = (key.strip() for named in self._keys.values() for key in named.split(","))
            self._driver.alt_keys = frozenset(key for key in keys if key.startswith("alt+"))
        if not self.is_headless:
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                # As a shell reports it; by way of `exit`, so that the terminal is put back.
                loop.add_signal_handler(number, partial(self.exit, return_code=128 + number))

    def _display(self, screen: Screen[Any], renderable: object) -> None:
        """To the canvas of the terminal; Textual would write all of it, at once."""
        TURNS.key_answered()
        driver = self._driver
        if not isinstance(driver, PatientDriver) or not isinstance(renderable, CompositorUpdate):
            super()._display(screen, cast("RenderableType | None", renderable))
            return
        if self._running and not self._closed and not self._batch_count:
            cursor = self.screen.outer_size.clamp_offset(self.cursor_position)
            driver.show(renderable, self.size, cursor, self.console, synchronised=self._sync_available)
        self.post_display_hook()

    def on_resize(self, event: Resize) -> None:
        if isinstance(self._driver, PatientDriver):
            self._driver.resized(event.size)

    def on_cursor_position(self) -> None:
        """The terminal answers the question that follows what it was sent."""
        if isinstance(self._driver, PatientDriver):
            self._driver.answered()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Values of our own tokens until a theme of ours is set."""
        return dict(DARK.variables)

    def _fatal_error(self) -> None:
        """After an unhandled exception. Textual would print it with the values of variables, which may be secrets."""
        self.failure = self.failure or sys.exc_info()[1]
        self._close_messages_no_wait()

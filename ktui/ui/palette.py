"""The commands of the table in Textual's command palette."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.ui.commands import Command
from ktui.ui.paint import content
from ktui.ui.screens.main import MainScreen
from ktui.views.base import Cell

if TYPE_CHECKING:
    from textual.content import Content


class CommandProvider(Provider):
    """Offers what is available now on the main screen; nothing on other screens."""

    async def discover(self) -> Hits:
        for command, shown, run in self._offered():
            yield DiscoveryHit(shown, run, text=command.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for command, shown, run in self._offered():
            if score := matcher.match(command.title):
                yield Hit(score, shown, run, text=command.title)

    def _offered(self) -> Iterator[tuple[Command, Content, Callable[[], Awaitable[None]]]]:
        """Each command, how it is shown, and what carries it out. Movement is for keys."""
        if isinstance(main := self.screen, MainScreen):
            for command in main.menu.available():
                if command.scope != "move":
                    shown = content(command.title, Cell(f"  {main.menu.keys_of(command)}", "dim"))
                    yield command, shown, partial(main.action_command, command.id)

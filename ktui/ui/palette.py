"""The commands of the table in Textual's command palette."""

from __future__ import annotations

from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider

from ktui.ui.commands import Command, key_labels
from ktui.ui.main.menu import Menu
from ktui.ui.paint import content
from ktui.ui.screens.main import MainScreen
from ktui.views.base import Cell


class CommandProvider(Provider):
    """Offers what is available now on the main screen; nothing on other screens."""

    async def discover(self) -> Hits:
        if isinstance(main := self.screen, MainScreen):
            for command in _offered(main.menu):
                shown = content(command.title, Cell(f"  {key_labels(main.menu.keys_of(command))}", "dim"))
                yield DiscoveryHit(shown, partial(main.action_command, command.id), text=command.title)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        if isinstance(main := self.screen, MainScreen):
            for command in _offered(main.menu):
                if score := matcher.match(command.title):
                    shown = content(command.title, Cell(f"  {key_labels(main.menu.keys_of(command))}", "dim"))
                    yield Hit(score, shown, partial(main.action_command, command.id), text=command.title)


def _offered(menu: Menu) -> list[Command]:
    """Movement is for keys."""
    return [command for command in menu.available() if command.scope != "move"]

"""What is read on a screen of its own: an object as YAML, its events, the sources, the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.errors import KtuiError
from ktui.ui.loading import load
from ktui.ui.paint import notify
from ktui.ui.screens.text import TextScreen
from ktui.views.base import Cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.screen import Screen

    from ktui.ui.commands import Handlers
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.menu import Menu
    from ktui.views.base import Line


class Pages:
    def __init__(self, screen: Screen[None], decks: Decks, menu: Menu) -> None:
        self._screen = screen
        self._decks = decks
        self._menu = menu

    def handlers(self) -> Handlers:
        return {
            "row.yaml": self._fetch_yaml,
            "row.events": self._show_events,
            "sources": self._show_sources,
            "help": self._show_keys,
        }

    def _show(self, title: str, lines: Sequence[Line]) -> None:
        self._screen.app.push_screen(TextScreen(title, lines))

    def _fetch_yaml(self) -> None:
        self._screen.run_worker(self._show_yaml(), exclusive=True, group="yaml")

    async def _show_yaml(self) -> None:
        from ktui.ui.subjects import yaml_of

        if (cursor := self._decks.cursor) is None:
            return
        session, model, key = cursor
        try:
            found = await yaml_of(session, model.view.id, key)
        except KtuiError as error:
            notify(self._screen.app, str(error), "error")
            return
        if found is None:
            notify(self._screen.app, "the object is gone", "warning")
            return
        self._show(found.title, [(Cell(line),) for line in found.text.splitlines()])

    def _show_events(self) -> None:
        from ktui.views.events import events_behind

        if (cursor := self._decks.cursor) is None:
            return
        session, model, key = cursor
        lines = events_behind(session.cluster, model.view.id, key, self._decks.now())
        row = model.row(key)
        cells = zip(model.view.columns, row.cells, strict=True) if row else ()
        name = " ".join([cell.text for column, cell in cells if column.title][:2])
        self._show(f"Events of {name}", lines or [(Cell("no events, or they have expired", "dim"),)])

    async def _show_sources(self) -> None:
        await load("ktui.ui.sourcelist")
        from ktui.ui.feeds import Spending
        from ktui.ui.sourcelist import lines

        if (session := self._decks.session) is not None:
            costs = session.feed.costs() if isinstance(session.feed, Spending) else None
            self._show("Sources", lines(session.cluster, costs, self._decks.now()))

    def _show_keys(self) -> None:
        rows = [(self._menu.keys_of(command), command.title) for command in self._menu.available()]
        self._show("Keys of this screen", [(Cell(f"{keys:<14} ", "accent"), Cell(title)) for keys, title in rows])

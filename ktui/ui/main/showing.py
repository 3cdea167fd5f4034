"""What is shown in the place of what: views, decks, rows that others lead to, fewer rows or all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.ui.paint import notify
from ktui.ui.rowindex import Filter

if TYPE_CHECKING:
    from textual.screen import Screen

    from ktui.cluster.dirty import Entity
    from ktui.ui.deck import Deck
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.detail import Detail
    from ktui.ui.main.flusher import Flusher
    from ktui.ui.main.painter import Painter
    from ktui.ui.main.panes import Panes
    from ktui.ui.viewmodel import ViewModel
    from ktui.views.base import RowKey


class Showing:
    def __init__(
        self, screen: Screen[None], decks: Decks, panes: Panes, painter: Painter, detail: Detail, flusher: Flusher
    ) -> None:
        self._screen = screen
        self._decks = decks
        self._panes = panes
        self._painter = painter
        self._detail = detail
        self._flusher = flusher

    def show_opening(self, what: str) -> None:
        """Of what was there before, nothing stays."""
        self._panes.clear()
        self._detail.clear()
        self._painter.paint_opening(what)

    def show_failure(self, message: str) -> None:
        """Of the session, which need not be on the screen just now."""
        self._decks.failure = message
        if self._decks.in_past:
            notify(self._screen.app, f"of the live session: {message}", "error")
        else:
            self._painter.paint_failure()

    def show_deck(self, deck: Deck) -> None:
        """Another one in the place of the one that is shown; views and the filter stay."""
        on_map = self._panes.on_map
        deck.narrow(self._decks.filter)
        self._decks.shown = deck
        self._detail.clear()
        self._panes.clear_map()
        self.show_view(self._decks.view)
        if on_map:
            self._panes.show_map(deck.open_map())
        self._flusher.flush()

    def show_view(self, view: Entity) -> None:
        """Show a view where it was left; one that is asked for before there is a session, as soon as there is one."""
        deck = self._decks.shown
        if deck is None:
            self._decks.view = view
            return
        if view not in deck.views:
            return
        self._decks.view = view
        deck.show(view)
        self._flusher.work(deck.model)
        self._panes.close_map()
        self._painter.paint_view()
        self._painter.paint()

    def go_to(self, view: Entity, key: RowKey) -> None:
        """The detail of a row of any view, where the filter lets it pass."""
        if self._decks.shown is None:
            return
        self.show_view(view)
        if self._decks.shown.model.go_to(key):
            self._panes.open_detail()
        else:
            notify(self._screen.app, f"not among the {view} shown now", "warning")

    def narrow(self, wanted: Filter) -> None:
        """Only the rows that pass a filter."""
        self._decks.filter = wanted
        if self._decks.shown is not None:
            self._decks.shown.narrow(wanted)
            self._show_otherwise(self._decks.shown.model)

    def sort_by(self, column: int, *, descending: bool) -> None:
        """The rows of the view in the order of one of its columns."""
        if (model := self._decks.model) is not None:
            model.sort_by(column, descending=descending)
            self._show_otherwise(model)

    def _show_otherwise(self, model: ViewModel) -> None:
        """What takes but a moment to find out is shown at once."""
        self._flusher.work(model)
        self._panes.table.redraw()
        self._painter.paint()

    def show_all(self) -> None:
        """The rows without a filter."""
        self._panes.filter.value = ""
        self.narrow(Filter())

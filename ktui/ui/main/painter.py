"""Draws what there is to look at. Each widget compares for itself, and draws what looks different."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.ui import bars, guide
from ktui.ui.commands import VIEW_NUMBERS
from ktui.views.base import Cell

if TYPE_CHECKING:
    from ktui.ui.commands import Situation
    from ktui.ui.glyphs import Glyphs
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.detail import Detail
    from ktui.ui.main.figures import Figures
    from ktui.ui.main.menu import Menu
    from ktui.ui.main.panes import Panes
    from ktui.ui.session import Session
    from ktui.ui.viewmodel import ViewModel


class Painter:
    def __init__(
        self, decks: Decks, panes: Panes, menu: Menu, detail: Detail, figures: Figures, glyphs: Glyphs
    ) -> None:
        self._decks = decks
        self._panes = panes
        self._menu = menu
        self._detail = detail
        self._figures = figures
        self._glyphs = glyphs
        self._situation: Situation | None = None  # of which the footer tells

    def paint(self) -> None:
        """All of the screen as it is now."""
        self._paint_footer()
        session, model = self._decks.session, self._decks.model
        if session is None or model is None:
            return
        now = self._decks.now()
        self._paint_header(session, now)
        self._paint_headings(session, model, now)
        self._paint_rows(session, model)
        self._paint_state(session, model, now)
        hint = guide.hint(session, self._decks.view, opened=self._panes.opened)
        self._panes.guide(bool(hint))
        self._panes.hint.set_parts(hint)

    def paint_cursor(self) -> None:
        """After the cursor was moved: what depends on where it is. All else is as it was a moment ago."""
        self._paint_footer()
        session, model = self._decks.session, self._decks.model
        if session is not None and model is not None:
            self._paint_rows(session, model)
            self._paint_state(session, model, self._decks.now())

    def _paint_footer(self) -> None:
        situation = self._menu.situation()
        if situation != self._situation:
            self._situation = situation
            self._panes.footer.set_parts(bars.footer(self._menu.footed(situation), self._menu.key_of))

    def _paint_header(self, session: Session, now: float) -> None:
        self._panes.header.set_parts(
            *bars.header(session, self._glyphs, now, self._menu.way_back()),
            alarm=bars.is_alarming(session.target, session.player),
        )

    def _paint_headings(self, session: Session, model: ViewModel, now: float) -> None:
        """Or what stands there instead of rows."""
        if not len(model.index):
            self._panes.table.set_placeholder(bars.emptiness(session, model, now))
        self._panes.table.set_headings(bars.headings(session, model, now))

    def _paint_rows(self, session: Session, model: ViewModel) -> None:
        if self._panes.map is not None and self._panes.on_map:
            self._panes.map.update()
        else:
            self._panes.table.update()
        self._detail.paint(session, model)

    def _paint_state(self, session: Session, model: ViewModel, now: float) -> None:
        figures = self._figures.ask(session, model)
        self._panes.state.set_parts(*bars.state(session, model, now, self._decks.trouble, figures))

    def paint_view(self) -> None:
        """Another view in the table's place, where it was left; `paint` draws what is around it."""
        if (deck := self._decks.shown) is not None:
            self._panes.tabs.set_parts(bars.tabs(tuple(deck.views), deck.shown))
            self._panes.table.show(deck.model, bars.headings(deck.session, deck.model, self._decks.now()))

    def paint_opening(self, what: str) -> None:
        """Nothing of the cluster before stays: its rows under the next one's trouble would pass for the next one's."""
        self._figures.forget()
        self._panes.header.set_parts([bars.opening(what)])
        self._panes.state.set_parts([])
        self._panes.table.clear([(Cell("connecting", "dim"),)])

    def paint_failure(self) -> None:
        """Why there are no rows, and what to do about it."""
        words = (Cell(self._decks.failure, "bad"),)
        self._panes.table.set_placeholder([words, (Cell("ctrl+r tries again, c chooses a context", "dim"),)])
        self.paint()

    def paint_tabs(self) -> None:
        """Before there is a view."""
        self._panes.tabs.set_parts(bars.tabs(tuple(VIEW_NUMBERS), ""))

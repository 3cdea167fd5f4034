"""Where the row under the cursor leads: to its detail, to why it waits, to rows of other views; to and from the map."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.ui.paint import notify
from ktui.ui.screens.picker import Picker

if TYPE_CHECKING:
    from textual.screen import Screen

    from ktui.ui.commands import Handlers
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.detail import Detail
    from ktui.ui.main.painter import Painter
    from ktui.ui.main.panes import Panes
    from ktui.ui.main.showing import Showing
    from ktui.views.why import Subject


class Links:
    def __init__(
        self, screen: Screen[None], decks: Decks, panes: Panes, painter: Painter, detail: Detail, showing: Showing
    ) -> None:
        self._screen = screen
        self._decks = decks
        self._panes = panes
        self._painter = painter
        self._detail = detail
        self._showing = showing

    def handlers(self) -> Handlers:
        return {"row.open": self.open, "row.why": self._why, "map": self._toggle_map}

    def open(self) -> None:
        """What a row leads to: mostly its detail."""
        if self._panes.on_map:
            self.zoom()
        elif self._decks.view == "timeline":
            self._open_changed()
        elif (subject := self._detail.asked) is not None:
            self._choose_evidence(subject)
        elif self._decks.view == "workloads" and (row := self._decks.row) is not None and row[0] != "workloads":
            self._showing.go_to(*row)  # a gang or a pod has a view of its own
        else:
            self._detail.forget()
            self._panes.open_detail()

    def _open_changed(self) -> None:
        """From a change to the detail of what changed."""
        from ktui.views.timeline import target

        if (cursor := self._decks.cursor) is None:
            return
        session, _, key = cursor
        if (found := target(session.cluster, key)) is not None:
            self._showing.go_to(*found)

    async def _why(self) -> None:
        await self._detail.load_why()
        self._detail.forget()
        self._panes.toggle_why()
        self._screen.call_after_refresh(self._painter.paint)  # only then the pane has its width

    def _choose_evidence(self, subject: Subject) -> None:
        places = self._detail.evidence(subject)
        if not places:
            notify(self._screen.app, "no view shows what this rests on", "warning")
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self._panes.close_why()
                self._showing.show_all()  # what this rests on need not pass the filter that the gang passed
                self._showing.go_to(*places[name])
                self._painter.paint()

        self._screen.app.push_screen(Picker("Go to", list(places)), chosen)

    async def _toggle_map(self) -> None:
        if self._decks.shown is None:
            return
        await self._panes.make_map()
        if self._panes.on_map:
            self._panes.close_map()
        elif (deck := self._decks.shown) is not None:
            self._panes.show_map(deck.open_map())

    def zoom(self) -> None:
        """From the map to the devices of the pool under its cursor."""
        deck = self._decks.shown
        pool = deck.map.cursor if deck is not None and deck.map is not None else None
        if pool is not None:
            self._panes.filter.value = f"{pool[1]} "  # the end of the name: node-1 is not node-10
            self._panes.close_map()

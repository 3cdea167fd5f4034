"""Figures of what is used are asked for while they are on the screen, and only then."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ktui.ui.feeds import Measuring
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.panes import Panes
    from ktui.ui.measuring import Shown
    from ktui.ui.session import Session
    from ktui.ui.viewmodel import ViewModel


class Figures:
    def __init__(self, decks: Decks, panes: Panes) -> None:
        self._decks = decks
        self._panes = panes
        self._asked: Measuring | None = None  # that was told what is looked at

    def ask(self, session: Session, model: ViewModel) -> str:
        """Tell the feed whose figures are looked at; a session that is no longer shown, that nobody looks. Why they are missing
        or old, "" where they are not."""
        from ktui.model.usage import Wanted
        from ktui.ui.measuring import shown_nodes, wanted
        from ktui.views.usage import trouble

        meter = session.meter
        if self._asked is not None and self._asked is not meter:
            self._asked.measure(Wanted())
        self._asked = meter
        if meter is None:
            return ""
        shown = self._shown(model)
        meter.measure(wanted(session.cluster, shown))
        if not shown.needs and not shown.pools:
            return ""
        return trouble(session.cluster, shown.view, shown.rows, shown_nodes(session.cluster, shown), self._decks.now())

    def forget(self) -> None:
        """Who was asked for figures: the session is over."""
        self._asked = None

    def _shown(self, model: ViewModel) -> Shown:
        from ktui.ui.measuring import Shown

        panes = self._panes
        needs = frozenset[str]() if panes.on_map or panes.covered else panes.table.shown_needs
        return Shown(
            view=model.view.id,
            rows=panes.table.keys_on_screen if needs else (),
            needs=needs,
            pools=panes.map.pools_on_screen if panes.map is not None and panes.on_map else (),
            opened=self._decks.row if panes.opened and not panes.why else None,
        )

"""The pane beside the rows: the detail of the row under the cursor, or why it waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ktui.ui.loading import load
from ktui.views.base import Cell, Line

if TYPE_CHECKING:
    from ktui.cluster.dirty import Entity
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.panes import Panes
    from ktui.ui.session import Session
    from ktui.ui.viewmodel import ViewModel
    from ktui.ui.whypane import WhyPane
    from ktui.views.base import RowKey
    from ktui.views.why import Subject


class Detail:
    """Newer lines about the same row keep the place to which somebody has scrolled."""

    def __init__(self, decks: Decks, panes: Panes) -> None:
        self._decks = decks
        self._panes = panes
        self._why: WhyPane | None = None
        self._about: RowKey | Subject | None = None

    async def load_why(self) -> None:
        """What it takes to say why a row waits is imported when that is first asked for."""
        await load("ktui.ui.whypane")
        if self._why is None:
            from ktui.ui.whypane import WhyPane

            self._why = WhyPane()

    def forget(self) -> None:
        """Whatever is drawn next is shown from its top."""
        self._about = None

    def clear(self) -> None:
        """Keep nothing of a session that is no longer shown."""
        self.forget()
        if self._why is not None:
            self._why.forget()

    def paint(self, session: Session, model: ViewModel) -> None:
        if not self._panes.opened:
            return
        if self._why is not None and (subject := self.asked) is not None:
            width = self._panes.detail.line_width
            self._show(subject, self._why.lines(session.cluster, subject, self._decks.now(), width))
            return
        key = model.cursor
        sections = model.view.detail(session.cluster, key, self._decks.now()) if key is not None else ()
        lines: list[Line] = []
        for section in sections:
            lines += [(Cell(section.title, "accent"),), *section.lines, ()]
        self._show(key, lines or [(Cell("gone", "dim"),)])

    def _show(self, about: RowKey | Subject | None, lines: list[Line] | tuple[Line, ...]) -> None:
        self._panes.detail.set_lines(lines, keep_place=about == self._about)
        self._about = about

    @property
    def asked(self) -> Subject | None:
        """Whom the pane says why about; None while it does not, and for rows that wait for nothing."""
        session, row = self._decks.session, self._decks.row
        if not self._panes.why or session is None or row is None:
            return None
        from ktui.ui.whypane import subject_of

        return subject_of(session.cluster, *row)

    def evidence(self, subject: Subject) -> dict[str, tuple[Entity, RowKey]]:
        """The rows that the reasons lead to, by what is shown for them."""
        session = self._decks.session
        return self._why.places(session.cluster, subject) if self._why is not None and session is not None else {}

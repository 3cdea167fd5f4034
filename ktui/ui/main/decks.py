"""What there is to look at: the deck that is shown, or why there is none. Knows nothing of Textual."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ktui.ui.rowindex import Filter

if TYPE_CHECKING:
    from ktui.cluster.dirty import Entity
    from ktui.ui.deck import Deck
    from ktui.ui.session import Session
    from ktui.ui.viewmodel import ViewModel
    from ktui.views.base import RowKey

WHAT_READS = ("ktui.ui.deck", "ktui.views.registry")
"""The modules of state, views and diagnosis: to be loaded before a deck is made."""


class Decks:
    """View and filter outlive decks: they may be chosen before there is one, and stay when another takes its place."""

    def __init__(self) -> None:
        self.shown: Deck | None = None  # None while there is no session
        self.live: Deck | None = None  # that goes on unseen while its past is looked at
        self.view: Entity = "triage"
        self.filter = Filter()
        self.failure = ""  # why the session could not be opened or its feed ended, "" while all is well. Raw text

    def clear(self) -> None:
        """Before another session is opened: those that are open are over."""
        for deck in (self.shown, self.live):
            if deck is not None:
                deck.session.close()
        self.shown, self.live, self.failure = None, None, ""

    def deck_of(self, session: Session) -> Deck:
        """A deck of a session with the present view and filter; not shown yet."""
        from ktui.ui.deck import Deck
        from ktui.views.registry import VIEWS

        return Deck(session, VIEWS, self.view, self.filter)

    @property
    def session(self) -> Session | None:
        return self.shown.session if self.shown is not None else None

    @property
    def model(self) -> ViewModel | None:
        """Of the view that is shown."""
        return self.shown.model if self.shown is not None else None

    @property
    def row(self) -> tuple[Entity, RowKey] | None:
        """The view and the key of the row under the cursor; in the triage, of the row that it stands for."""
        model = self.model
        if model is None or (key := model.cursor) is None:
            return None
        from ktui.views.targets import row_behind

        return row_behind(model.view.id, key)

    @property
    def cursor(self) -> tuple[Session, ViewModel, RowKey] | None:
        """Where the cursor stands; None where there is no row."""
        deck = self.shown
        if deck is None or (key := deck.model.cursor) is None:
            return None
        return deck.session, deck.model, key

    @property
    def in_past(self) -> bool:
        """Whether the last minutes of a session are looked at, while it goes on."""
        return self.live is not None

    @property
    def trouble(self) -> str:
        """The failure of what is shown; the past does not fail with its session."""
        return "" if self.in_past else self.failure

    def now(self) -> float:
        """Unix seconds on the clock of what is shown."""
        return self.session.feed.now() if self.session is not None else time.time()

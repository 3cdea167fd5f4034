"""Opens sessions and has them fed; says why when one cannot be opened or ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ktui.errors import KtuiError
from ktui.ui.heap import sweep
from ktui.ui.loading import load
from ktui.ui.main.decks import WHAT_READS
from ktui.ui.main.flusher import tell_of_recording
from ktui.ui.paint import notify
from ktui.ui.screens.picker import Picker

if TYPE_CHECKING:
    from textual.screen import Screen
    from textual.worker import Worker

    from ktui.ui.commands import Handlers
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.flusher import Flusher
    from ktui.ui.main.showing import Showing
    from ktui.ui.session import Opener, Session


class Sessions:
    """One at a time. `leave` ends what must not outlive the one before."""

    def __init__(
        self,
        screen: Screen[None],
        opener: Opener,
        decks: Decks,
        showing: Showing,
        flusher: Flusher,
        leave: Callable[[], None],
    ) -> None:
        self._screen = screen
        self._opener = opener
        self._decks = decks
        self._showing = showing
        self._flusher = flusher
        self._leave = leave
        self._context = ""  # that was asked for last, "" for the one of the command line
        self._feeding: Worker[None] | None = None

    def handlers(self) -> Handlers:
        return {"context": self._choose_context, "retry": self._retry, "login.stop": self._stop_login}

    def show_opening(self) -> None:
        """What is about to be opened."""
        self._showing.show_opening(self._context or self._opener.title())

    def open(self, context: str = "") -> None:
        """Open a session in the place of the present one, in the background; "" for the context of the command line."""
        self._screen.run_worker(self._open(context), exclusive=True, group="open")

    async def _open(self, context: str) -> None:
        """On failure say so; ctrl+r tries again."""
        self._leave()
        is_another = self._feeding is not None
        if self._feeding is not None:
            self._feeding.cancel()
            self._feeding = None
        self._decks.clear()
        self._context = context
        self.show_opening()
        try:
            await load(*WHAT_READS)
            session = await self._opener.open(context)
        except KtuiError as error:
            self._showing.show_failure(str(error))
            return
        finally:
            if is_another:
                sweep()
        self._decks.shown = self._decks.deck_of(session)
        self._showing.show_view(self._decks.view)
        self._flusher.await_rows()
        self._feeding = self._screen.run_worker(self._feed(session), exclusive=True, group="feed")
        self._screen.run_worker(session.recall(), exclusive=True, group="recall")

    async def _feed(self, session: Session) -> None:
        try:
            await session.feed.run()
        except KtuiError as error:
            self._showing.show_failure(str(error))
        finally:
            tell_of_recording(self._screen.app, session)

    def _retry(self) -> None:
        """What failed is opened anew; sources that wait are asked at once."""
        from ktui.ui.feeds import Retrying

        session = self._decks.session
        if self._decks.failure or session is None:
            self.open(self._context)
        elif isinstance(session.feed, Retrying):
            session.feed.retry_now()

    def _stop_login(self) -> None:
        session = self._decks.session
        if session is not None and session.login is not None:
            session.login.stop_waiting()

    async def _choose_context(self) -> None:
        try:
            contexts = await self._opener.contexts()
        except KtuiError as error:
            notify(self._screen.app, str(error), "error")
            return
        current = self._decks.session.target.context if self._decks.session is not None else ""
        self._screen.app.push_screen(Picker("Context", contexts, current=current), self._context_chosen)

    def _context_chosen(self, name: str | None) -> None:
        if name is not None:
            self._showing.show_all()  # what was looked for on one cluster hides rows of another
            self.open(name)

"""Which moment is shown: the commands of a player, and the last minutes of a session in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ktui.ui.commands import group_handlers
from ktui.ui.heap import sweep
from ktui.ui.loading import load
from ktui.ui.paint import notify

if TYPE_CHECKING:
    from textual.screen import Screen

    from ktui.ui.commands import Handlers
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.flusher import Flusher
    from ktui.ui.main.showing import Showing

_PAST: Final = "past"  # the group of workers that feed what is looked back at


class Playback:
    def __init__(self, screen: Screen[None], decks: Decks, showing: Showing, flusher: Flusher) -> None:
        self._screen = screen
        self._decks = decks
        self._showing = showing
        self._flusher = flusher

    def handlers(self) -> Handlers:
        looking = {"look.back": self._look_back, "look.return": self.return_to_present}
        return {**looking, **group_handlers("replay", self._replay)}

    async def _look_back(self) -> None:
        """The session goes on unseen, while its past is looked at."""
        await load("ktui.ui.lookback")
        from ktui.ui.lookback import look_back

        live = self._decks.shown
        if live is None or self._decks.in_past:
            return
        past = look_back(live.session)
        if past is None:
            notify(self._screen.app, "nothing is remembered yet", "warning")
            return
        self._decks.live = live
        self._showing.show_deck(self._decks.deck_of(past))
        self._screen.run_worker(past.feed.run(), group=_PAST)
        self._screen.run_worker(past.recall(), group=_PAST)

    def return_to_present(self) -> None:
        live, past = self._decks.live, self._decks.session
        if live is not None and past is not None:
            self.give_up()
            self._decks.live = None
            self._showing.show_deck(live)
            past.close()
            self._screen.call_after_refresh(sweep)  # it may be as large as the live one, which is to be seen first

    def give_up(self) -> None:
        """What is looked back at is fed no longer."""
        self._screen.workers.cancel_group(self._screen, _PAST)

    def _replay(self, what: str) -> None:
        """`what` is the second part of a "replay." command."""
        from ktui.ui.replaying import drive

        session, model = self._decks.session, self._decks.model
        if session is None or model is None or session.player is None:
            return
        model.move_to(model.locate_cursor())  # it follows its row from here on, wherever that goes
        said = drive(session.player, what, session.cluster, self._decks.row)
        if said:
            notify(self._screen.app, said)
        self._flusher.flush()

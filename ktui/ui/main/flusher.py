"""Takes in what changed and has it drawn, ten times a second; the first rows of all as soon as they are there. Nothing here
runs per event."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ktui.turns import TURNS
from ktui.ui.paint import notify

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen
    from textual.timer import Timer

    from ktui.ui.main.decks import Decks
    from ktui.ui.main.painter import Painter
    from ktui.ui.session import Session
    from ktui.ui.viewmodel import ViewModel

_WORK: Final = 0.008  # seconds spent on rows without looking at keys
_FIRST_LOOK: Final = 0.01  # seconds between looks for the first rows, when whoever started ktui has nothing to look at


class Flusher:
    """`output_is_slow` says whether the terminal still has to take what was drawn before. `on_settled` is called when the first
    lists are in."""

    def __init__(
        self,
        screen: Screen[None],
        decks: Decks,
        painter: Painter,
        *,
        output_is_slow: Callable[[], bool],
        on_settled: Callable[[], None] | None,
    ) -> None:
        self._screen = screen
        self._decks = decks
        self._painter = painter
        self._on_settled = on_settled
        self._second = 0
        self._catching_up: set[ViewModel] = set()
        self._awaiting: Timer | None = None
        self.output_is_slow = output_is_slow

    async def flush_in_turn(self) -> None:
        """After the key that is being answered."""
        await TURNS.give_way()
        self.flush()

    def flush(self, *, anyway: bool = False) -> None:
        """Take in what changed and draw it, unless the terminal is behind or nothing can look different. With `anyway` it is
        drawn also then: how long a recording is that is still being read does not count as a change."""
        deck = self._decks.shown
        if deck is None or self.output_is_slow():
            return
        if tell_of_recording(self._screen.app, deck.session):
            self._painter.paint()
        changes, second = deck.session.take_changes(), int(self._decks.now())
        if changes is None and second == self._second and not deck.model.behind and not anyway:
            return
        self._second = second
        if changes is not None:
            deck.take(changes)
            if changes.streams and deck.settled:
                self._settle()
        self.work(deck.model)
        self._painter.paint()

    def await_rows(self) -> None:
        """Of a session that was just opened: draw the first rows, or that there are none, when that is known, not when it is time
        again."""
        self.stop_awaiting()
        self._awaiting = self._screen.set_interval(_FIRST_LOOK, self._look_for_rows)

    @property
    def awaits_rows(self) -> bool:
        """Whether the first rows of a session are looked for."""
        return self._awaiting is not None

    def stop_awaiting(self) -> None:
        """The session is over: no rows are to come."""
        if self._awaiting is not None:
            self._awaiting.stop()
            self._awaiting = None

    def _look_for_rows(self) -> None:
        deck = self._decks.shown
        if deck is not None and (deck.settled or deck.session.has_news_of(deck.shown)):
            self.stop_awaiting()
            self.flush()

    def settle_for_now(self) -> None:
        """What is there by now counts as the first lists; the rest is settled when it comes."""
        if self._on_settled is not None:
            self._on_settled()

    def _settle(self) -> None:
        self.settle_for_now()
        self._on_settled = None

    def work(self, model: ViewModel) -> None:
        """Compute rows for a moment; what is left is done between other things."""
        _work_for_a_moment(model)
        if model.behind and model not in self._catching_up:
            self._catching_up.add(model)
            self._screen.run_worker(self._catch_up(model), group="rows")

    async def _catch_up(self, model: ViewModel) -> None:
        try:
            while model.behind and self._decks.model is model:
                _work_for_a_moment(model)
                await TURNS.give_way()
        finally:
            self._catching_up.discard(model)
        self._painter.paint()


def _work_for_a_moment(model: ViewModel) -> None:
    deadline = time.monotonic() + _WORK
    model.work(lambda: time.monotonic() < deadline)


def tell_of_recording(app: App[object], session: Session) -> bool:
    """A recording that ended by itself is not to be believed in any longer. Whether one did."""
    ended = session.tape.take_ended() if session.tape is not None else None
    if ended is not None:
        from ktui.ui.taping import summary

        notify(app, summary(ended), "warning")
    return ended is not None

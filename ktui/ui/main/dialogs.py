"""What asks before it does something: actions and recordings. No dialog outlives the session that it is about."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias, cast

from textual.screen import ModalScreen

from ktui.ui.loading import load
from ktui.ui.paint import notify

if TYPE_CHECKING:
    from textual.screen import Screen

    from ktui.cluster.dirty import Entity
    from ktui.model.meta import Key
    from ktui.ui.acting import Actor
    from ktui.ui.commands import Handlers
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.painter import Painter
    from ktui.ui.taping import Taper
    from ktui.views.base import RowKey

    Action: TypeAlias = Callable[[Actor, Entity, RowKey], Awaitable[None]]
    Recording: TypeAlias = Callable[[Taper], Awaitable[None]]


class Dialogs:
    """What acts and what records is imported when it is first asked for."""

    def __init__(self, screen: Screen[None], decks: Decks, painter: Painter) -> None:
        self._screen = screen
        self._decks = decks
        self._painter = painter
        self._actor: Actor | None = None

    def handlers(self) -> Handlers:
        return {
            "act.taint": partial(self._act, lambda actor, view, key: actor.taint_row(view, key)),
            "act.untaint": partial(self._act, lambda actor, view, key: actor.untaint_row(view, key)),
            "act.replicas": partial(self._act, lambda actor, _, key: actor.min_replicas(cast("Key", key))),
            "act.undo": partial(self._act, lambda actor, *_: actor.undo()),
            "record.start": partial(self._record, lambda taper: taper.start()),
            "record.stop": partial(self._record, lambda taper: taper.stop()),
            "record.mark": partial(self._record, lambda taper: taper.mark()),
            "record.save": partial(self._record, lambda taper: taper.save()),
        }

    def give_up(self) -> None:
        """What was planned on one session must not be confirmed on another."""
        for group in ("act", "record"):
            self._screen.workers.cancel_group(self._screen, group)
        while isinstance(self._screen.app.screen, ModalScreen):
            self._screen.app.pop_screen()

    def _act(self, action: Action) -> None:
        """What is under way is not dropped for what comes next: its request may be on its way."""
        if any(worker.group == "act" and worker.is_running for worker in self._screen.workers):
            notify(self._screen.app, "an action is still under way", "warning")
        else:
            self._screen.run_worker(self._acting(action), group="act")

    async def _acting(self, action: Action) -> None:
        session, row = self._decks.session, self._decks.row
        if session is None:
            return
        await load("ktui.ui.acting")
        from ktui.ui.acting import Actor

        if self._actor is None or self._actor.session is not session:
            self._actor = Actor(self._screen.app, session)
        await action(self._actor, *(row or (self._decks.view, None)))

    def _record(self, what: Recording) -> None:
        self._screen.run_worker(self._recording(what), group="record")

    async def _recording(self, what: Recording) -> None:
        session = self._decks.session
        if session is None or (tape := session.tape) is None:
            return
        await load("ktui.ui.taping")
        from ktui.ui.taping import Taper

        await what(Taper(self._screen.app, tape, session.target.context, session.feed))
        self._painter.paint()

"""Which commands are available at present, and by which keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from ktui.ui import bars
from ktui.ui.commands import BY_ID, VIEW_NUMBERS, Command, Situation
from ktui.ui.keymap import key_labels

if TYPE_CHECKING:
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.panes import Panes
    from ktui.ui.viewmodel import ViewModel


class Menu:
    """`keys` is the key map of the settings."""

    def __init__(self, decks: Decks, panes: Panes, keys: Mapping[str, str]) -> None:
        self._decks = decks
        self._panes = panes
        self._keys = keys

    def situation(self) -> Situation:
        """What decides which commands are available."""
        decks, panes = self._decks, self._panes
        session, model, row = decks.session, decks.model, decks.row
        tape = session.tape if session is not None else None
        return Situation(
            view=decks.view if session is not None else "",
            row_of=row[0] if row is not None else "",
            views=tuple(decks.shown.views if decks.shown is not None else VIEW_NUMBERS),
            on_map=panes.on_map,
            has_row=model is not None and len(model.index) > 0 and not panes.on_map,
            nested=bool(decks.filter.text) or panes.opened or panes.on_map or panes.filtering,
            replaying=session is not None and session.player is not None,
            read_only=session is not None and session.target.read_only,
            recordable=tape is not None,
            recording=tape is not None and tape.recording,
            awaiting=session is not None and bars.awaited(session) is not None,
            tree=model is not None and model.tree is not None and not panes.covered,
            folding=_folding(model) if model is not None and not panes.covered else "",
            past=decks.in_past,
        )

    def available(self) -> list[Command]:
        situation = self.situation()
        return [command for command in BY_ID.values() if command.available(situation)]

    def footed(self, situation: Situation) -> list[Command]:
        """The commands that the footer names."""
        return [c for c in BY_ID.values() if c.footer and c.available(situation) and c.footed(situation)]

    def keys_of(self, command: Command) -> str:
        """The command's keys as the settings leave them, as people write them."""
        return key_labels(self._keys.get(command.id, command.keys))

    def key_of(self, command: Command) -> str:
        """The first of them."""
        return self.keys_of(command).split(" ")[0]

    def way_back(self) -> str:
        """The key that returns from the past, "" where that is not looked at."""
        return self.key_of(BY_ID["look.return"]) if self._decks.in_past else ""

    def refusal(self, command: Command) -> str:
        """Why nothing can be done to what is shown, "" for what does nothing to it, and on a live cluster."""
        session = self._decks.session
        if not command.id.startswith("act.") or session is None or session.player is None:
            return ""
        if back := self.way_back():
            return f"this is the past: {back} returns to the present, where something can be done"
        return "this is a recording: nothing can be done to what was"


def _folding(model: ViewModel) -> Literal["", "fold", "unfold"]:
    """What can be done to the cursor's row; "" outside trees, and where nothing is below it."""
    tree = model.tree
    key = model.cursor if tree is not None else None
    row = model.row(key) if key is not None else None
    if tree is None or row is None or not row.folds:
        return ""
    return "fold" if tree.is_unfolded(row) else "unfold"

"""Choose one of many names: namespaces, contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.events import Key
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ktui.ui.paint import content
from ktui.ui.safe import odd_name
from ktui.views.base import Cell

_SHOWN = 200  # a longer list is narrowed by typing, not by scrolling


class Picker(ModalScreen[str | None]):
    """Dismisses with the chosen name, None on esc. `names` are raw; `labels` replace a name on the screen."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n", "next(1)", show=False),
        Binding("up,ctrl+b", "next(-1)", show=False),
        Binding("enter", "choose", show=False),  # typed before the field had the focus
    ]

    def __init__(
        self, title: str, names: Sequence[str], *, labels: dict[str, str] | None = None, current: str = ""
    ) -> None:
        super().__init__()
        self._title = title
        self._names = tuple(names)
        self._labels = labels or {}
        self._current = current
        self._matches: list[str] = []

    def compose(self) -> ComposeResult:
        with Vertical(id="picker"):
            yield Static(content(self._title), id="picker-title")
            yield Input(id="picker-filter", compact=True, placeholder="type to narrow, enter to choose")
            yield OptionList(id="picker-list", compact=True, markup=False)

    def on_mount(self) -> None:
        self._narrow("")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self._narrow(event.value)

    def _narrow(self, text: str) -> None:
        wanted = text.lower()
        self._matches = [name for name in self._names if wanted in self._label(name).lower()][:_SHOWN]
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(content(self._cell(name))) for name in self._matches])
        if self._matches:
            options.highlighted = self._matches.index(self._current) if self._current in self._matches else 0

    def _label(self, name: str) -> str:
        return self._labels.get(name, name)

    def _cell(self, name: str) -> Cell:
        if name in self._labels:
            return Cell(self._labels[name], "accent")
        return Cell(name, "warn" if odd_name(name.lower()) else "")

    def action_next(self, step: int) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            options.highlighted = max(0, min(options.highlighted + step, options.option_count - 1))

    def on_key(self, event: Key) -> None:
        """What was typed in one go with the key that opened this comes before the field has the focus."""
        if event.is_printable and event.character is not None:
            field = self.query_one(Input)
            with field.prevent(Input.Changed):  # it would come after an enter that is typed as fast
                field.insert_text_at_cursor(event.character)
            self._narrow(field.value)
            event.stop()

    @on(Input.Submitted)
    def action_choose(self) -> None:
        highlighted = self.query_one(OptionList).highlighted
        self.dismiss(self._matches[highlighted] if highlighted is not None and self._matches else None)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._matches[event.option_index])

"""A screen of text to read: an object as YAML, the keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from ktui.ui.commands import bindings
from ktui.ui.widgets.bar import Bar, Part
from ktui.ui.widgets.pager import Pager
from ktui.views.base import Cell, Line


class TextScreen(Screen[None]):
    """Title, lines, and the keys to leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("move"),
        Binding("escape,q,question_mark,y", "dismiss(None)", show=False),
    ]

    def __init__(self, title: str, lines: Sequence[Line]) -> None:
        super().__init__()
        self._title = title
        self._lines = tuple(lines)

    def compose(self) -> ComposeResult:
        yield Bar(id="text-title")
        yield Pager(id="text")
        yield Bar(id="footer")

    def on_mount(self) -> None:
        self.query_one("#text-title", Bar).set_parts([Part((Cell(self._title, "accent"),))])
        self.query_one("#footer", Bar).set_parts(
            [Part((Cell("esc", "accent"), Cell(" back   "), Cell("j k g G", "accent"), Cell(" move")))]
        )
        self.query_one(Pager).set_lines(self._lines)
        self.query_one(Pager).focus()

    def action_command(self, command: str) -> None:
        self.query_one(Pager).move(command.removeprefix("move."))

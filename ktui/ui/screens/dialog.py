"""The dialog before every action: what will happen, to whom, and a way out that is always the default."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from ktui.ui.commands import bindings
from ktui.ui.paint import content
from ktui.ui.preview import Preview
from ktui.ui.widgets.pager import Pager
from ktui.views.base import Cell, Line


class ActionDialog(ModalScreen[bool]):
    """Dismisses with True once, when confirmed; with False on cancel, n or esc, or when a count was asked for (`count_first`).
    No single key confirms by accident."""

    AUTO_FOCUS = "#cancel"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("move"),
        Binding("y", "confirm", show=False),
        Binding("n,escape", "cancel", show=False),
        Binding("b", "body", show=False),
        Binding("ctrl+b", "body", show=False, priority=True),  # also while something is being typed
        Binding("ctrl+t", "count", show=False, priority=True),
        Binding("left", "app.focus_previous", show=False),
        Binding("right", "app.focus_next", show=False),
    ]

    def __init__(self, preview: Preview) -> None:
        super().__init__()
        self._preview = preview
        self._body_shown = False
        self._answered = False
        self.count_first = False

    def compose(self) -> ComposeResult:
        preview = self._preview
        with Vertical(id="dialog"):
            yield Static(content(Cell(preview.title), Cell("  " + preview.who, "dim")), id="dialog-title")
            yield Pager(id="dialog-lines")
            if preview.confirm is not None:
                yield Static(content("type  ", Cell(preview.confirm, "accent"), "  to confirm:"), id="dialog-ask")
                yield Input(id="dialog-typed", compact=True)
            with Horizontal(id="dialog-buttons"):
                yield Static(content(Cell(self._hint, "dim")), id="dialog-hint")
                yield Button(content("Cancel"), id="cancel", compact=True)
                yield Button(content(preview.button), id="confirm", variant="error", compact=True)

    @property
    def _hint(self) -> str:
        if not self._preview.body:
            return ""
        body = "b request body" if self._preview.confirm is None else "ctrl+b request body"
        return "ctrl+b body   ctrl+t count first" if self._preview.countable else body

    def on_mount(self) -> None:
        # Where something must be typed, keys go there at once; otherwise the way out has the focus.
        self.query_one("#cancel" if self._preview.confirm is None else "#dialog-typed").focus()
        self.query_one("#confirm", Button).disabled = not self._may_confirm("")
        self._show_lines()

    def _show_lines(self) -> None:
        preview = self._preview
        lines: tuple[Line, ...] = preview.lines
        if preview.warnings:
            lines = (*lines, (), *((Cell("! ", "bad"), Cell(warning, "bad")) for warning in preview.warnings))
        if self._body_shown:
            lines = (*lines, (), *((Cell(line, "dim"),) for line in preview.body.splitlines()))
        self.query_one(Pager).set_lines(lines, keep_place=True)

    def _may_confirm(self, typed: str) -> bool:
        return self._preview.confirm is None or typed == self._preview.confirm

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.query_one("#confirm", Button).disabled = not self._may_confirm(event.value)

    @on(Input.Submitted)
    def _submitted(self) -> None:
        """Enter in the field moves on to the button; a pasted line end confirms nothing."""
        button, confirm = self.query_one("#confirm", Button), self._preview.confirm
        if confirm is None:
            return
        if not button.disabled:
            self.set_focus(button)
            asked = content("enter again:  ", Cell(self._preview.button, "accent"))
        else:
            asked = content("that is not  ", Cell(confirm, "accent"), "  - type it, or esc to leave:")
        self.query_one("#dialog-ask", Static).update(asked)

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self._answer(event.button.id == "confirm")

    def action_command(self, command: str) -> None:
        """Scroll what does not fit."""
        self.query_one(Pager).move(command.removeprefix("move."))

    def action_confirm(self) -> None:
        if not self.query_one("#confirm", Button).disabled:
            self._answer(True)

    def action_cancel(self) -> None:
        self._answer(False)

    def action_count(self) -> None:
        """Ask for the count before anything is decided; what follows has dialogs of its own."""
        if self._preview.countable and not self._answered:
            self.count_first = True
            self._answer(False)

    def action_body(self) -> None:
        if self._preview.body:
            self._body_shown = not self._body_shown
            self._show_lines()

    def _answer(self, confirmed: bool) -> None:
        """The first answer counts: a repeated key must not confirm twice."""
        if not self._answered:
            self._answered = True
            self.dismiss(confirmed)

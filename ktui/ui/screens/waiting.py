"""A wait that a person may give up: what is waited for, and how long it may take."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from ktui.ui.paint import content
from ktui.views.base import Cell

T = TypeVar("T")


class Waiting(ModalScreen[None], Generic[T]):
    """Dismisses with nothing: what came is in `result`, unless it was `given_up`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,n", "give_up", show=False)]

    def __init__(self, title: str, words: str, what: Callable[[], Awaitable[T]]) -> None:
        super().__init__()
        self._title = title
        self._words = words
        self._what = what
        self.result: T | None = None
        self.given_up = False

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog"):
            yield Static(content(Cell(self._title)), id="dialog-title")
            yield Static(content(Cell(self._words)))
            yield Static(content(Cell("esc", "accent"), Cell("  give up", "dim")), id="dialog-hint")

    def on_mount(self) -> None:
        self.run_worker(self._wait())

    async def _wait(self) -> None:
        self.result = await self._what()
        self.dismiss(None)

    def action_give_up(self) -> None:
        """The worker ends with the screen."""
        self.given_up = True
        self.dismiss(None)

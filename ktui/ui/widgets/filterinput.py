"""The line a filter is typed into."""

from __future__ import annotations

from textual import on
from textual.events import Blur, Key
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Input

_PAUSE = 0.08  # seconds without a key before a filter is applied: it looks at every row


class FilterInput(Input):
    """Says what to filter by while it is typed, shortly after the last key; and at once on enter."""

    class Narrowed(Message):
        """The rows are to be filtered by this text."""

        def __init__(self, text: str, *, done: bool) -> None:
            super().__init__()
            self.text = text
            self.done = done  # enter was pressed

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, compact=True, placeholder="part of any column; enter keeps it, esc drops it")
        self._timer: Timer | None = None
        self._entered = False  # what is typed from now on is for whoever gets the focus
        self._typed_ahead: list[Key] = []

    @on(Key)
    def _look_ahead(self, event: Key) -> None:
        """From a slow line several keys come at once, and those behind enter before it has moved the focus."""
        if self._entered:
            event.stop()
            event.prevent_default()
            self._typed_ahead.append(event)
        elif event.key == "enter":
            self._entered = True

    @on(Blur)
    def _pass_on(self) -> None:
        ahead, self._typed_ahead, self._entered = self._typed_ahead, [], False
        for key in ahead:
            self.app.post_message(Key(key.key, key.character))

    @on(Input.Changed)
    def _typed(self) -> None:
        self._hold()
        self._timer = self.set_timer(_PAUSE, lambda: self._tell(done=False))

    @on(Input.Submitted)
    def _submitted(self) -> None:
        self._hold()
        self._tell(done=True)

    def _hold(self) -> None:
        if self._timer is not None:
            self._timer.stop()

    def _tell(self, *, done: bool) -> None:
        self.post_message(self.Narrowed(self.value, done=done))

"""One of a few: a line an option, marked by a word-sized sign and not by colour alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from textual import events
from textual.geometry import Size
from textual.strip import Strip

from ktui.ui.paint import Piece, strip
from ktui.ui.widgets.painted import Painted

_STEPS: Final = {"down": 1, "j": 1, "up": -1, "k": -1}


class Choice(Painted, can_focus=True):
    """Up and down (or j and k) choose; `chosen` is the index. Texts are our own words."""

    def __init__(self, options: Sequence[str], chosen: int, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._options = tuple(options)
        self.chosen = chosen

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        return len(self._options)

    def render_line(self, y: int) -> Strip:
        if y >= len(self._options):
            return Strip.blank(self.size.width, self.rich_style)
        here = y == self.chosen
        line = "cursor" if here and self.has_focus else ""
        sign = "(*)" if here else "( )"
        pieces = [Piece(f"{sign} {self._options[y]}", self.ink("accent" if here else "", line))]
        return strip(pieces, self.size.width, self.ink(line=line), ascii_only=self.app.has_class("-ascii"))

    def on_key(self, event: events.Key) -> None:
        """Here, and not by a binding: those are looked up where the focus is by then, which a tab that is typed right behind has
        moved on."""
        if (step := _STEPS.get(event.key)) is not None:
            event.stop()
            self._choose(self.chosen + step)

    def on_click(self, event: events.Click) -> None:
        self._choose(event.y)

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def _choose(self, index: int) -> None:
        self.chosen = max(0, min(len(self._options) - 1, index))
        self.refresh()

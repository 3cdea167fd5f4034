"""A line of the frame around a view: header, tabs, state, footer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from textual import events
from textual.message import Message
from textual.strip import Strip

from ktui.ui.paint import Piece, strip
from ktui.ui.safe import cell_width, fit
from ktui.ui.widgets.painted import Painted
from ktui.views.base import Cell, Line

_PART_LIMIT = 60  # cells of one part; a context name may be an ARN


class Part(Struct, frozen=True):
    """Cells that stay together. When the line is too narrow the part of lowest `priority` goes first.

    A click on it runs `command`, if it has one.
    """

    cells: Line
    priority: int = 5
    command: str = ""


class Bar(Painted, can_focus=False):
    """One line: parts from the left, one part at the right end. Painted again only when they differ."""

    class Chosen(Message):
        """A part with a command was clicked."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    def __init__(self, *, id: str | None = None, separator: str = "") -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._separator = separator
        self._left: tuple[Part, ...] = ()
        self._right: tuple[Cell, ...] = ()
        self._alarm = False

    def set_parts(self, left: Sequence[Part], right: Sequence[Cell] = (), *, alarm: bool = False) -> None:
        """`alarm` paints the whole line in the colour of danger."""
        wanted = (tuple(left), tuple(right), alarm)
        if wanted != (self._left, self._right, self._alarm):
            self._left, self._right, self._alarm = wanted
            self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:  # styled taller than its one line
            return strip((), width, self.ink())
        line = "alarm" if self._alarm else ""
        fill = self.ink(line=line)
        right = "".join(fit(cell.text, _PART_LIMIT) for cell in self._right)
        reserved = min(cell_width(right) + 2, width) if right else 1
        pieces = [Piece(" ", fill, 1)]
        used = 1
        for index, part in enumerate(self._fitting(width - reserved - 1)):
            if index and self._separator:
                pieces.append(Piece(self._separator, self.ink("" if self._alarm else "dim", line)))
                used += cell_width(self._separator)
            for cell in part.cells:
                text = fit(cell.text, _PART_LIMIT)
                pieces.append(Piece(text, self.ink("" if self._alarm else cell.style, line)))
                used += cell_width(text)
        if right:
            pieces.append(Piece("", fill, max(1, width - used - cell_width(right) - 1)))
            pieces += [
                Piece(fit(c.text, _PART_LIMIT), self.ink("" if self._alarm else c.style, line)) for c in self._right
            ]
        return strip(pieces, width, fill, ascii_only=self.glyphs.ascii)

    def _fitting(self, width: int) -> list[Part]:
        shown = list(self._left)
        while len(shown) > 1 and self._width(shown) > width:
            shown.remove(min(reversed(shown), key=lambda part: part.priority))
        return shown

    def _width(self, parts: Sequence[Part]) -> int:
        return sum(map(_part_width, parts)) + cell_width(self._separator) * max(0, len(parts) - 1)

    def on_click(self, event: events.Click) -> None:
        left = 1
        for part in self._fitting(self.size.width):
            width = _part_width(part)
            if left <= event.x < left + width and part.command:
                self.post_message(self.Chosen(part.command))
                return
            left += width + cell_width(self._separator)


def _part_width(part: Part) -> int:
    return sum(cell_width(fit(cell.text, _PART_LIMIT)) for cell in part.cells)

"""A line of the frame around a view: header, tabs, state, footer."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace
from textual import events
from textual.message import Message
from textual.strip import Strip

from ktui.ui.paint import Piece, strip
from ktui.ui.safe import cell_width, fit, safe
from ktui.ui.widgets.painted import Painted
from ktui.views.base import Cell, Line

_PART_LIMIT = 60  # cells of one part; a context name may be an ARN


class Part(Struct, frozen=True):
    """Cells that stay together. When the line is too narrow, those with a `short` form take it, and if that is not enough,
    the part of lowest `priority` goes first.

    One to `keep` never goes, but the last of those loses the beginning of its last cell: what tells long names of contexts
    apart is at their end. A click on a part runs `command`, if it has one.
    """

    cells: Line
    priority: int = 5
    command: str = ""
    keep: bool = False
    short: Line = ()


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
        right = self._right_width
        pieces = [Piece(" ", fill, 1)]
        used = 1
        for index, part in enumerate(self._fitting()):
            if index and self._separator:
                pieces.append(Piece(self._separator, self.ink("" if self._alarm else "dim", line)))
                used += cell_width(self._separator)
            for cell in part.cells:
                text = fit(cell.text, _PART_LIMIT)
                pieces.append(Piece(text, self.ink("" if self._alarm else cell.style, line)))
                used += cell_width(text)
        if right:
            pieces.append(Piece("", fill, max(1, width - used - right - 1)))
            pieces += [
                Piece(fit(c.text, _PART_LIMIT), self.ink("" if self._alarm else c.style, line)) for c in self._right
            ]
        return strip(pieces, width, fill, ascii_only=self.glyphs.ascii)

    @property
    def _right_width(self) -> int:
        return sum(cell_width(fit(cell.text, _PART_LIMIT)) for cell in self._right)

    def _fitting(self) -> list[Part]:
        """The parts there is room for beside the right end, as they are drawn and clicked."""
        reserved = self._right_width + 2 if self._right else 1
        width = max(0, self.size.width - reserved - 1)
        shown = list(self._left)
        if self._width(shown) > width:
            shown = [replace(part, cells=part.short) if part.short else part for part in shown]
        while len(shown) > 1 and self._width(shown) > width:
            optional = [part for part in shown if not part.keep]
            if not optional:
                break
            shown.remove(min(reversed(optional), key=lambda part: part.priority))
        excess = self._width(shown) - width
        if excess > 0 and shown[-1].keep:
            *before, last = shown[-1].cells
            last = replace(last, text=_tail(last.text, min(cell_width(safe(last.text)), _PART_LIMIT) - excess))
            shown[-1] = replace(shown[-1], cells=(*before, last))
        return shown

    def _width(self, parts: Sequence[Part]) -> int:
        return sum(map(_part_width, parts)) + cell_width(self._separator) * max(0, len(parts) - 1)

    def on_click(self, event: events.Click) -> None:
        left = 1
        for part in self._fitting():
            width = _part_width(part)
            if left <= event.x < left + width and part.command:
                self.post_message(self.Chosen(part.command))
                return
            left += width + cell_width(self._separator)


def _part_width(part: Part) -> int:
    return sum(cell_width(fit(cell.text, _PART_LIMIT)) for cell in part.cells)


def _tail(text: str, width: int) -> str:
    """The end of a text in `width` cells; of one with wide characters the beginning, which is cut safely."""
    shown = safe(text)
    if not shown.isascii() or width < 2:
        return fit(text, width)
    return f"…{shown[1 - width :]}"

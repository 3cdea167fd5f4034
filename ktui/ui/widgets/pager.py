"""Lines of text to read: details, YAML, help. Only visible lines are made."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.strip import Strip

from ktui.ui.paint import Piece, strip
from ktui.ui.widgets.moves import target
from ktui.ui.widgets.scrolled import Scrolled
from ktui.ui.wrap import wrap
from ktui.views.base import Line


class Pager(Scrolled):
    """Scrolls up and down; long lines go on below."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._source: tuple[Line, ...] = ()
        self._lines: Sequence[Line] = ()
        self._width = 0

    def set_lines(self, lines: Sequence[Line], *, keep_place: bool = False) -> None:
        """Show other lines, from the top unless they are a newer state of the same thing."""
        lines = tuple(lines)
        if lines == self._source:
            return
        self._source = lines
        self._break()
        if not keep_place:
            self.scroll_to(y=0, animate=False)
        self.refresh()

    @property
    def lines(self) -> Sequence[Line]:
        """As broken to the present width."""
        return self._lines

    def _break(self) -> None:
        self._width = self.line_width
        self._lines = [broken for line in self._source for broken in _broken(line, self._width)]
        if self.fit_lines(len(self._lines)) and self.styles.auto_dimensions:  # in a dialog it is as high as its text
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002 - Textual's signature
        """Asked where it is as high as its text, before it has the width that decides how high that is."""
        return sum(len(_broken(line, width)) for line in self._source)

    def render_line(self, y: int) -> Strip:
        if self.line_width != self._width:
            self._break()  # now, not when it is told of its new size: that is after the frame in which it has it
        position = self.scroll_offset.y + y
        line = self._lines[position] if position < len(self._lines) else ()
        pieces = [Piece(cell.text, self.ink(cell.style)) for cell in line]
        return strip(pieces, self.line_width, self.ink(), ascii_only=self.glyphs.ascii)

    def move(self, how: str) -> None:
        """Scroll: `how` is the second part of a "move." command."""
        top = target(how, self.scroll_offset.y, self.size.height - 1, len(self._lines))
        self.scroll_to(y=top, animate=False)


def _broken(line: Line, width: int) -> tuple[Line, ...]:
    """Most lines of 100,000 fit, and are not looked at closely."""
    if sum(len(cell.text) for cell in line) <= width and all(cell.text.isascii() for cell in line):
        return (line,)
    return wrap(line, width)

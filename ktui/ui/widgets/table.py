"""The table of a view: only visible lines are made, only changed lines are drawn again.

What stands on each screen line is remembered as a small value; after any change (rows, order, cursor, marks, passing time)
the lines whose value differs are refreshed, no others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from ktui.ui.columns import GAP, Placed, place
from ktui.ui.lines import Heading, Lines, Shown
from ktui.ui.paint import Piece, strip
from ktui.ui.safe import cell_width, fit, odd_name
from ktui.ui.treeindex import depth_of
from ktui.ui.viewmodel import ViewModel
from ktui.ui.widgets.moves import target
from ktui.ui.widgets.scrolled import Scrolled
from ktui.ui.wrap import wrap
from ktui.views.base import Cell, Column, Line, Row, RowKey, Style

_GUTTER = 2  # cells in front of the first column: cursor and mark
_STRIPS = 512  # painted lines kept: several screens
_NAME_COLUMNS = frozenset(("namespace", "name", "gang", "node", "pool", "device", "pod", "claim"))


class RowTable(Scrolled):
    """Rows of one view on the line API. The first line is the header and does not scroll. Where a view has parts, there is a
    heading above each, on which the cursor never stands."""

    class Moved(Message):
        """A click may have put the cursor on another row, or another row under it."""

    class Opened(Message):
        """A person wants to see the row under the cursor."""

    class HeaderClicked(Message):
        """`column` is an index into the view's columns."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    def __init__(self, now: Callable[[], float], *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._now = now
        self._model: ViewModel | None = None
        self._placeholder: tuple[Line, ...] = ()
        self._placed: tuple[Placed, ...] = ()
        self._width = 0  # of the lines that are drawn
        self._hidden: frozenset[int] = frozenset()
        self._headings: tuple[Heading, ...] = ()
        self._drawn: dict[int, Shown | Heading | None] = {}  # by screen line, as last drawn
        self._strips: dict[tuple[RowKey, str, bool, bool, bool], tuple[Row, Strip]] = {}
        self._wrapped: tuple[tuple[Line, ...], int, list[Line]] = (), 0, []  # the placeholder, for a width
        # Lines without a row: most of them while lists come, ten times a second.
        self._blanks: dict[tuple[Line, int], Strip] = {}
        self._was_empty = True
        self._order = (0, False)  # column and whether descending, as the title was drawn last

    # --- what it shows ---

    @property
    def model(self) -> ViewModel | None:
        return self._model

    @property
    def shown_columns(self) -> tuple[int, ...]:
        """Indexes of the view's columns that there is room for; at least one."""
        return tuple(placed.index for placed in self._placed)

    @property
    def shown_needs(self) -> frozenset[str]:
        """What the figures in the columns that are shown come from."""
        columns = self._model.view.columns if self._model is not None else ()
        return frozenset(columns[index].needs for index in self.shown_columns) - {""}

    @property
    def keys_on_screen(self) -> tuple[RowKey, ...]:
        """The keys of the rows that are on the screen."""
        if self._model is None:
            return ()
        lines, top = self._lines(self._model), self.scroll_offset.y
        positions = map(lines.at, range(top, top + self._page))
        return tuple(self._model.index.key_at(each) for each in positions if isinstance(each, int))

    def show(self, model: ViewModel, headings: Sequence[Heading] = ()) -> None:
        """Show another view, where its cursor is."""
        self._model, self._headings = model, tuple(headings)
        self.redraw()
        self._scroll_to_cursor()

    def clear(self, placeholder: Sequence[Line]) -> None:
        """Show no view, and `placeholder` in its place."""
        self._model, self._placeholder, self._headings = None, tuple(placeholder), ()
        self.fit_lines(1)
        self.redraw()

    def set_placeholder(self, lines: Sequence[Line]) -> None:
        """What stands where rows would be while there are none."""
        if tuple(lines) != self._placeholder:
            self._placeholder = tuple(lines)
            if self._model is None or not len(self._model.index):
                self.refresh()

    def set_headings(self, headings: Sequence[Heading]) -> None:
        """Of all parts of the view, in order; to be drawn by the next `update`."""
        self._headings = tuple(headings)

    def update(self) -> None:
        """After any change of the model or the time: draw the lines that look different, no others."""
        if self._model is None or not self.is_attached:
            return
        if self._model.hidden != self._hidden:
            self._forget()
            self.refresh()
        lines, top = self._lines(self._model), self.scroll_offset.y
        self.fit_lines(len(lines) + 1)  # and the title
        empty = not len(self._model.index)
        if empty != self._was_empty:
            self._was_empty = empty
            self.refresh()  # the placeholder may be longer than what takes its place
        width, drawn = self.line_width, self._drawn
        stale = [y for y in range(1, self.size.height) if drawn.get(y) != lines.shown(top + y - 1)]
        order = (self._model.index.column, self._model.index.descending)
        if order != self._order:  # a large view comes into another one by itself, when it is worked out
            self._order = order
            stale.append(0)
        if stale:
            self.refresh(*(Region(0, y, width, 1) for y in stale))

    def redraw(self) -> None:
        """Draw everything again: another order of columns, another sort."""
        self._forget()
        self.refresh()
        self.update()

    def _forget(self) -> None:
        self._drawn.clear()
        self._strips.clear()
        self._width = self.line_width
        self._hidden = self._model.hidden if self._model else frozenset()
        self._placed = place(self._model.view.columns, self._width - _GUTTER, self._hidden) if self._model else ()

    def _lines(self, model: ViewModel) -> Lines:
        return Lines(model, self._headings, self._now())

    # --- drawing ---

    def render_line(self, y: int) -> Strip:
        width = self.line_width
        if width != self._width:
            self._forget()  # now, not when it is told of its new size: that is after the frame in which it has it
        if y == 0:
            return self._title(width)
        if self._model is None:
            return self._blank(y, width)
        shown = self._drawn[y] = self._lines(self._model).shown(self.scroll_offset.y + y - 1)
        if shown is None:
            return self._blank(y, width)
        if isinstance(shown, Heading):
            return self._head(shown, width)
        memo = (shown.row.key, shown.age, shown.cursor, shown.mark, shown.unfolded)
        known = self._strips.get(memo)
        if known is not None and known[0] is shown.row and known[1].cell_length == width:
            return known[1]
        drawn = strip(
            self._pieces(self._model.view.columns, shown),
            width,
            self.ink(line=_line(shown)),
            ascii_only=self.glyphs.ascii,
        )
        if len(self._strips) >= _STRIPS:
            self._strips.clear()
        self._strips[memo] = (shown.row, drawn)
        return drawn

    def _head(self, heading: Heading, width: int) -> Strip:
        said = min(cell_width(fit(heading.said.text, width)), max(0, width - _GUTTER * 3))
        pieces = [
            Piece(self.glyphs.rule * (_GUTTER - 1), self.ink("dim")),
            Piece(f" {heading.title} ", self.ink("accent")),
        ]
        left = width - sum(cell_width(piece.text) for piece in pieces) - said - _GUTTER
        pieces += [
            Piece(self.glyphs.rule * max(0, left), self.ink("dim")),
            Piece(" ", self.ink(), 1),
            Piece(heading.said.text, self.ink(heading.said.style), said),
        ]
        return strip(pieces, width, self.ink(), ascii_only=self.glyphs.ascii)

    def _blank(self, y: int, width: int) -> Strip:
        """A line below the rows; part of the placeholder when there are none."""
        empty = self._model is None or not len(self._model.index)
        if self._wrapped[:2] != (self._placeholder, width):
            self._wrapped = (
                self._placeholder,
                width,
                [w for line in self._placeholder for w in wrap(line, width - _GUTTER)],
            )
        lines = self._wrapped[2] if empty else []
        line = lines[y - 2] if 0 <= y - 2 < len(lines) else ()
        known = self._blanks.get((line, width))
        if known is None:
            pieces = [Piece("", self.ink(), _GUTTER), *(Piece(cell.text, self.ink(cell.style)) for cell in line)]
            known = strip(pieces, width, self.ink(), ascii_only=self.glyphs.ascii)
            if len(self._blanks) >= _STRIPS:
                self._blanks.clear()
            self._blanks[line, width] = known
        return known

    def _pieces(self, columns: Sequence[Column], shown: Shown) -> list[Piece]:
        line, glyphs = _line(shown), self.glyphs
        pieces = [
            Piece(glyphs.cursor if shown.cursor else " ", self.ink("accent", line), 1),
            Piece(glyphs.mark if shown.mark else " ", self.ink("accent", line), 1),
        ]
        for placed in self._placed:
            column, cell = columns[placed.index], shown.row.cells[placed.index]
            if pieces[2:]:
                pieces.append(Piece("", self.ink(line=line), GAP))
            text = shown.age if column.kind == "age" else cell.text
            if self._model is not None and placed.index == self._model.trunk:
                text = self._indent(shown) + text
            pieces.append(Piece(text, self.ink(_tone(column, cell), line), placed.width, _right(column)))
        return pieces

    def _indent(self, shown: Shown) -> str:
        sign = self.glyphs.unfolded if shown.unfolded else self.glyphs.folded
        return f"{'  ' * depth_of(shown.row.key)}{sign if shown.row.folds else ' '} "

    def _title(self, width: int) -> Strip:
        style = self.ink(line="title")
        pieces = [Piece("", style, _GUTTER)]
        if self._model is not None:
            index = self._model.index
            arrow = self.glyphs.descending if index.descending else self.glyphs.ascending
            for placed in self._placed:
                column = self._model.view.columns[placed.index]
                mark = arrow if placed.index == index.column else ""
                title = f"{column.title[: placed.width - len(mark)]}{mark}"  # the gap stays free
                pieces += [Piece(title, style, placed.width, _right(column)), Piece("", style, GAP)]
        return strip(pieces, width, style, ascii_only=self.glyphs.ascii)

    # --- events ---

    def on_resize(self) -> None:
        self.update()
        self._scroll_to_cursor()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._blanks.clear()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._drawn.clear()

    def on_click(self, event: events.Click) -> None:
        if self._model is None:
            return
        if event.y == 0:
            column = self._column_at(event.x)
            if column is not None:
                self.post_message(self.HeaderClicked(column))
                self.post_message(self.Moved())
            return
        lines = self._lines(self._model)
        position = lines.at(self.scroll_offset.y + event.y - 1)
        if isinstance(position, int):
            self._move_to(position)
            self.post_message(self.Opened() if position == lines.cursor else self.Moved())

    def _column_at(self, x: int) -> int | None:
        left = _GUTTER
        for placed in self._placed:
            left += placed.width + GAP
            if x < left:
                return placed.index
        return None

    # --- movement ---

    def _move_to(self, position: int) -> None:
        """To be drawn by the next `update`."""
        if self._model is not None:
            self._model.move_to(position)
            self._scroll_to_cursor()

    def follow_cursor(self) -> None:
        """After rows were folded or unfolded."""
        self.update()
        self._scroll_to_cursor()

    def _scroll_to_cursor(self) -> None:
        if self._model is None:
            return
        lines = self._lines(self._model)
        self.fit_lines(len(lines) + 1)  # and the title
        self.bring_into_view(lines.first_of(lines.cursor), lines.line_of(lines.cursor), self._page)

    @property
    def _page(self) -> int:
        return max(0, self.size.height - 1)

    def move(self, how: str) -> None:
        """Move the cursor: `how` is the second part of a "move." command."""
        if self._model is not None:
            here, last = self._model.locate_cursor(), len(self._model.index) - 1
            self._move_to(target(how, here, self._page, last))


def _line(shown: Shown) -> str:
    return "cursor" if shown.cursor else ""


def _right(column: Column) -> bool:
    return column.kind in ("number", "age")


def _tone(column: Column, cell: Cell) -> Style:
    """A name that could not be a Kubernetes name is marked: it may be made to look like another."""
    if column.id in _NAME_COLUMNS and cell.text and odd_name(cell.text):
        return "warn"
    return cell.style

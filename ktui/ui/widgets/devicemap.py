"""The fleet at a glance: one line a pool, one cell a device, grouped by NUMA node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip

from ktui.model.resourceslice import PoolId
from ktui.ui.glyphs import Glyphs
from ktui.ui.mapmodel import MapModel
from ktui.ui.paint import Piece, strip
from ktui.ui.widgets.moves import target
from ktui.ui.widgets.painted import Painted
from ktui.ui.widgets.scrolled import Scrolled
from ktui.views.base import Cell, Style
from ktui.views.devicemap import MapCell, MapLine
from ktui.views.usage import FLEET_WIDTH

# State to (attribute of Glyphs, tone): a symbol and a colour of its own for each.
_LOOKS: Final[dict[str, tuple[str, Style]]] = {
    "used": ("used", "ok"),
    "free": ("free", "dim"),
    "tainted": ("tainted", "bad"),
    "unhealthy": ("unhealthy", "bad"),
    "blocked": ("unusable", "dim"),
    "unusable": ("unusable", "warn"),
    "unknown": ("unusable", "dim"),
    "gone": ("unusable", "bad"),
}
_LEGEND: Final = {
    "used": "used",
    "free": "free",
    "tainted": "tainted",
    "unhealthy": "unhealthy",
    "unusable": "unusable or unknown",
}
_GUTTER: Final = 2
_LABEL: Final = 16
_COUNT: Final = 12
_LOOSE: Final = 16  # devices of a pool that stand apart; more are set close


class _Shown(NamedTuple):
    """What decides how a line looks."""

    line: MapLine | None
    cursor: bool = False
    figures: tuple[Cell, ...] | None = None  # None where no line has any


class DeviceMap(Scrolled):
    """Lines on demand, as in the table. The last line of the widget is the legend."""

    class Opened(Message):
        """A person wants to see the devices of the pool under the cursor."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._model: MapModel | None = None
        self._lines: dict[int, _Shown] = {}

    def show(self, model: MapModel) -> None:
        self._model = model
        self._lines.clear()
        self.update()

    def clear(self) -> None:
        """Show no devices, and keep none."""
        self._model = None
        self._lines.clear()

    def update(self) -> None:
        """Draw the lines that look different, no others."""
        if self._model is None or not self.is_attached:
            return
        self.fit_lines(len(self._model.pools) + 1)
        for y in range(self.size.height - 1):
            if self._lines.get(y) != self._shown(y):
                self.refresh(Region(0, y, self.line_width, 1))

    def render_line(self, y: int) -> Strip:
        width, ascii_only = self.line_width, self.glyphs.ascii
        if y == self.size.height - 1:
            return strip(self._legend(), width, self.ink(), ascii_only=ascii_only)
        shown = self._lines[y] = self._shown(y)
        if shown.line is None:
            return strip((), width, self.ink())
        pieces = self._pieces(shown.line, shown)
        return strip(pieces, width, self.ink(line=_line(shown.cursor)), ascii_only=ascii_only)

    @property
    def pools_on_screen(self) -> tuple[PoolId, ...]:
        top, height = self.scroll_offset.y, self.size.height - 1
        return tuple(self._model.pools[top : top + height]) if self._model is not None else ()

    def _shown(self, y: int) -> _Shown:
        position = self.scroll_offset.y + y
        if self._model is None or position >= len(self._model.pools):
            return _Shown(None)
        cursor = position == self._model.locate_cursor()
        figures = self._model.figures(position) if self._model.measured else None
        return _Shown(self._model.line(position), cursor, figures)

    def _pieces(self, line: MapLine, shown: _Shown) -> Iterator[Piece]:
        cursor, ground = shown.cursor, _line(shown.cursor)
        yield Piece(self.glyphs.cursor if cursor else " ", self.ink("accent", ground), _GUTTER)
        yield Piece(line.label, self.ink(line=ground), _LABEL)
        yield Piece(f"  {line.used} of {line.total}", self.ink("dim", ground), _COUNT)
        used, *trouble = shown.figures or (Cell(""),)
        if shown.figures is not None:
            yield Piece(used.text, self.ink(used.style, ground), FLEET_WIDTH)
            yield Piece("  ", self.ink(line=ground))
        gap = " " if line.total <= _LOOSE else ""
        for index, group in enumerate(line.groups):
            if index:
                yield Piece(f"{self.glyphs.group}{gap}", self.ink("dim", ground))
            for device in group:
                yield _device(device, self.glyphs, self, ground, gap)
        for cell in (*trouble, *line.summary):
            yield Piece("  ", self.ink(line=ground))
            yield Piece(cell.text, self.ink(cell.style, ground))

    def _legend(self) -> Iterator[Piece]:
        yield Piece("", self.ink(), _GUTTER)
        for state, words in _LEGEND.items():
            glyph, tone = _LOOKS[state]
            yield Piece(f"{getattr(self.glyphs, glyph)}", self.ink(tone))
            yield Piece(f" {words}   ", self.ink("dim"))

    def on_resize(self) -> None:
        self._lines.clear()
        self.update()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._lines.clear()

    def on_click(self, event: events.Click) -> None:
        position = self.scroll_offset.y + event.y
        if self._model is not None and event.y < self.size.height - 1 and position < len(self._model.pools):
            again = position == self._model.locate_cursor()
            self._move_to(position)
            if again:
                self.post_message(self.Opened())

    def move(self, how: str) -> None:
        """Move the cursor: `how` is the second part of a "move." command."""
        if self._model is None:
            return
        here, last = self._model.locate_cursor(), len(self._model.pools) - 1
        self._move_to(target(how, here, self.size.height - 2, last))

    def _move_to(self, position: int) -> None:
        if self._model is None:
            return
        self._model.move_to(position)
        here = self._model.locate_cursor()
        self.bring_into_view(here, here, self.size.height - 1)
        self.update()


def _line(cursor: bool) -> str:
    return "cursor" if cursor else ""


def _device(device: MapCell, glyphs: Glyphs, widget: Painted, ground: str, gap: str) -> Piece:
    glyph, tone = _LOOKS.get(device.state, ("unusable", "warn"))
    return Piece(f"{getattr(glyphs, glyph)}{gap}", widget.ink(tone, ground))

"""The base of widgets that draw their own lines."""

from __future__ import annotations

from typing import ClassVar

from rich.style import Style as RichStyle
from textual.widget import Widget

from ktui.ui.glyphs import ASCII, UNICODE, Glyphs
from ktui.ui.paint import TONES
from ktui.views.base import Style


class Painted(Widget):
    """A widget whose colours come from its theme by tone: `tone--ok` in the style files, and so on.

    `line--cursor`, `line--title` and `line--alarm` are whole-line styles a tone is laid over.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"tone--{tone}" for tone in TONES),
        "line--cursor",
        "line--title",
        "line--alarm",
    }

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self._inks: dict[tuple[Style, str], RichStyle] = {}

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.clear()

    @property
    def glyphs(self) -> Glyphs:
        return ASCII if self.app.has_class("-ascii") else UNICODE

    def ink(self, tone: Style = "", line: str = "") -> RichStyle:
        """The style of a tone on a plain line, or on a `line--` style. Textual would work it out anew in each frame, from the
        styles of all widgets around this one."""
        known = self._inks.get((tone, line))
        if known is None:
            known = self._inks[tone, line] = self._mixed(tone, line)
        return known

    def _mixed(self, tone: Style, line: str) -> RichStyle:
        base = self.get_component_rich_style(f"line--{line}") if line else self.rich_style
        return base + self.get_component_rich_style(f"tone--{tone}", partial=True) if tone else base

    @property
    def line_width(self) -> int:
        """Cells of a line, without the scroll bar."""
        return self.scrollable_content_region.width

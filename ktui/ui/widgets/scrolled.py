"""The base of widgets that draw their own lines and have more of them than there is room for."""

from __future__ import annotations

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.widget import Widget

from ktui.ui.widgets.painted import Painted


class Scrolled(Painted, ScrollView, can_focus=True, inherit_bindings=False):
    """Commands move through it, not keys of Textual's own."""

    def fit_lines(self, count: int) -> bool:
        """Tell the scroll bar how many lines there are, without the layout of the whole screen that the public way costs. Whether
        it did not know."""
        size = Size(self.line_width, count)
        if size == self.virtual_size:
            return False
        self.set_reactive(Widget.virtual_size, size)
        self._scroll_update(size)
        return True

    def bring_into_view(self, first: int, last: int, page: int) -> None:
        """Scroll so far that the lines from `first` to `last` are among the `page` lines that are seen."""
        top = self.scroll_offset.y
        if first < top:
            self.scroll_to(y=first, animate=False)
        elif page > 0 and last >= top + page:
            self.scroll_to(y=last - page + 1, animate=False)

"""The widgets of the main screen: which of them are seen, which has the focus.

Classes say what is seen, and `styles/main.tcss` reads them. Of the body: `-detail` opened, `-why` it says why the row waits,
`-map` in the table's place, `-narrow` the detail takes all of the width. Of the screen, where a change has all widgets styled
anew: `-filtering` a filter is typed, `-guided` with a hint.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from textual.app import ComposeResult
from textual.containers import Horizontal

from ktui.ui.widgets.bar import Bar
from ktui.ui.widgets.filterinput import FilterInput
from ktui.ui.widgets.pager import Pager
from ktui.ui.widgets.table import RowTable

if TYPE_CHECKING:
    from textual.screen import Screen

    from ktui.ui.glyphs import Glyphs
    from ktui.ui.mapmodel import MapModel
    from ktui.ui.widgets.devicemap import DeviceMap

WIDE: Final = 120  # columns from which the detail stands beside the table


class Body(Horizontal):
    """Rows and detail side by side; they cover all of it."""

    BLANK = True


class Panes:
    """`now` is the clock of the rows' ages, Unix seconds."""

    def __init__(self, screen: Screen[None], glyphs: Glyphs, now: Callable[[], float]) -> None:
        self._screen = screen
        self._body = Body(id="body")
        self.header = Bar(id="header", separator=glyphs.separator)
        self.tabs = Bar(id="tabs")
        self.state = Bar(id="state", separator=glyphs.separator)
        self.table = RowTable(now, id="table")
        self.map: DeviceMap | None = None  # made when it is first asked for
        self.detail = Pager(id="detail")
        self.filter = FilterInput(id="filter")
        self.hint = Bar(id="hint")
        self.footer = Bar(id="footer")

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.tabs
        yield self.state
        with self._body:
            yield self.table
            yield self.detail
        yield self.filter
        yield self.hint
        yield self.footer

    # --- what is seen ---

    @property
    def opened(self) -> bool:
        """The detail is open, of whatever row."""
        return self._body.has_class("-detail")

    @property
    def why(self) -> bool:
        """The detail says why the row waits."""
        return self._body.has_class("-why")

    @property
    def on_map(self) -> bool:
        """The map stands where the table would be."""
        return self._body.has_class("-map")

    @property
    def filtering(self) -> bool:
        """A filter is being typed."""
        return self._screen.has_class("-filtering")

    @property
    def covered(self) -> bool:
        """The detail stands where the table would be."""
        return self.opened and self._body.has_class("-narrow")

    def clear(self) -> None:
        """Only the table is seen."""
        self._body.remove_class("-detail", "-map", "-why")
        self.clear_map()

    def clear_map(self) -> None:
        """The map keeps no devices until it is shown again."""
        if self.map is not None:
            self.map.clear()

    def open_detail(self) -> None:
        self._body.add_class("-detail")
        self.focus_rows()

    def toggle_why(self) -> None:
        """Open the detail for why the row waits, or close it."""
        self._body.set_class(not self.why, "-why", "-detail")
        self.focus_rows()

    def close_detail(self) -> None:
        self._body.remove_class("-detail", "-why")
        self.focus_rows()

    def close_why(self) -> None:
        """The detail stays, of the row itself."""
        self._body.remove_class("-why")

    async def make_map(self) -> DeviceMap:
        """The map's modules are loaded when it is first asked for."""
        if self.map is None:
            from ktui.ui.widgets.devicemap import DeviceMap

            self.map = DeviceMap(id="map")
            await self._body.mount(self.map, before=0)
        return self.map

    def show_map(self, model: MapModel) -> None:
        """In the table's place, once it is made."""
        if self.map is not None:
            self._body.add_class("-map")
            self.map.show(model)
            self.focus_rows()

    def close_map(self) -> None:
        self._body.remove_class("-map")
        self.focus_rows()

    def open_filter(self) -> None:
        self._screen.add_class("-filtering")
        self.focus_rows()

    def close_filter(self) -> None:
        """What was typed goes on to filter the rows."""
        self._screen.remove_class("-filtering")
        self.focus_rows()

    def guide(self, given: bool) -> None:
        """Whether there is a hint to show."""
        self._screen.set_class(given, "-guided")

    def fit(self, width: int) -> None:
        """The screen has so many columns."""
        self._body.set_class(width < WIDE, "-narrow")

    # --- focus ---

    def focus_rows(self) -> None:
        """At once, unlike `Widget.focus`: the keys that are typed next are meant for what is focused here. Whoever types a filter
        goes on typing, also when the rows come only now."""
        if self.filtering:
            self._screen.set_focus(self.filter)
        elif self.covered:
            self._screen.set_focus(self.detail)
        elif self.map is not None and self.on_map:
            self._screen.set_focus(self.map)
        else:
            self._screen.set_focus(self.table)

    def move(self, how: str) -> None:
        """`how` is the second part of a "move." command; in the detail where that has the focus, else in the rows."""
        if self._screen.focused is self.detail:
            self.detail.move(how)
        elif self.map is not None and self.on_map:
            self.map.move(how)
        else:
            self.table.move(how)

"""The main screen: a view as a table (devices also as a map), its detail, and the frame around them.

It holds no cluster data: ten times a second it has the session asked what changed, and what looks different drawn. What it
consists of is in `ktui/ui/main/`; here the parts are put together, and get the keys and the messages that are theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.events import Resize
from textual.screen import Screen

from ktui.ui.commands import BY_ID, Handlers, bindings, group_handlers
from ktui.ui.driver import redraw
from ktui.ui.glyphs import Glyphs
from ktui.ui.main.arrangement import Arrangement
from ktui.ui.main.decks import Decks
from ktui.ui.main.detail import Detail
from ktui.ui.main.dialogs import Dialogs
from ktui.ui.main.figures import Figures
from ktui.ui.main.flusher import Flusher
from ktui.ui.main.links import Links
from ktui.ui.main.menu import Menu
from ktui.ui.main.pages import Pages
from ktui.ui.main.painter import Painter
from ktui.ui.main.panes import Panes
from ktui.ui.main.playback import Playback
from ktui.ui.main.sessions import Sessions
from ktui.ui.main.showing import Showing
from ktui.ui.paint import notify
from ktui.ui.theme import THEMES
from ktui.ui.widgets.bar import Bar
from ktui.ui.widgets.filterinput import FilterInput
from ktui.ui.widgets.table import RowTable

if TYPE_CHECKING:
    from ktui.cluster.dirty import Entity
    from ktui.ui.session import Opener

_SETTLED_AT_THE_LATEST = 20.0  # seconds


class MainScreen(Screen[None]):
    """`keys` is the key map of the settings. `output_is_slow` says whether the terminal still has to take what was drawn
    before. `on_painted` is called when the first frame is drawn, `on_settled` when the first lists are in, and
    before that when they take long."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("move", "main")
    BLANK = True  # widgets cover all of it
    AUTO_FOCUS = "#table"

    def __init__(
        self,
        opener: Opener,
        *,
        glyphs: Glyphs,
        keys: Mapping[str, str],
        output_is_slow: Callable[[], bool],
        on_painted: Callable[[], None] | None = None,
        on_settled: Callable[[], None] | None = None,
        flushes_per_second: float = 10.0,
    ) -> None:
        super().__init__()
        self._on_painted = on_painted
        self._interval = 1 / flushes_per_second
        self.decks = Decks()
        self.panes = Panes(self, glyphs, self.decks.now)
        self.menu = Menu(self.decks, self.panes, keys)
        detail = Detail(self.decks, self.panes)
        self._painter = Painter(self.decks, self.panes, self.menu, detail, Figures(self.decks, self.panes), glyphs)
        self.flusher = Flusher(self, self.decks, self._painter, output_is_slow=output_is_slow, on_settled=on_settled)
        self.showing = Showing(self, self.decks, self.panes, self._painter, detail, self.flusher)
        self.arrangement = Arrangement(self, self.decks, self.panes, self.showing)
        self._links = Links(self, self.decks, self.panes, self._painter, detail, self.showing)
        self._playback = Playback(self, self.decks, self.showing, self.flusher)
        self._dialogs = Dialogs(self, self.decks, self._painter)
        self.sessions = Sessions(self, opener, self.decks, self.showing, self.flusher, self._leave_session)
        self.handlers: Handlers = {
            **self.sessions.handlers(),
            **self._playback.handlers(),
            **self.arrangement.handlers(),
            **self._links.handlers(),
            **Pages(self, self.decks, self.menu).handlers(),
            **self._dialogs.handlers(),
            **self._own_handlers(),
        }

    def compose(self) -> ComposeResult:
        yield from self.panes.compose()

    def on_mount(self) -> None:
        """The first frame: nothing that reads a cluster is imported yet."""
        self._painter.paint_tabs()
        self.sessions.show_opening()
        self.call_after_refresh(self._start)

    def _start(self) -> None:
        if self._on_painted is not None:
            self._on_painted()
        self.sessions.open()
        self.set_interval(self._interval, self.flusher.flush_in_turn)
        self.set_timer(_SETTLED_AT_THE_LATEST, self.flusher.settle_for_now)

    def on_resize(self, event: Resize) -> None:
        self.panes.fit(event.size.width)
        self.call_after_refresh(self._painter.paint)  # bars fit the pane's new width

    def _leave_session(self) -> None:
        """What must not outlive a session ends before another is opened."""
        self._dialogs.give_up()
        self._playback.give_up()
        self.flusher.stop_awaiting()

    # --- commands ---

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command_ahead" and (not self.is_mounted or isinstance(self.focused, FilterInput)):
            return False  # the key is text, or the widget's own
        if action in ("command", "command_ahead") and parameters:
            command = BY_ID[str(parameters[0])]
            return command.available(self.menu.situation()) or bool(self.menu.refusal(command))
        return super().check_action(action, parameters)

    async def action_command_ahead(self, command: str) -> None:
        await self.action_command(command)

    async def action_command(self, command: str) -> None:
        """Carry a command out."""
        if refusal := self.menu.refusal(BY_ID[command]):
            notify(self.app, refusal, "warning")
            return
        if (pending := self.handlers[command]()) is not None:
            await pending
        if BY_ID[command].scope == "move":
            self._painter.paint_cursor()
        else:
            self._painter.paint()

    def _own_handlers(self) -> Handlers:
        """Of what concerns all of the screen, or the application."""
        return {
            **group_handlers("move", self.panes.move),
            **group_handlers("view", lambda view: self.showing.show_view(cast("Entity", view))),
            "back": self._back,
            "palette": self._open_palette,
            "theme": self._next_theme,
            "redraw": self._redraw,
            "quit": self._quit,
        }

    def _back(self) -> None:
        """One thing at a time: the filter being typed, the detail, the map, the filter, the past."""
        panes = self.panes
        if not self.menu.situation().nested:
            self._playback.return_to_present()
        elif panes.filtering or not (panes.opened or panes.on_map):
            panes.close_filter()
            self.arrangement.drop_text()
        elif panes.opened:
            panes.close_detail()
        else:
            panes.close_map()

    def _next_theme(self) -> None:
        names = list(THEMES)
        self.app.theme = names[(names.index(self.app.theme) + 1) % len(names)]

    def _open_palette(self) -> None:
        self.app.action_command_palette()

    def _redraw(self) -> None:
        """When something else wrote to the terminal: only what differs from what ktui wrote is drawn otherwise."""
        redraw(self.app)

    def _quit(self) -> None:
        self.app.exit()

    # --- messages of the widgets ---

    @on(Bar.Chosen)
    async def _chosen(self, event: Bar.Chosen) -> None:
        if BY_ID[event.command].available(self.menu.situation()):
            await self.action_command(event.command)

    @on(FilterInput.Narrowed)
    def _filter_typed(self, event: FilterInput.Narrowed) -> None:
        self.arrangement.filter_by(event.text)
        if event.done:
            self.panes.close_filter()

    @on(RowTable.HeaderClicked)
    def _header_clicked(self, event: RowTable.HeaderClicked) -> None:
        self.arrangement.sort_by(event.column)

    @on(RowTable.Opened)
    def _opened(self) -> None:
        self._links.open()
        self._painter.paint()

    @on(RowTable.Moved)
    def _moved(self) -> None:
        self._painter.paint_cursor()

    def on_device_map_opened(self) -> None:
        """By its name: the map's module is loaded when it is first asked for."""
        self._links.zoom()

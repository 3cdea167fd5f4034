"""The main screen: a view as a table (devices also as a map), its detail, and the frame around them.

It holds no cluster data: ten times a second it asks the session what changed, hands that to the models, and has the
widgets draw what looks different. Nothing in it runs per event. What a command does is in the method `run_` with its id.
"""

from __future__ import annotations

import asyncio
import importlib
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from msgspec import structs
from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.screen import ModalScreen, Screen
from textual.worker import Worker

from ktui.errors import KtuiError
from ktui.ui import frame, guide
from ktui.ui.commands import BY_ID, VIEW_NUMBERS, Command, Situation, bindings, key_labels
from ktui.ui.driver import redraw
from ktui.ui.glyphs import Glyphs
from ktui.ui.paint import notify
from ktui.ui.rowindex import Filter
from ktui.ui.screens.picker import Picker
from ktui.ui.screens.text import TextScreen
from ktui.ui.theme import THEMES
from ktui.ui.widgets.bar import Bar
from ktui.ui.widgets.filterinput import FilterInput
from ktui.ui.widgets.pager import Pager
from ktui.ui.widgets.table import RowTable
from ktui.views.base import Cell, Line

if TYPE_CHECKING:
    from ktui.cluster.dirty import Entity
    from ktui.model.meta import Key
    from ktui.ui.acting import Actor
    from ktui.ui.deck import Deck
    from ktui.ui.measuring import Shown
    from ktui.ui.session import Measuring, Opener, Session
    from ktui.ui.taping import Taper
    from ktui.ui.viewmodel import ViewModel
    from ktui.ui.whypane import WhyPane
    from ktui.ui.widgets.devicemap import DeviceMap
    from ktui.views.base import RowKey
    from ktui.views.why import Subject

WIDE = 120  # columns from which the detail stands beside the table

_WORK = 0.008  # seconds spent on rows without looking at keys
_SETTLED_AT_THE_LATEST = 20.0  # seconds


class MainScreen(Screen[None]):
    """`keys` is the key map of the settings. `output_is_slow` says whether the terminal still has to take what was drawn
    before. `on_painted` is called when the first frame is drawn, `on_settled` when the first lists are in, and
    before that when they take long."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("move", "main")
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
        self._opener = opener
        self._glyphs = glyphs
        self._keys = keys
        self._output_is_slow = output_is_slow
        self._on_painted = on_painted
        self._on_settled = on_settled
        self._interval = 1 / flushes_per_second
        self._deck: Deck | None = None  # None while there is no session
        self._live: Deck | None = None  # that goes on unseen while its past is looked at
        self._wanted_context = ""  # that was asked for last, "" for the one of the command line
        self._view: Entity = "triage"
        self._filter = Filter()
        self._failure = ""
        self._second = 0
        self._catching_up: set[ViewModel] = set()
        self._detail_key: RowKey | None = None
        self._feeding: Worker[None] | None = None
        self._actor: Actor | None = None
        self._why: WhyPane | None = None
        self._measuring: Measuring | None = None  # that was told what is looked at

    # --- the first frame: nothing that reads a cluster is imported yet ---

    def compose(self) -> ComposeResult:
        yield Bar(id="header", separator=self._glyphs.separator)
        yield Bar(id="tabs")
        yield Bar(id="state", separator=self._glyphs.separator)
        with Horizontal(id="body"):
            yield RowTable(self._now, id="table")
            yield Pager(id="detail")
        yield FilterInput(id="filter")
        yield Bar(id="hint")
        yield Bar(id="footer")

    def on_mount(self) -> None:
        self._bar("tabs").set_parts(frame.tabs(tuple(VIEW_NUMBERS), ""))
        self._show_opening()
        self.call_after_refresh(self._start)

    def _show_opening(self) -> None:
        """Nothing of the cluster before stays: its rows under the next one's trouble would pass for the next one's."""
        self._bar("header").set_parts([frame.opening(self._wanted_context or self._opener.title())])
        self._bar("state").set_parts([])
        self._table.clear([(Cell("connecting", "dim"),)])
        self.remove_class("-detail", "-map", "-why")

    def _start(self) -> None:
        if self._on_painted is not None:
            self._on_painted()
        self._open_in_background(self._wanted_context)
        self.set_interval(self._interval, self.flush)
        self.set_timer(_SETTLED_AT_THE_LATEST, self._settle_for_now)

    def _settle_for_now(self) -> None:
        if self._on_settled is not None:
            self._on_settled()

    def _settle(self) -> None:
        if self._on_settled is not None:
            self._on_settled()
            self._on_settled = None

    # --- sessions ---

    def _open_in_background(self, context: str) -> None:
        self.run_worker(self._open(context), exclusive=True, group="open")

    async def _open(self, context: str) -> None:
        """Open a session and let it feed; on failure say so, ctrl+r tries again."""
        self._give_up_actions()
        if self._feeding is not None:
            self._feeding.cancel()
        self.workers.cancel_group(self, "past")
        self._deck, self._live, self._failure, self._wanted_context = None, None, "", context
        self._show_opening()
        try:
            deck, registry = await asyncio.to_thread(_import_what_reads)
            session = await self._opener.open(context)
        except KtuiError as error:
            self._fail(str(error))
            return
        self._deck = deck.Deck(session, registry.VIEWS, self._view, self._filter)
        self.show_view(self._view)
        self._feeding = self.run_worker(self._feed(session), exclusive=True, group="feed")
        self.run_worker(session.recall(), exclusive=True, group="recall")

    async def _feed(self, session: Session) -> None:
        try:
            await session.feed.run()
        except KtuiError as error:
            self._fail(str(error))
        finally:
            self._tell_of_recording(session)

    @property
    def failure(self) -> str:
        """Why the session could not be opened or its feed ended, "" while all is well. Raw text."""
        return self._failure

    def _fail(self, message: str) -> None:
        self._failure = message
        if self._live is not None:
            notify(self.app, f"of the live session: {message}", "error")
            return
        self._table.set_placeholder(
            [(Cell(message, "bad"),), (Cell("ctrl+r tries again, c chooses a context", "dim"),)]
        )
        self._paint()

    # --- the past of the session: shown in its place while it goes on ---

    async def run_look_back(self) -> None:
        deck, registry = await asyncio.to_thread(_import_what_reads)
        lookback = await asyncio.to_thread(importlib.import_module, "ktui.ui.lookback")
        live = self._deck
        if live is None or self._live is not None:
            return
        past: Session | None = lookback.look_back(live.session)
        if past is None:
            notify(self.app, "nothing is remembered yet", "warning")
            return
        self._live = live
        self._show_deck(deck.Deck(past, registry.VIEWS, self._view, self._filter))
        self.run_worker(past.feed.run(), group="past")
        self.run_worker(past.recall(), group="past")

    def run_look_return(self) -> None:
        if self._live is not None:
            self.workers.cancel_group(self, "past")
            live, self._live = self._live, None
            self._show_deck(live)

    def _show_deck(self, deck: Deck) -> None:
        """Another one in the place of the one that is shown; views and the filter stay."""
        on_map = self.has_class("-map")
        deck.narrow(self._filter)
        self._deck, self._detail_key = deck, None
        self.show_view(self._view)
        if on_map and self._device_map is not None:
            self.add_class("-map")
            self._device_map.show(deck.open_map())
            self._focus_rows()
        self.flush()

    # --- the flush ---

    def _now(self) -> float:
        return self._session.feed.now() if self._session is not None else time.time()

    def flush(self, *, anyway: bool = False) -> None:
        """Take in what changed and draw it, unless the terminal is behind or nothing can look different. With `anyway` it is
        drawn also then: how long a recording is that is still being read does not count as a change."""
        deck = self._deck
        if deck is None or self._output_is_slow():
            return
        if self._tell_of_recording(deck.session):
            self._paint()
        changes, second = deck.session.take_changes(), int(self._now())
        if changes is None and second == self._second and not deck.model.behind and not anyway:
            return
        self._second = second
        if changes is not None:
            deck.take(changes)
            if changes.streams and deck.settled:
                self._settle()
        self._work(deck.model)
        self._paint()

    def _tell_of_recording(self, session: Session) -> bool:
        """A recording that ended by itself is not to be believed in any longer. Whether one did."""
        ended = session.tape.take_ended() if session.tape is not None else None
        if ended is not None:
            from ktui.ui.taping import summary

            notify(self.app, summary(ended), "warning")
        return ended is not None

    def _work(self, model: ViewModel) -> None:
        """Compute rows for a moment; what is left is done between other things."""
        _work_until(model, time.monotonic() + _WORK)
        if model.behind and model not in self._catching_up:
            self.run_worker(self._catch_up(model), group="rows")

    async def _catch_up(self, model: ViewModel) -> None:
        self._catching_up.add(model)
        try:
            while model.behind and self._model is model:
                _work_until(model, time.monotonic() + _WORK)
                await asyncio.sleep(0)
        finally:
            self._catching_up.discard(model)
        self._paint()

    # --- drawing ---

    def _bar(self, name: str) -> Bar:
        return self.query_one(f"#{name}", Bar)

    @property
    def _table(self) -> RowTable:
        return self.query_one("#table", RowTable)

    @property
    def _session(self) -> Session | None:
        return self._deck.session if self._deck is not None else None

    @property
    def _model(self) -> ViewModel | None:
        return self._deck.model if self._deck is not None else None

    def _paint(self) -> None:
        """Draw what looks different; each widget compares for itself."""
        session, model = self._session, self._model
        self._bar("footer").set_parts(frame.footer(self.available_commands(), self.keys_of))
        if session is None or model is None:
            return
        now = self._now()
        self._bar("header").set_parts(
            *frame.header(session, self._glyphs, now, self._way_back()),
            alarm=frame.is_alarming(session.target, session.player),
        )
        if not len(model.index):
            self._table.set_placeholder(frame.emptiness(session, model, now))
        if self._device_map is not None and self.has_class("-map"):
            self._device_map.update()
        else:
            self._table.set_headings(frame.headings(session, model, now))
            self._table.update()
        self._paint_detail(session, model)
        failure = self._failure if self._live is None else ""
        self._bar("state").set_parts(*frame.state(session, model, now, failure, self._measure(session, model)))
        hint = guide.hint(session, self._view, opened=self.has_class("-detail"))
        self.set_class(bool(hint), "-guided")
        self._bar("hint").set_parts(hint)

    def _way_back(self) -> str:
        """The key that returns from the past, "" where that is not looked at."""
        return key_labels(self.keys_of(BY_ID["look.return"]).split(",")[0]) if self._live is not None else ""

    def _paint_detail(self, session: Session, model: ViewModel) -> None:
        if not self.has_class("-detail"):
            return
        if self.has_class("-why") and (subject := self._subject()) is not None:
            self._paint_why(session, subject)
            return
        key = model.cursor
        sections = model.view.detail(session.cluster, key, self._now()) if key is not None else ()
        lines: list[Line] = []
        for section in sections:
            lines += [(Cell(section.title, "accent"),), *section.lines, ()]
        pager = self.query_one("#detail", Pager)
        pager.set_lines(lines or [(Cell("gone", "dim"),)], keep_place=key == self._detail_key)
        self._detail_key = key

    # --- what is used: asked for while it is on the screen ---

    def _measure(self, session: Session, model: ViewModel) -> str:
        """Tell the feed whose figures are looked at; a session that is no longer shown, that nobody looks. Why they are missing
        or old, "" where they are not."""
        from ktui.model.usage import Wanted
        from ktui.ui.measuring import shown_nodes, wanted
        from ktui.ui.session import Measuring
        from ktui.views.usage import trouble

        feed = session.feed if isinstance(session.feed, Measuring) else None
        if self._measuring is not None and self._measuring is not feed:
            self._measuring.measure(Wanted())
        self._measuring = feed
        if feed is None:
            return ""
        shown = self._shown(model)
        feed.measure(wanted(session.cluster, shown))
        if not shown.needs and not shown.pools:
            return ""
        return trouble(session.cluster, shown.view, shown.rows, shown_nodes(session.cluster, shown), self._now())

    def _shown(self, model: ViewModel) -> Shown:
        from ktui.ui.measuring import Shown

        detail, on_map = self.has_class("-detail") and not self.has_class("-why"), self.has_class("-map")
        covered = on_map or self._covered
        return Shown(
            view=model.view.id,
            rows=() if covered else self._table.keys_on_screen,
            needs=frozenset() if covered else self._table.shown_needs,
            pools=self._device_map.pools_on_screen if self._device_map is not None and on_map else (),
            opened=self._row if detail else None,
        )

    def _paint_why(self, session: Session, subject: Subject) -> None:
        if self._why is None:
            return
        pager = self.query_one("#detail", Pager)
        lines = self._why.lines(session.cluster, subject, self._now(), pager.line_width)
        pager.set_lines(lines, keep_place=subject == self._detail_key)
        self._detail_key = subject

    def _subject(self) -> Subject | None:
        """Whom the row under the cursor asks about, None for rows that wait for nothing."""
        if self._session is None or (row := self._row) is None:
            return None
        from ktui.ui.whypane import subject_of

        return subject_of(self._session.cluster, *row)

    # --- what is shown ---

    def show_view(self, view: Entity) -> None:
        """Show a view where it was left; one that is asked for before there is a session, as soon as there is one."""
        deck = self._deck
        if deck is None:
            self._view = view
            return
        if view not in deck.views:
            return
        self._view = view
        deck.show(view)
        self._work(deck.model)
        self.remove_class("-map")
        self._bar("tabs").set_parts(frame.tabs(tuple(deck.views), view))
        self._table.show(deck.model, frame.headings(deck.session, deck.model, self._now()))
        self._focus_rows()
        self._paint()

    def _focus_rows(self) -> None:
        """At once, unlike `Widget.focus`: the keys that are typed next are meant for what is focused here. Whoever types a filter
        goes on typing, also when the rows come only now."""
        if self.has_class("-filtering"):
            self.set_focus(self.query_one(FilterInput))
        elif self._covered:
            self.set_focus(self.query_one("#detail"))
        elif self._device_map is not None and self.has_class("-map"):
            self.set_focus(self._device_map)
        else:
            self.set_focus(self._table)

    def _narrow(self, wanted: Filter) -> None:
        self._filter = wanted
        if self._deck is not None:
            self._deck.narrow(wanted)
            self._table.redraw()
            self._paint()

    def _show_all(self) -> None:
        self.query_one(FilterInput).value = ""
        self._narrow(Filter())

    def on_resize(self, event: Resize) -> None:
        self.set_class(event.size.width < WIDE, "-narrow")
        self.call_after_refresh(self._paint)  # bars fit the pane's new width

    # --- commands ---

    def situation(self) -> Situation:
        """What decides which commands are available."""
        session, model = self._session, self._model
        return Situation(
            view=self._view if session is not None else "",
            row_of=self._row[0] if self._row is not None else "",
            views=tuple(self._deck.views if self._deck is not None else VIEW_NUMBERS),
            on_map=self.has_class("-map"),
            has_row=model is not None and len(model.index) > 0 and not self.has_class("-map"),
            nested=bool(self._filter.text) or any(map(self.has_class, ("-detail", "-map", "-filtering"))),
            replaying=session is not None and session.player is not None,
            read_only=session is not None and session.target.read_only,
            recordable=session is not None and session.tape is not None,
            recording=session is not None and session.tape is not None and session.tape.recording,
            awaiting=session is not None and frame.awaited(session) is not None,
            tree=model is not None and model.tree is not None and not self._covered,
            past=self._live is not None,
        )

    @property
    def _covered(self) -> bool:
        """Whether the detail stands where the table would be."""
        return self.has_class("-detail") and self.has_class("-narrow")

    @property
    def _row(self) -> tuple[Entity, RowKey] | None:
        """The view and the key of the row under the cursor; in the triage, of the row that it stands for."""
        model = self._model
        if model is None or (key := model.cursor) is None:
            return None
        from ktui.views.targets import row_behind

        return row_behind(model.view.id, key)

    def available_commands(self) -> list[Command]:
        situation = self.situation()
        return [command for command in BY_ID.values() if command.available(situation)]

    def keys_of(self, command: Command) -> str:
        """The command's keys as the settings leave them."""
        return self._keys.get(command.id, command.keys)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "command_ahead" and (not self.is_mounted or isinstance(self.focused, FilterInput)):
            return False  # the key is text, or the widget's own
        if action in ("command", "command_ahead") and parameters:
            command = BY_ID[str(parameters[0])]
            return command.available(self.situation()) or bool(self._refusal(command))
        return super().check_action(action, parameters)

    async def action_command_ahead(self, command: str) -> None:
        await self.action_command(command)

    async def action_command(self, command: str) -> None:
        """Carry a command out: "group.name" by the group's method, any other by its own."""
        if refusal := self._refusal(BY_ID[command]):
            notify(self.app, refusal, "warning")
            return
        group, _, name = command.partition(".")
        if group == "move":
            self._move(name)
        elif group == "view":
            self.show_view(cast("Entity", name))
        elif group == "replay":
            self._replay(name)
        else:
            handler: Callable[[], Awaitable[None] | None] = getattr(self, f"run_{command.replace('.', '_')}")
            if (pending := handler()) is not None:
                await pending
        self._paint()

    def _refusal(self, command: Command) -> str:
        """Why nothing can be done to what is shown, "" for what does nothing to it, and on a live cluster."""
        if not command.id.startswith("act.") or self._session is None or self._session.player is None:
            return ""
        if back := self._way_back():
            return f"this is the past: {back} returns to the present, where something can be done"
        return "this is a recording: nothing can be done to what was"

    @on(Bar.Chosen)
    async def _chosen(self, event: Bar.Chosen) -> None:
        if BY_ID[event.command].available(self.situation()):
            await self.action_command(event.command)

    def _move(self, how: str) -> None:
        focused = self.focused
        target = focused if isinstance(focused, Pager) else self._device_map if self.has_class("-map") else self._table
        if target is not None:
            target.move(how)

    def _replay(self, what: str) -> None:
        from ktui.ui.replaying import drive

        session, model = self._session, self._model
        if session is None or model is None or session.player is None:
            return
        model.move_to(model.locate_cursor())  # it follows its row from here on, wherever that goes
        said = drive(session.player, what, session.cluster, self._row)
        if said:
            notify(self.app, said)
        self.flush()

    def run_row_open(self) -> None:
        if self.has_class("-map"):
            self._zoom()
            return
        if self._view == "timeline":
            self._open_changed()
            return
        if self.has_class("-why") and (subject := self._subject()) is not None:
            self._choose_evidence(subject)
            return
        if self._view == "workloads" and (row := self._row) is not None and row[0] != self._view:
            self._go_to(*row)  # a gang or a pod has a view of its own
            return
        self._detail_key = None
        self.add_class("-detail")
        self._focus_rows()

    def run_tree_unfold(self) -> None:
        self._fold(lambda model: model.unfold())

    def run_tree_fold(self) -> None:
        self._fold(lambda model: model.fold())

    def run_tree_toggle(self) -> None:
        self._fold(lambda model: model.toggle())

    def _fold(self, how: Callable[[ViewModel], None]) -> None:
        if self._model is not None:
            how(self._model)
            self._table.follow_cursor()

    def _open_changed(self) -> None:
        """From a change to the detail of what changed."""
        from ktui.views.timeline import target

        deck = self._deck
        key = deck.model.cursor if deck is not None else None
        found = target(deck.session.cluster, key) if deck is not None and key is not None else None
        if deck is None or found is None:
            return
        self._go_to(*found)

    def _go_to(self, view: Entity, key: RowKey) -> None:
        """The detail of a row of any view, where the filter lets it pass."""
        if self._deck is None:
            return
        self.show_view(view)
        if self._deck.model.go_to(key):
            self.add_class("-detail")
            self._focus_rows()
        else:
            notify(self.app, f"not among the {view} shown now", "warning")

    async def run_row_why(self) -> None:
        """Show why the row waits, or no longer; what it takes is imported when it is first asked for."""
        whypane = await asyncio.to_thread(importlib.import_module, "ktui.ui.whypane")
        if self._why is None:
            self._why = whypane.WhyPane()
        shown = self.has_class("-why")
        self.set_class(not shown, "-why", "-detail")
        self._detail_key = None
        self._focus_rows()
        self.call_after_refresh(self._paint)  # only then the pane has its width

    def _choose_evidence(self, subject: Subject) -> None:
        if self._why is None or self._session is None:
            return
        places = self._why.places(self._session.cluster, subject)
        if not places:
            notify(self.app, "no view shows what this rests on", "warning")
            return

        def chosen(name: str | None) -> None:
            if name is not None:
                self.remove_class("-why")
                self._show_all()  # what this rests on need not pass the filter that the gang passed
                self._go_to(*places[name])
                self._paint()

        self.app.push_screen(Picker("Go to", list(places)), chosen)

    def run_back(self) -> None:
        """One thing at a time: the filter being typed, the detail, the map, the filter, the past."""
        if not self.situation().nested:
            self.run_look_return()
            return
        typing = self.has_class("-filtering")
        self.remove_class("-filtering")
        if typing or not (self.has_class("-detail") or self.has_class("-map")):
            self.query_one(FilterInput).value = ""
            self._narrow(Filter(problems_only=self._filter.problems_only, namespace=self._filter.namespace))
        elif self.has_class("-detail"):
            self.remove_class("-detail", "-why")
        else:
            self.remove_class("-map")
        self._focus_rows()

    def run_filter(self) -> None:
        self.add_class("-filtering")
        self._focus_rows()

    @on(FilterInput.Narrowed)
    def _filter_typed(self, event: FilterInput.Narrowed) -> None:
        self._narrow(structs.replace(self._filter, text=event.text))
        if event.done:
            self.remove_class("-filtering")
            self._focus_rows()

    def run_problems(self) -> None:
        self._narrow(structs.replace(self._filter, problems_only=not self._filter.problems_only))

    def run_sort(self) -> None:
        if self._model is not None:
            shown = self._table.shown_columns
            now = self._model.index.column
            self._model.sort_by(next((column for column in shown if column > now), shown[0]), descending=False)
            self._table.redraw()

    def run_sort_reverse(self) -> None:
        if self._model is not None:
            self._model.sort_by(self._model.index.column, descending=not self._model.index.descending)
            self._table.redraw()

    @on(RowTable.HeaderClicked)
    def _header_clicked(self, event: RowTable.HeaderClicked) -> None:
        if self._model is not None:
            index = self._model.index
            again = event.column == index.column
            self._model.sort_by(event.column, descending=again and not index.descending)
            self._table.redraw()

    @on(RowTable.Opened)
    def _opened(self) -> None:
        self.run_row_open()
        self._paint()

    @on(RowTable.Moved)
    def _moved(self) -> None:
        self._paint()

    def run_row_mark(self) -> None:
        if self._model is not None:
            self._model.toggle_mark()
            self._table.move("down")

    @property
    def _device_map(self) -> DeviceMap | None:
        return cast("DeviceMap | None", next(iter(self.query("#map")), None))

    async def run_map(self) -> None:
        """The map's modules are loaded when it is first asked for."""
        if self._deck is None:
            return
        from ktui.ui.widgets.devicemap import DeviceMap

        shown = self._device_map
        if shown is None:
            shown = DeviceMap(id="map")
            await self.query_one("#body").mount(shown, before=0)
        self.toggle_class("-map")
        shown.show(self._deck.open_map())
        self._focus_rows()

    def on_device_map_opened(self) -> None:
        self._zoom()

    def _zoom(self) -> None:
        """From the map to the devices of the pool under its cursor."""
        pool = self._deck.map.cursor if self._deck is not None and self._deck.map is not None else None
        if pool is not None:
            self.remove_class("-map")
            self.query_one(FilterInput).value = f"{pool[1]} "  # the end of the name: node-1 is not node-10
            self._focus_rows()

    def run_retry(self) -> None:
        from ktui.ui.session import Retrying

        if self._failure or self._session is None:
            self._open_in_background(self._wanted_context)
        elif isinstance(self._session.feed, Retrying):
            self._session.feed.retry_now()

    def run_login_stop(self) -> None:
        from ktui.ui.session import LoggingIn

        if self._session is not None and isinstance(self._session.feed, LoggingIn):
            self._session.feed.stop_waiting()

    async def run_namespace(self) -> None:
        if self._model is None:
            return
        names = ["", *self._model.index.namespaces()]
        picker = Picker("Namespace", names, labels={"": "all namespaces"}, current=self._filter.namespace)
        self.app.push_screen(picker, self._namespace_chosen)

    def _namespace_chosen(self, name: str | None) -> None:
        if name is not None:
            self._narrow(structs.replace(self._filter, namespace=name))

    async def run_context(self) -> None:
        try:
            contexts = await self._opener.contexts()
        except KtuiError as error:
            notify(self.app, str(error), "error")
            return
        current = self._session.target.context if self._session is not None else ""
        self.app.push_screen(Picker("Context", contexts, current=current), self._context_chosen)

    def _context_chosen(self, name: str | None) -> None:
        if name is not None:
            self._show_all()  # what was looked for on one cluster hides rows of another
            self._open_in_background(name)

    def run_row_yaml(self) -> None:
        self.run_worker(self._show_yaml(), exclusive=True, group="yaml")

    async def _show_yaml(self) -> None:
        from ktui.ui.subjects import yaml_of

        session, model = self._session, self._model
        if session is None or model is None or (key := model.cursor) is None:
            return
        try:
            found = await yaml_of(session, model.view.id, key)
        except KtuiError as error:
            notify(self.app, str(error), "error")
            return
        if found is None:
            notify(self.app, "the object is gone", "warning")
            return
        lines = [(Cell(line),) for line in found.text.splitlines()]
        self.app.push_screen(TextScreen(found.title, lines))

    def run_row_events(self) -> None:
        from ktui.views.events import events_behind

        session, model = self._session, self._model
        if session is None or model is None or (key := model.cursor) is None:
            return
        lines = events_behind(session.cluster, model.view.id, key, self._now())
        row = model.row(key)
        cells = zip(model.view.columns, row.cells, strict=True) if row else ()
        name = " ".join([cell.text for column, cell in cells if column.title][:2])
        self.app.push_screen(
            TextScreen(f"Events of {name}", lines or [(Cell("no events, or they have expired", "dim"),)])
        )

    # --- actions: one at a time, and none outlives its session ---

    def run_act_taint(self) -> None:
        self._act(lambda actor, view, key: actor.taint_row(view, key))

    def run_act_untaint(self) -> None:
        self._act(lambda actor, view, key: actor.untaint_row(view, key))

    def run_act_replicas(self) -> None:
        self._act(lambda actor, _, key: actor.min_replicas(cast("Key", key)))

    def run_act_undo(self) -> None:
        self._act(lambda actor, *_: actor.undo())

    def _act(self, what: Callable[[Actor, Entity, RowKey], Awaitable[None]]) -> None:
        """What is under way is not dropped for what comes next: its request may be on its way."""
        if any(worker.group == "act" and worker.is_running for worker in self.workers):
            notify(self.app, "an action is still under way", "warning")
        else:
            self.run_worker(self._acting(what), group="act")

    async def _acting(self, what: Callable[[Actor, Entity, RowKey], Awaitable[None]]) -> None:
        """What acts is imported when the first dialog is asked for."""
        session, row = self._session, self._row
        if session is None or self._model is None:
            return
        acting = await asyncio.to_thread(importlib.import_module, "ktui.ui.acting")
        if self._actor is None or self._actor.session is not session:
            self._actor = acting.Actor(self.app, session)
        await what(self._actor, *(row or (self._view, None)))

    def _give_up_actions(self) -> None:
        """What was planned on one session must not be confirmed on another."""
        self.workers.cancel_group(self, "act")
        self.workers.cancel_group(self, "tape")
        while isinstance(self.app.screen, ModalScreen):
            self.app.pop_screen()

    # --- recordings ---

    def run_record_start(self) -> None:
        self._tape(lambda taper: taper.start())

    def run_record_stop(self) -> None:
        self._tape(lambda taper: taper.stop())

    def run_record_mark(self) -> None:
        self._tape(lambda taper: taper.mark())

    def run_record_save(self) -> None:
        self._tape(lambda taper: taper.save())

    def _tape(self, what: Callable[[Taper], Awaitable[None]]) -> None:
        self.run_worker(self._taping(what), group="tape")

    async def _taping(self, what: Callable[[Taper], Awaitable[None]]) -> None:
        session = self._session
        if session is None or (tape := session.tape) is None:
            return
        taping = await asyncio.to_thread(importlib.import_module, "ktui.ui.taping")
        await what(taping.Taper(self.app, tape, session.target.context, session.feed))
        self._paint()

    def run_help(self) -> None:
        rows = [(key_labels(self.keys_of(command)), command.title) for command in self.available_commands()]
        lines = [(Cell(f"{keys:<14} ", "accent"), Cell(title)) for keys, title in rows]
        self.app.push_screen(TextScreen("Keys of this screen", lines))

    def run_palette(self) -> None:
        self.app.action_command_palette()

    def run_theme(self) -> None:
        names = list(THEMES)
        self.app.theme = names[(names.index(self.app.theme) + 1) % len(names)]

    async def run_sources(self) -> None:
        from ktui.ui.session import Spending

        sourcelist = await asyncio.to_thread(importlib.import_module, "ktui.ui.sourcelist")
        if (session := self._session) is not None:
            costs = session.feed.costs() if isinstance(session.feed, Spending) else None
            self.app.push_screen(TextScreen("Sources", sourcelist.lines(session.cluster, costs, self._now())))

    def run_redraw(self) -> None:
        """When something else wrote to the terminal: only what differs from what ktui wrote is drawn otherwise."""
        redraw(self.app)

    def run_quit(self) -> None:
        self.app.exit()


def _work_until(model: ViewModel, deadline: float) -> None:
    model.work(lambda: time.monotonic() < deadline)


def _import_what_reads() -> tuple[Any, Any]:
    """In a thread, after the first frame: state, views and diagnosis."""
    return importlib.import_module("ktui.ui.deck"), importlib.import_module("ktui.views.registry")

"""Every command once: what it is called, what it does, its keys, and when it is available.

The key map, the footer, the help screen and the command palette all read this table. To add a command: a line here, and a
handler in the part of the main screen (`ktui/ui/main/`) whose job it is.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Final, Literal, TypeAlias

from msgspec import Struct
from textual.binding import Binding, BindingType

Scope = Literal["move", "main"]
"""Where the keys work: in whatever scrolls, on every screen; or on the main screen."""

Handlers: TypeAlias = dict[str, Callable[[], Awaitable[None] | None]]
"""What carries commands out, by their ids."""


class Situation(Struct, frozen=True):
    """What availability depends on."""

    view: str = ""  # id of the shown view
    row_of: str = ""  # id of the view that the row belongs to: in the triage another one, "" for a row of none
    views: tuple[str, ...] = ()  # ids of all views
    has_row: bool = False  # a row of the table is under the cursor
    on_map: bool = False  # the map is shown instead of the table
    nested: bool = False  # a detail, the map or a filter is there to go back from
    replaying: bool = False
    read_only: bool = False
    recordable: bool = False  # there is something to record
    recording: bool = False  # and it is being recorded
    awaiting: bool = False  # a credential plug-in is waited for
    tree: bool = False  # rows that stand below each other are on the screen
    folding: Literal["", "fold", "unfold"] = ""  # what can be done to the row of a tree that is under the cursor
    past: bool = False  # the last minutes are looked at, while the session goes on


def _always(_: Situation) -> bool:
    return True


class Command(Struct, frozen=True):
    """`keys` as in a key map: names separated by commas. `footer` is a short label; commands without one are not there, nor those
    that are not `footed` in the situation, though they are available."""

    id: str
    title: str
    keys: str
    scope: Scope = "main"
    footer: str = ""
    available: Callable[[Situation], bool] = _always
    footed: Callable[[Situation], bool] = _always


def _view(view: str, title: str, number: int) -> Command:
    return Command(f"view.{view}", f"Show {title}", str(number), available=lambda situation: view in situation.views)


def _on_row(situation: Situation) -> bool:
    return situation.has_row


def _on_tree(situation: Situation) -> bool:
    return situation.has_row and situation.tree


def _markable(situation: Situation) -> bool:
    return situation.has_row and not situation.replaying and not situation.tree


def _on_table(situation: Situation) -> bool:
    return not situation.on_map


def _live(situation: Situation) -> bool:
    return not situation.replaying


def _switchable(situation: Situation) -> bool:
    return _live(situation) or situation.past


def _recordable(situation: Situation) -> bool:
    return situation.recordable and not situation.past


def _replaying(situation: Situation) -> bool:
    return situation.replaying


def _replaying_row(situation: Situation) -> bool:
    return situation.replaying and situation.has_row


_DEVICE_VIEWS = frozenset(("devices", "taints", "claims", "pods", "gangs"))


def _may_act(situation: Situation) -> bool:
    return not situation.replaying and not situation.read_only


def _may_ask_why(situation: Situation) -> bool:
    return situation.row_of in ("gangs", "pods") and situation.has_row


def _may_taint(situation: Situation) -> bool:
    return _may_act(situation) and situation.row_of in _DEVICE_VIEWS and situation.has_row


def _may_scale(situation: Situation) -> bool:
    return _may_act(situation) and situation.row_of == "autoscalers" and situation.has_row


VIEW_NUMBERS: Final = {
    "triage": 1,
    "gangs": 2,
    "devices": 3,
    "claims": 4,
    "taints": 5,
    "autoscalers": 6,
    "workloads": 7,
    "pods": 8,
    "timeline": 9,
}
"""Numbers are fixed: a view keeps its key when others come."""

COMMANDS: Final = (
    Command(
        "back",
        "Back: close the detail, drop the filter, return from the past",
        "escape",
        footer="back",
        available=lambda s: s.nested or s.past,
    ),
    Command("look.return", "Return from the past", "B", available=lambda s: s.past),
    Command(
        "row.open", "Open the detail of the row", "enter", footer="open", available=lambda s: s.has_row or s.on_map
    ),
    Command(
        "tree.unfold",
        "Unfold the row, or go to the first row below",
        "l,right",
        footer="unfold",
        available=_on_tree,
        footed=lambda s: s.folding == "unfold",
    ),
    Command(
        "tree.fold",
        "Fold the row, or go to the row above it in the tree",
        "h,left",
        footer="fold",
        available=_on_tree,
        footed=lambda s: s.folding == "fold",
    ),
    Command(
        "tree.toggle",
        "Fold or unfold the row",
        "space",
        available=lambda s: _on_tree(s) and not s.replaying,
    ),
    Command("row.why", "Say why the gang or the pod waits", "w", footer="why", available=_may_ask_why),
    Command("act.taint", "Taint the device of the row", "T", footer="taint", available=_may_taint),
    Command("act.untaint", "Untaint the device of the row", "U", footer="untaint", available=_may_taint),
    Command("act.replicas", "Change minReplicas of the autoscaler", "M", footer="minReplicas", available=_may_scale),
    Command("act.undo", "Undo the last action", "Z", available=_may_act),
    Command("row.yaml", "Show the object as YAML", "y", footer="YAML", available=_on_row),
    Command("row.events", "Show the events of the row", "e", footer="events", available=_on_row),
    Command("filter", "Filter rows by text", "slash", footer="filter", available=_on_table),
    Command("problems", "Only rows with a problem", "f", footer="problems", available=_on_table),
    Command("sort", "Sort by the next column", "s", footer="sort", available=_on_table),
    Command("sort.reverse", "Reverse the order", "S", available=_on_table),
    Command("map", "Devices as a map or as a table", "m", footer="map", available=lambda s: s.view == "devices"),
    Command("namespace", "Choose a namespace", "n", footer="namespace", available=_on_table),
    Command("context", "Choose a context", "c", footer="context", available=_switchable),
    Command(
        "login.stop",
        "Stop waiting for the credential plug-in",
        "X",
        footer="stop waiting",
        available=lambda s: s.awaiting,
    ),
    Command("retry", "Retry waiting sources now", "ctrl+r", available=_live),
    Command(
        "record.start", "Record from now on to a file", "R", available=lambda s: _recordable(s) and not s.recording
    ),
    Command("record.stop", "Stop the recording", "R", footer="stop recording", available=lambda s: s.recording),
    Command("record.mark", "Mark this moment of the recording, with a note", "N", available=_recordable),
    Command("record.save", "Save the last minutes to a file", "L", available=lambda s: s.recordable),
    Command("look.back", "Look back at the last minutes", "B", available=_recordable),
    Command("row.mark", "Mark or unmark the row", "space", available=_markable),
    Command("replay.pause", "Pause or go on", "space", footer="pause", available=_replaying),
    Command("replay.back", "One step back", "left_square_bracket", footer="step", available=_replaying),
    Command("replay.forward", "One step forward", "right_square_bracket", available=_replaying),
    Command("replay.slower", "Slower", "minus", available=_replaying),
    Command("replay.faster", "Faster", "plus", footer="faster", available=_replaying),
    Command("replay.rewind", "Back 10 seconds", "comma", available=_replaying),
    Command("replay.skip", "Forward 10 seconds", "full_stop", available=_replaying),
    Command("replay.mark", "To the next mark", "right_curly_bracket", footer="mark", available=_replaying),
    Command("replay.mark_back", "To the mark before", "left_curly_bracket", available=_replaying),
    Command(
        "replay.change",
        "To the next change of the row's object",
        "right_parenthesis",
        footer="change",
        available=_replaying_row,
    ),
    Command(
        "replay.change_back",
        "To the change of the row's object before",
        "left_parenthesis",
        available=_replaying_row,
    ),
    Command("replay.start", "To the beginning", "home", available=_replaying),
    Command("replay.end", "To the end", "end", available=_replaying),
    Command("move.down", "Next row", "j,down", "move"),
    Command("move.up", "Previous row", "k,up", "move"),
    Command("move.half_down", "Half a page down", "ctrl+d", "move"),
    Command("move.half_up", "Half a page up", "ctrl+u", "move"),
    Command("move.page_down", "Page down", "pagedown", "move"),
    Command("move.page_up", "Page up", "pageup", "move"),
    Command("move.top", "First row", "g", "move"),
    Command("move.bottom", "Last row", "G", "move"),
    Command("move.home", "First row", "home", "move", available=_live),
    Command("move.end", "Last row", "end", "move", available=_live),
    *(_view(view, view.capitalize(), number) for view, number in VIEW_NUMBERS.items()),
    Command("palette", "Command palette", "colon,ctrl+p", footer="commands"),
    Command("help", "Keys of this screen", "question_mark", footer="keys"),
    Command("theme", "Next theme", "ctrl+t"),
    Command("sources", "Sources: state of each, requests and bytes", "I", available=lambda s: bool(s.view)),
    Command("redraw", "Draw all of the screen anew", "ctrl+l"),
    Command("quit", "Quit", "q,ctrl+c", footer="quit"),
)
BY_ID: Final[Mapping[str, Command]] = {command.id: command for command in COMMANDS}


def group_handlers(group: str, do: Callable[[str], None]) -> Handlers:
    """For all commands "group.name": each does `do(name)`."""
    names = (command_id.removeprefix(f"{group}.") for command_id in BY_ID if command_id.startswith(f"{group}."))
    return {f"{group}.{name}": partial(do, name) for name in names}


def bindings(*scopes: Scope) -> list[BindingType]:
    """Bindings with the commands' ids, so that a key map can change them. All run the action `command(id)`.

    Each is there twice. `command_ahead(id)` is asked before the focused widget, in the order in which keys come: what is typed
    in one go with a key that moves the focus then gets to where that key has moved it. It is for when nobody types a text.
    """
    return [
        Binding(command.keys, f"{action}('{command.id}')", command.title, id=command.id, show=False, priority=ahead)
        for command in COMMANDS
        if command.scope in scopes
        for action, ahead in (("command", False), ("command_ahead", True))
    ]

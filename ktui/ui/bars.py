"""What the lines around a view say: header, tabs, state, footer. Pure: cells out, raw texts inside."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ktui.ui.commands import VIEW_NUMBERS, Command
from ktui.ui.glyphs import Glyphs
from ktui.ui.widgets.bar import Part
from ktui.views.base import Cell, Line, Style

if TYPE_CHECKING:
    from ktui.ui.feeds import Playing
    from ktui.ui.lines import Heading
    from ktui.ui.session import Session, Target
    from ktui.ui.viewmodel import ViewModel


def opening(what: str) -> Part:
    """The header before anything is read."""
    return Part((Cell(what),), priority=9)


def header(session: Session, glyphs: Glyphs, now: float, back: str = "") -> tuple[list[Part], Line]:
    """Left: who talks to what, with every mark that calls for care first. Right: how the sources are doing, the time. `back` is
    the key by which one returns from the past, "" where it is not looked at."""
    from ktui.ui.streams import summary

    target, player = session.target, session.player
    left = [Part((Cell(mark, "bad"),), priority=10, keep=True) for mark in _marks(target, player, back)]
    left += [
        Part((Cell(mark, "bad"),), priority=10, keep=True, command="record.stop") for mark in _taping(session, now)
    ]
    left.append(Part((Cell(target.context or target.server),), priority=9, keep=True))
    if target.version:
        left.append(Part((Cell(target.version, "dim"),), priority=3))
    if target.user:
        left.append(Part((Cell(target.user),), priority=4))
    left.append(Part((Cell(_scope(session), "dim"),), priority=5, command="namespace"))
    if player is not None:
        return left, _playing(player, now)
    clock = time.strftime("%H:%M", time.localtime(now))
    return left, (*summary(session.cluster, glyphs), Cell(f"  {clock}", "dim"))


def _scope(session: Session) -> str:
    """The namespaces that are watched; fewer than were asked for where not all may be read."""
    narrowed = {s.source.namespace for s in session.cluster.streams_of(("Pod",)) if s.source.namespace}
    return ", ".join(sorted(narrowed)) or session.target.namespace or "all namespaces"


def _marks(target: Target, player: Playing | None, back: str = "") -> list[str]:
    marks = []
    if player is not None:
        marks.append(f"THE PAST, {back} returns" if back else "REPLAY")
    if target.insecure:
        marks.append("INSECURE")
    if target.impersonated:
        marks.append(f"AS {target.impersonated}")
    if target.read_only and player is None:
        marks.append("READ-ONLY")
    return marks


def _taping(session: Session, now: float) -> list[str]:
    tape = session.tape
    if tape is None or tape.recorder is None or tape.recorder.ended:
        return []
    return [f"REC {_clock(now - tape.recorder.began)}"]


def is_alarming(target: Target, player: Playing | None) -> bool:
    """Whether the header is red."""
    return bool(_marks(target, player))


def _playing(player: Playing, now: float) -> Line:
    state = "paused  " if player.paused else ""
    speed = f"  x{player.speed:g}" if player.speed != 1 else ""
    moment = time.strftime("%H:%M:%S", time.gmtime(now))
    return (Cell(f"{state}{_clock(player.position)} of {_clock(player.duration)}{speed}  {moment}Z"),)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02}"


_SHORT: Final = {"autoscalers": "HPAs", "timeline": "Time"}  # all tabs fit 80 columns


def tabs(views: Sequence[str], current: str) -> list[Part]:
    """The views by number; the shown one in colour, and last to go when there is no room."""
    return [
        Part(
            _tab(view, view.capitalize(), view == current, gap=2),
            priority=9 if view == current else 5,
            command=f"view.{view}",
            short=_tab(view, _SHORT.get(view, view.capitalize()), view == current, gap=1),
        )
        for view in views
        if view in VIEW_NUMBERS
    ]


def _tab(view: str, title: str, shown: bool, gap: int) -> Line:
    style: Style = "accent" if shown else "dim"
    return (Cell(f"{VIEW_NUMBERS[view]} ", style), Cell(title + " " * gap, style))


def awaited(session: Session) -> tuple[str, float] | None:
    """The credential plug-in that is waited for, and since when."""
    return session.login.awaited() if session.login is not None else None


def state(session: Session, model: ViewModel, now: float, failure: str, figures: str = "") -> tuple[list[Part], Line]:
    """Left: the state of the view's sources (or why the feed ended), the filter, and why there are no `figures` of what is used.
    Right: how many rows of how many."""
    from ktui.model.time import format_age
    from ktui.ui.streams import view_state

    index = model.index
    said = Cell(failure, "bad") if failure else view_state(model.view, session.cluster, now)
    if (waited_for := awaited(session)) is not None:
        plugin, since = waited_for
        said = Cell(f"waiting for {plugin} {format_age(max(0.0, now - since))}", "warn")
    if session.player is not None and said.text == "live":
        said = Cell("recorded", "dim")
    left = [Part((said,), priority=9)]
    wanted = index.filter
    if wanted.text:
        left.append(Part((Cell("filter ", "dim"), Cell(wanted.text, "accent")), priority=8, command="filter"))
    if wanted.problems_only:
        left.append(Part((Cell("problems only", "accent"),), priority=8, command="problems"))
    if wanted.namespace:
        left.append(
            Part((Cell("namespace ", "dim"), Cell(wanted.namespace, "accent")), priority=8, command="namespace")
        )
    if model.marks:
        left.append(Part((Cell(f"{len(model.marks):,} marked", "accent"),), priority=7))
    if figures:
        left.append(Part((Cell(figures, "warn"),), priority=5))
    if model.behind:
        left.append(Part((Cell(f"preparing {model.behind:,} rows", "dim"),), priority=6))
    return left, _count(session, model)


def _count(session: Session, model: ViewModel) -> Line:
    """How many rows of how many; nothing while that is not known."""
    index, title = model.index, model.view.title.lower()
    if model.parted is not None:
        title = "needs you" if index.total == 1 else "need you"
        known = index.total > 0
    else:
        title = title.removesuffix("s") if index.total == 1 else title
        known = index.total > 0 or session.cluster.synced(*model.view.kinds)
    shown = model.tree.trees if model.tree is not None else len(index)
    count = f"{index.total:,} {title}" if shown == index.total else f"{shown:,} of {index.total:,} {title}"
    return (Cell(count, "dim"),) if known else ()


def headings(session: Session, model: ViewModel, now: float) -> list[Heading]:
    """Above the rows of a view that has parts."""
    from ktui.ui.headings import headings

    return headings(model.parted, model.index, session.cluster, now) if model.parted is not None else []


def footer(commands: Sequence[Command], key_of: Callable[[Command], str]) -> list[Part]:
    """The footer's commands, each with its first key; the first ones stay longest."""
    return [
        Part(
            (Cell(key_of(command), "accent"), Cell(f" {command.footer}   ", "dim")),
            priority=100 if command.id == "help" else len(commands) - place,
            command=command.id,
        )
        for place, command in enumerate(commands)
    ]


def emptiness(session: Session, model: ViewModel, now: float) -> tuple[Line, ...]:
    """What stands in a table without rows."""
    from ktui.ui.headings import nothing
    from ktui.ui.streams import emptiness

    if model.parted is not None and not model.index.total and not model.behind:
        return nothing(model.parted, session.cluster, now)
    return emptiness(model.view, session.cluster, model.index.total, model.behind, now)

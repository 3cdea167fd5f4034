"""How the sources of a view are doing, in words: the state line, the header's summary, and what an empty table says.

"Empty" is only said when every source that a view cannot do without is synced.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ktui.cluster.moment import Stream
from ktui.cluster.state import Cluster
from ktui.model.frame import NOT_RECORDED, StreamPhase
from ktui.model.kinds import KINDS
from ktui.model.time import format_age
from ktui.ui.glyphs import Glyphs
from ktui.views.base import Cell, Line, View

_LIVE: Final = frozenset(("watching", "quiet"))
# What to say first when several sources have something to say.
_WORST_FIRST: Final[tuple[StreamPhase, ...]] = (
    "needs-login",
    "no-access",
    "stopped",
    "waiting",
    "listing",
    "absent",
    "polling",
    "quiet",
    "watching",
)


def describe(stream: Stream, now: float) -> Cell:
    """One source's state in a few words, with what to do about it."""
    what = _resource(stream.source.kind)
    said = f": {stream.message}" if stream.message else ""
    match stream.phase:
        case "watching":
            return Cell("live", "ok")
        case "quiet":
            return Cell(f"quiet{said}", "ok")
        case "polling":
            return Cell(f"{what} polled, watch is refused{said}", "warn")
        case "listing" if not stream.synced:
            return Cell(f"loading {what}{_progress(stream)}", "dim")
        case "listing":
            return Cell(f"resyncing {what}{_progress(stream)}, rows may be old", "warn")
        case "waiting":
            left = "" if stream.until is None else f" {format_age(max(0.0, stream.until - now))}"
            return Cell(f"waiting{left} for {what}{said}", "warn")
        case "no-access":
            return Cell(f"no access to {what}: your user needs get, list, watch", "bad")
        case "needs-login":
            return Cell(f"log in again, then ctrl+r{said}", "bad")
        case "absent" if stream.message == NOT_RECORDED:
            return Cell(f"{what} are {NOT_RECORDED}", "warn")
        case "absent":
            return Cell(f"{what} not installed: {_remedy(stream)}", "warn")
        case "stopped":
            return Cell(f"{what} stopped{said}", "warn")


def _progress(stream: Stream) -> str:
    if stream.progress is None:
        return ""
    received, expected = stream.progress
    return f" {received:,} of {expected:,}" if expected else f" {received:,}"


def _resource(kind: str) -> str:
    known = KINDS.get(kind)
    if known is None:
        return kind
    return f"{known.plural} of {known.program}" if known.program else known.plural


def _remedy(stream: Stream) -> str:
    known = KINDS.get(stream.source.kind)
    return stream.message or (known.enable if known else "") or "the cluster does not serve it"


def _not_missed(stream: Stream) -> bool:
    """Whether the kind is of a program that is not installed: nobody expects it then."""
    known = KINDS.get(stream.source.kind)
    return stream.phase == "absent" and known is not None and bool(known.program)


def worst(streams: Sequence[Stream]) -> Stream | None:
    """The source that most needs to be told about."""
    return min(streams, key=lambda stream: _WORST_FIRST.index(stream.phase), default=None)


def view_state(view: View, cluster: Cluster, now: float) -> Cell:
    """The state line's word for a view: its own kinds first, then the kinds it joins."""
    own = worst(cluster.streams_of(view.kinds))
    if own is None:
        return Cell("connecting", "dim")
    joined = worst(cluster.streams_of(view.joins))
    if own.phase in _LIVE and joined is not None and joined.phase not in (*_LIVE, "absent"):
        return describe(joined, now)
    return describe(own, now)


def summary(cluster: Cluster, glyphs: Glyphs) -> Line:
    """For the header: how many of the sources are live. Kinds the cluster does not serve do not count, nor do all namespaces
    together where single ones are watched instead."""
    streams = [stream for stream in cluster.streams_of(KINDS) if stream.phase != "absent"]
    if not streams:
        return (Cell(f"{glyphs.busy} connecting", "dim"),)
    live = sum(stream.phase in _LIVE for stream in streams)
    if live == len(streams):
        return (Cell(f"{glyphs.live} live {live} of {live}", "ok"),)
    if all(stream.phase in (*_LIVE, "listing") for stream in streams):
        return (Cell(f"{glyphs.busy} live {live} of {len(streams)}", "dim"),)
    return (Cell(f"{glyphs.trouble} live {live} of {len(streams)}", "bad"),)


def emptiness(view: View, cluster: Cluster, total: int, behind: int, now: float) -> tuple[Line, ...]:
    """What stands in a table without rows: why it is empty, and what would fill it.

    `total` rows exist but do not pass the filter; of `behind`, it is not known yet whether they exist or pass.
    """
    title = view.title.lower()
    if total and behind:
        return (
            (Cell(f"None of {total:,} {title} passes the filter so far."),),
            (Cell(f"{behind:,} are still to be looked at.", "dim"),),
        )
    if total:
        return (
            (Cell(f"None of {total:,} {title} passes the filter."),),
            (Cell("esc drops it, f shows all states, n all namespaces.", "dim"),),
        )
    if behind:
        return ((Cell(f"preparing {behind:,} {title}", "dim"),),)
    if cluster.synced(*view.kinds):
        streams = cluster.streams_of((*view.kinds, *view.makers))
        unread = [s for s in streams if (s.phase == "absent" or not s.synced) and not _not_missed(s)]
        said = tuple((Cell(describe(stream, now).text, "dim"),) for stream in unread)
        if any(s.source.kind in view.kinds and s.message == NOT_RECORDED for s in unread):
            return said
        # A gang may be there without pods: its group alone, which is among the makers, makes a row.
        known = all(s.phase == "absent" and s.message != NOT_RECORDED for s in unread)
        return ((Cell(f"No {title}." if known else f"No {title} seen."),), *said)
    waiting = [stream for stream in cluster.streams_of(view.kinds) if not stream.synced]
    words = [describe(stream, now) for stream in waiting] or [Cell("connecting", "dim")]
    return tuple((word,) for word in words)

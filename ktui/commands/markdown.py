"""An incident as Markdown, to begin a post-mortem with.

Every text that is not ktui's own stands in a code span, where neither CommonMark nor GitHub knows markup, links, mentions or
HTML; and there are no tables, in which a code span may still be cut in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final

from ktui.cluster.timeline import What
from ktui.model.time import format_age, format_time
from ktui.recording.reader import Header
from ktui.ui.safe import safe
from ktui.views.incident import MOST, Entry, GangThen, Incident
from ktui.views.timeline import text

_LIMIT: Final = 500  # cells of one text
_FEW: Final = 3  # changes of one kind in one second that are told one by one

NAMES: Final[dict[What, str]] = {
    "GangPending": "gangs that began to wait",
    "GangRunning": "gangs that began to run",
    "GangDegraded": "gangs degraded",
    "GangPreempting": "gangs that waited for a preemption",
    "GangCompleted": "gangs completed",
    "GangFailed": "gangs failed",
    "PodBound": "pods bound to a node",
    "PodEvicted": "pods told to go",
    "PodPreempted": "pods preempted",
    "PodDeleted": "pods deleted",
    "ClaimAllocated": "claims allocated",
    "ClaimReleased": "claims released",
    "TaintAdded": "taints added",
    "TaintChanged": "taints changed",
    "TaintRemoved": "taints removed",
    "Scaled": "changes of scale",
    "MinReplicasChanged": "changes of minReplicas",
    "DeviceTainted": "devices tainted through ktui",
    "DeviceUntainted": "devices untainted through ktui",
    "DeviceUnhealthy": "devices reported unhealthy",
    "DeviceHealthy": "devices reported healthy again",
    "DeviceHealthChanged": "other changes of devices' health",
    "MinReplicasSet": "settings of minReplicas through ktui",
    "ActionRefused": "actions refused",
    "ActionUnclear": "actions without an answer",
    "SourceLost": "sources that could not be read any longer",
    "SourceBack": "sources that could be read again",
    "Mark": "marks",
}
"""What a change is called where several are counted, in the order of the summary."""

_TO_WRITE: Final = (
    "Impact: who noticed, when, and what was lost",
    "Cause",
    "What helped, and what did not",
    "What to change, and who does it",
)


def report(header: Header, found: Incident, since: float) -> Iterator[str]:
    """The lines of the document. `since` is the second of the recording from which on changes are in it."""
    start = header.start
    yield f"# Incident{_after(': ', header.title)}"
    yield ""
    first, last = format_time(start + since), format_time(start + found.end)
    yield f"- From {first} to {last} ({format_age(max(0.0, found.end - since))})"
    if since > 0:
        yield f"- Recorded from {format_time(start)} on"
    if version := header.server.git_version:
        yield f"- Kubernetes {code(version)}"
    if header.context:
        yield f"- Context {code(header.context)}"
    yield from _section("Summary", _summary(found), "Nothing changed.")
    yield from _section("What happened", _happened(found, start), "Nothing changed.")
    yield from _section(f"Gangs at the end ({_clock(start + found.end)})", map(_gang, found.gangs), "There were none.")
    yield from _section("Still to write", (f"- {line}" for line in _TO_WRITE), "")


def code(raw: str) -> str:
    """Text as a code span, "" for none."""
    shown = safe(raw, _LIMIT)
    if not shown:
        return ""
    fence = "`" * (max(map(len, re.findall("`+", shown)), default=0) + 1)
    # A space beside each fence is taken away again by readers; it keeps a backtick, or a space, at the edge of the text.
    padding = " " if (shown[0] in "` " or shown[-1] in "` ") and not shown.isspace() else ""
    return f"{fence}{padding}{shown}{padding}{fence}"


def _section(title: str, lines: Iterable[str], nothing: str) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    some = False
    for line in lines:
        some = True
        yield line
    if not some:
        yield nothing


def _summary(found: Incident) -> Iterator[str]:
    yield from (f"- {name}: {found.counts[what]:,}" for what, name in NAMES.items() if found.counts[what])


def _happened(found: Incident, start: float) -> Iterator[str]:
    """Marks are headings, what followed each is under it."""
    if found.entries:
        yield "UTC, and seconds since the recording began."
    listing = False
    for entries in _folded(found.entries):
        if entries[0].change.what == "Mark":
            yield ""
            yield f"### {_when(entries[0], start)}{_after(': ', entries[0].change.after)}"
            listing = False
            continue
        if not listing:
            yield ""
            listing = True
        told = _one(entries[0]) if len(entries) == 1 else _together(entries)
        yield f"- {_when(entries[0], start)}: {told}"
    if found.left_out:
        yield ""
        yield f"{found.left_out:,} more changes came after these {MOST:,}; export less of the recording to see them."


def _folded(entries: list[Entry]) -> Iterator[list[Entry]]:
    """One by one, but many of one kind within a second together, where the first of them is, and never across a mark."""
    for _, group in groupby(entries, key=lambda entry: (int(entry.change.at), entry.change.what == "Mark")):
        kinds: dict[What, list[Entry]] = {}
        second = list(group)
        for entry in second:
            kinds.setdefault(entry.change.what, []).append(entry)
        for entry in second:
            alike = kinds[entry.change.what]
            if len(alike) <= _FEW or entry.change.what == "Mark":
                yield [entry]
            elif entry is alike[0]:
                yield alike


def _one(entry: Entry) -> str:
    own = entry.change.view == "gangs"  # their values are counts and states of ktui's own
    return f"{entry.kind}{_after(' ', _subject(entry))} {text(entry.change) if own else text(entry.change, code)}"


def _together(entries: list[Entry]) -> str:
    subjects = list(dict.fromkeys(_subject(entry) for entry in entries))
    named = ", ".join(code(subject) for subject in subjects[:_FEW] if subject)
    more = f" and {len(subjects) - _FEW:,} more" if len(subjects) > _FEW else ""
    return f"{len(entries):,} {NAMES[entries[0].change.what]}{': ' if named else ''}{named}{more}"


def _gang(gang: GangThen) -> str:
    return f"- {code(f'{gang.namespace}/{gang.name}')}: {gang.state}, {gang.pods} run{_after(': ', gang.why)}"


def _subject(entry: Entry) -> str:
    return f"{entry.namespace}/{entry.name}" if entry.namespace else entry.name


def _when(entry: Entry, start: float) -> str:
    moment = start + entry.offset
    same_day = format_time(moment)[:10] == format_time(start)[:10]
    return f"{_clock(moment) if same_day else format_time(moment)} (+{entry.offset:.1f} s)"


def _clock(moment: float) -> str:
    return format_time(moment)[11:]


def _after(separator: str, raw: str) -> str:
    shown = code(raw)
    return f"{separator}{shown}" if shown else ""

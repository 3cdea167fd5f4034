"""The timeline: what changed, newest first. A row's key is the number of the change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final, cast

from ktui.cluster.dirty import Entity
from ktui.cluster.gangs import display_name
from ktui.cluster.state import Cluster
from ktui.cluster.taints import scope
from ktui.cluster.timeline import Change, What
from ktui.model.kinds import KINDS
from ktui.model.time import format_age, format_time
from ktui.views.base import Cell, Column, Document, Line, Row, RowKey, Section, Style, pairs
from ktui.views.shared import time_text

_WORDS: Final[dict[What, tuple[str, Style]]] = {
    "GangPending": ("pending, {after} run", "warn"),
    "GangRunning": ("running, {after} run", "ok"),
    "GangDegraded": ("degraded, {after} run", "bad"),
    "GangPreempting": ("waits for victims of preemption to go", "warn"),
    "GangCompleted": ("completed", "dim"),
    "GangFailed": ("failed", "bad"),
    "PodBound": ("bound to {after}", "dim"),
    "PodEvicted": ("is to go: {after}", "bad"),
    "PodPreempted": ("makes room for {after}", "bad"),
    "PodDeleted": ("deleted, was on {before}", "dim"),
    "ClaimAllocated": ("allocated {after}", "dim"),
    "ClaimReleased": ("released {before}", "dim"),
    "TaintAdded": ("tainted {after}{where}", "warn"),
    "TaintChanged": ("taint {before}{where} is now {after}", "warn"),
    "TaintRemoved": ("taint {before}{where} removed", "ok"),
    "Scaled": ("scaled from {before} to {after}", ""),
    "MinReplicasChanged": ("minReplicas {before} is now {after}", ""),
    "SourceLost": ("not read any longer: {after}", "bad"),
    "SourceBack": ("read again", "ok"),
    "DeviceTainted": ("{who} tainted it {after}", "accent"),
    "DeviceUntainted": ("{who} took its taint {before} away", "accent"),
    "DeviceUnhealthy": ("reported unhealthy: {after}", "bad"),
    "DeviceHealthy": ("reported healthy again, was {before}", "ok"),
    "DeviceHealthChanged": ("health was {before}, is now {after}", "warn"),
    "MinReplicasSet": ("{who} set {after}, it was {before}", "accent"),
    "ActionRefused": ("{who} wanted {after}, it was refused", "accent"),
    "ActionUnclear": ("{who} wanted {after}, whether it was done is unknown", "accent"),
    "Mark": ("{after}", "accent"),
}
_PROBLEMS: Final = frozenset(what for what, (_, style) in _WORDS.items() if style in ("warn", "bad"))
_BARE: Final = frozenset(("PodEvicted", "PodDeleted", "SourceLost", "DeviceUnhealthy"))
"""These may lack the value, and are said without it then."""
_TITLES: Final = {
    "gangs": "gang",
    "pods": "pod",
    "claims": "claim",
    "devices": "device",
    "taints": "taint",
    "autoscalers": "autoscaler",
}
_OTHERS: Final[dict[What, str]] = {"Mark": "mark", "SourceLost": "source", "SourceBack": "source"}


class TimelineView:
    id: Final = "timeline"
    title = "Changes"
    order = "age"
    kinds = ("Pod",)
    joins = makers = unseen = ()
    labelled = named = ""
    columns = (
        Column("time", "TIME", 9, 0, priority=9),
        Column("age", "AGE", 6, 0, priority=3, kind="age"),
        Column("kind", "KIND", 10, 0, priority=5),
        Column("namespace", "NAMESPACE", 9, 1, priority=4),
        Column("name", "NAME", 14, 3, priority=8),
        Column("text", "CHANGE", 24, 5, priority=7),
    )

    def keys(self, cluster: Cluster) -> Iterable[int]:
        return reversed(cluster.timeline.numbers())

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        number = cast("int", key)
        change = cluster.timeline.get(number)
        if change is None:
            return None
        namespace, name = _subject(cluster, change)
        kind, said, style = _kind(change), text(change), _WORDS[change.what][1]
        moment = f"{format_time(change.at)[11:19]}Z"
        cells = (Cell(moment), Cell("", "dim"), Cell(kind, "dim"), Cell(namespace), Cell(name), Cell(said, style))
        newest_first = -float(number)
        return Row(
            key=number,
            cells=cells,
            sort=(newest_first, newest_first, kind, namespace, name, said),
            uid=str(number),
            namespace=namespace,
            since=change.at,
            problem=change.what in _PROBLEMS,
        )

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        change = cluster.timeline.get(cast("int", key))
        if change is None:
            return ()
        namespace, name = _subject(cluster, change)
        about = pairs(
            ("when", time_text(change.at, now)),
            (_kind(change), f"{namespace}/{name}" if namespace else name),
            ("before", change.before),
            ("after", change.after),
            ("who", change.who),
            ("selects", scope(change.selector) if _of_rule(change) else ""),
        )
        return (Section(text(change), about),)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        change = cluster.timeline.get(cast("int", key))
        if change is None:
            return None
        namespace, name = _subject(cluster, change)
        return {
            "time": format_time(change.at),
            "change": change.what,
            "kind": _kind(change),
            "namespace": namespace or None,
            "name": name or None,
            "before": change.before or None,
            "after": change.after or None,
            "who": change.who or None,
            "selects": scope(change.selector) if _of_rule(change) else None,
            "text": text(change),
        }

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:
        change = cluster.timeline.get(cast("int", key))
        return (_subject(cluster, change)[1],) if change is not None else ()

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:  # noqa: ARG002 - a change has none
        return {}


def target(cluster: Cluster, key: RowKey) -> tuple[Entity, RowKey] | None:
    """The view and the row that a change is about, whether the row is still there or not; None where it is about none."""
    change = cluster.timeline.get(cast("int", key))
    return (cast("Entity", change.view), change.key) if change is not None and change.view else None


def text(change: Change, quoted: Callable[[str], str] = str) -> str:
    """The change in a few words; `quoted` is how texts that are not ktui's own are written."""
    if change.what == "GangRunning" and change.before == "Degraded":
        return f"running again, {change.after} run"
    words = _WORDS[change.what][0]
    if change.what in _BARE and not (change.before or change.after):
        words = re.split("[:,]", words)[0]
    who = quoted(change.who) if change.who else "somebody"
    where = f" on {quoted(scope(change.selector))}" if _of_rule(change) else ""
    return words.format(before=quoted(change.before), after=quoted(change.after), who=who, where=where)


def change_line(cluster: Cluster, change: Change, now: float) -> Line:
    """The change in one line of a detail: its age, what it is about, and what it was."""
    namespace, name = _subject(cluster, change)
    return (
        Cell(f"{format_age(now - change.at):>6}  ", "dim"),
        Cell(f"{_kind(change)} {f'{namespace}/{name}' if namespace else name}  ", "dim"),
        Cell(text(change), _WORDS[change.what][1]),
    )


def _of_rule(change: Change) -> bool:
    return change.view == "taints" and change.key[0] == "rule"


def _kind(change: Change) -> str:
    return _TITLES[change.view] if change.view else _OTHERS.get(change.what, "action")


def _source(kind: str) -> str:
    """A kind that owns Workloads is called by its own name."""
    known = KINDS.get(kind)
    return known.plural if known else kind


def _subject(cluster: Cluster, change: Change) -> tuple[str, str]:
    """Namespace and name, as people say them."""
    match change.view:
        case "taints" if change.key[0] == "rule":
            return "", change.key[1]
        case "taints":
            return "", "/".join(change.key[1:4])
        case "gangs":
            return change.key[0], display_name(cluster, (change.key[0], change.key[1]))
        case "devices":
            return "", "/".join(change.key)
        case "":
            return "", _source(change.key[0]) if change.key else ""
        case _:
            return change.key[0], change.key[1]


VIEW = TimelineView()

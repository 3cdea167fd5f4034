"""Triage: the gangs, devices and autoscalers that need a person, the worst first and of equals the newest.

A row stands for a row of another view and opens that one's detail; or for a whole pool of devices, or for a rule that taints
many of them, which would otherwise be as many rows. What is well has no row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, cast

from ktui.cluster.census import census_of
from ktui.cluster.devices import DeviceInfo, device_ids_in_turn, device_info, may_be_in_trouble
from ktui.cluster.dirty import TriageKey
from ktui.cluster.gangs import Gang, display_name, gang, gang_keys
from ktui.cluster.pools import Pool
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, worst
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.diagnose.gang import troubles
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.meta import Condition, condition
from ktui.model.pod import Pod
from ktui.model.podstatus import in_trouble
from ktui.model.resourceslice import DeviceId, PoolId
from ktui.model.taintrule import DeviceTaintRule
from ktui.model.time import format_time, parse_time
from ktui.views import autoscalers, devices, gangs, taints
from ktui.views.autoscalers import autoscaler_state
from ktui.views.base import Cell, Column, Document, Part, Row, RowKey, Section, View, pairs

_APART: Final = 1e11
"""Between two severities in the order: more than any time in Unix seconds, and little enough to leave seconds exact."""
_DELIBERATE: Final = frozenset(("Gated", "WaitingForPods", "Queued"))
"""Causes for which a gang waits by somebody's will, or has hardly begun to."""
_NAMED: Final = 2  # pods named in a row; more are counted
_STOPPING: Final = frozenset(("NoSchedule", "NoExecute"))

_BAD, _WAITS, _ASIDE, _UNCLEAR = Cell("▲", "bad"), Cell("●", "warn"), Cell("○", "dim"), Cell("?", "warn")
_STOPPED: Final = Cell("✖", "bad")


class _Need(NamedTuple):
    """What a row says. `rank`: 0 is the worst. `amount` is of pods, devices or replicas."""

    rank: int
    mark: Cell
    namespace: str  # or the pool
    name: str
    state: Cell
    amount: str
    since: float | None
    why: Cell
    uid: str


class TriageView:
    id: Final = "triage"
    title = "Triage"
    order = "mark"
    kinds = ("Pod",)
    joins = tuple(
        dict.fromkeys(
            kind
            for view in (gangs.VIEW, devices.VIEW, taints.VIEW, autoscalers.VIEW)
            for kind in (*view.kinds, *view.joins)
            if kind != "Pod"
        )
    )
    makers = joins
    unseen = ()
    labelled = named = ""
    columns = (
        Column("mark", "", 1, 0, priority=9),
        Column("namespace", "WHERE", 9, 1, priority=4),
        Column("name", "NAME", 13, 2, priority=9),
        Column("state", "STATE", 10, 0, priority=8),
        Column("count", "COUNT", 9, 0, priority=7),
        Column("age", "FOR", 6, 0, priority=3, kind="age"),
        Column("why", "WHY", 24, 7, priority=6),
    )
    parts = (
        Part("Gangs that need you", "gangs", ("Pod", "PodGroup", "Workload")),
        Part("Devices", "devices", ("ResourceSlice", "ResourceClaim", "DeviceTaintRule", "Pod")),
        Part("Autoscalers", "autoscalers", ("HorizontalPodAutoscaler",)),
    )

    def keys(self, cluster: Cluster) -> Iterable[TriageKey]:
        yield from (("gangs", key) for key in sorted(gang_keys(cluster)))
        yield from (key for key in _device_keys(cluster) if key is not None)
        yield from (("autoscalers", key) for key in sorted(cluster.stores["HorizontalPodAutoscaler"].objects))

    def keys_reading(self, cluster: Cluster, kinds: frozenset[str]) -> Iterable[TriageKey | None]:
        if kinds.intersection((*gangs.VIEW.kinds, *gangs.VIEW.joins)):
            yield from (("gangs", key) for key in sorted(gang_keys(cluster)))
        if kinds.intersection((*devices.VIEW.kinds, *devices.VIEW.joins)):
            yield from _device_keys(cluster)
        if kinds.intersection(autoscalers.VIEW.kinds):
            yield from (("autoscalers", key) for key in sorted(cluster.stores["HorizontalPodAutoscaler"].objects))

    def totals(self, cluster: Cluster) -> tuple[int, ...]:
        census = census_of(cluster)
        autoscaled = len(cluster.stores["HorizontalPodAutoscaler"].objects)
        return (census.gangs(cluster), census.devices(cluster), autoscaled)

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        need = _need(cluster, key)
        if need is None:
            return None
        what, _ = _split(key)
        cells = (
            need.mark,
            Cell(need.namespace),
            Cell(need.name),
            need.state,
            Cell(need.amount),
            Cell("", "dim"),
            need.why,
        )
        newest_first = -(need.since or 0.0)
        sort = (
            need.rank * _APART + newest_first,
            need.namespace,
            need.name,
            need.state.text,
            need.amount,
            newest_first,
            need.why.text,
        )
        return Row(
            key=key,
            cells=cells,
            sort=sort,
            uid=need.uid,
            namespace=need.namespace if what in ("gangs", "autoscalers") else "",
            since=need.since,
            problem=True,
            part=_PART[what],
        )

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:
        what, inner = _split(key)
        view = _VIEWS.get(what)
        return view.names(cluster, inner) if view is not None else ("/".join(cast("PoolId", inner)),)

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        what, inner = _split(key)
        view = _VIEWS.get(what)
        return view.labels(cluster, inner) if view is not None else {}

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        what, inner = _split(key)
        view = _VIEWS.get(what)
        if view is not None:
            return view.detail(cluster, inner, now)
        pool = cluster.pool(cast("PoolId", inner)) if what == "pools" else None
        return _pool_detail(pool) if pool is not None else ()

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        need = _need(cluster, key)
        if need is None:
            return None
        what, inner = _split(key)
        view = _VIEWS.get(what)
        return {
            "view": what,
            "namespace": need.namespace or None if what in ("gangs", "autoscalers") else None,
            "name": self.names(cluster, key)[0],
            "state": need.state.text,
            "since": format_time(need.since) if need.since is not None else None,
            "why": need.why.text,
            "item": view.item(cluster, inner) if view is not None else None,
        }


_VIEWS: Final[dict[str, View]] = {
    "gangs": gangs.VIEW,
    "devices": devices.VIEW,
    "taints": taints.VIEW,
    "autoscalers": autoscalers.VIEW,
}
_PART: Final = {"gangs": 0, "devices": 1, "pools": 1, "taints": 1, "autoscalers": 2}


def _split(key: RowKey) -> TriageKey:
    return cast("TriageKey", key)


def _device_keys(cluster: Cluster) -> Iterable[TriageKey | None]:
    yield from (("pools", pool_id) for pool_id in list(cluster.slices_by_pool.values()))
    yield from (("taints", ("rule", name)) for _, name in sorted(cluster.stores["DeviceTaintRule"].objects))
    yield from (("devices", device) if device is not None else None for device in device_ids_in_turn(cluster))


def _need(cluster: Cluster, key: RowKey) -> _Need | None:
    what, inner = cast("tuple[str, tuple[str, ...]]", key)
    match what:
        case "gangs":
            found = gang(cluster, (inner[0], inner[1]))
            return _gang(cluster, found) if found is not None else None
        case "devices":
            return _device(cluster, cast("DeviceId", inner))
        case "pools":
            return _pool(cluster, cast("PoolId", inner))
        case "taints":
            return _rule(cluster, inner)
        case "autoscalers":
            hpa = cluster.stores["HorizontalPodAutoscaler"].get((inner[0], inner[1]))
            return _autoscaler(hpa) if isinstance(hpa, HorizontalPodAutoscaler) else None
        case _:
            return None


# --- gangs ---


def _gang(cluster: Cluster, found: Gang) -> _Need | None:
    """A gang of which nothing is known has no row: the heading says what is not read."""
    if found.state not in gangs.PROBLEMS - {"Unknown"} and not troubles(found):
        return None
    diagnosis = diagnoses_of(cluster).at(found.key)
    owner = found.object
    rank, mark = _severity(found, deliberate=diagnosis.cause in _DELIBERATE)
    return _Need(
        rank=rank,
        mark=mark,
        namespace=found.key[0],
        name=display_name(cluster, found.key),
        state=Cell(found.state, gangs.STYLES[found.state]),
        amount=f"{found.running} of {found.wanted_text}",
        since=_gang_since(found),
        why=Cell(_why(found, diagnosis.message), "bad" if mark is _BAD else ""),
        uid=f"{owner.metadata.uid}/{found.key[1]}" if owner else f"name:{found.key}",
    )


def _why(found: Gang, message: str) -> str:
    """Without how many run, which stands in a column of its own."""
    return message.partition("; ")[2] or message if found.state == "Degraded" else message


def _severity(found: Gang, *, deliberate: bool) -> tuple[int, Cell]:
    match found.state:
        case "Degraded":
            return 0, _BAD
        case "Failed":
            return 1, _BAD
        case "Pending" if deliberate:
            return 5, _ASIDE
        case "Pending":
            return 3, _WAITS
        case "Preempting":
            return 4, _WAITS
        case _:
            return 2, _BAD  # its containers do not run


def _gang_since(found: Gang) -> float | None:
    """Since when it is as it is: a gang that lost pods, since the longest waiting of their replacements was made."""
    match found.state:
        case "Pending" | "Preempting":
            return found.created
        case "Degraded":
            waiting = (pod for pod in found.members if not pod.finished and not pod.spec.node_name)
            return _first(parse_time(pod.metadata.creation_timestamp) for pod in waiting)
        case "Failed":
            return max((t for pod in found.members if (t := _unready_since(pod)) is not None), default=None)
        case _:
            return _first(_unready_since(pod) for pod in found.members if in_trouble(pod))


def _unready_since(pod: Pod) -> float | None:
    ready = condition(pod.status.conditions, "Ready")
    return parse_time(ready.last_transition_time) if ready is not None and ready.status != "True" else None


def _first(times: Iterable[float | None]) -> float | None:
    return min((t for t in times if t is not None), default=None)


# --- devices ---


def _device(cluster: Cluster, device: DeviceId) -> _Need | None:
    info = device_info(cluster, device) if may_be_in_trouble(cluster, device) else None
    if info is None:
        return None
    found = _device_trouble(cluster, info)
    if found is None:
        return None
    rank, mark, state, words = found
    users = [pod.name for pod in info.pods]
    has = f"used by {_some(users)}" if users else ""
    times = (parse_time(t.taint.time_added) for t in info.taints if t.effect in _STOPPING)
    return _Need(
        rank=rank,
        mark=mark,
        namespace=info.id[1],
        name=info.id[2],
        state=Cell(state, "bad"),
        amount=_counted(len(users), "pod") if users else "unused",
        since=max((t for t in times if t is not None), default=None),
        why=Cell(" · ".join(part for part in (words, has) if part)),
        uid="/".join(info.id),
    )


def _device_trouble(cluster: Cluster, info: DeviceInfo) -> tuple[int, Cell, str, str] | None:
    """Rank, mark, one word, and what is wrong. A device that only a rule for many taints is told of in the rule's row."""
    if info.conflict:
        claims = [f"{claim.namespace}/{claim.name}" for claim, _ in info.holders]
        return 0, _BAD, "conflict", f"held by {_some(claims)} at once"
    match info.state:
        case "unhealthy":
            tainted = any(t.effect in _STOPPING for t in info.taints)
            said = info.health.message if info.health else ""
            return 1, _BAD, "Unhealthy", ", ".join(p for p in ("" if tainted else "not tainted", said) if p)
        case "tainted":
            own = [t for t in info.taints if t.effect in _STOPPING and not _for_many(cluster, t)]
            first = worst(own)
            if first is None:
                return None
            return 2 if first.effect == "NoExecute" else 3, _STOPPED, first.effect, _taint_text(first, len(own) - 1)
        case "gone" if cluster.synced("ResourceSlice"):
            return 2, _BAD, "gone", "published no longer"
    return None


def _for_many(cluster: Cluster, taint: EffectiveTaint) -> bool:
    rule = cluster.stores["DeviceTaintRule"].get(("", taint.rule)) if taint.source == "rule" else None
    return isinstance(rule, DeviceTaintRule) and not rule.exact


def _taint_text(taint: EffectiveTaint, more: int) -> str:
    value = f"={taint.taint.value}" if taint.taint.value else ""
    source = f"rule {taint.rule}" if taint.rule else "by the driver"
    return f"{taint.taint.key}{value} · {source}{f' and {more} more' if more else ''}"


def _pool(cluster: Cluster, pool_id: PoolId) -> _Need | None:
    pool = cluster.pool(pool_id)
    if pool is None or pool.status == "ok" or not cluster.synced("ResourceSlice"):
        return None
    return _Need(
        rank=4,
        mark=_UNCLEAR,
        namespace=pool_id[1],
        name="*",
        state=Cell(pool.status, "warn"),
        amount=_counted(len(pool.devices), "device"),
        since=None,  # nothing tells when the last slice went, or should have come
        why=Cell(f"{pool.problem}: nothing of it is allocated"),
        uid="/".join(pool_id),
    )


def _pool_detail(pool: Pool) -> tuple[Section, ...]:
    about = pairs(
        ("status", pool.status, "" if pool.status == "ok" else "warn"),
        ("problem", pool.problem),
        ("driver", pool.id[0]),
        ("node", pool.node),
        ("generation", pool.generation),
        ("slices", f"{pool.slices} of {pool.expected}"),
        ("would help", "" if pool.status == "ok" else f"the driver {pool.id[0]} publishes the pool completely"),
    )
    slices = tuple((Cell(name),) for name in pool.slice_names)
    names = tuple((Cell(name),) for name in pool.devices)
    sections = (
        Section(f"Pool {'/'.join(pool.id)}", about),
        Section(f"ResourceSlices ({len(slices)})", slices),
        Section(f"Devices ({len(names)})", names),
    )
    return tuple(section for section in sections if section.lines)


def _rule(cluster: Cluster, key: tuple[str, ...]) -> _Need | None:
    """A rule that selects more than one named device, and keeps pods from what it selects."""
    rule = cluster.stores["DeviceTaintRule"].get(("", key[1])) if key[:1] == ("rule",) else None
    if not isinstance(rule, DeviceTaintRule) or rule.exact or rule.spec.taint.effect not in _STOPPING:
        return None
    row = taints.VIEW.row(cluster, key)
    if row is None:
        return None
    said = {column.id: cell for column, cell in zip(taints.VIEW.columns, row.cells, strict=True)}
    if said["count"].text == "0":
        return None
    pods = said["pods"].text
    used = "" if pods == "0" else " · 1 pod uses them" if pods == "1" else f" · {pods} pods use them"
    count = said["count"].text
    return _Need(
        rank=2 if rule.spec.taint.effect == "NoExecute" else 3,
        mark=_STOPPED,
        namespace="",
        name=rule.name,
        state=Cell(rule.spec.taint.effect, "bad"),
        amount=f"{count} device{'' if count == '1' else 's'}",
        since=row.since,
        why=Cell(f"{said['taint'].text} · rule for {said['devices'].text}{used}"),
        uid=rule.metadata.uid,
    )


# --- autoscalers ---


def _autoscaler(hpa: HorizontalPodAutoscaler) -> _Need | None:
    found = _autoscaler_trouble(hpa)
    if found is None:
        return None
    rank, state, because, words = found
    current = hpa.status.current_replicas or 0
    return _Need(
        rank=rank,
        mark=_BAD if state.style == "bad" else _ASIDE,
        namespace=hpa.namespace,
        name=hpa.name,
        state=state,
        amount=f"{current} of {hpa.min_replicas}-{hpa.spec.max_replicas}",
        since=parse_time(because.last_transition_time),
        why=Cell(words),
        uid=hpa.metadata.uid,
    )


def _autoscaler_trouble(hpa: HorizontalPodAutoscaler) -> tuple[int, Cell, Condition, str] | None:
    """Rank, state, the condition that says it, and the words (autoscaling/v2 conditions, 1.37)."""
    able, active, limited = (
        condition(hpa.status.conditions, name) for name in ("AbleToScale", "ScalingActive", "ScalingLimited")
    )
    word, style = autoscaler_state(hpa)
    if able is not None and able.status == "False":
        return 0, Cell("cannot scale", "bad"), able, _said(able)
    if active is not None and active.status == "False":
        if active.reason == "ScalingDisabled":
            return 2, Cell(word, style), active, "its target was scaled to 0 by hand: nothing wakes it"
        return 0, Cell("no metric", "bad"), active, f"{_without_metric(hpa)}{_said(active)}"
    if limited is not None and limited.status == "True" and limited.reason == "TooManyReplicas":
        most = hpa.spec.max_replicas
        return 3, Cell("at limit", "warn"), limited, f"wants more replicas than its maximum, {most}"
    return None


def _without_metric(hpa: HorizontalPodAutoscaler) -> str:
    """What an autoscaler that cannot read its metric cannot do."""
    if not hpa.status.current_replicas:
        return "cannot wake: "
    return "cannot sleep: " if hpa.min_replicas == 0 else ""


def _said(said: Condition) -> str:
    return said.message or said.reason or ""


# --- words ---


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{', '.join(names[:_NAMED])}{more}"


VIEW = TriageView()

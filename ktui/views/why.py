"""Why one gang or pod waits: the whole answer as data, for the pane of the screens and for `ktui why`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

from msgspec import to_builtins

from ktui.cluster.dirty import Entity
from ktui.cluster.gangs import display_name, gang, gang_keys
from ktui.cluster.sources import gang_key, object_key
from ktui.cluster.state import Cluster
from ktui.diagnose.account import Account, Asked, account_of_gang, account_of_pod
from ktui.diagnose.diagnoses import Diagnoses
from ktui.diagnose.diagnosis import Diagnosis, Evidence, Funnel
from ktui.diagnose.hints import by, devices_text, listed
from ktui.diagnose.losses import Losses, holder_of
from ktui.diagnose.room import NOTHING
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from ktui.diagnose.whatif import Change, imagined, placed_by
from ktui.errors import KtuiError
from ktui.model.meta import Key, Object
from ktui.model.pod import Pod
from ktui.model.resourceslice import ResourceSlice
from ktui.model.time import format_age, format_time, parse_time
from ktui.views.base import Cell, Document, Line, RowKey, Style
from ktui.views.beyond import beyond_documents, beyond_lines
from ktui.views.gangs import STYLES, VIEW
from ktui.views.trees import way_to

LABEL: Final = 16  # cells of the labels in front
STOP: Final = "◀"
_COUNT: Final = 6
_NAMED: Final = 3  # of many
_SPEAKERS: Final = {"KueueWorkload": "Kueue", "VolcanoPodGroup": "Volcano"}
"""Whose words an object's condition holds, where they are not the scheduler's."""


class Subject(NamedTuple):
    """What is asked about: a gang, or a pod outside any gang. `shown` is its name as people say it."""

    kind: Literal["gang", "pod"]
    key: Key
    shown: str


# --- whom a name means ---


def find(cluster: Cluster, text: str, namespace: str = "") -> Subject:
    """The gang or pod that is called `text`: by its own name, a Workload's, its owner's (as `get gangs` takes it), or that of a
    pod. One without its namespace in front is looked for in `namespace`, "" for all.

    Raises:
        KtuiError: there is none, or there are several.
    """
    found = list(_gangs(cluster, text, namespace)) or list(_pods(cluster, text, namespace))
    if not found:
        where = f" in namespace {namespace}" if namespace else ""
        raise KtuiError(f"no gang or pod {text!r}{where}")
    if len(found) > 1:
        names = listed((subject.shown for subject in found), ", ")
        raise KtuiError(f"{text!r} may be {len(found)} of them: {names}")
    return found[0]


def _gangs(cluster: Cluster, text: str, namespace: str) -> Iterator[Subject]:
    for key in sorted(gang_keys(cluster)):
        if _means(text, key[0], VIEW.names(cluster, key), namespace):
            yield gang_subject(cluster, key)


def _pods(cluster: Cluster, text: str, namespace: str) -> Iterator[Subject]:
    for pod in cluster.all(Pod):
        if _means(text, pod.namespace, (pod.name,), namespace):
            yield pod_subject(cluster, pod)


def _means(text: str, namespace: str, names: tuple[str, ...], wanted: str) -> bool:
    here = not wanted or wanted == namespace
    return (here and text in names) or text in (f"{namespace}/{name}" for name in names)


def gang_subject(cluster: Cluster, key: Key) -> Subject:
    return Subject("gang", key, f"{key[0]}/{display_name(cluster, key)}")


def pod_subject(cluster: Cluster, pod: Pod) -> Subject:
    """The pod, or the gang it belongs to: that waits as a whole."""
    holder = holder_of(cluster, pod)
    return Subject("gang" if holder.kind == "PodGroup" else "pod", holder.key, holder.shown)


def account(supply: Supply, subject: Subject) -> Account | None:
    """All there is to say; None when it is gone."""
    if subject.kind == "pod":
        pod = supply.cluster.pod(subject.key)
        return account_of_pod(supply, pod) if pod is not None else None
    found = gang(supply.cluster, subject.key)
    return account_of_gang(supply, found) if found is not None else None


class Imagined(NamedTuple):
    """What would be if. `placeable`: whether the subject could be placed then, None where that is not known, or where it is not
    nodes or devices that it waits for. `gangs`: other pending gangs that could, each by itself."""

    change: Change
    placeable: bool | None
    already: bool
    gangs: tuple[Subject, ...]


def imagine(kept: Diagnoses, subject: Subject, found: Account, change: Change) -> Imagined:
    """What the change would bring to the subject, and to all gangs that were tried in vain."""
    cluster, supply = kept.supply.cluster, kept.supply
    asking = [(key, asked.demand) for asked in kept.asking() for key in asked.gangs if key != subject.key]
    others = placed_by(supply, change, sorted(asking, key=lambda pair: pair[0]))
    demand = found.demand
    return Imagined(
        change,
        placeable(imagined(supply, change), demand, NOTHING) if demand is not None else None,
        demand is not None and placeable(supply, demand, NOTHING) is True,
        tuple(gang_subject(cluster, key) for key in others),
    )


def created(cluster: Cluster, subject: Subject) -> float | None:
    """Unix seconds since when it exists."""
    if subject.kind == "pod":
        pod = cluster.pod(subject.key)
        return parse_time(pod.metadata.creation_timestamp) if pod else None
    found = gang(cluster, subject.key)
    return found.created if found else None


def target(cluster: Cluster, item: Evidence) -> tuple[Entity, RowKey] | None:
    """The row that shows the object: of a slice or a node its first device. None where no view has it."""
    key = (item.namespace, item.name)
    match item.kind:
        case "Pod":
            return "pods", key
        case "PodGroup":
            return "gangs", key
        case "KueueWorkload":
            return "gangs", gang_key("kueue", *key)
        case "VolcanoPodGroup":
            return "gangs", gang_key("volcano", *key)
        case "Workload":
            return "workloads", way_to(cluster, key)
        case "ResourceClaim":
            return "claims", key
        case "DeviceTaintRule":
            return "taints", ("rule", item.name)
        case "ResourceSlice":
            return _first_device([cluster.stores["ResourceSlice"].get(key)])
        case "Node":
            return _first_device(cluster.slices_on(item.name))
        case _:
            return None


def _first_device(slices: Iterable[Object | None]) -> tuple[Entity, RowKey] | None:
    devices = (
        (*piece.pool_id, device.name)
        for piece in slices
        if isinstance(piece, ResourceSlice)
        for device in piece.spec.devices or ()
    )
    first = min(devices, default=None)
    return ("devices", first) if first is not None else None


# --- as JSON ---


def document(subject: Subject, found: Account, what_if: Imagined | None = None) -> Document:
    """The answer as `why -o json` gives it."""
    diagnosis = found.diagnosis
    return {
        "kind": subject.kind,
        "namespace": subject.key[0],
        "name": object_key(subject.key)[1],
        "state": diagnosis.state,
        "cause": diagnosis.cause,
        "message": diagnosis.message,
        "facts": diagnosis.facts,
        "evidence": [_evidence_document(item) for item in diagnosis.evidence],
        "funnel": to_builtins(diagnosis.funnel) if diagnosis.funnel else None,
        "unblock": list(diagnosis.unblock),
        "waitingBeyond": beyond_documents(found.beyond),
        "whatIf": _what_if_document(what_if) if what_if else None,
    }


def _what_if_document(what_if: Imagined) -> Document:
    gangs = [{"namespace": other.key[0], "name": object_key(other.key)[1]} for other in what_if.gangs]
    return {"change": what_if.change.text, "placeable": what_if.placeable, "gangs": gangs}


def _evidence_document(item: Evidence) -> Document:
    since = format_time(item.since) if item.since is not None else None
    return {"kind": item.kind, "namespace": item.namespace, "name": item.name, "text": item.text, "since": since}


# --- as lines to read ---


def lines(
    cluster: Cluster, subject: Subject, found: Account, now: float, *, bar: str = "", width: int = 20
) -> tuple[Line, ...]:
    """The answer as lines: the sentence, the funnel, the scheduler's words, what would help, the evidence.

    Args:
        now: in Unix seconds; ages are counted from it.
        bar: the sign that the funnel's bars are made of, "" for none.
        width: cells of the longest bar.
    """
    diagnosis = found.diagnosis
    tone = STYLES.get(diagnosis.state, "")
    parts = [diagnosis.state, diagnosis.cause or "", _age(created(cluster, subject), now), _tried(diagnosis, now)]
    about = " · ".join(part for part in parts if part)
    blocks: list[list[Line]] = [
        [(Cell(f"{subject.kind} {subject.shown}", "accent"),), (Cell(diagnosis.message, tone),), (Cell(about, "dim"),)],
        [*beyond_lines(found.beyond)],
        [*_funnel(diagnosis.funnel, found, bar, width)] if diagnosis.funnel and found.asked else [],
        [*_said(diagnosis, now)],
        [*_labelled("would help", ((text, "ok") for text in diagnosis.unblock))],
        [*_labelled("evidence", ((_evidence_text(item, now), "") for item in objects(diagnosis)))],
    ]
    shown: list[tuple[Line, ...]] = [(*block, ()) for block in blocks if block]
    return tuple(itertools.chain.from_iterable(shown))[:-1]


def objects(diagnosis: Diagnosis) -> tuple[Evidence, ...]:
    """The evidence without the scheduler's words, which stand for themselves."""
    return tuple(item for item in diagnosis.evidence if not item.said)


def _words(diagnosis: Diagnosis) -> tuple[Evidence, ...]:
    return tuple(item for item in diagnosis.evidence if item.said)


def _age(since: float | None, now: float) -> str:
    return format_age(now - since) if since is not None else ""


def _tried(diagnosis: Diagnosis, now: float) -> str:
    times = [item.since for item in _words(diagnosis) if item.since is not None]
    return f"tried {format_age(now - max(times))} ago" if times else ""


def _said(diagnosis: Diagnosis, now: float) -> Iterator[Line]:
    for number, item in enumerate(_words(diagnosis)):
        label = f"{_SPEAKERS.get(item.kind, 'scheduler')} says" if not number else ""
        age = f" · {format_age(now - item.since)} ago" if item.since is not None else ""
        yield Cell(f"{label:<{LABEL}}", "dim"), Cell(item.text), Cell(f"  {item.name}{age}", "dim")


def _labelled(label: str, texts: Iterable[tuple[str, Style]]) -> Iterator[Line]:
    for number, (text, style) in enumerate(texts):
        yield Cell(f"{'' if number else label:<{LABEL}}", "dim"), Cell(text, style)


def _evidence_text(item: Evidence, now: float) -> str:
    age = f" · {format_age(now - item.since)}" if item.since is not None else ""
    return f"{item.kind} {item.shown}: {item.text}{age}"


def what_if_lines(what_if: Imagined, subject: Subject, found: Account) -> tuple[Line, ...]:
    """What would be if, as lines to read."""
    then, tone = _then(what_if, subject, found)
    names = ", ".join(other.shown for other in what_if.gangs)
    others = (
        f"other pending gangs that could, each by itself: {names}"
        if names
        else "no other pending gang that cannot be placed now could"
    )
    return (
        (Cell(f"{'if':<{LABEL}}", "dim"), Cell(what_if.change.text)),
        (Cell(f"{'then':<{LABEL}}", "dim"), Cell(then, tone)),
        (Cell(f"{'':<{LABEL}}", "dim"), Cell(others)),
    )


def _then(what_if: Imagined, subject: Subject, found: Account) -> tuple[str, Style]:
    if found.demand is None:
        return f"{subject.shown} waits for something else: {found.diagnosis.message}", "warn"
    if what_if.placeable is None:
        return f"it cannot be told whether {subject.shown} could be placed", "warn"
    if not what_if.placeable:
        return f"{subject.shown} could still not be placed", "bad"
    return f"{subject.shown} could be placed{', as it could now' if what_if.already else ''}", "ok"


# --- the funnel ---


class _Step(NamedTuple):
    label: str
    left: int | None
    notes: tuple[str, ...]  # what is lost here, or what the step looks at


def _funnel(funnel: Funnel, found: Account, bar: str, width: int) -> Iterator[Line]:
    asked = found.asked
    if asked is None:
        return
    steps = _steps(funnel, asked, found.lost)
    stop = next((i for i, step in enumerate(steps) if step.left is not None and step.left < funnel.needed), -1)
    for number, step in enumerate(steps):
        yield from _step(step, funnel.published, bar, width, stops=number == stop, unknown=found.unknown)
    pods = f"{asked.pods} pod{'s' if asked.pods != 1 else ''}"
    pods = f"{pods} × {asked.each}" if asked.pods * asked.each == funnel.needed else f"by {pods}"
    needed = f"{funnel.needed:>{_COUNT - 2}}  " if not bar else f"{'':<{width}}{funnel.needed:>{_COUNT}}  "
    yield Cell(f"{'needed':<{LABEL}}", "dim"), Cell(needed), Cell(pods, "dim")


def _steps(funnel: Funnel, asked: Asked, lost: Losses) -> tuple[_Step, ...]:
    return (
        _Step("published", funnel.published, ()),
        _Step("in the class", funnel.in_class, (f"class {asked.device_class}",)),
        _Step("match", funnel.matching, asked.selectors or ("no selectors",)),
        _Step("pool complete", funnel.pool_complete, _lost_pools(lost)),
        _Step("not tainted", funnel.untainted, _lost_to_taints(lost)),
        _Step("free", funnel.free, _lost_to_holders(lost)),
        _Step("usable together", funnel.satisfying, asked.rules),
    )


def _lost_pools(lost: Losses) -> tuple[str, ...]:
    return _most(tuple(f"− {count}  {pool.id[1]}: {pool.problem}" for pool, count in lost.pools))


def _lost_to_taints(lost: Losses) -> tuple[str, ...]:
    return _most(tuple(f"− {len(on)}  {devices_text(on)} {taint.text} {by(taint)}" for taint, on in lost.taints))


def _lost_to_holders(lost: Losses) -> tuple[str, ...]:
    held = tuple(f"− {count}  {holder.shown}" for holder, count in lost.holders)
    others = (f"− {lost.others}  share counters with devices in use",) if lost.others else ()
    return _most((*held, *others))


def _most(texts: tuple[str, ...]) -> tuple[str, ...]:
    more = len(texts) - _NAMED
    return (*texts[:_NAMED], f"and {more} more") if more > 0 else texts


def _step(step: _Step, most: int, bar: str, width: int, *, stops: bool, unknown: str) -> Iterator[Line]:
    """A line, and one more for each note but the first."""
    label = Cell(f"{step.label:<{LABEL}}", "dim")
    notes = list(step.notes)
    if step.left is None:
        notes = [unknown or "cannot be told, as nodes or pods share devices"]
    drawn = Cell(f"{_bar(step.left, most, bar, width):<{width}}", "bad" if stops else "accent") if bar else Cell("")
    count = Cell(f"{'?' if step.left is None else step.left:>{_COUNT if bar else _COUNT - 2}}  ")
    stop = (Cell(f"{STOP} stops here  ", "bad"),) if stops else ()
    yield label, drawn, count, *stop, Cell(notes[0] if notes else "", _note_style(step))
    for note in notes[1:]:
        yield Cell(" " * LABEL), Cell(" " * (width if bar else 0) + " " * _COUNT), Cell(note, _note_style(step))


def _note_style(step: _Step) -> Style:
    return "warn" if step.notes and step.notes[0].startswith("−") else "dim"


def _bar(count: int | None, most: int, bar: str, width: int) -> str:
    """Something is drawn for whatever is there."""
    if not count or not most:
        return ""
    return bar * max(1, count * width // most)

"""HorizontalPodAutoscalers: asleep, waking, paused, or unable to read a metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ktui.cluster.autoscalers import sleep_obstacle, sleeps_not_before
from ktui.cluster.state import Cluster
from ktui.model.autoscaler import Amount, HorizontalPodAutoscaler, Metric, MetricTarget, MetricValue
from ktui.model.meta import Condition, condition
from ktui.model.time import format_age, format_time, parse_time
from ktui.views.base import Cell, Column, Document, Line, Row, RowKey, Section, Style, pairs
from ktui.views.events import event_lines
from ktui.views.scalingrules import held, next_sleep, rule_texts, rules_item, sleep_text, sleep_word
from ktui.views.shared import OBJECT_KINDS, ObjectsView, as_key, time_text

_NO_AVERAGE: Final = str(-(2**63))
"""What the controller of 1.37.2 writes as an average over no replicas at all: a division by zero."""


def autoscaler_state(hpa: HorizontalPodAutoscaler) -> tuple[str, Style]:
    """One word or two (autoscaling/v2 conditions, 1.37): a target that a person scaled to 0 is "paused" and never woken."""
    current = hpa.status.current_replicas or 0
    active = condition(hpa.status.conditions, "ScalingActive")
    asleep = condition(hpa.status.conditions, "ScaledToZero")
    able = condition(hpa.status.conditions, "AbleToScale")
    if hpa.paused:
        return "paused", "warn"
    if current == 0 and (hpa.status.desired_replicas or 0) > 0:
        return "waking", "accent"
    if asleep is not None and asleep.status == "True":
        # Rewritten at every rescale of its own only: a person who scaled the target up again leaves it at True.
        if current == 0:
            return "asleep", "dim"
        if hpa.status.desired_replicas == 0:
            return "going to 0", "accent"
    if able is not None and able.status == "False":
        return "cannot scale", "bad"
    if active is not None and active.status == "False":
        return "no metric", "bad"
    return ("active", "ok") if active is not None else ("new", "dim")


class AutoscalersView(ObjectsView):
    id: Final = "autoscalers"
    title = "Autoscalers"
    order = "namespace"
    kind = OBJECT_KINDS["autoscalers"]
    kinds = ("HorizontalPodAutoscaler",)
    joins = ("Event",)
    unseen = ("Event",)
    columns = (
        Column("namespace", "NAMESPACE", 9, 1, priority=8),
        Column("name", "AUTOSCALER", 12, 2, priority=9),
        Column("target", "TARGET", 14, 2, priority=3),
        Column("min", "MIN", 4, 0, priority=8, kind="number"),
        Column("now", "NOW", 4, 0, priority=8, kind="number"),
        Column("max", "MAX", 4, 0, priority=8, kind="number"),
        Column("state", "STATE", 12, 0, priority=7),
        Column("sleeps", "SLEEPS", 8, 0, priority=4, wide=True),
        Column("metrics", "METRICS", 14, 3, priority=1),
        Column("age", "AGE", 6, 0, priority=2, kind="age"),
        Column("why", "WHY", 12, 4, priority=6),
    )

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        hpa = _find(cluster, key)
        if hpa is None:
            return None
        state, style = autoscaler_state(hpa)
        current = hpa.status.current_replicas or 0
        target = f"{hpa.spec.scale_target_ref.kind}/{hpa.spec.scale_target_ref.name}"
        metrics = ", ".join(_metric_texts(hpa))
        created = parse_time(hpa.metadata.creation_timestamp)
        why = _why(hpa)
        cells = (
            Cell(hpa.namespace),
            Cell(hpa.name),
            Cell(target),
            Cell(str(hpa.min_replicas)),
            Cell(str(current)),
            Cell(str(hpa.spec.max_replicas)),
            Cell(state, style),
            Cell(sleep_word(hpa), "dim"),
            Cell(metrics),
            Cell("", "dim"),
            Cell(why, style if style == "bad" else ""),
        )
        replicas = (hpa.min_replicas, current, hpa.spec.max_replicas)
        sort = (hpa.namespace, hpa.name, target, *replicas, state, sleep_word(hpa), metrics, -(created or 0.0), why)
        return Row(
            key=hpa.key,
            cells=cells,
            sort=sort,
            uid=hpa.metadata.uid,
            namespace=hpa.namespace,
            since=created,
            problem=style in ("bad", "warn"),
        )

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        hpa = _find(cluster, key)
        if hpa is None:
            return ()
        state, style = autoscaler_state(hpa)
        about = pairs(
            ("state", state, style),
            ("target", f"{hpa.spec.scale_target_ref.kind}/{hpa.spec.scale_target_ref.name}"),
            (
                "replicas",
                f"min {hpa.min_replicas} · now {hpa.status.current_replicas or 0} · max {hpa.spec.max_replicas}",
            ),
            ("desired", hpa.status.desired_replicas),
            ("may sleep", sleep_text(hpa)),
            ("goes to 0", next_sleep(cluster, hpa, now)),
            ("held back", _condition_text(held(hpa)), "accent"),
            ("last scaled", time_text(parse_time(hpa.status.last_scale_time), now)),
        )
        metrics = tuple((Cell(text),) for text in _metric_texts(hpa))
        behaviour = pairs(*rule_texts(hpa))
        sections = [
            Section(f"Autoscaler {hpa.namespace}/{hpa.name}", about),
            Section("Metrics", metrics),
            Section("Behaviour", behaviour),
            Section("Conditions", tuple(_conditions(hpa, now))),
            Section("Events", tuple(event_lines(cluster, hpa.metadata.uid, now))),
        ]
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        hpa = _find(cluster, key)
        if hpa is None:
            return None
        ref, holding = hpa.spec.scale_target_ref, held(hpa)
        earliest = sleeps_not_before(cluster, hpa)
        return {
            "namespace": hpa.namespace,
            "name": hpa.name,
            "target": {"kind": ref.kind, "name": ref.name},
            "minReplicas": hpa.min_replicas,
            "maxReplicas": hpa.spec.max_replicas,
            "currentReplicas": hpa.status.current_replicas or 0,
            "desiredReplicas": hpa.status.desired_replicas or 0,
            "state": autoscaler_state(hpa)[0],
            "maySleep": hpa.may_sleep,
            "sleepObstacle": sleep_obstacle(hpa),
            "sleepsNotBefore": None if earliest is None else format_time(earliest),
            "heldBack": None if holding is None else {"reason": holding.reason, "message": holding.message},
            "behavior": {
                "scaleUp": rules_item(hpa.spec.rules(up=True)),
                "scaleDown": rules_item(hpa.spec.rules(up=False)),
            },
            "lastScaleTime": hpa.status.last_scale_time,
            "metrics": [_metric_item(place, metric, hpa) for place, metric in enumerate(hpa.spec.metrics or ())],
            "conditions": [
                {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message}
                for c in hpa.status.conditions or ()
            ],
        }


def _metric_texts(hpa: HorizontalPodAutoscaler) -> Iterator[str]:
    return (metric_text(place, metric, hpa) for place, metric in enumerate(hpa.spec.metrics or ()))


def metric_text(place: int, metric: Metric, hpa: HorizontalPodAutoscaler) -> str:
    """The metric at a place of the spec, as kubectl writes it: "cpu 43%/50%", "<unknown>" where it could not be read."""
    source = metric.source
    if source is None:
        return metric.type
    name, container, of = source.about
    which = "".join((f" of {container}" if container else "", f" of {of}" if of else ""))
    return f"{name}{which} {_amount(_current(place, metric, hpa))}/{_amount(source.target)}"


def _metric_item(place: int, metric: Metric, hpa: HorizontalPodAutoscaler) -> Document:
    source = metric.source
    current = _current(place, metric, hpa)
    return {
        "type": metric.type,
        "name": source.label if source else None,
        "target": _values(source.target) if source else None,
        "current": _values(current),
        "text": metric_text(place, metric, hpa),
    }


def _current(place: int, metric: Metric, hpa: HorizontalPodAutoscaler) -> MetricValue | None:
    """What was read. The controller writes the status in the order of the spec; looked for by what is measured, but among
    several of one name (their selectors differ) by the place."""
    if metric.source is None:
        return None
    read = hpa.status.current_metrics or ()
    for found in (*read[place : place + 1], *read):
        if found.type == metric.type and found.source is not None and found.source.about == metric.source.about:
            return found.source.current
    return None


def _values(value: MetricTarget | MetricValue | None) -> Document | None:
    """The amounts as they are on the wire; None for what was not read, or was an average over nothing."""
    if value is None or _amount(value) in ("<unknown>", "-"):
        return None
    return {"value": value.value, "averageValue": value.average_value, "averageUtilization": value.average_utilization}


def _amount(value: MetricTarget | MetricValue | None) -> str:
    if value is None:
        return "<unknown>"
    if value.average_utilization is not None:
        return f"{value.average_utilization}%"
    amount: Amount = value.average_value if value.average_value is not None else value.value
    if str(amount).startswith(_NO_AVERAGE):
        return "-"
    return "<unknown>" if amount is None else f"{amount}{' (avg)' if value.average_value is not None else ''}"


def _why(hpa: HorizontalPodAutoscaler) -> str:
    """What is wrong, else what holds it back."""
    for type_ in ("AbleToScale", "ScalingActive"):
        found = condition(hpa.status.conditions, type_)
        if found is not None and found.status == "False":
            return found.message or found.reason or ""
    holding = held(hpa)
    return (holding.message or holding.reason or "") if holding is not None else ""


def _condition_text(found: Condition | None) -> str:
    return ": ".join(part for part in (found.reason, found.message) if part) if found is not None else ""


def _conditions(hpa: HorizontalPodAutoscaler, now: float) -> Iterable[Line]:
    for c in hpa.status.conditions or ():
        since = parse_time(c.last_transition_time)
        age = format_age(now - since) if since is not None else "-"
        bad = c.status == "False" and c.type in ("AbleToScale", "ScalingActive")
        text = " ".join(part for part in (c.reason, c.message) if part)
        yield (Cell(f"{age:>6}  ", "dim"), Cell(f"{c.type} {c.status}  ", "bad" if bad else ""), Cell(text))


def _find(cluster: Cluster, key: RowKey) -> HorizontalPodAutoscaler | None:
    found = cluster.stores["HorizontalPodAutoscaler"].get(as_key(key))
    return found if isinstance(found, HorizontalPodAutoscaler) else None


VIEW = AutoscalersView()

"""Taints on devices: rules that people and monitors made, and taints that drivers published."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Final, cast

from ktui.cluster.allocation import holders, users
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, TaintKey, scope, slice_taints
from ktui.model.meta import Condition, condition
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint
from ktui.model.taintrule import EVICTION_IN_PROGRESS, DeviceTaintRule
from ktui.model.time import parse_time
from ktui.views.base import Cell, Column, Document, Row, RowKey, Section, Style, pairs
from ktui.views.eviction import fate_document, fate_lines, fates, summary
from ktui.views.shared import device_full, time_text

_COUNTED: Final = 512
"""Devices of one rule that a row looks at: one that selects a whole fleet must not cost the fleet each time a pod changes.
The detail and the JSON have them all."""
_EFFECT_STYLE: Final[dict[str, Style]] = {"NoExecute": "bad", "NoSchedule": "warn"}


def taint_document(taint: EffectiveTaint) -> Document:
    """A taint as JSON: where it comes from is "slice" (the driver) or the rule's name."""
    t = taint.taint
    source = f"rule/{taint.rule}" if taint.source == "rule" else "slice"
    return {"key": t.key, "value": t.value, "effect": t.effect, "source": source, "timeAdded": t.time_added}


class TaintsView:
    id: Final = "taints"
    title = "Taints"
    order = "taint"
    kinds = ("DeviceTaintRule",)
    joins = ("ResourceSlice", "ResourceClaim", "Pod")
    makers = ("ResourceSlice",)
    unseen = ()
    labelled = "DeviceTaintRule"
    named = ""  # a taint is found by its key as well
    columns = (
        Column("taint", "TAINT", 16, 3, priority=9),
        Column("effect", "EFFECT", 10, 0, priority=8),
        Column("devices", "DEVICES", 20, 4, priority=7),
        Column("source", "SOURCE", 12, 2, priority=6),
        Column("count", "DEV", 5, 0, priority=3, kind="number"),
        Column("pods", "PODS", 5, 0, priority=5, kind="number"),
        Column("eviction", "EVICTION", 18, 3, priority=2),
        Column("age", "AGE", 6, 0, priority=4, kind="age"),
    )

    def keys(self, cluster: Cluster) -> Iterable[TaintKey]:
        rules = sorted(("rule", name) for _, name in cluster.stores["DeviceTaintRule"].objects)
        return [*rules, *sorted(slice_taints(cluster))]

    def row(self, cluster: Cluster, key: RowKey) -> Row | None:
        found = _find(cluster, key, _COUNTED + 1)
        if found is None:
            return None
        taint, rule, devices, where = found
        more = "+" if len(devices) > _COUNTED else ""
        devices = devices[:_COUNTED]
        pods = _pods(cluster, devices)
        source = f"rule {rule.name}" if rule else "driver"
        progress = eviction(rule)
        reach = _reach(rule)
        cells = (
            Cell(_text(taint)),
            Cell(taint.effect, _EFFECT_STYLE.get(taint.effect, "dim")),
            Cell(where, reach),
            Cell(source, "" if rule else "dim"),
            Cell(f"{len(devices)}{more}", "" if devices else "warn"),
            Cell(f"{len(pods)}{more}", _EFFECT_STYLE.get(taint.effect, "") if pods else "dim"),
            Cell(progress),
            Cell("", "dim"),
        )
        since = parse_time(taint.time_added) or (parse_time(rule.metadata.creation_timestamp) if rule else None)
        sort = (_text(taint), taint.effect, where, source, len(devices), len(pods), progress, -(since or 0.0))
        return Row(
            key=key,
            cells=cells,
            sort=sort,
            uid=rule.metadata.uid if rule else str(key),
            since=since,
            problem=taint.effect in _EFFECT_STYLE,
        )

    def names(self, cluster: Cluster, key: RowKey) -> tuple[str, ...]:
        found = _find(cluster, key)
        if found is None:
            return ()
        taint, rule, devices, _ = found
        return (rule.name if rule else device_full(devices[0]), taint.key)

    def labels(self, cluster: Cluster, key: RowKey) -> dict[str, str]:
        found = _find(cluster, key)
        rule = found[1] if found else None
        return (rule.metadata.labels or {}) if rule else {}

    def detail(self, cluster: Cluster, key: RowKey, now: float) -> tuple[Section, ...]:
        found = _find(cluster, key)
        if found is None:
            return ()
        taint, rule, devices, where = found
        said = _condition(rule)
        about = pairs(
            ("effect", taint.effect, _EFFECT_STYLE.get(taint.effect, "dim")),
            ("selects", where, _reach(rule)),
            (
                "matches",
                "" if devices or not cluster.readable("ResourceSlice") else "no device that is published",
                "warn",
            ),
            ("source", f"DeviceTaintRule {rule.name}" if rule else "published by the driver: no person can remove it"),
            ("added", time_text(parse_time(taint.time_added), now)),
            ("controller", f"{eviction(rule)}: {said.message}" if said else ""),
            ("pods", summary(hit := fates(cluster, devices, taint))),
        )
        sections = [
            Section(f"Taint {_text(taint)}", about),
            Section(f"Devices ({len(devices)})", tuple((Cell(device_full(d)),) for d in devices[:200])),
            Section(f"Pods that use them ({len(hit)})", tuple(fate_lines(cluster, hit[:200], taint, now))),
        ]
        return tuple(section for section in sections if section.lines)

    def item(self, cluster: Cluster, key: RowKey) -> Document | None:
        found = _find(cluster, key)
        if found is None:
            return None
        taint, rule, devices, where = found
        said = _condition(rule)
        return {
            "name": rule.name if rule else None,
            **taint_document(EffectiveTaint(taint, "rule" if rule else "slice", rule.name if rule else "")),
            "selects": where,
            "devices": [{"driver": d[0], "pool": d[1], "device": d[2]} for d in devices],
            "pods": [fate_document(fate) for fate in fates(cluster, devices, taint)],
            "eviction": {"status": said.status, "reason": said.reason, "message": said.message} if said else None,
        }


def eviction(rule: DeviceTaintRule | None) -> str:
    """What the eviction controller says of the rule's current spec; its words are unstable, so they are only passed on."""
    said = _condition(rule)
    if rule is None or said is None:
        return ""
    if said.observed_generation is not None and said.observed_generation != rule.metadata.generation:
        return "not seen yet"
    return said.reason or ""


def _reach(rule: DeviceTaintRule | None) -> Style:
    """A rule for one device is as it should be; one that is not even kept to a pool hits devices nobody thought of."""
    selector = rule.spec.device_selector if rule else None
    if selector is None or (rule is not None and rule.exact):
        return ""
    return "warn" if selector.driver and selector.pool else "bad"


def _condition(rule: DeviceTaintRule | None) -> Condition | None:
    return condition(rule.status.conditions, EVICTION_IN_PROGRESS) if rule else None


def _text(taint: DeviceTaint) -> str:
    return f"{taint.key}={taint.value}" if taint.value else taint.key


def _find(
    cluster: Cluster, key: RowKey, most: int | None = None
) -> tuple[DeviceTaint, DeviceTaintRule | None, list[DeviceId], str] | None:
    kind, *rest = cast("TaintKey", key)
    if kind == "rule":
        rule = cluster.stores["DeviceTaintRule"].get(("", rest[0]))
        if not isinstance(rule, DeviceTaintRule):
            return None
        known = (device for device in cluster.devices_of_rule(rule) if _is_known(cluster, device))
        devices = sorted(islice(known, most))
        return rule.spec.taint, rule, devices, scope(rule.spec.device_selector)
    driver, pool, device, name, value, effect = rest
    published = cluster.device((driver, pool, device))
    for taint in (published.device.taints or ()) if published else ():
        if (taint.key, taint.value or "", taint.effect) == (name, value, effect):
            return taint, None, [(driver, pool, device)], f"{driver}/{pool}/{device}"
    return None


def _is_known(cluster: Cluster, device: DeviceId) -> bool:
    """A rule may name a device that nobody published: with a slip of the pen in it, it taints nothing."""
    return cluster.device(device) is not None or device in cluster.claims_by_device


def _pods(cluster: Cluster, devices: list[DeviceId]) -> list[Pod]:
    found = {
        pod.key: pod for device in devices for claim, _ in holders(cluster, device) for pod in users(cluster, claim.key)
    }
    return [found[key] for key in sorted(found)]


VIEW = TaintsView()

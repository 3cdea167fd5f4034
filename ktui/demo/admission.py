"""Defaults and validation of the kinds that ktui writes, as the API server applies them. Other kinds are stored as they come.

To let the server check another kind: its known fields in `FIELDS`, and a function in `ADMIT`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ktui.demo import status
from ktui.demo.mvcc import JSON
from ktui.model.kinds import Kind

Cause = tuple[str, str, str]

Shape = dict[str, Any]
"""Known fields: a name → the shape below it, or None where anything may follow. Lists have the shape of their items."""

FIELDS: Final[dict[str, Shape]] = {
    "DeviceTaintRule": {
        "spec": {
            "deviceSelector": {"driver": None, "pool": None, "device": None},
            "taint": {"key": None, "value": None, "effect": None, "timeAdded": None},
        },
        "status": {"conditions": None},
    },
    "HorizontalPodAutoscaler": {
        "spec": {
            "scaleTargetRef": {"apiVersion": None, "kind": None, "name": None},
            "minReplicas": None,
            "maxReplicas": None,
            "metrics": None,
            "behavior": None,
        },
        "status": None,
    },
}


_WITHOUT_STATUS: Final = frozenset({"DeviceClass", "Event", "ResourceClaimTemplate", "ResourceSlice", "Workload"})
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")


def check_name(kind: Kind, name: Any) -> None:
    """Raises Refused (422) for a name that is no RFC 1123 subdomain; that there is none is not said here."""
    if isinstance(name, str) and name and not _SUBDOMAIN.fullmatch(name):
        why = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start"
            " and end with an alphanumeric character"
        )
        raise status.invalid(kind, name, ("FieldValueInvalid", "metadata.name", f'Invalid value: "{name}": {why}'))


def has_status(kind: Kind) -> bool:
    """Whether the kind has a status, and with it a subresource of that name."""
    return kind.name not in _WITHOUT_STATUS


def without_status(kind: Kind, obj: JSON) -> JSON:
    """A new object as a person may make it: its status is the controllers' to write."""
    if not has_status(kind):
        return obj
    return {**obj, "status": {"phase": "Pending"} if kind.name == "Pod" else {}}


def unknown_fields(kind: Kind, obj: JSON) -> list[str]:
    """Paths that the kind does not have, for fieldValidation=Strict."""
    shape = FIELDS.get(kind.name)
    if shape is None:
        return []
    return list(_unknown(obj, {"kind": None, "apiVersion": None, "metadata": None, **shape}, ""))


def _unknown(value: Any, shape: Shape | None, prefix: str) -> list[str]:
    if shape is None or not isinstance(value, dict):
        return []
    found = [f"{prefix}{name}" for name in value if name not in shape]
    for name, below in shape.items():
        found += _unknown(value.get(name), below, f"{prefix}{name}.")
    return found


def known_fields(kind: Kind, obj: JSON) -> JSON:
    """The object without what the kind does not have: a decoder has no place for it."""
    shape = FIELDS.get(kind.name)
    known: JSON = obj if shape is None else _known(obj, {"metadata": None, **shape})
    return known


def _known(value: Any, shape: Shape | None) -> Any:
    if shape is None or not isinstance(value, dict):
        return value
    return {name: _known(each, shape[name]) for name, each in value.items() if name in shape}


def admit(kind: Kind, obj: JSON, now: str, *, scale_to_zero: bool = True) -> JSON:
    """The object with its defaults. Raises Refused (422) when it breaks a rule. `now` is RFC 3339; `scale_to_zero` is the gate
    HPAScaleToZero."""
    check = ADMIT.get(kind.name)
    if check is None:
        return obj
    admitted, causes = check(obj, now, scale_to_zero)
    if causes:
        raise status.invalid(kind, obj["metadata"].get("name", ""), *causes)
    return admitted


def prepared(kind: Kind, new: JSON, old: JSON) -> JSON:
    """What an update changes besides what was asked for: the timeAdded of a DeviceTaintRule says since when its effect has been
    what it is, so a new effect brings a new time (registry/resource/devicetaintrule)."""
    if kind.name != "DeviceTaintRule":
        return new
    spec = new.get("spec") or {}
    taint, before = spec.get("taint") or {}, (old.get("spec") or {}).get("taint") or {}
    if taint.get("effect") == before.get("effect") or taint.get("timeAdded") != before.get("timeAdded"):
        return new
    return {**new, "spec": {**spec, "taint": {name: each for name, each in taint.items() if name != "timeAdded"}}}


def _taint_rule(obj: JSON, now: str, _: bool) -> tuple[JSON, list[Cause]]:
    """resource.k8s.io validateDeviceTaintRule; timeAdded is set by the server when absent."""
    spec = obj.get("spec") or {}
    taint = spec.get("taint") or {}
    causes: list[Cause] = []
    if not taint.get("key"):
        causes.append(("FieldValueInvalid", "spec.taint.key", 'Invalid value: "": name part must be non-empty'))
    effect = taint.get("effect")
    if not effect:
        causes.append(("FieldValueRequired", "spec.taint.effect", "Required value"))
    elif effect not in ("None", "NoSchedule", "NoExecute"):
        supported = '"NoExecute", "NoSchedule", "None"'
        causes.append(
            (
                "FieldValueNotSupported",
                "spec.taint.effect",
                f'Unsupported value: "{effect}": supported values: {supported}',
            )
        )
    return {**obj, "spec": {**spec, "taint": {"timeAdded": now, **taint}}}, causes


def _autoscaler(obj: JSON, _: str, scale_to_zero: bool) -> tuple[JSON, list[Cause]]:
    """autoscaling/v2 ValidateHorizontalPodAutoscaler; an absent minReplicas is 1."""
    spec = {"minReplicas": 1, **{name: value for name, value in (obj.get("spec") or {}).items() if value is not None}}
    lowest, highest = spec["minReplicas"], spec.get("maxReplicas", 0)
    causes: list[Cause] = []
    if not isinstance(lowest, int) or not isinstance(highest, int):
        raise status.bad_request("json: cannot unmarshal into Go struct field of type int32")
    scalable = any(metric.get("type") in ("Object", "External") for metric in spec.get("metrics") or ())
    least = 0 if scale_to_zero else 1
    if lowest < least:
        why = f"Invalid value: {lowest}: must be greater than or equal to {least}"
        causes.append(("FieldValueInvalid", "spec.minReplicas", why))
    elif lowest == 0 and not scalable:
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        causes.append(("FieldValueForbidden", "spec.metrics", f"Forbidden: {why}"))
    if highest < 1:
        causes.append(("FieldValueInvalid", "spec.maxReplicas", f"Invalid value: {highest}: must be greater than 0"))
    if highest < lowest:
        why = "must be greater than or equal to `minReplicas`"
        causes.append(("FieldValueInvalid", "spec.maxReplicas", f"Invalid value: {highest}: {why}"))
    return {**obj, "spec": spec}, causes


ADMIT: Final[dict[str, Callable[[JSON, str, bool], tuple[JSON, list[Cause]]]]] = {
    "DeviceTaintRule": _taint_rule,
    "HorizontalPodAutoscaler": _autoscaler,
}

"""Label and field selectors of a list or watch, parsed into predicates on objects."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from ktui.demo import status
from ktui.demo.mvcc import JSON

Predicate = Callable[[JSON], bool]

_SET: Final = re.compile(r"(?P<key>[^\s!=(),]+)\s+(?P<operator>in|notin)\s+\((?P<values>[^()]*)\)")
_PAIR: Final = re.compile(r"(?P<key>[^\s!=(),]+)\s*(?P<operator>==|=|!=)\s*(?P<value>[^\s!=(),]*)")
_EXISTS: Final = re.compile(r"(?P<not>!?)\s*(?P<key>[^\s!=(),]+)")


_METADATA: Final = frozenset({"metadata.name", "metadata.namespace"})
_FIELDS: Final = {
    "Pod": {
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    },
    "Node": {"spec.unschedulable"},
    "Namespace": {"status.phase"},
    "Job": {"status.successful"},
    "ResourceSlice": {"spec.nodeName", "spec.driver", "spec.pool.name"},
    "Event": {
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    },
}
"""Kind → the fields beside its name and namespace that it can be selected by, as the API converts them."""


def label_selector(text: str) -> Predicate:
    """Equality and set-based terms, joined by commas. Raises Refused (400) for anything else."""
    terms = [_label_term(term.strip()) for term in re.split(r",(?![^(]*\))", text)] if text else []
    return lambda obj: all(term(obj["metadata"].get("labels") or {}) for term in terms)


def field_selector(text: str, kind: str) -> Predicate:
    """`path=value` and `path!=value` terms; an absent field is "". Raises Refused (400) for a field that the kind lacks."""
    terms = [_field_term(term.strip(), kind) for term in text.split(",")] if text else []
    return lambda obj: all(term(obj) for term in terms)


def _label_term(term: str) -> Callable[[dict[str, str]], bool]:
    if match := _SET.fullmatch(term):
        key, values = match["key"], {value.strip() for value in match["values"].split(",")}
        if match["operator"] == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _PAIR.fullmatch(term):
        key, value = match["key"], match["value"]
        if match["operator"] == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _EXISTS.fullmatch(term):
        key, wanted = match["key"], not match["not"]
        return lambda labels: (key in labels) is wanted
    raise status.bad_request(f"unable to parse requirement: {term}")


def _field_term(term: str, kind: str) -> Predicate:
    match = re.fullmatch(r"([\w.]+)(==|=|!=)(.*)", term)
    if match is None:
        raise status.bad_request(f"invalid selector: '{term}'; can't understand '{term}'")
    path, operator, value = match.groups()
    if path not in _METADATA and path not in _FIELDS.get(kind, ()):
        raise status.bad_request(f"field label not supported: {path}")
    return lambda obj: (_field(obj, path) == value) is (operator != "!=")


def _field(obj: JSON, path: str) -> str:
    value: Any = obj
    for part in path.split("."):
        value = value.get(part) if isinstance(value, dict) else None
    return "" if value is None else str(value)

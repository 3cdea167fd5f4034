"""Whether a pod may run on a node, apart from resources and devices: the scheduler's NodeName, NodeUnschedulable, NodeAffinity
and TaintToleration plugins of 1.37.2, and the node selector that slices, devices and allocations share with them.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from typing import Final, Literal, NamedTuple

from ktui.model.node import Node, NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, NodeTaint
from ktui.model.pod import Pod, Toleration

_BLOCKING: Final = ("NoSchedule", "NoExecute")
_UNSCHEDULABLE: Final = NodeTaint("node.kubernetes.io/unschedulable", None, "NoSchedule")
"""The taint that stands for spec.unschedulable: who tolerates it may run on a cordoned node."""
_LABEL_VALUE: Final = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?\Z")
_LABEL_NUMBER: Final = re.compile(r"[0-9]{1,63}\Z")
_DECIMAL: Final = re.compile(r"(?:0|-?[1-9][0-9]{0,18})\Z")
_INT64: Final = range(-(2**63), 2**63)
_TERMS_SHOWN: Final = 3


class Obstacle(NamedTuple):
    """What keeps the pod off the node. `text` is the part of the pod or the node that does it, as kubectl writes it: the node
    name or label that the pod asks for, its affinity's requirements, the node's taint; "" for a cordoned node."""

    kind: Literal["name", "unschedulable", "selector", "affinity", "taint"]
    text: str


def obstacles(pod: Pod, node: Node) -> tuple[Obstacle, ...]:
    """Everything that keeps the pod off the node, () when nothing does."""
    return tuple(_obstacles(pod, node))


def signature(pod: Pod) -> Hashable:
    """All of the pod that `obstacles` depends on: pods with equal signatures may run on the same nodes."""
    spec = pod.spec
    selector = frozenset((spec.node_selector or {}).items())
    return (spec.node_name or "", selector, _required(pod), spec.tolerations or ())


def matches_selector(selector: NodeSelector | None, node: Node) -> bool:
    """Whether any term matches. No selector matches every node; a selector without terms, an empty term, and a term with a
    requirement that cannot be parsed match none (component-helpers nodeaffinity)."""
    if selector is None:
        return True
    return any(_term_matches(term, node) for term in selector.node_selector_terms or ())


def tolerates_node_taint(toleration: Toleration, taint: NodeTaint) -> bool:
    """core/v1 Toleration.ToleratesTaint. Lt and Gt (KEP-5471) are taken as enabled: an API server that has their gate off
    does not accept them."""
    if (toleration.effect and toleration.effect != taint.effect) or (toleration.key and toleration.key != taint.key):
        return False
    match toleration.operator or "Equal":
        case "Equal":
            return (toleration.value or "") == (taint.value or "")
        case "Exists":
            return True
        case "Lt" | "Gt" as operator:
            limit, value = _int64(_DECIMAL, toleration.value), _int64(_DECIMAL, taint.value)
            return limit is not None and value is not None and (value < limit if operator == "Lt" else value > limit)
        case _:
            return False


def _obstacles(pod: Pod, node: Node) -> Iterator[Obstacle]:
    spec, labels = pod.spec, node.metadata.labels or {}
    if spec.node_name and spec.node_name != node.name:
        yield Obstacle("name", spec.node_name)
    cordoned = node.spec.unschedulable is True
    if cordoned and not _tolerated(pod, _UNSCHEDULABLE):
        yield Obstacle("unschedulable", "")
    for key, value in (spec.node_selector or {}).items():
        if labels.get(key) != value:
            yield Obstacle("selector", f"{key}={value}")
    required = _required(pod)
    if not matches_selector(required, node):
        yield Obstacle("affinity", _unmet(required, node))
    for taint in node.spec.taints or ():
        if taint.effect not in _BLOCKING or (cordoned and taint.key == _UNSCHEDULABLE.key):
            continue  # a cordoned node has the taint as well, which is said already
        if not _tolerated(pod, taint):
            value = f"={taint.value}" if taint.value else ""
            yield Obstacle("taint", f"{taint.key}{value}:{taint.effect}")


def _required(pod: Pod) -> NodeSelector | None:
    affinity = pod.spec.affinity
    return affinity.node_affinity.required if affinity and affinity.node_affinity else None


def _tolerated(pod: Pod, taint: NodeTaint) -> bool:
    return any(tolerates_node_taint(toleration, taint) for toleration in pod.spec.tolerations or ())


def _term_matches(term: NodeSelectorTerm, node: Node) -> bool:
    if not (term.match_expressions or term.match_fields):
        return False
    return not any(True for _ in _unmet_requirements(term, node))


def _unmet_requirements(term: NodeSelectorTerm, node: Node) -> Iterator[NodeSelectorRequirement]:
    labels = node.metadata.labels or {}
    for requirement in term.match_expressions or ():
        if not _label_matches(requirement, labels.get(requirement.key)):
            yield requirement
    for requirement in term.match_fields or ():
        if not _field_matches(requirement, node.name if requirement.key == "metadata.name" else ""):
            yield requirement


def _label_matches(requirement: NodeSelectorRequirement, have: str | None) -> bool:
    """labels.NewRequirement and Requirement.Matches: what cannot be parsed matches nothing, a negation included."""
    values = requirement.values or ()
    if not all(_LABEL_VALUE.match(value) for value in values):
        return False
    match requirement.operator:
        case "In":
            return have is not None and have in values
        case "NotIn":
            return bool(values) and (have is None or have not in values)
        case "Exists":
            return have is not None and not values
        case "DoesNotExist":
            return have is None and not values
        case "Gt" | "Lt" as operator if len(values) == 1:
            limit, number = _int64(_LABEL_NUMBER, values[0]), _int64(_LABEL_NUMBER, have)
            return limit is not None and number is not None and (number > limit if operator == "Gt" else number < limit)
        case _:
            return False


def _field_matches(requirement: NodeSelectorRequirement, have: str) -> bool:
    """Fields know In and NotIn, with exactly one value; metadata.name is the only field a node has."""
    values = requirement.values or ()
    if len(values) != 1 or requirement.operator not in ("In", "NotIn"):
        return False
    return (have == values[0]) == (requirement.operator == "In")


def _int64(form: re.Pattern[str], text: str | None) -> int | None:
    if text is None or not form.match(text):
        return None
    number = int(text)
    return number if number in _INT64 else None


def _unmet(selector: NodeSelector | None, node: Node) -> str:
    """The requirements that the node does not meet, by term; of many terms the first ones."""
    terms = (selector.node_selector_terms or ()) if selector else ()
    shown = [" and ".join(_written(r) for r in _unmet_requirements(term, node)) for term in terms[:_TERMS_SHOWN]]
    more = [f"{len(terms) - _TERMS_SHOWN} more"] if len(terms) > _TERMS_SHOWN else []
    return " or ".join([text for text in shown if text] + more) or "no terms"


def _written(requirement: NodeSelectorRequirement) -> str:
    values = f" ({', '.join(requirement.values)})" if requirement.values else ""
    return f"{requirement.key} {requirement.operator}{values}"

"""Where a pod may run: the rules of the scheduler's node plugins, one case each."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.nodefit import Obstacle, matches_selector, obstacles, signature
from ktui.model.node import Node, NodeSelector
from ktui.model.pod import Pod
from tests.unit import builders as b


def node(name: str = "node-1", labels: dict[str, str] | None = None, **spec: Any) -> Node:
    return b.make(Node, {"metadata": b.meta(name, "", labels=labels or {}), "spec": spec})


def selecting(*terms: list[dict[str, Any]], fields: list[dict[str, Any]] | None = None) -> NodeSelector:
    """A node selector with one term for each list of label requirements, or one with field requirements."""
    documents: list[dict[str, Any]] = [{"matchExpressions": term} for term in terms]
    if fields is not None:
        documents.append({"matchFields": fields})
    pod = requiring({"nodeSelectorTerms": documents})
    assert pod.spec.affinity is not None
    assert pod.spec.affinity.node_affinity is not None
    assert pod.spec.affinity.node_affinity.required is not None
    return pod.spec.affinity.node_affinity.required


def requiring(selector: dict[str, Any], **spec: Any) -> Pod:
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}
    return b.pod("p", spec={"affinity": affinity, **spec})


def needs(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, "values": list(values)}


LABELS = {"zone": "a", "gpus": "8", "empty": ""}


@pytest.mark.parametrize(
    ("requirement", "matches"),
    [
        (needs("zone", "In", "b", "a"), True),
        (needs("zone", "In", "b"), False),
        (needs("zone", "In"), False),
        (needs("rack", "In", ""), False),
        (needs("empty", "In", ""), True),
        (needs("zone", "NotIn", "b"), True),
        (needs("zone", "NotIn", "a"), False),
        (needs("rack", "NotIn", "a"), True),
        (needs("rack", "NotIn"), False),
        (needs("zone", "Exists"), True),
        (needs("empty", "Exists"), True),
        (needs("rack", "Exists"), False),
        (needs("zone", "Exists", "a"), False),
        (needs("rack", "DoesNotExist"), True),
        (needs("zone", "DoesNotExist"), False),
        (needs("rack", "DoesNotExist", "a"), False),
        (needs("gpus", "Gt", "7"), True),
        (needs("gpus", "Gt", "8"), False),
        (needs("gpus", "Lt", "09"), True),
        (needs("gpus", "Lt", "8"), False),
        (needs("gpus", "Gt", "7", "1"), False),
        (needs("gpus", "Lt", "many"), False),
        (needs("gpus", "Lt", str(2**63)), False),
        (needs("zone", "Gt", "1"), False),
        (needs("rack", "Lt", "1"), False),
        (needs("zone", "Near", "a"), False),
        (needs("zone", "NotIn", "not a label value"), False),
        (needs("zone", "NotIn", "x" * 63), True),
        (needs("zone", "NotIn", "x" * 64), False),
    ],
)
def test_a_label_requirement_matches_as_in_the_scheduler(requirement: dict[str, Any], matches: bool) -> None:
    assert matches_selector(selecting([requirement]), node(labels=LABELS)) is matches


@pytest.mark.parametrize(
    ("requirement", "matches"),
    [
        (needs("metadata.name", "In", "node-1"), True),
        (needs("metadata.name", "In", "node-2"), False),
        (needs("metadata.name", "In", "node-1", "node-2"), False),
        (needs("metadata.name", "NotIn", "node-2"), True),
        (needs("metadata.name", "NotIn", "node-1"), False),
        (needs("metadata.name", "Exists"), False),
        (needs("spec.name", "In", "node-1"), False),
    ],
)
def test_a_field_requirement_knows_one_name(requirement: dict[str, Any], matches: bool) -> None:
    assert matches_selector(selecting(fields=[requirement]), node()) is matches


def test_terms_are_alternatives_and_empty_ones_match_nothing() -> None:
    a, b_ = [needs("zone", "In", "a")], [needs("zone", "In", "b")]
    assert matches_selector(None, node())
    assert matches_selector(selecting(b_, a), node(labels=LABELS))
    assert not matches_selector(selecting(b_, [*a, needs("rack", "Exists")]), node(labels=LABELS))
    assert not matches_selector(selecting([]), node())
    assert not matches_selector(selecting(), node())
    assert matches_selector(selecting([needs("zone", "Near")], a), node(labels=LABELS))


@pytest.mark.parametrize(
    ("tolerations", "allowed"),
    [
        ([], False),
        ([{"operator": "Exists"}], True),
        ([{"key": "tier", "operator": "Exists"}], True),
        ([{"key": "tier", "operator": "Exists", "effect": "NoExecute"}], False),
        ([{"key": "tier", "operator": "Exists", "effect": "NoSchedule"}], True),
        ([{"key": "tier", "value": "950"}], True),
        ([{"key": "tier", "operator": "Equal", "value": "951"}], False),
        ([{"key": "other", "operator": "Exists"}], False),
        ([{"key": "tier", "operator": "Gt", "value": "900"}], True),
        ([{"key": "tier", "operator": "Gt", "value": "950"}], False),
        ([{"key": "tier", "operator": "Lt", "value": "1000"}], True),
        ([{"key": "tier", "operator": "Lt", "value": "0951"}], False),
        ([{"key": "tier", "operator": "Lt", "value": str(2**63)}], False),
        ([{"key": "tier", "operator": "Like", "value": "950"}], False),
    ],
)
def test_tolerations_against_a_taint(tolerations: list[dict[str, str]], allowed: bool) -> None:
    tainted = node(taints=[{"key": "tier", "value": "950", "effect": "NoSchedule"}])
    found = obstacles(b.pod("p", spec={"tolerations": tolerations}), tainted)
    assert found == (() if allowed else (Obstacle("taint", "tier=950:NoSchedule"),))


def test_a_taint_that_only_discourages_is_no_obstacle() -> None:
    assert obstacles(b.pod("p"), node(taints=[{"key": "old", "effect": "PreferNoSchedule"}])) == ()


def test_a_cordoned_node_says_so_once() -> None:
    cordoned = node(unschedulable=True, taints=[{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}])
    tolerant = {"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}
    assert obstacles(b.pod("p"), cordoned) == (Obstacle("unschedulable", ""),)
    assert obstacles(b.pod("p", spec=tolerant), cordoned) == ()


def test_each_obstacle_names_what_the_pod_asks_for() -> None:
    pod = requiring(
        {"nodeSelectorTerms": [{"matchExpressions": [needs("zone", "In", "b", "c"), needs("gpus", "Gt", "4")]}, {}]},
        nodeName="node-2",
        nodeSelector={"model": "h200", "zone": "a"},
    )
    assert obstacles(pod, node(labels=LABELS)) == (
        Obstacle("name", "node-2"),
        Obstacle("selector", "model=h200"),
        Obstacle("affinity", "zone In (b, c)"),
    )


def test_of_many_terms_the_first_are_named() -> None:
    terms = [{"matchFields": [needs("metadata.name", "In", f"n{i}")]} for i in range(9)]
    (found,) = obstacles(requiring({"nodeSelectorTerms": terms}), node())
    assert found.text.endswith("metadata.name In (n2) or 6 more")
    assert obstacles(requiring({"nodeSelectorTerms": []}), node()) == (Obstacle("affinity", "no terms"),)


def test_identical_pods_have_one_signature_and_others_another() -> None:
    spec: dict[str, Any] = {"nodeSelector": {"a": "1", "b": "2"}, "tolerations": [{"operator": "Exists"}]}
    first, second = b.pod("p", spec=spec), b.pod("q", spec={**spec, "nodeSelector": {"b": "2", "a": "1"}})
    assert hash(signature(first)) == hash(signature(second))
    assert signature(first) == signature(second)
    affinity = requiring({"nodeSelectorTerms": [{"matchExpressions": [needs("zone", "Exists")]}]}, **spec)
    others = [
        b.pod("p", spec={**spec, "nodeSelector": {"a": "1"}}),
        b.pod("p", spec={**spec, "tolerations": []}),
        b.pod("p", spec={**spec, "nodeName": "node-1"}),
        affinity,
    ]
    assert len({signature(pod) for pod in [first, *others]}) == 5

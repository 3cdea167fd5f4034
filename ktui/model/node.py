"""core/v1 Node, as far as placement needs it; and the node selector, which slices and affinities share."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire


class NodeSelectorRequirement(Wire, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(Wire, frozen=True):
    match_expressions: tuple[NodeSelectorRequirement, ...] | None = None
    match_fields: tuple[NodeSelectorRequirement, ...] | None = None


class NodeSelector(Wire, frozen=True):
    """A node matches when any term matches; a term matches when all its requirements do."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class NodeTaint(Wire, frozen=True):
    key: str = ""
    value: str | None = None
    effect: str = ""


class NodeSpec(Wire, frozen=True):
    unschedulable: bool | None = None
    taints: tuple[NodeTaint, ...] | None = None


class NodeInfo(Wire, frozen=True):
    """`running_in_user_namespace`: a kubelet without root (gate KubeletInUserNamespace); absent otherwise."""

    kubelet_version: str = ""
    running_in_user_namespace: bool | None = None


class NodeStatus(Wire, frozen=True):
    allocatable: dict[str, str | int | float] | None = None
    capacity: dict[str, str | int | float] | None = None
    conditions: tuple[Condition, ...] | None = None
    node_info: NodeInfo | None = None


class Node(Object, frozen=True):
    spec: NodeSpec = field(default_factory=NodeSpec)
    status: NodeStatus = field(default_factory=NodeStatus)

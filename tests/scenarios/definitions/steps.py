"""What is done to a cluster to end a trouble, or what only looks as if it could: each is a `Step` with its words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.scenarios.scenario import Step
from tests.scenarios.stage import Stage

Json = dict[str, Any]

DRA = "resource.k8s.io/v1"
GROUPS = "scheduling.k8s.io/v1beta1"


def make(text: str, *manifests: Json) -> Step:
    return Step(text, lambda stage: stage.create(manifests))


def delete(text: str, version: str, kind: str, name: str) -> Step:
    return Step(text, lambda stage: stage.delete(version, kind, name))


def delete_pod(name: str) -> Step:
    return delete(f"the pod {name} ends", "v1", "Pod", name)


def patch(text: str, version: str, kind: str, name: str, change: Json, part: str = "") -> Step:
    return Step(text, lambda stage: stage.patch(version, kind, name, change, part))


def republish(text: str, slice_: Json) -> Step:
    """The driver publishes a slice anew."""
    return patch(text, DRA, "ResourceSlice", slice_["metadata"]["name"], {"spec": slice_["spec"]})


def untaint(rule: str) -> Step:
    return delete(f"the rule {rule} is deleted", DRA, "DeviceTaintRule", rule)


def enlarge(text: str, node: str, amounts: Json) -> Step:
    """The node has more of some resources."""
    return patch(text, "v1", "Node", node, {"status": {"capacity": amounts, "allocatable": amounts}}, "status")


def let_go(text: str, *pods: str) -> Step:
    """Pods that are being deleted and were held are gone."""

    def act(stage: Stage) -> None:
        for pod in pods:
            stage.patch("v1", "Pod", pod, {"metadata": {"finalizers": None}})

    return Step(text, act)


def until_event(reason: str) -> Callable[[Stage], None]:
    """Waits until an event of that reason is there, of any object."""

    def act(stage: Stage) -> None:
        events = stage.path("v1", "Event")
        stage.until(lambda: [e for e in stage.api.list(events) if e["reason"] == reason], f"an event {reason}")

    return act


def label_node(name: str, **labels: str | None) -> Step:
    return patch(f"the node {name} is labelled", "v1", "Node", name, {"metadata": {"labels": labels}})

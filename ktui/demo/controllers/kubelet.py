"""The nodes' kubelets: a pod that has a node runs, a second later."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ktui.demo import objects
from ktui.demo.mvcc import JSON, Change
from ktui.demo.plane import Item, Plane

_START: Final = 1.0  # seconds


class Kubelet:
    kinds = ("Pod",)

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def affected(self, kind: str, change: Change) -> Iterable[Item]:  # noqa: ARG002 - there is one kind
        if change.type != "DELETED" and _starts(change.object) and not (change.previous and _starts(change.previous)):
            self._plane.later(_START, self, change.key)
        return ()

    def sync(self, item: Item) -> None:
        pod = self._plane.get("Pod", (item[0], item[1]))
        if pod is not None and _starts(pod):
            self._plane.put("Pod", objects.running(pod, self._plane.now()))


def _starts(pod: JSON) -> bool:
    return bool(pod["spec"].get("nodeName")) and (pod.get("status") or {}).get("phase", "Pending") == "Pending"

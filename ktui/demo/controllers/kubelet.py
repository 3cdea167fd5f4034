"""The nodes' kubelets: a pod that has a node runs a second later, and one that is deleted stops before it goes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ktui.demo import objects
from ktui.demo.ledger import terminating
from ktui.demo.mvcc import JSON, Change
from ktui.demo.plane import Item, Plane

_START: Final = 1.0  # seconds
_STOP: Final = 2.0  # of the grace period; what runs here listens to SIGTERM


class Kubelet:
    kinds = ("Pod",)

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def affected(self, kind: str, change: Change) -> Iterable[Item]:  # noqa: ARG002 - there is one kind
        if change.type == "DELETED":
            return ()
        pod, before = change.object, change.previous
        if terminating(pod) and not (before is not None and terminating(before)):
            self._plane.later(min(_STOP, pod["metadata"]["deletionGracePeriodSeconds"]), self, change.key)
        elif _starts(pod) and not (before is not None and _starts(before)):
            self._plane.later(_START, self, change.key)
        return ()

    def sync(self, item: Item) -> None:
        key = (item[0], item[1])
        pod = self._plane.get("Pod", key)
        if pod is None:
            return
        if terminating(pod):
            self._plane.remove("Pod", key)
        elif _starts(pod):
            self._plane.put("Pod", objects.running(pod, self._plane.now()))


def _starts(pod: JSON) -> bool:
    return bool(pod["spec"].get("nodeName")) and (pod.get("status") or {}).get("phase", "Pending") == "Pending"

"""The garbage collector: what belongs to an object that is gone goes after it (metadata.ownerReferences)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ktui.demo.mvcc import JSON, Change, Key
from ktui.demo.plane import Item, Plane

_DEPENDENTS: Final = {
    "Job": ("Workload", "PodGroup"),
    "Workload": ("PodGroup",),
}
"""Which kinds belong to an owner of a kind, besides the pods and claims that the ledger knows."""


class GarbageCollector:
    kinds = ("Job", "Deployment", "Workload", "PodGroup", "Pod")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if change.type != "DELETED":
            return ()
        return ((kind, change.key[0], change.object["metadata"]["uid"]),)

    def sync(self, item: Item) -> None:
        """Of an owner that is gone, its kind, namespace and uid."""
        kind, namespace, uid = item
        for key in self._plane.ledger.pods_of[uid]:
            self._plane.delete_pod(key)
        for key in self._plane.ledger.claims_of[uid]:
            self._plane.remove("ResourceClaim", key)
        for dependent in _DEPENDENTS.get(kind, ()):
            for key in list(self._owned(dependent, namespace, uid)):
                self._plane.remove(dependent, key)

    def _owned(self, kind: str, namespace: str, uid: str) -> Iterator[Key]:
        found = self._plane.database.objects(kind)
        for key in found:
            if key[0] == namespace and _only_owner(found[key]) == uid:
                yield key


def _only_owner(obj: JSON) -> str:
    """Something with several owners goes after the last of them; the demo makes no such thing, so it stays."""
    owners: list[JSON] = obj["metadata"].get("ownerReferences") or []
    return str(owners[0].get("uid", "")) if len(owners) == 1 else ""

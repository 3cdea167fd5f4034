"""ResourceClaims, made for pods from templates (kube-controller-manager, resourceclaim). With the pod the garbage goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ktui.demo import objects
from ktui.demo.gangs import group_of
from ktui.demo.ledger import terminating
from ktui.demo.mvcc import JSON, Change, Key
from ktui.demo.plane import Item, Plane


def missing_claims(pod: JSON) -> Iterator[JSON]:
    """The entries of pod.spec.resourceClaims for which a claim has still to be made."""
    made = {each["name"] for each in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
    for entry in pod["spec"].get("resourceClaims") or ():
        if entry.get("resourceClaimTemplateName") and entry["name"] not in made:
            yield entry


class ClaimController:
    kinds = ("Pod", "PodGroup", "ResourceClaimTemplate")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if change.type == "DELETED":
            return ()
        match kind:
            case "PodGroup":
                return self._plane.ledger.members[change.key] if change.type == "ADDED" else ()
            case "ResourceClaimTemplate":
                return self._waiting_in(change.key[0]) if change.type == "ADDED" else ()
            case _:
                return (change.key,) if any(missing_claims(change.object)) else ()

    def _waiting_in(self, namespace: str) -> Iterable[Item]:
        """Pods that may have waited for a template."""
        for key in self._plane.ledger.waiting:
            if key[0] == namespace and (pod := self._plane.get("Pod", key)) is not None and any(missing_claims(pod)):
                yield key

    def sync(self, item: Item) -> None:
        """Make the claims of a pod."""
        self._make((item[0], item[1]))

    def _lacks_group(self, pod: JSON) -> bool:
        """The controller waits for a PodGroup: the claims of its members may be the group's."""
        group = group_of(pod) if pod["spec"].get("schedulingGroup") else None
        return group is not None and self._plane.get("PodGroup", group) is None

    def _make(self, key: Key) -> None:
        pod = self._plane.get("Pod", key)
        if pod is None or terminating(pod) or self._lacks_group(pod):
            return
        for entry in missing_claims(pod):
            name = entry["resourceClaimTemplateName"]
            template = self._plane.get("ResourceClaimTemplate", (key[0], name))
            if template is None:
                words = f'PodResourceClaim {entry["name"]}: resource claim template "{name}" not found'
                by = "resource_claim"
                self._plane.tell(pod, "Pod", "FailedResourceClaimCreation", words, by=by, warning=True)
                continue
            claim = objects.claim_for(pod, entry, template, self._plane.now())
            self._plane.put("ResourceClaim", claim)
            pod = objects.with_claim(pod, entry["name"], claim["metadata"]["name"])
        self._plane.put("Pod", pod)

"""ResourceClaims: made from templates for pods, and given back when the pod is gone (kube-controller-manager, resourceclaim)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ktui.demo import objects
from ktui.demo.ledger import group_of
from ktui.demo.mvcc import JSON, Change, Key
from ktui.demo.plane import Item, Plane


def missing_claims(pod: JSON) -> Iterator[JSON]:
    """The entries of pod.spec.resourceClaims for which a claim has still to be made."""
    made = {each["name"] for each in (pod.get("status") or {}).get("resourceClaimStatuses") or ()}
    for entry in pod["spec"].get("resourceClaims") or ():
        if entry.get("resourceClaimTemplateName") and entry["name"] not in made:
            yield entry


class ClaimController:
    kinds = ("Pod", "PodGroup")

    def __init__(self, plane: Plane) -> None:
        self._plane = plane

    def affected(self, kind: str, change: Change) -> Iterable[Item]:
        if kind == "PodGroup":
            return self._plane.ledger.members[change.key] if change.type == "ADDED" else ()
        if change.type == "DELETED":
            return ((change.object["metadata"]["uid"],),)
        return (change.key,) if any(missing_claims(change.object)) else ()

    def sync(self, item: Item) -> None:
        """Of a pod's key: make its claims. Of nothing but the uid of a pod that is gone: delete them."""
        match item:
            case (uid,):
                for key in self._plane.ledger.claims_of[uid]:
                    self._plane.remove("ResourceClaim", key)
            case (namespace, name):
                self._make((namespace, name))

    def _make(self, key: Key) -> None:
        pod = self._plane.get("Pod", key)
        if pod is None or ((group := group_of(pod)) and self._plane.get("PodGroup", group) is None):
            return  # the controller waits for the group: its claims may be the group's
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

"""A pod and its claim call each other by name, and the claim has the pod's uid: texts that nobody else has, kept once. At 100,000
pods, each with a claim of its own, they would take 25 MiB twice."""

from __future__ import annotations

from typing import Final

from msgspec.structs import force_setattr

from ktui.model.claim import Consumer, ResourceClaim
from ktui.model.meta import ObjectMeta, OwnerReference
from ktui.model.pod import Pod, PodClaim, PodClaimStatus

WORTH_IT: Final = 10_000
"""Objects of a kind, below which nobody misses the memory."""

_FEW: Final = 8
"""Consumers of a claim that are looked at: more have it together, and each of them would look at all."""


def share_names(pod: Pod, claim: ResourceClaim) -> None:
    """What each says of the other is the other's own text from now on. Both stay the values that they are."""
    for reference in claim.metadata.owner_references or ():
        _call_pod(reference, pod.metadata)
    for consumer in (claim.status.reserved_for or ())[:_FEW]:
        _call_pod(consumer, pod.metadata)
    for made in pod.status.resource_claim_statuses or ():
        _call_claim(made, claim.name)
    for used in pod.spec.resource_claims or ():
        _call_claim(used, claim.name)


def _call_pod(reference: OwnerReference | Consumer, pod: ObjectMeta) -> None:
    if reference.uid == pod.uid and reference.name == pod.name:
        force_setattr(reference, "uid", pod.uid)
        force_setattr(reference, "name", pod.name)


def _call_claim(reference: PodClaim | PodClaimStatus, name: str) -> None:
    if reference.resource_claim_name == name:
        force_setattr(reference, "resource_claim_name", name)

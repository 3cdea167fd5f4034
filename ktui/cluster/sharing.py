"""Who has a thing together: a claim that several pods or a whole gang use, and a device that more than one holds.

A device is for one claim only, unless its driver allows several that each take a share, or a claim only looks on (admin
access). Anything else that holds it twice is a conflict: two allocations that do not know of each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from ktui.model.claim import AllocationResult, ResourceClaim
from ktui.model.meta import Key

DeviceSharing = Literal[
    "conflict",
    "shares",  # of its capacity; each claim has a shareID
    "adminAccess",  # a claim beside the others that only looks on
    "sharedClaim",  # one claim, used by several pods or a gang
]


def device_sharing(holders: Iterable[tuple[ResourceClaim, AllocationResult]]) -> tuple[DeviceSharing, ...]:
    """Every way in which more than one has the device, conflicts first; () when at most one pod has."""
    held = tuple(holders)
    kept = [result for _, result in held if not result.admin_access]
    exclusive = sum(1 for result in kept if not result.share_id)
    ways: dict[DeviceSharing, bool] = {
        "conflict": exclusive > 1 or (exclusive == 1 and len(kept) > 1),
        "shares": len(kept) - exclusive > 1,
        "adminAccess": len(held) > 1 and len(kept) < len(held),
        "sharedClaim": any(is_shared(claim) for claim, _ in held),
    }
    return tuple(way for way, applies in ways.items() if applies)


def is_shared(claim: ResourceClaim) -> bool:
    """Whether the claim is reserved for a gang as a whole, or for several pods."""
    return len(claim.status.reserved_for or ()) > 1 or bool(reserved_groups(claim))


def reserved_groups(claim: ResourceClaim) -> tuple[Key, ...]:
    """The PodGroups that hold the claim for all their pods (status.reservedFor, gate DRAWorkloadResourceClaims)."""
    return tuple(
        (claim.namespace, consumer.name)
        for consumer in claim.status.reserved_for or ()
        if consumer.resource == "podgroups" and consumer.api_group == "scheduling.k8s.io"
    )

"""Whether a pod asks for devices at all."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.model.deviceclass import is_extended
from ktui.model.pod import Pod


def asks_for_devices(pod: Pod) -> bool:
    """By claims, or by an extended resource, which a driver or a device plugin serves."""
    if pod.spec.resource_claims or pod.status.extended_resource_claim_status is not None:
        return True
    return any(map(is_extended, _requested(pod)))


def _requested(pod: Pod) -> Iterable[str]:
    for container in (*(pod.spec.containers or ()), *(pod.spec.init_containers or ())):
        if container.resources is not None:
            yield from container.resources.requests or ()

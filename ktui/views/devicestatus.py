"""What claims say of allocated devices (resource.k8s.io ResourceClaim.status): the driver's conditions and network, whether it
keeps data of its own, and how much of a shared device was taken."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.model.claim import AllocationResult, DeviceStatus, ResourceClaim
from ktui.views.base import Cell, Document, Line

READY = "Ready"  # the one condition that drivers conventionally set


def status_of(claim: ResourceClaim, result: AllocationResult) -> DeviceStatus | None:
    """The driver's entry of an allocated device, of this share of it; most drivers write none."""
    wanted = (*result.id, result.share_id or "")
    entries = claim.status.devices or ()
    return next((e for e in entries if (e.driver, e.pool, e.device, e.share_id or "") == wanted), None)


def not_ready(claim: ResourceClaim, result: AllocationResult) -> bool:
    """Whether the driver says so; nothing said is no trouble."""
    status = status_of(claim, result)
    return any((c.type, c.status) == (READY, "False") for c in (status.conditions or () if status else ()))


def status_lines(claim: ResourceClaim, result: AllocationResult) -> Iterable[Line]:
    """Lines to stand below the device's own: its share, and what the driver says."""
    if result.share_id:
        yield _line("share", result.share_id)
    for name, amount in sorted((result.consumed_capacity or {}).items()):
        yield _line("takes", f"{amount} of {name}")
    yield from driver_lines(claim, result)


def driver_lines(claim: ResourceClaim, result: AllocationResult) -> Iterable[Line]:
    """What the driver says of the device; nothing, most often."""
    status = status_of(claim, result)
    if status is None:
        return
    for c in status.conditions or ():
        said = " ".join(part for part in (c.reason, c.message) if part)
        bad = (c.type, c.status) == (READY, "False")
        yield (Cell(f"  {c.type} {c.status}  ", "bad" if bad else ""), Cell(said, "dim"))
    if (network := status.network_data) is not None:
        yield _line("interface", network.interface_name)
        yield _line("address", ", ".join(network.ips or ()))
        yield _line("MAC", network.hardware_address)
    if status.data is not None:
        yield (Cell("  with data of the driver's own", "dim"),)


def status_document(claim: ResourceClaim, result: AllocationResult) -> Document | None:
    """The driver's entry as JSON: of its data only that there are some."""
    status = status_of(claim, result)
    if status is None:
        return None
    network = status.network_data
    return {
        "conditions": [
            {"type": c.type, "status": c.status, "reason": c.reason, "message": c.message}
            for c in status.conditions or ()
        ],
        "network": {
            "interface": network.interface_name,
            "ips": list(network.ips or ()),
            "mac": network.hardware_address,
        }
        if network
        else None,
        "data": status.data is not None,
    }


def _line(name: str, value: str | None) -> Line:
    return (Cell(f"  {name} ", "dim"), Cell(value or "not told"))

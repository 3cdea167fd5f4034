"""resource.k8s.io ResourceClaim and ResourceClaimTemplate (v1; v1beta2 has the same shape, v1beta1 is reshaped in decode)."""

from __future__ import annotations

from msgspec import field

from ktui.model.meta import Condition, Object, Wire
from ktui.model.node import NodeSelector
from ktui.model.resourceslice import CEL, Opaque

EXTENDED_RESOURCE_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"
"""Set to "true" on the claim the scheduler makes for a pod's extended resources."""


class DeviceToleration(Wire, frozen=True):
    """A toleration of device taints. Operator "" means Equal; an empty effect matches every effect when allocating."""

    key: str | None = None
    operator: str | None = None
    value: str | None = None
    effect: str | None = None
    toleration_seconds: int | None = None


class Selector(Wire, frozen=True):
    cel: CEL | None = None


class CapacityRequest(Wire, frozen=True):
    requests: dict[str, str | int] | None = None


class DerivedAttribute(Wire, frozen=True):
    """An attribute that a claim defines by a CEL expression, for its constraints (gate DRADerivedAttributes, 1.37, alpha). The
    scheduler works its values out and stores them nowhere."""

    name: str = ""
    expression: str = ""


class DeviceRequest(Wire, frozen=True):
    """`exactly` of a request, or one of its `firstAvailable` alternatives (which alone have a name)."""

    name: str = ""
    device_class_name: str = ""
    selectors: tuple[Selector, ...] | None = None
    allocation_mode: str | None = None  # "ExactCount" (default) or "All"
    count: int | None = None
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] | None = None
    capacity: CapacityRequest | None = None
    derived_attributes: tuple[DerivedAttribute, ...] | None = None


class Request(Wire, frozen=True):
    name: str = ""
    exactly: DeviceRequest | None = None
    first_available: tuple[DeviceRequest, ...] | None = None


class Constraint(Wire, frozen=True):
    """All devices of the named requests (all, when none is named) have one, or each another, value of the attribute."""

    requests: tuple[str, ...] | None = None
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class ClaimConfig(Wire, frozen=True):
    requests: tuple[str, ...] | None = None
    opaque: Opaque | None = None


class ClaimDevices(Wire, frozen=True):
    requests: tuple[Request, ...] | None = None
    constraints: tuple[Constraint, ...] | None = None
    config: tuple[ClaimConfig, ...] | None = None


class ClaimSpec(Wire, frozen=True):
    devices: ClaimDevices = field(default_factory=ClaimDevices)


class AllocationResult(Wire, frozen=True):
    """One allocated device. `request` is "main", or "main/sub" when an alternative was picked."""

    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] | None = None
    share_id: str | None = field(default=None, name="shareID")
    consumed_capacity: dict[str, str | int] | None = None

    @property
    def id(self) -> tuple[str, str, str]:
        """The device's identity: (driver, pool, device)."""
        return (self.driver, self.pool, self.device)


class AllocationDevices(Wire, frozen=True):
    results: tuple[AllocationResult, ...] | None = None


class Allocation(Wire, frozen=True):
    devices: AllocationDevices = field(default_factory=AllocationDevices)
    node_selector: NodeSelector | None = None
    allocation_timestamp: str | None = None


class Consumer(Wire, frozen=True):
    """reservedFor[]: a pod (no group, resource "pods") or a pod group (scheduling.k8s.io, "podgroups")."""

    api_group: str | None = None
    resource: str = ""
    name: str = ""
    uid: str = ""


class NetworkData(Wire, frozen=True):
    interface_name: str | None = None
    ips: tuple[str, ...] | None = None
    hardware_address: str | None = None


class DriverData(Wire, frozen=True):
    """That a driver keeps data of its own in the status; the data themselves may hold anything and are not kept."""


class DeviceStatus(Wire, frozen=True):
    """status.devices[]: what the driver says of one allocated device."""

    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = field(default=None, name="shareID")
    conditions: tuple[Condition, ...] | None = None
    network_data: NetworkData | None = None
    data: DriverData | None = None


class ClaimStatus(Wire, frozen=True):
    allocation: Allocation | None = None
    reserved_for: tuple[Consumer, ...] | None = None
    devices: tuple[DeviceStatus, ...] | None = None


class ResourceClaim(Object, frozen=True):
    spec: ClaimSpec = field(default_factory=ClaimSpec)
    status: ClaimStatus = field(default_factory=ClaimStatus)

    @property
    def results(self) -> tuple[AllocationResult, ...]:
        """Allocated devices, () while the claim is pending."""
        allocation = self.status.allocation
        return (allocation.devices.results or ()) if allocation else ()


class TemplateSpec(Wire, frozen=True):
    spec: ClaimSpec = field(default_factory=ClaimSpec)


class ResourceClaimTemplate(Object, frozen=True):
    spec: TemplateSpec = field(default_factory=TemplateSpec)

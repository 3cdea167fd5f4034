"""Extended resources of a pod's containers ("vendor.com/gpu: 4"), and what serves them (KEP-5004).

The scheduler decides node by node: where a device plugin has announced the resource, the node only counts it, and the API
names no devices; elsewhere a DeviceClass may serve it, and the scheduler makes one claim for the pod. A class serves the name it
states, and always `deviceclass.resource.kubernetes.io/CLASS`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple

from ktui.cluster.allocation import ContainerDevices, containers
from ktui.cluster.state import Cluster
from ktui.model.claim import ResourceClaim
from ktui.model.deviceclass import is_extended
from ktui.model.meta import Key
from ktui.model.pod import Container, Pod, RequestMapping, ResourceHealth
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import DeviceId

ServedBy = Literal["claim", "device plugin"]


class ExtendedResource(NamedTuple):
    """What one container asks for by one name. Of one that a claim serves: the claim, and what can be read of it. Of one that a
    device plugin serves: what the kubelet reports, which is the only place where its devices have names."""

    container: str
    resource: str
    amount: str  # as written
    served_by: ServedBy | None  # None before the pod is on a node
    claim: Key | None = None
    request: str = ""  # of the claim
    device_class: str = ""
    devices: tuple[DeviceId, ...] = ()
    reported: tuple[ResourceHealth, ...] = ()


def extended_resources(cluster: Cluster, pod: Pod, found: tuple[ContainerDevices, ...]) -> Iterator[ExtendedResource]:
    """All of a pod, container by container; `found` is what its containers got (see `devices_of`)."""
    by_container = {c.name: c for c in found}
    for container, _ in containers(pod):
        for resource, count in _requests(container):
            mapping = _mapping(pod, container.name, resource)
            if mapping is not None:
                uses = by_container[container.name].devices
                yield _of_claim(
                    cluster, pod, mapping, count, tuple(use.device for use in uses if use.claim == resource)
                )
            else:
                yield _counted(pod, container.name, resource, count)


def counted_text(pod: Pod) -> str:
    """What device plugins serve to the pod, in few words: "4 x vendor.com/gpu"."""
    if not pod.spec.node_name:
        return ""
    amounts: dict[str, int] = {}
    for container, kind in containers(pod):
        for resource, count in _requests(container):
            if kind != "init" and _mapping(pod, container.name, resource) is None:
                amounts[resource] = amounts.get(resource, 0) + int(parse_quantity(count) or 0)
    return " ".join(f"{amount} x {resource}" for resource, amount in amounts.items())


def _requests(container: Container) -> Iterator[tuple[str, str]]:
    """The API server fills in a request from its limit, so requests have them all."""
    requests = container.resources.requests if container.resources else None
    for name, amount in (requests or {}).items():
        if is_extended(name) and parse_quantity(amount):
            yield name, str(amount)


def _mapping(pod: Pod, container: str, resource: str) -> RequestMapping | None:
    status = pod.status.extended_resource_claim_status
    mappings = (status.request_mappings or ()) if status else ()
    return next((m for m in mappings if (m.container_name, m.resource_name) == (container, resource)), None)


def _of_claim(
    cluster: Cluster, pod: Pod, mapping: RequestMapping, count: str, devices: tuple[DeviceId, ...]
) -> ExtendedResource:
    status = pod.status.extended_resource_claim_status
    key = (pod.namespace, status.resource_claim_name if status else "")
    request = mapping.request_name
    device_class = _class_of(cluster.claim(key), request)
    return ExtendedResource(
        mapping.container_name, mapping.resource_name, count, "claim", key, request, device_class, devices
    )


def _class_of(claim: ResourceClaim | None, name: str) -> str:
    requests = (claim.spec.devices.requests or ()) if claim else ()
    return next((r.exactly.device_class_name for r in requests if r.name == name and r.exactly), "")


def _counted(pod: Pod, container: str, resource: str, count: str) -> ExtendedResource:
    if not pod.spec.node_name:
        return ExtendedResource(container, resource, count, None)
    said = (s.allocated_resources_status or () for s in pod.status.container_statuses or () if s.name == container)
    reported = next((e.resources or () for entries in said for e in entries if e.name == resource), ())
    return ExtendedResource(container, resource, count, "device plugin", reported=reported)

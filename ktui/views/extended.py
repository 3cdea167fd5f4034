"""What a pod's containers got by counting ("vendor.com/gpu: 4"), and what the kubelet reports of their devices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ktui.cluster.allocation import ContainerDevices
from ktui.cluster.extended import ExtendedResource, extended_resources
from ktui.cluster.state import Cluster
from ktui.model.pod import AllocatedResourceStatus, Pod, ResourceHealth
from ktui.views.base import Cell, Document, Line

_UNNAMED: Final = (
    "the API does not say which devices: only allocatedResourcesStatus would name them, and it is not there"
)


def extended_lines(cluster: Cluster, pod: Pod, found: tuple[ContainerDevices, ...]) -> Iterable[Line]:
    """A line for each extended resource of each container. Below one of a device plugin, what the kubelet reports of its devices,
    which is all that names them; the devices of claims are in what the containers got."""
    for each in extended_resources(cluster, pod, found):
        yield (Cell(f"{each.container}  ", "accent"), Cell(f"{each.amount} x {each.resource}  "), *_served(each))
        for report in each.reported:
            bad = report.health not in (None, "Healthy")
            yield (
                Cell(f"  {report.resource_id}  "),
                Cell(f"{report.health or ''} {report.message or ''}".strip(), "bad" if bad else "dim"),
            )
        if each.served_by == "device plugin" and not each.reported:
            yield (Cell(f"  {_UNNAMED}", "dim"),)


def extended_documents(cluster: Cluster, pod: Pod, found: tuple[ContainerDevices, ...]) -> list[Document]:
    """The same as JSON."""
    return [
        {
            "container": each.container,
            "resource": each.resource,
            "count": each.amount,
            "servedBy": each.served_by,
            "deviceClass": each.device_class or None,
            "claimObject": each.claim[1] if each.claim else None,
            "request": each.request or None,
            "devices": [{"driver": d[0], "pool": d[1], "device": d[2]} for d in each.devices],
            "reported": [_report(report) for report in each.reported],
        }
        for each in extended_resources(cluster, pod, found)
    ]


def reported_documents(pod: Pod, container: ContainerDevices) -> list[Document] | None:
    """status.containerStatuses[].allocatedResourcesStatus of a container as JSON; None where the kubelet reports none."""
    entries = _entries(pod, container)
    return [{"name": e.name, "resources": [_report(r) for r in e.resources or ()]} for e in entries] or None


def silence(pod: Pod, container: ContainerDevices) -> str:
    """Why nothing is known of the health of a container's devices; "" when something is, or it has none."""
    if not container.devices or _entries(pod, container):
        return ""
    match container.kind:
        case "init" | "sidecar":
            return "not reported of init and sidecar containers"
        case "pod":
            return "not reported of claims that no container uses"
        case "app" if all("/" in use.claim for use in container.devices):
            return "not reported of extended resources that a claim serves"
        case _:
            return "not reported (by the gate ResourceHealthStatus, on since 1.36, where the driver tells it)"


def _entries(pod: Pod, container: ContainerDevices) -> tuple[AllocatedResourceStatus, ...]:
    if container.kind != "app":
        return ()
    statuses = pod.status.container_statuses or ()
    return next((s.allocated_resources_status or () for s in statuses if s.name == container.name), ())


def _served(each: ExtendedResource) -> Iterable[Cell]:
    if each.served_by == "claim":
        yield Cell(f"DeviceClass {each.device_class or 'unknown'}, claim {each.claim[1] if each.claim else ''}", "dim")
        if not each.devices:
            yield Cell("  no devices: the claim cannot be read, or has none", "warn")
    elif each.served_by == "device plugin":
        yield Cell("counted by the node, for a device plugin", "dim")
    else:
        yield Cell("not placed yet", "warn")


def _report(report: ResourceHealth) -> Document:
    return {"id": report.resource_id, "health": report.health, "message": report.message}

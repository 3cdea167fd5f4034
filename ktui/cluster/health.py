"""Health of allocated devices, as the kubelet reports it in the pods (allocatedResourcesStatus; on since 1.36).

For DRA the kubelet names a device by its first CDI id, or by driver/pool/device where it has none. So an entry is matched by
name, and otherwise only when it and the allocation have exactly one device each; anything else stays unpaired. Init and
sidecar containers are never reported, nor are extended resources backed by DRA.
"""

from __future__ import annotations

from typing import NamedTuple

from ktui.cluster.allocation import ContainerDevices, devices_of, holders, users
from ktui.cluster.state import Cluster
from ktui.model.pod import AllocatedResourceStatus, Pod
from ktui.model.resourceslice import DeviceId


class Health(NamedTuple):
    """health is "Healthy", "Unhealthy", "Unknown" or what a newer kubelet says. Unknown is no alarm by itself."""

    health: str
    message: str


def pod_health(
    cluster: Cluster, pod: Pod, found_devices: tuple[ContainerDevices, ...] | None = None
) -> dict[DeviceId, Health]:
    """Health of the pod's devices, for those that can be told apart; the worst where containers differ. `found_devices` is what
    `devices_of` says, if it was asked already: it is most of the work."""
    found: dict[DeviceId, Health] = {}
    statuses = {s.name: s.allocated_resources_status or () for s in pod.status.container_statuses or ()}
    if not any(statuses.values()):
        return found
    for container in devices_of(cluster, pod) if found_devices is None else found_devices:
        for entry in statuses.get(container.name, ()):
            devices = [use.device for use in container.devices if _is_about(entry, use.claim, use.result.request)]
            for device, report in _paired(entry, devices).items():
                found[device] = min(found.get(device, report), report, key=_badness)
    return found


def device_health(cluster: Cluster, device: DeviceId) -> Health | None:
    """The worst that any pod using the device reports of it, None when none does."""
    pods = (pod for claim, _ in holders(cluster, device) for pod in users(cluster, claim.key))
    reports = (report for pod in pods if (report := pod_health(cluster, pod).get(device)) is not None)
    return min(reports, key=_badness, default=None)


def _badness(report: Health) -> int:
    """Unhealthy first, Healthy last, what this ktui does not know in between."""
    return {"Unhealthy": 0, "Healthy": 2}.get(report.health, 1)


def _is_about(entry: AllocatedResourceStatus, claim: str, request: str) -> bool:
    """Entries are named "claim:<pod claim>" or "claim:<pod claim>/<request>"."""
    kind, _, rest = entry.name.partition(":")
    if kind != "claim":
        return False
    name, slash, wanted = rest.partition("/")
    return name == claim and (not slash or wanted == request.partition("/")[0])


def _paired(entry: AllocatedResourceStatus, devices: list[DeviceId]) -> dict[DeviceId, Health]:
    resources = entry.resources or ()
    by_name = {"/".join(device): device for device in devices}
    pairs = {by_name[r.resource_id]: r for r in resources if r.resource_id in by_name}
    if not pairs and len(resources) == len(devices) == 1:
        pairs = {devices[0]: resources[0]}
    return {device: Health(r.health or "Healthy", r.message or "") for device, r in pairs.items()}

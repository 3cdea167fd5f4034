"""One device with all that is known of it: published, allocated, tainted, healthy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from ktui.cluster.allocation import holders, users
from ktui.cluster.counters import used_up
from ktui.cluster.health import Health, device_health
from ktui.cluster.pools import Pool, PublishedDevice
from ktui.cluster.sharing import DeviceSharing, device_sharing
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, taints_of, worst
from ktui.model.claim import AllocationResult, ResourceClaim
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId

_PAUSE: Final = 1_000  # devices that are looked at in vain at one go: a millisecond or two

DeviceState = Literal[
    "free",
    "used",
    "tainted",  # NoSchedule or NoExecute, in use or not
    "unhealthy",
    "blocked",  # not in use, and devices that are leave too little of the counters it shares with them
    "unusable",  # not in use, and its pool is incomplete or invalid
    "unknown",  # nobody is seen to use it, but not all claims of the cluster, or not the taint rules, are seen
    "gone",  # allocated, but published no longer
]


Disagreement = Literal[
    "unhealthy, not tainted",  # nothing keeps new pods away
    "tainted, healthy",  # the taint may have outlived its reason, or the kubelet does not see it
]


class DeviceInfo(NamedTuple):
    id: DeviceId
    state: DeviceState
    published: PublishedDevice | None
    pool: Pool | None
    holders: tuple[tuple[ResourceClaim, AllocationResult], ...]
    pods: tuple[Pod, ...]
    taints: tuple[EffectiveTaint, ...]
    health: Health | None

    @property
    def node(self) -> str:
        return (self.published.node if self.published else "") or (self.pool.node if self.pool else "")

    @property
    def conflict(self) -> bool:
        """Whether several claims hold a device that is for one only."""
        return "conflict" in self.sharing

    @property
    def sharing(self) -> tuple[DeviceSharing, ...]:
        """In which ways more than one has the device."""
        return device_sharing(self.holders)

    @property
    def disagreement(self) -> Disagreement | None:
        """Where taints and the health that kubelets report contradict each other; health is reported of devices in use only."""
        taint = worst(self.taints)
        keeps_away = taint is not None and taint.effect != "None"
        if self.health is None or keeps_away == (self.health.health == "Unhealthy"):
            return None
        if keeps_away:
            return "tainted, healthy" if self.health.health == "Healthy" else None
        return "unhealthy, not tainted"


def device_ids(cluster: Cluster) -> Iterator[DeviceId]:
    """All devices: published ones by pool, and allocated ones that are published no longer."""
    return (device for device in device_ids_in_turn(cluster) if device is not None)


def device_ids_in_turn(cluster: Cluster) -> Iterator[DeviceId | None]:
    """The same, between other things: None wherever many were looked at in vain. The state may change meanwhile."""
    for pool in cluster.pools():
        for name in pool.devices:
            yield (*pool.id, name)
    for count, device in enumerate(list(cluster.claims_by_device.values()), 1):
        if cluster.device(device) is None:
            yield device
        elif count % _PAUSE == 0:
            yield None


def device_info(cluster: Cluster, device: DeviceId) -> DeviceInfo | None:
    """The device, None when nothing knows it."""
    pool = cluster.pool(device[:2])
    published = pool.devices.get(device[2]) if pool else None
    held = tuple(holders(cluster, device))
    if published is None and not held:
        return None
    pods = {pod.metadata.uid or pod.key: pod for claim, _ in held for pod in users(cluster, claim.key)}
    taints = taints_of(cluster, device)
    health = device_health(cluster, device) if held else None
    info = DeviceInfo(device, "free", published, pool, held, tuple(pods.values()), taints, health)
    return info._replace(state=_state(cluster, info))


def may_be_in_trouble(cluster: Cluster, device: DeviceId) -> bool:
    """Whether it is worth the cost of `device_info` to find out: False for a device that is neither tainted, nor reported
    unhealthy, nor held by several claims, nor gone."""
    published = cluster.device(device)
    if published is None or published.device.taints or cluster.claims_by_device.count(device) > 1:
        return True
    if cluster.stores["DeviceTaintRule"].objects and cluster.rules_of(device):
        return True
    return any(_reports_trouble(cluster, claim) for claim in cluster.claims_by_device[device])


def _reports_trouble(cluster: Cluster, claim: Key) -> bool:
    """Whether a pod that names the claim reports a device as unhealthy, be it of this claim or not."""
    pods = (pod for key in cluster.pods_by_claim[claim] if (pod := cluster.pod(key)) is not None)
    containers = (status for pod in pods for status in pod.status.container_statuses or ())
    reports = (entry for status in containers for entry in status.allocated_resources_status or ())
    return any(report.health == "Unhealthy" for entry in reports for report in entry.resources or ())


def _state(cluster: Cluster, info: DeviceInfo) -> DeviceState:
    if info.published is None:
        return "gone"
    if info.health is not None and info.health.health == "Unhealthy":
        return "unhealthy"
    taint = worst(info.taints)
    if taint is not None and taint.effect != "None":
        return "tainted"
    if any(not result.admin_access for _, result in info.holders):
        return "used"
    if info.pool is not None and info.pool.status != "ok":
        return "unusable"
    if info.pool is not None and used_up(cluster, info.pool, info.published.device):
        return "blocked"
    return "free" if cluster.sees_all("ResourceClaim") and not rules_unread(cluster) else "unknown"


def rules_unread(cluster: Cluster) -> bool:
    """Whether there are taint rules (1.35 and 1.36 may not serve them), and they were never read."""
    streams = cluster.streams_of(("DeviceTaintRule",))
    return any(not stream.synced and stream.phase != "absent" for stream in streams)

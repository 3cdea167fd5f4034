"""Whom a change would hit, computed from the state: the rules are the eviction controller's (reference: KEP-5055, 1.37.2).

A NoExecute taint deletes every pod that sits on a node and holds the device, directly and regardless of
PodDisruptionBudgets, unless the claim's own copy of its tolerations says otherwise; NoSchedule and None touch no running pod.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ktui.cluster.allocation import holders, users
from ktui.cluster.gangs import display_name, gang
from ktui.cluster.state import Cluster
from ktui.cluster.taints import taints_of, tolerates
from ktui.model.claim import AllocationResult
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint


class PodHit(Struct, frozen=True):
    """A pod that goes, `after` seconds after the taint was added (0: at once)."""

    key: Key
    uid: str
    after: int
    gang: str  # "" when it has none


class GangHit(Struct, frozen=True):
    """A gang that loses pods: `running` of `needed` now, `left` afterwards. `name` is what people call it."""

    key: Key
    name: str
    running: int
    left: int
    needed: int

    @property
    def falls_short(self) -> bool:
        return self.left < self.needed <= self.running


class Blast(Struct, frozen=True):
    """What a taint does: pods deleted, pods that tolerate it, gangs that lose members."""

    deleted: tuple[PodHit, ...] = ()
    tolerating: tuple[Key, ...] = ()
    gangs: tuple[GangHit, ...] = ()

    @property
    def falling(self) -> tuple[GangHit, ...]:
        return tuple(hit for hit in self.gangs if hit.falls_short)


def blast_of_taint(cluster: Cluster, device: DeviceId, taint: DeviceTaint) -> Blast:
    """What adding the taint to the device would do to the pods that use it now."""
    if taint.effect != "NoExecute":
        return Blast()
    deleted: dict[Key, PodHit] = {}
    tolerating: dict[Key, None] = {}
    for claim, result in holders(cluster, device):
        after = eviction_delay(result, taint)
        for pod in users(cluster, claim.key):
            if not _can_go(pod):
                continue
            if after is None:
                tolerating[pod.key] = None
            elif pod.key not in deleted or after < deleted[pod.key].after:
                deleted[pod.key] = PodHit(pod.key, pod.metadata.uid, after, pod.group)
    hits = tuple(deleted[key] for key in sorted(deleted))
    return Blast(hits, tuple(sorted(tolerating.keys() - deleted.keys())), tuple(_gangs(cluster, hits)))


def eviction_delay(result: AllocationResult, taint: DeviceTaint) -> int | None:
    """Seconds from the taint's timeAdded until its pods are deleted; None when it is tolerated for ever."""
    matching = [t for t in result.tolerations or () if tolerates(t, taint, evicting=True)]
    if any(t.toleration_seconds is None for t in matching):
        return None
    return min((max(0, t.toleration_seconds or 0) for t in matching), default=0)


def still_tainted(cluster: Cluster, device: DeviceId, without_rule: str) -> tuple[str, ...]:
    """Taints that remain on a device when one rule goes, as text."""
    return tuple(t.text for t in taints_of(cluster, device) if t.rule != without_rule)


def _can_go(pod: Pod) -> bool:
    """The controller deletes pods that are on a node and neither finished nor being deleted already."""
    return bool(pod.spec.node_name) and not pod.finished and pod.metadata.deletion_timestamp is None


def _gangs(cluster: Cluster, hits: Iterable[PodHit]) -> Iterable[GangHit]:
    going = {hit.key for hit in hits}
    for key in sorted({(hit.key[0], hit.gang) for hit in hits if hit.gang}):
        found = gang(cluster, key)
        if found is not None:
            # A pod that is still starting is not counted as running, so its going takes nothing from that number.
            lost = sum(1 for pod in found.members if pod.key in going and pod.status.phase == "Running")
            running = found.running + found.succeeded
            yield GangHit(key, display_name(cluster, key), running, running - lost, found.needed)

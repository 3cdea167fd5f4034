"""Whom a change would hit, and whom it would help, computed from the state.

The rules are the eviction controller's (reference: KEP-5055, 1.37.2). A NoExecute taint deletes every pod that sits on a node
and holds the device, directly and regardless of PodDisruptionBudgets, unless the claim's own copy of its tolerations says
otherwise; NoSchedule and None touch no running pod. With NoSchedule and NoExecute the device is also lost to gangs that wait
for one like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec import Struct

from ktui.cluster.allocation import holders, users
from ktui.cluster.gangs import display_name, gang
from ktui.cluster.joins import pod_group
from ktui.cluster.state import Cluster
from ktui.cluster.taints import taints_of, tolerates
from ktui.diagnose.demand import GangDemand, Want, extended_claim
from ktui.diagnose.diagnoses import Asking, diagnoses_of
from ktui.diagnose.room import NOTHING, Kind, tolerated
from ktui.diagnose.trial import placeable
from ktui.diagnose.whatif import Change, imagined
from ktui.model.claim import AllocationResult
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint

_BLOCKING: Final = ("NoSchedule", "NoExecute")


class PodHit(Struct, frozen=True):
    """A pod that goes, `after` seconds after the taint was added (0: at once)."""

    key: Key
    uid: str
    after: int
    gang: Key | None = None  # the first that it is of
    gang_name: str = ""  # what people call it


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
    """What a taint does: pods deleted, pods that tolerate it, gangs that lose members, claims of the pods that go, and gangs
    that wait for a device for which this one would have done."""

    deleted: tuple[PodHit, ...] = ()
    tolerating: tuple[Key, ...] = ()
    gangs: tuple[GangHit, ...] = ()
    claims: tuple[Key, ...] = ()
    pending: tuple[Key, ...] = ()

    @property
    def falling(self) -> tuple[GangHit, ...]:
        return tuple(hit for hit in self.gangs if hit.falls_short)


def blast_of_taint(cluster: Cluster, device: DeviceId, taint: DeviceTaint, *, replacing: str = "") -> Blast:
    """What the taint on the device would do to the pods that use it now, and to gangs that wait. `replacing` names a rule that
    is changed into this taint."""
    pending = tuple(_losing(cluster, device, taint, replacing))
    if taint.effect != "NoExecute":
        return Blast(pending=pending)
    deleted: dict[Key, PodHit] = {}
    tolerating: dict[Key, None] = {}
    claims: dict[Key, None] = {}
    for claim, result in holders(cluster, device):
        after = eviction_delay(result, taint)
        for pod in users(cluster, claim.key):
            if not _can_go(pod):
                continue
            if after is None:
                tolerating[pod.key] = None
                continue
            claims[claim.key] = None
            if pod.key not in deleted or after < deleted[pod.key].after:
                deleted[pod.key] = _hit(cluster, pod, after)
    hits = tuple(deleted[key] for key in sorted(deleted))
    staying = tuple(sorted(tolerating.keys() - deleted.keys()))
    return Blast(hits, staying, tuple(_gangs(cluster, hits)), tuple(claims), pending)


def gangs_helped(cluster: Cluster, device: DeviceId, without_rule: str) -> tuple[Key, ...]:
    """The gangs that wait and could be placed if one rule did not taint the device: each by itself, two that want the same
    device both count."""
    left = _taints(cluster, device, without_rule)
    change = Change(taints=((device, left),))
    found = [
        asking for asking in _differing(cluster, device, _taints(cluster, device), left) if asking.placeable is False
    ]
    if not found:
        return ()
    after = imagined(diagnoses_of(cluster).up_to_date().supply, change)
    helped = (asking.gangs for asking in found if placeable(after, asking.demand, NOTHING))
    return tuple(sorted(key for gangs in helped for key in gangs))


def eviction_delay(result: AllocationResult, taint: DeviceTaint) -> int | None:
    """Seconds from the taint's timeAdded until its pods are deleted; None when it is tolerated for ever."""
    matching = [t for t in result.tolerations or () if tolerates(t, taint, evicting=True)]
    if any(t.toleration_seconds is None for t in matching):
        return None
    return min((max(0, t.toleration_seconds or 0) for t in matching), default=0)


def still_tainted(cluster: Cluster, device: DeviceId, without_rule: str) -> tuple[str, ...]:
    """Taints that remain on a device when one rule goes, as text."""
    return tuple(t.text for t in taints_of(cluster, device) if t.rule != without_rule)


def _hit(cluster: Cluster, pod: Pod, after: int) -> PodHit:
    gang = next(iter(pod_group(pod)), None)
    return PodHit(pod.key, pod.metadata.uid, after, gang, display_name(cluster, gang) if gang is not None else "")


def _can_go(pod: Pod) -> bool:
    """The controller deletes pods that are on a node and not being deleted already, whatever their phase: one that has
    finished goes too while a claim is reserved for its group (seen on 1.37.2)."""
    return bool(pod.spec.node_name) and pod.metadata.deletion_timestamp is None


def _gangs(cluster: Cluster, hits: Iterable[PodHit]) -> Iterable[GangHit]:
    going = {hit.key for hit in hits}
    pods = (cluster.pod(hit.key) for hit in hits)
    for key in sorted({key for pod in pods if pod is not None for key in pod_group(pod)}):
        found = gang(cluster, key)
        if found is not None:
            # A pod that is still starting is not counted as running, so its going takes nothing from that number.
            lost = sum(1 for pod in found.members if pod.key in going and pod.status.phase == "Running")
            running = found.running + found.succeeded
            yield GangHit(key, display_name(cluster, key), running, running - lost, found.needed)


def _losing(cluster: Cluster, device: DeviceId, taint: DeviceTaint, replacing: str) -> Iterator[Key]:
    """Gangs that wait, for which the device would do now and not with the taint, and which have no place without it."""
    before = _taints(cluster, device)
    after = (*_taints(cluster, device, replacing), *((taint,) if taint.effect in _BLOCKING else ()))
    found = list(_differing(cluster, device, after, before))
    if any(asking.placeable is not False for asking in found):
        # Whoever has a place all the same loses nothing.
        supply = imagined(diagnoses_of(cluster).up_to_date().supply, Change(taints=((device, after),)))
        found = [a for a in found if a.placeable is False or placeable(supply, a.demand, NOTHING) is not True]
    yield from sorted(key for asking in found for key in asking.gangs)


def _differing(
    cluster: Cluster, device: DeviceId, worse: tuple[DeviceTaint, ...], better: tuple[DeviceTaint, ...]
) -> Iterator[Asking]:
    """What is asked for and kept from the device by the `worse` taints only."""
    published = cluster.device(device)
    if published is None or worse == better:
        return
    diagnoses = diagnoses_of(cluster).up_to_date()
    kind = Kind(0, device[0], published.device, ())
    for asking in diagnoses.asking():
        kept = (want for want in _wants(asking.demand) if tolerated(want, better) and not tolerated(want, worse))
        if any(diagnoses.supply.selection.matches(want, kind) for want in kept):
            yield asking


def _wants(demand: GangDemand) -> set[Want]:
    claims = (*demand.claims, *(extended_claim(part.demand.extended) for part in demand.parts))
    return {ask.want for claim in claims for alternatives in claim.requests for ask in alternatives}


def _taints(cluster: Cluster, device: DeviceId, without_rule: str = "") -> tuple[DeviceTaint, ...]:
    """The taints that keep the device from being allocated, but for those of one rule."""
    found = (t for t in taints_of(cluster, device) if not (without_rule and t.rule == without_rule))
    return tuple(t.taint for t in found if t.effect in _BLOCKING)

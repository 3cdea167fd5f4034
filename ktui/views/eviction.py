"""Who goes because of a NoExecute taint, who stays, and until when: from the tolerations that claims got with their devices. The
eviction controller's own numbers are in a rule's condition; its words are unstable, so they are only passed on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final, Literal, NamedTuple

from ktui.cluster.allocation import holders, users
from ktui.cluster.state import Cluster
from ktui.cluster.taints import tolerates
from ktui.diagnose.blast import eviction_delay
from ktui.model.claim import AllocationResult
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint
from ktui.model.time import format_age, parse_time
from ktui.views.base import Cell, Document, Line, Style
from ktui.views.shared import gangs_of

What = Literal[
    "goes",
    "going",  # it is being deleted, for this or another reason
    "stays",  # it tolerates the taint for ever, or has no node or is done: the controller leaves it alone
    "untouched",  # the taint evicts nobody
]
_STYLES: Final[dict[What, Style]] = {"goes": "bad", "going": "warn", "stays": "dim", "untouched": "dim"}


class Fate(NamedTuple):
    """`after`: seconds from the taint's timeAdded until the pod is deleted, for one that goes."""

    pod: Pod
    what: What
    after: int | None


def fates(cluster: Cluster, devices: Iterable[DeviceId], taint: DeviceTaint) -> tuple[Fate, ...]:
    """What the taint on these devices does to the pods that use them, in the order of their names."""
    pods: dict[Key, Pod] = {}
    delays: dict[Key, int | None] = {}
    for device in devices:
        for claim, result in holders(cluster, device):
            delay = eviction_delay(result, taint)
            for pod in users(cluster, claim.key):
                known = delays.get(pod.key)
                pods[pod.key] = pod
                delays[pod.key] = delay if known is None else known if delay is None else min(known, delay)
    return tuple(_fate(pods[key], taint, delays[key]) for key in sorted(pods))


def fate_lines(cluster: Cluster, found: Iterable[Fate], taint: DeviceTaint, now: float) -> Iterable[Line]:
    """A line a pod: its name, its gangs, and what becomes of it."""
    added = parse_time(taint.time_added)
    for fate in found:
        words = _words(fate, None if added is None else added + (fate.after or 0) - now)
        yield (
            Cell(f"{fate.pod.namespace}/{fate.pod.name}  "),
            Cell(f"{gangs}  " if (gangs := ", ".join(gangs_of(cluster, fate.pod))) else "", "dim"),
            Cell(words, _STYLES[fate.what]),
        )


def fate_document(fate: Fate) -> Document:
    evicts = fate.what != "untouched"
    return {
        "namespace": fate.pod.namespace,
        "name": fate.pod.name,
        "eviction": {"what": fate.what, "afterSeconds": fate.after} if evicts else None,
    }


def summary(found: Iterable[Fate]) -> str:
    """How many go, are going, and stay; "" where the taint evicts nobody."""
    counts = Counter(fate.what for fate in found)
    words: tuple[tuple[What, str], ...] = (("goes", "to go"), ("going", "being deleted"), ("stays", "stay"))
    return ", ".join(f"{counts[what]} {text}" for what, text in words if counts[what])


def tolerance(result: AllocationResult, taint: DeviceTaint) -> str:
    """For how long an allocation puts up with a taint of its device, "" where it does not."""
    if taint.effect == "NoExecute":
        delay = eviction_delay(result, taint)
        return "tolerates it for ever" if delay is None else f"tolerates it for {delay} s" if delay else ""
    return "tolerates it" if any(tolerates(t, taint) for t in result.tolerations or ()) else ""


def _fate(pod: Pod, taint: DeviceTaint, delay: int | None) -> Fate:
    if taint.effect != "NoExecute":
        return Fate(pod, "untouched", None)
    if pod.metadata.deletion_timestamp is not None:
        return Fate(pod, "going", None)
    if delay is None or not pod.spec.node_name:
        return Fate(pod, "stays", None)
    return Fate(pod, "goes", delay)


def _words(fate: Fate, left: float | None) -> str:
    match fate.what:
        case "going":
            return "is being deleted"
        case "stays" if not fate.pod.spec.node_name:
            return "stays: it is on no node"
        case "stays":
            return "tolerates it for ever"
        case "goes" if fate.after and left is not None and left > 0:
            return f"tolerates it for {fate.after} s: goes in {format_age(left)}"
        case "goes":
            return "goes"
        case _:
            return ""

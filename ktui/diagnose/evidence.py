"""The objects that a diagnosis rests on, most telling first: the scheduler's words, those of the cause, what is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from ktui.cluster.allocation import resolve
from ktui.cluster.gangs import Gang
from ktui.cluster.nodefit import Obstacle as NodeObstacle
from ktui.cluster.state import Cluster
from ktui.diagnose.demand import GangDemand, device_class
from ktui.diagnose.diagnosis import Cause, Diagnosis, Evidence
from ktui.diagnose.explain import amount
from ktui.diagnose.hints import devices_text, kept_off
from ktui.diagnose.losses import Losses
from ktui.diagnose.shortage import Line, lacking_resource, node_obstacle
from ktui.diagnose.supply import Supply
from ktui.model.claim import ResourceClaim
from ktui.model.meta import Object
from ktui.model.pod import Pod
from ktui.model.time import parse_time

_MOST: Final = 8
_SAID: Final = 2  # texts of the scheduler
_EACH: Final = 2  # objects of one kind


def of_objects(found: Diagnosis, gang: Gang) -> tuple[Evidence, ...]:
    """Where the gang's own objects tell: what was found, and the object that says how many pods are needed."""
    owner = gang.object
    if owner is None or found.cause not in ("WaitingForPods", "Queued", "GroupInvalid"):
        return found.evidence[:_MOST]
    text = f"needs {gang.needed} pods, {len(gang.members)} exist"
    return (*found.evidence[: _MOST - 1], _of(owner, text))


def of_shortage(
    supply: Supply, demand: GangDemand, line: Line | None, lost: Losses, found: Diagnosis
) -> tuple[Evidence, ...]:
    """Where nodes and devices tell. The objects that the cause is about come before those of other steps."""
    lossy: dict[Cause, Iterable[Evidence]] = {
        "PoolIncomplete": _pools(supply.cluster, lost),
        "DevicesTainted": _taints(supply.cluster, lost),
        "NotEnoughDevices": _holders(lost),
    }
    match found.cause:
        case "NotEnoughNodeResources":
            about = _short_nodes(supply, demand)
        case "NodeConstraints":
            about = _closed_nodes(supply, demand)
        case cause:
            about = iter(lossy.pop(cause, ()) if cause else ())
    asked = (*islice(_claims(supply.cluster, demand, line), _EACH), *_classes(supply.cluster, line))
    rest = (item for step in lossy.values() for item in islice(step, 1))
    return (*found.evidence[:_SAID], *islice(about, _EACH), *asked, *rest)[:_MOST]


def _of(obj: Object, text: str, since: float | None = None) -> Evidence:
    made = parse_time(obj.metadata.creation_timestamp)
    return Evidence(type(obj).__name__, obj.namespace, obj.name, text, made if since is None else since)


def _pools(cluster: Cluster, lost: Losses) -> Iterator[Evidence]:
    for broken, count in lost.pools:
        pool = cluster.pool(broken.id)
        piece = cluster.stores["ResourceSlice"].get(("", pool.slice_names[0])) if pool and pool.slice_names else None
        if piece is not None:
            text = f"pool {broken.id[1]} is {broken.status}: {broken.problem}"
            yield _of(piece, f"{text}; {_devices(count)} of it would do")


def _taints(cluster: Cluster, lost: Losses) -> Iterator[Evidence]:
    for taint, devices in lost.taints:
        text = f"{taint.text} on {devices_text(devices)}"
        if taint.rule:
            found = cluster.stores["DeviceTaintRule"].get(("", taint.rule))
        else:
            published = cluster.device(devices[0])
            found = cluster.stores["ResourceSlice"].get(("", published.slice_name)) if published else None
        if found is not None:
            yield _of(found, text if taint.rule else f"{text}, by the driver")


def _holders(lost: Losses) -> Iterator[Evidence]:
    for holder, count in lost.holders:
        who = "" if holder.shown == "/".join(holder.key) else f"{holder.shown} "
        yield Evidence(holder.kind, *holder.key, f"{who}has {_devices(count)} that would do")


def _short_nodes(supply: Supply, demand: GangDemand) -> Iterator[Evidence]:
    """Those that have most of what is lacking."""
    resource, _, _ = lacking_resource(supply, demand)
    if not resource:
        return
    candidates = {n for part in demand.parts for n in supply.table(part, frozenset(("resources",))).on_node}
    for name in sorted(candidates, key=lambda n: (-supply.free(n).get(resource, 0), n))[:_EACH]:
        if (node := supply.node(name)) is not None:
            yield _of(node, f"{amount(resource, supply.free(name).get(resource, 0))} {resource} left")


def _closed_nodes(supply: Supply, demand: GangDemand) -> Iterator[Evidence]:
    """Those that would have room."""
    obstacle = node_obstacle(supply, demand)
    if obstacle is None:
        return
    for name in islice(kept_off(supply, demand, obstacle), _EACH):
        if (node := supply.node(name)) is not None:
            yield _of(node, closed_text(obstacle))


def closed_text(obstacle: NodeObstacle) -> str:
    """What keeps a pod off a node that has room, as said of the node."""
    match obstacle.kind:
        case "unschedulable":
            return "has room, and is cordoned"
        case "taint":
            return f"has room, and the taint {obstacle.text}"
        case "name":
            return f"has room, but the pod asks for {obstacle.text}"
        case _:
            return f"has room, but not {obstacle.text}"


def _claims(cluster: Cluster, demand: GangDemand, line: Line | None) -> Iterator[Evidence]:
    """The claims of a pod that asks for what is short, or what they would be made from."""
    pods = [
        part.pod for part in demand.parts if line is None or any(want == line.want for want, _ in part.demand.wants())
    ]
    for pod in pods[:1]:
        for entry in pod.spec.resource_claims or ():
            found = resolve(cluster, pod, entry)
            if found is None:
                continue
            if found.claim is not None:
                yield _of(found.claim, _claim_text(found.claim, pod))
            elif entry.resource_claim_template_name:
                key = (pod.namespace, entry.resource_claim_template_name)
                template = cluster.stores["ResourceClaimTemplate"].get(key)
                yield from [_of(template, f"the claim of {pod.name} is made from it")] if template else []


def _claim_text(claim: ResourceClaim, pod: Pod) -> str:
    state = "allocated" if claim.status.allocation else "not allocated"
    return f"{state}; pod {pod.name} names it"


def _classes(cluster: Cluster, line: Line | None) -> Iterator[Evidence]:
    found = device_class(cluster, line.want.device_class) if line is not None else None
    if found is not None:
        selectors = " && ".join(s.cel.expression for s in found.spec.selectors or () if s.cel)
        yield _of(found, f"selects {selectors}" if selectors else "selects every device")


def _devices(count: int) -> str:
    return f"{count} device{'s' if count != 1 else ''}"

"""What would help a gang, by name: which devices to untaint, who has them, which slices are missing, which node to uncordon."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import structs

from ktui.cluster.nodefit import Obstacle as NodeObstacle
from ktui.cluster.nodefit import obstacles
from ktui.diagnose.demand import Ask, ClaimDemand, GangDemand
from ktui.diagnose.explain import amount, hint
from ktui.diagnose.losses import Losses, Taint
from ktui.diagnose.room import NOTHING, Obstacle
from ktui.diagnose.shortage import Shortage, lacking_resource, node_obstacle
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from ktui.model.resourceslice import DeviceId

_NAMED = 3  # of many
_TRIED = 16  # smaller requests


def hints(supply: Supply, demand: GangDemand, found: Shortage, lost: Losses, blame: Obstacle) -> tuple[str, ...]:
    """One line for each way out, that for `blame` first. What is to blame only together stands in one line."""
    first = [blame, *(o for o in found.blame if o != blame)]
    needed = " and ".join(filter(None, (_line(supply, demand, found, lost, o) for o in first)))
    others = (_line(supply, demand, found, lost, o) for o in found.alone if o not in first)
    return tuple(text for text in (needed, *others) if text)


def _line(supply: Supply, demand: GangDemand, found: Shortage, lost: Losses, obstacle: Obstacle) -> str:
    base = hint(supply, demand, found, obstacle)
    names = _names(supply, demand, found, lost, obstacle)
    return f"{base}: {names}" if base and names else base


def _names(supply: Supply, demand: GangDemand, found: Shortage, lost: Losses, obstacle: Obstacle) -> str:
    match obstacle:
        case "pools":
            return listed(f"{pool.id[1]} is {pool.status}, {pool.problem}" for pool, _ in lost.pools)
        case "taints":
            return _tainted(found, lost)
        case "constraints":
            return _within_constraints(supply, demand, found)
        case "use":
            return listed(f"{holder.shown} has {count}" for holder, count in lost.holders)
        case "resources":
            name, asked, most = lacking_resource(supply, demand)
            return f"a pod asks for {amount(name, asked)}, the most left is {amount(name, most)}" if name else ""
        case "placement":
            return _allow(supply, demand)
        case _:
            return ""


def _tainted(found: Shortage, lost: Losses) -> str:
    short = found.line.short if found.line is not None else 0
    some = f"{short} of " if 0 < short < sum(len(devices) for _, devices in lost.taints) else ""
    return some + listed(f"{devices_text(devices)} {by(taint)}" for taint, devices in lost.taints)


def _within_constraints(supply: Supply, demand: GangDemand, found: Shortage) -> str:
    """How many devices a request could have as things are."""
    ask = found.line.ask if found.line is not None else None
    if ask is None or ask.all:
        return ""
    counts = range(ask.count - 1, max(0, ask.count - _TRIED - 1), -1)
    fits = next((n for n in counts if placeable(supply, _asking_for(demand, ask, n), NOTHING)), 0)
    return f"{fits} for each would fit" if fits else ""


def _asking_for(demand: GangDemand, ask: Ask, count: int) -> GangDemand:
    """The same demand, with so many devices in this request."""

    def smaller(claim: ClaimDemand) -> ClaimDemand:
        requests = (tuple(structs.replace(a, count=count) if a == ask else a for a in r) for r in claim.requests)
        return structs.replace(claim, requests=tuple(requests))

    parts = (
        part._replace(demand=structs.replace(part.demand, claims=tuple(map(smaller, part.demand.claims))))
        for part in demand.parts
    )
    return GangDemand(tuple(parts), {key: smaller(claim) for key, claim in demand.shared.items()})


def by(taint: Taint) -> str:
    """Who placed the taint, and so who can take it away."""
    return f"(rule {taint.rule})" if taint.rule else "(by the driver, who alone can take it away)"


def devices_text(devices: tuple[DeviceId, ...]) -> str:
    """The first few, as POOL/DEVICE."""
    return listed((f"{pool}/{device}" for _, pool, device in devices), ", ")


def listed(texts: Iterable[str], separator: str = "; ") -> str:
    """The first few, and how many more there are."""
    every = list(texts)
    more = len(every) - _NAMED
    return separator.join(every[:_NAMED]) + (f"{separator}{more} more" if more > 0 else "")


def _allow(supply: Supply, demand: GangDemand) -> str:
    """What to do about the nodes that would have room."""
    obstacle = node_obstacle(supply, demand)
    if obstacle is None:
        return ""
    nodes = listed(kept_off(supply, demand, obstacle), ", ")
    if not nodes:
        return ""  # no node is known to have room: its devices are reached from several, or shared
    match obstacle.kind:
        case "unschedulable":
            return f"uncordon {nodes}"
        case "taint":
            return f"tolerate {obstacle.text}, or take it from {nodes}"
        case "selector":
            return f"{nodes} would do with the label {obstacle.text}"
        case _:
            return f"{nodes} would do but for {obstacle.text}"


def kept_off(supply: Supply, demand: GangDemand, obstacle: NodeObstacle) -> Iterator[str]:
    """The nodes that would have room and that the obstacle keeps the pods off, by name."""
    for part in demand.parts:
        for name in sorted(supply.table(part, frozenset(("placement",))).on_node):
            node = supply.node(name)
            if node is not None and obstacle in obstacles(part.pod, node):
                yield name

"""Why there is no place for a gang: what has to be imagined away before there is one.

The scheduler gives the same words for a device that is taken, tainted, of the wrong kind, in an incomplete pool or on the
wrong NUMA node. Here each of these is taken away in turn, and the gang is placed on trial: what is to blame is what the gang
could be placed without. What is out of order (a pool that is incomplete, a taint) comes before what is meant to be so; where
no single thing helps, two are tried together.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ktui.cluster.devices import rules_unread
from ktui.cluster.nodefit import Obstacle as NodeObstacle
from ktui.cluster.nodefit import obstacles
from ktui.cluster.noderesources import fits
from ktui.cluster.state import Cluster
from ktui.diagnose.catalog import Catalog
from ktui.diagnose.demand import Ask, ClaimDemand, GangDemand, Part, Want, device_class
from ktui.diagnose.diagnosis import Cause, Funnel
from ktui.diagnose.room import NOTHING, Counts, Obstacle, Unit, Without, asks_for_all, tolerated
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import floats, placeable
from ktui.model.kinds import KINDS
from ktui.model.resourceslice import PoolId

DEVICE: tuple[Obstacle, ...] = ("pools", "taints", "selectors", "constraints", "use")
NODE: tuple[Obstacle, ...] = ("resources", "placement")
EVERYTHING: Without = frozenset(("pools", "taints", "use", "constraints", "resources", "placement"))
"""All but the selectors: a device of another kind is not what was asked for."""

CAUSES: dict[Obstacle, Cause] = {
    "pools": "PoolIncomplete",
    "taints": "DevicesTainted",
    "selectors": "NoMatchingDevice",
    "constraints": "DeviceConstraint",
    "use": "NotEnoughDevices",
    "resources": "NotEnoughNodeResources",
    "placement": "NodeConstraints",
}


class Line(NamedTuple):
    """How many devices of one kind of request a gang needs, and what there is."""

    want: Want
    ask: Ask
    need: int
    counts: Counts

    @property
    def short(self) -> int:
        return self.need - self.counts.free


class Shortage(NamedTuple):
    """What stands in the way. `blame` is empty when the gang could be placed, and when nothing was found to blame."""

    placeable: bool | None  # None: it is not known
    blame: tuple[Obstacle, ...] = ()
    alone: tuple[Obstacle, ...] = ()  # each of these, taken away by itself, is enough
    line: Line | None = None  # the request that is short of most
    funnel: Funnel | None = None
    missing_class: str = ""
    reason: str = ""  # why it is not known


def assess(supply: Supply, gang: GangDemand, named: frozenset[Obstacle] = frozenset()) -> Shortage:
    """Why the gang has no place. `named` is what the scheduler's words speak of: of several things that are to blame only
    together, that one is given first."""
    if unread := _unread(supply.cluster, gang):
        return Shortage(None, reason=unread)
    # Every alternative's class must exist: the allocator looks all of them up before it tries the first.
    missing = next((ask for ask in gang.asks if device_class(supply.cluster, ask.want.device_class) is None), None)
    if missing is not None:
        return Shortage(False, missing_class=missing.want.device_class)
    lines = list(_lines(supply, gang))
    line = max(lines, key=lambda found: found.short, default=None)
    now = placeable(supply, gang, NOTHING)
    funnel = _funnel(supply, gang, line) if line is not None else None
    if now is None or now:
        return Shortage(now, line=line, funnel=funnel, reason="" if now else _reason(supply, gang))
    nothing = next((found for found in lines if not found.counts.matching and not found.counts.unknown), None)
    if nothing is not None:
        return Shortage(False, ("selectors",), (), nothing, _funnel(supply, gang, nothing))
    possible = [o for o in _order(line) if _stands(o, gang, lines)]
    alone = _alone(supply, gang, lines, possible)
    blame: tuple[Obstacle, ...] = tuple(o for o in alone if not named or o in named)[:1]
    if not blame and not alone:
        blame = _together(supply, gang, line, possible, named)
    if not blame and not alone and line is not None:
        if placeable(supply, gang, EVERYTHING) is None:
            reason = (
                "an expression that selects devices cannot be evaluated"
                if any(found.counts.unknown for found in lines)
                else _reason(supply, gang)
            )
            return Shortage(False, (), (), line, funnel, reason=reason)
        blame = ("use",)  # more than there are, in all or on one node, however many were free
    if alone and not blame:
        return Shortage(False, (), alone, line, funnel, reason=f"{CAUSES[alone[0]]} would not account for that")
    return Shortage(False, blame, alone, line, funnel)


def _alone(supply: Supply, gang: GangDemand, lines: list[Line], possible: list[Obstacle]) -> tuple[Obstacle, ...]:
    """Obstacles without any one of which there would be a place. Which nodes a pod asks for is meant to be so: where others
    use the devices of those nodes, that comes first; a node that is cordoned or tainted is not what anybody asked for."""
    alone = [o for o in possible if _enough(o, gang, lines) and placeable(supply, gang, frozenset((o,)))]
    if "placement" in alone and "use" in alone:
        obstacle = node_obstacle(supply, gang)
        if obstacle is not None and obstacle.kind not in ("unschedulable", "taint"):
            alone.remove("placement")
            alone.append("placement")
    return tuple(alone)


def _unread(cluster: Cluster, gang: GangDemand) -> str:
    """What would have to be read to say anything, "" when all was."""
    if gang.claims or any(part.demand.extended for part in gang.parts):
        for kind in ("ResourceSlice", "DeviceClass"):
            if not cluster.synced(kind):
                return f"{KINDS[kind].plural} are not read"
        if not cluster.sees_all("ResourceClaim"):
            return "the claims of all namespaces are not read"
        if rules_unread(cluster):
            return f"{KINDS['DeviceTaintRule'].plural} are not read"
    return "" if cluster.synced("Node") else f"{KINDS['Node'].plural} are not read"


def _order(line: Line | None) -> tuple[Obstacle, ...]:
    """What to try first. Where enough devices are free, it is not to blame that others are in use."""
    if line is None:
        return NODE
    few = line.counts.matching < line.need
    kept = tuple(o for o in DEVICE if (o != "selectors" or few) and o != "use")
    return (*kept, "use", *NODE) if line.short > 0 else (*kept, *NODE, "use")


def _stands(obstacle: Obstacle, gang: GangDemand, lines: list[Line]) -> bool:
    """Whether the obstacle keeps anything from anybody, so that it is worth imagining it away."""
    match obstacle:
        case "pools":
            lost = any(line.counts.complete < line.counts.matching for line in lines)
            return lost or _has_choices(gang) or asks_for_all(gang.claims)
        case "taints":
            return any(line.counts.untainted < line.counts.complete for line in lines) or _has_choices(gang)
        case "constraints":
            return any(claim.constraints for claim in gang.claims)
        case _:
            return True


def _enough(obstacle: Obstacle, gang: GangDemand, lines: list[Line]) -> bool:
    """Whether there might be a place without the obstacle, by the number of devices alone."""
    if obstacle in ("constraints", *NODE) and not _has_choices(gang) and not asks_for_all(gang.claims):
        return all(line.short <= 0 for line in lines)
    return True


def _has_choices(gang: GangDemand) -> bool:
    """Whether a request has alternatives, so that what the first one lacks may not matter."""
    return any(len(alternatives) > 1 for claim in gang.claims for alternatives in claim.requests)


def _together(
    supply: Supply, gang: GangDemand, line: Line | None, possible: list[Obstacle], named: frozenset[Obstacle]
) -> tuple[Obstacle, ...]:
    order: list[Obstacle] = [o for o in possible if o != "selectors"]
    pairs = [pair for pair in itertools.combinations(order, 2) if placeable(supply, gang, frozenset(pair))]
    if not pairs:
        return _everything(supply, gang, line, order)
    pair = min(pairs, key=lambda p: not named & set(p)) if named else pairs[0]
    if "use" in pair and not set(pair) & set(NODE):
        return ("use", *(o for o in pair if o != "use"))
    return tuple(sorted(pair, key=lambda o: o not in named)) if named else pair


def _everything(supply: Supply, gang: GangDemand, line: Line | None, order: list[Obstacle]) -> tuple[Obstacle, ...]:
    if not placeable(supply, gang, EVERYTHING):
        return ()  # it could not be placed even on an empty cluster
    return ("use",) if line is not None and line.short > 0 else tuple(order)


def _reason(supply: Supply, gang: GangDemand) -> str:
    for part in gang.parts:
        table = supply.table(part)
        if not table.reaches(part.pods) and (reasons := table.undecided):
            return Counter(reasons.values()).most_common(1)[0][0]
    return "there are too many ways to place its pods"


# --- counting ---


def _lines(supply: Supply, gang: GangDemand) -> Iterator[Line]:
    """Each kind of request of the gang with what it needs in all. Of alternatives the first one of which there are any devices
    stands for the request."""
    needs: Counter[Want] = Counter()
    asks: dict[Want, tuple[Ask, Part | None]] = {}
    for part in gang.parts:
        for ask in _standing(supply, (*part.demand.claims, *_extended_claims(supply, part))):
            needs[ask.want] += part.pods * _devices(supply, ask, part)
            asks.setdefault(ask.want, (ask, part))
    for claim in gang.shared.values():
        for ask in _standing(supply, (claim,)):
            needs[ask.want] += ask.count
            asks.setdefault(ask.want, (ask, None))
    for want, (ask, asking) in asks.items():
        claims = (*asking.demand.claims, *_extended_claims(supply, asking)) if asking else tuple(gang.shared.values())
        yield Line(want, ask, needs[want], supply.counts(want, supply.catalog(claims)))


def _extended_claims(supply: Supply, part: Part) -> tuple[ClaimDemand, ...]:
    """Devices for its extended resources, unless some node has a device plugin for them."""
    if not part.demand.extended or any(
        name in (node.status.allocatable or {})
        for name in (e.resource for e in part.demand.extended)
        for node in map(supply.node, supply.nodes())
        if node is not None
    ):
        return ()
    return supply.split(part.demand, "")[1][len(part.demand.claims) :]


def _standing(supply: Supply, claims: tuple[ClaimDemand, ...]) -> Iterator[Ask]:
    """Of each request the alternative that stands for it."""
    for claim in claims:
        for alternatives in claim.requests:
            if len(alternatives) > 1:
                catalog = supply.catalog(claims)
                there = (ask for ask in alternatives if supply.counts(ask.want, catalog).matching)
                yield next(there, alternatives[0])
            elif alternatives:
                yield alternatives[0]


def _devices(supply: Supply, ask: Ask, part: Part) -> int:
    """How many devices one pod asks for; for "all of a node", the most that match on one."""
    if not ask.all:
        return ask.count
    catalog = supply.catalog(part.demand.claims)
    return max((supply.room_counts(ask.want, catalog, n).matching for n in catalog.nodes_with), default=0)


def _funnel(supply: Supply, gang: GangDemand, line: Line) -> Funnel:
    counts = line.counts
    known = not counts.unknown
    return Funnel(
        counts.published,
        counts.in_class,
        counts.matching if known else None,
        counts.complete if known else None,
        counts.untainted if known else None,
        counts.free if known else None,
        _satisfying(supply, gang, line) if known else None,
        line.need,
    )


def _satisfying(supply: Supply, gang: GangDemand, line: Line) -> int | None:
    """Free devices in sets that pods can use, whatever else their nodes lack; None where pods or nodes share devices."""
    if len(gang.parts) != 1 or gang.shared or floats(supply, gang.parts[0]):
        return None
    part = gang.parts[0]
    table = supply.table(part, frozenset(NODE))
    each = line.need // part.pods if part.pods else 0
    if not each:
        return None
    pods = table.at_most(-(-line.counts.free // each))
    return None if table.undecided else min(line.counts.free, pods * each)


# --- the things to blame, by name ---


def blocking_taint(line: Line, catalog: Catalog) -> str:
    """Key of the taint that keeps most of the devices that would do from being allocated."""
    keys: Counter[str] = Counter()
    for number, nodes in catalog.nodes_with.items():
        for pool in catalog.room(number):
            _count_taints(line.want, pool.units, catalog, len(nodes), keys)
    for pool, _ in catalog.floating.values():
        _count_taints(line.want, pool.units, catalog, 1, keys)
    return min(keys, key=lambda key: (-keys[key], key), default="")


def _count_taints(want: Want, units: Iterable[Unit], catalog: Catalog, nodes: int, keys: Counter[str]) -> None:
    for unit in units:
        if unit.taints and catalog.kinds.matches(want, unit.kind):
            for taint in unit.taints:
                if not tolerated(want, (taint,)):
                    keys[taint.key] += nodes


def incomplete_pool(supply: Supply, gang: GangDemand, line: Line, catalog: Catalog) -> PoolId | None:
    """The incomplete or invalid pool with most devices that would do. Who asks for all devices of a node is refused by any pool
    of the nodes that are looked at, whatever is in it: those come first."""
    given_up = {node for part in gang.parts for node in supply.given_up_on(part, NOTHING)}
    broken = [pool for pool in supply.cluster.pools() if pool.status != "ok"]
    found: dict[PoolId, int] = {}
    for pool in [pool for pool in broken if pool.node in given_up] or broken:
        units = catalog.units(pool.id)
        found[pool.id] = sum(1 for unit in units if catalog.kinds.matches(line.want, unit.kind))
    return min(found, key=lambda pool_id: (-found[pool_id], pool_id), default=None)


def lacking_resource(supply: Supply, gang: GangDemand) -> tuple[str, int, int]:
    """(resource, what a pod requests, the most that one node has left): the one that most nodes lack, of the nodes on which
    the pod could be otherwise; of all that have its devices when there are none of those."""
    lacking: Counter[str] = Counter()
    most: dict[str, int] = {}
    asked: dict[str, int] = {}
    for part in gang.parts:
        nodes = supply.table(part, frozenset(("resources",))).on_node or supply.table(part, frozenset(NODE)).on_node
        for node in nodes:
            resources = dict(supply.split(part.demand, node)[0])
            free = supply.free(node)
            for name in fits(resources, free) or _scarcest(resources, free):
                lacking[name] += 1
                asked[name] = max(asked.get(name, 0), resources[name])
                most[name] = max(most.get(name, free.get(name, 0)), free.get(name, 0))
    if not lacking:
        return "", 0, 0
    name = min(lacking, key=lambda n: (-lacking[n], n))
    return name, asked[name], most[name]


def _scarcest(resources: dict[str, int], free: Mapping[str, int]) -> tuple[str, ...]:
    """What runs out first where some pods fit, and not all of them."""
    ratios = {name: free.get(name, 0) / amount for name, amount in resources.items() if amount > 0}
    return (min(ratios, key=lambda name: (ratios[name], name)),) if ratios else ()


def node_obstacle(supply: Supply, gang: GangDemand) -> NodeObstacle | None:
    """What keeps the pods off most of the nodes that would have room for them."""
    seen: Counter[NodeObstacle] = Counter()
    for part in gang.parts:
        room = supply.table(part, frozenset(("placement",))).on_node
        for name in room or supply.nodes():
            node = supply.node(name)
            if node is not None:
                seen.update(obstacles(part.pod, node))
    return min(seen, key=lambda o: (-seen[o], o), default=None)

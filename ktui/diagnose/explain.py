"""A shortage in words: cause, one sentence, facts and what would help."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from ktui.diagnose.catalog import Catalog
from ktui.diagnose.demand import ClaimDemand, GangDemand, Part
from ktui.diagnose.diagnosis import Cause
from ktui.diagnose.room import NOTHING, Obstacle, asks_for_all
from ktui.diagnose.shortage import (
    CAUSES,
    Line,
    Shortage,
    blocking_taint,
    incomplete_pool,
    lacking_resource,
    node_obstacle,
)
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from ktui.model.claim import Constraint
from ktui.model.quantity import format_bytes
from ktui.model.resourceslice import PoolId


class Told(NamedTuple):
    cause: Cause
    message: str
    facts: dict[str, object]
    unblock: tuple[str, ...]


def tell(supply: Supply, gang: GangDemand, found: Shortage) -> Told | None:
    """What to say of a shortage; None when nothing was found to blame."""
    if name := found.missing_class:
        return Told(
            "DeviceClassMissing",
            f"device class {name} does not exist",
            {"deviceClass": name},
            (f"create the device class {name}",),
        )
    if not found.blame:
        return None
    told = _told(supply, gang, found, found.blame[0])
    further = [_in_short(supply, gang, found, other) for other in found.blame[1:]]
    message = "; ".join((told.message, *(f"then {text}" for text in further if text)))
    others = (hint(supply, gang, found, other) for other in found.alone if other != found.blame[0])
    return told._replace(message=message, unblock=(*told.unblock, *(text for text in others if text)))


def _told(supply: Supply, gang: GangDemand, found: Shortage, blame: Obstacle) -> Told:
    facts, message = _facts(supply, gang, found, blame)
    return Told(CAUSES[blame], message, facts, tuple(filter(None, (hint(supply, gang, found, blame),))))


def _facts(supply: Supply, gang: GangDemand, found: Shortage, blame: Obstacle) -> tuple[dict[str, object], str]:
    if blame == "resources":
        return _resources(supply, gang)
    if blame == "placement":
        return _placement(supply, gang)
    line = found.line
    if line is None:
        raise ValueError(f"{blame} without a request for devices")
    match blame:
        case "pools":
            return _pool(supply, gang, line)
        case "taints":
            facts, taint = _taint(supply, gang, line)
            return facts, f"{taint}: {_needs(line)}"
        case "selectors":
            return _selectors(line)
        case "constraints":
            return _rule(supply, gang, line)
        case _:
            return {"need": line.need, "free": line.counts.free}, _few(line)


def _resources(supply: Supply, gang: GangDemand) -> tuple[dict[str, object], str]:
    name, asked, most = lacking_resource(supply, gang)
    text = f"not enough {name}: a pod asks for {amount(name, asked)}, the most left on a node is {amount(name, most)}"
    return {"resource": name}, text


def _placement(supply: Supply, gang: GangDemand) -> tuple[dict[str, object], str]:
    obstacle = node_obstacle(supply, gang)
    if obstacle is None:
        return {"selector": ""}, "no node that has room may be used"
    match obstacle.kind:
        case "taint":
            text = f"nodes with room are tainted {obstacle.text}"
        case "unschedulable":
            text = "nodes with room are cordoned"
        case _:
            text = f"no node with room matches {obstacle.text}"
    return {"selector": obstacle.text}, text


def _taint(supply: Supply, gang: GangDemand, line: Line) -> tuple[dict[str, object], str]:
    key = blocking_taint(line, _catalog(supply, gang))
    facts: dict[str, object] = {"need": line.need, "free": line.counts.free, "taint": key}
    return facts, f"{line.counts.complete - line.counts.untainted} tainted {key}"


def _selectors(line: Line) -> tuple[dict[str, object], str]:
    matching = line.counts.matching
    have = f"{matching} of {line.need} needed devices match" if matching else "no device matches"
    return {"need": line.need, "matching": matching}, f"{have}: {_asked(line)}"


def _rule(supply: Supply, gang: GangDemand, line: Line) -> tuple[dict[str, object], str]:
    rule = _constraint(supply, gang)
    name = (rule.match_attribute or rule.distinct_attribute or "") if rule else ""
    what = f"{'the same' if rule and rule.match_attribute else 'different'} {name.rpartition('/')[2]}"
    if line.ask.all:
        text = f"asks for all devices of a node, and on some node not all of them have {what}"
    else:
        text = f"no node has {line.ask.count} free devices with {what}"
    return {"attribute": name}, text


def _few(line: Line) -> str:
    if line.short > 0:
        few = line.counts.matching < line.need
        return f"{_needs(line)} of the {line.counts.matching} there are" if few else _needs(line)
    if line.ask.count == 1:
        return f"{_needs(line)}, but not enough where its pods may run"
    return f"{_needs(line)}, but not enough on one node: a pod needs {line.ask.count} together"


def _needs(line: Line) -> str:
    free = line.counts.free
    have = f"{free} are free" if free > 1 else f"{free or 'none'} is free"
    return f"needs {line.need} device{'s' if line.need != 1 else ''}, {have}"


def _pool(supply: Supply, gang: GangDemand, line: Line) -> tuple[dict[str, object], str]:
    pool_id = incomplete_pool(supply, gang, line, _catalog(supply, gang))
    pool = supply.cluster.pool(pool_id) if pool_id else None
    if pool is None:
        return {"pool": ""}, "a pool is incomplete"
    text = f"pool {pool.id[1]} is {pool.status}: {pool.problem}"
    if asks_for_all(gang.claims):
        text += "; until then nobody who asks for all devices of a node gets those of any"
    return {"pool": pool.id[1]}, text


def _asked(line: Line) -> str:
    capacity = (f"{amount} of {name}" for name, amount in line.want.capacity)
    parts = (" && ".join(line.want.selectors), ", ".join(capacity))
    return ", ".join(filter(None, parts)) or f"class {line.want.device_class}"


def _catalog(supply: Supply, gang: GangDemand) -> Catalog:
    claims = [claim for part in gang.parts for claim in supply.split(part.demand, "")[1]]
    return supply.catalog((*claims, *gang.shared.values()))


def _constraint(supply: Supply, gang: GangDemand) -> Constraint | None:
    """The constraint without which there would be a place; the first one when it takes more than that."""
    rules = list(dict.fromkeys(rule for claim in gang.claims for rule in claim.constraints))
    if len(rules) > 1:
        freed = (rule for rule in rules if placeable(supply, _without_rule(gang, rule), NOTHING))
        return next(freed, rules[0])
    return rules[0] if rules else None


def _without_rule(gang: GangDemand, rule: Constraint) -> GangDemand:
    def kept(claim: ClaimDemand) -> ClaimDemand:
        return structs.replace(claim, constraints=tuple(c for c in claim.constraints if c != rule))

    def lighter(part: Part) -> Part:
        return part._replace(demand=structs.replace(part.demand, claims=tuple(map(kept, part.demand.claims))))

    return GangDemand(tuple(map(lighter, gang.parts)), {key: kept(claim) for key, claim in gang.shared.items()})


def _in_short(supply: Supply, gang: GangDemand, found: Shortage, blame: Obstacle) -> str:
    """What else is in the way, after the cause was given."""
    if blame == "taints" and found.line is not None:
        return _taint(supply, gang, found.line)[1]
    return _facts(supply, gang, found, blame)[1]


def hint(supply: Supply, gang: GangDemand, found: Shortage, blame: Obstacle) -> str:
    line = found.line
    match blame:
        case "pools" if line is not None:
            pool_id = incomplete_pool(supply, gang, line, _catalog(supply, gang))
            return _whole(supply, pool_id) if pool_id else ""
        case "taints" if line is not None:
            return f"untaint its devices ({blocking_taint(line, _catalog(supply, gang))})"
        case "selectors":
            less = line is not None and line.want.capacity and not line.want.selectors
            return f"devices that match, or claims {'for less capacity' if less else 'with other selectors'}"
        case "constraints":
            rule = _constraint(supply, gang)
            kind = "matchAttribute" if rule and rule.match_attribute else "distinctAttribute"
            return f"claims without {kind}, or for fewer devices"
        case "use" if line is not None and line.short > 0:
            return f"{line.short} more free device{'s' if line.short != 1 else ''}"
        case "use":
            return "devices that are free on one node"
        case "resources":
            return f"nodes with more {lacking_resource(supply, gang)[0]}"
        case "placement":
            return "nodes that the pods may run on"
        case _:
            return ""


def _whole(supply: Supply, pool_id: PoolId) -> str:
    pool = supply.cluster.pool(pool_id)
    if pool is not None and pool.status == "invalid":
        return f"the driver publishes pool {pool_id[1]} without its fault"
    return f"the driver publishes all slices of pool {pool_id[1]}"


def amount(resource: str, value: int) -> str:
    """An amount of `noderesources` as people write it."""
    if resource == "cpu":
        return f"{value / 1000:g}"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return format_bytes(value)
    return str(value)

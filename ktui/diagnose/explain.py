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
    line = found.line
    match blame:
        case "resources":
            name, asked, most = lacking_resource(supply, gang)
            text = f"not enough {name}: a pod asks for {amount(name, asked)}, the most left on a node is {amount(name, most)}"
            return {"resource": name}, text
        case "placement":
            obstacle = node_obstacle(supply, gang)
            what = f"{obstacle.kind} {obstacle.text}".strip() if obstacle else "node constraints"
            return {"selector": obstacle.text if obstacle else ""}, f"no node that has room is allowed: {what}"
    if line is None:
        raise ValueError(f"{blame} without a request for devices")
    need, counts = line.need, line.counts
    match blame:
        case "pools":
            return _pool(supply, gang, line)
        case "taints":
            key = blocking_taint(line, _catalog(supply, gang))
            held = counts.complete - counts.untainted
            return {
                "need": need,
                "free": counts.free,
                "taint": key,
            }, f"{_needs(need, counts.free)}, {held} tainted {key}"
        case "selectors":
            have = "no device matches" if not counts.matching else f"{counts.matching} of {need} needed devices match"
            return {"need": need, "matching": counts.matching}, f"{have}: {_asked(line)}"
        case "constraints":
            rule = _constraint(supply, gang)
            name = (rule.match_attribute or rule.distinct_attribute or "") if rule else ""
            word = "the same" if rule and rule.match_attribute else "different"
            many = line.ask.count
            if line.ask.all:
                text = f"asks for all devices of a node, and on some node not all of them have {word} {name.rpartition('/')[2]}"
                return {"attribute": name}, text
            return {"attribute": name}, f"no node has {many} free devices with {word} {name.rpartition('/')[2]}"
        case _:
            return {"need": need, "free": counts.free}, _few(line)


def _few(line: Line) -> str:
    text = _needs(line.need, line.counts.free)
    if line.short > 0:
        short = line.counts.matching < line.need
        return f"{text} of the {line.counts.matching} there are" if short else text
    if line.ask.count == 1:
        return f"{text}, but not enough where its pods may run"
    return f"{text}, but not enough on one node: a pod needs {line.ask.count} together"


def _needs(need: int, free: int) -> str:
    are = "is" if free == 1 else "are"
    return f"needs {need} device{'s' if need != 1 else ''}, {free or 'none'} {are} free"


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
    return " && ".join(line.want.selectors) or f"class {line.want.device_class}"


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
    return _facts(supply, gang, found, blame)[1]


def hint(supply: Supply, gang: GangDemand, found: Shortage, blame: Obstacle) -> str:
    line = found.line
    match blame:
        case "pools" if line is not None:
            pool_id = incomplete_pool(supply, gang, line, _catalog(supply, gang))
            return f"the driver publishes all slices of pool {pool_id[1]}" if pool_id else ""
        case "taints" if line is not None:
            return f"untaint its devices ({blocking_taint(line, _catalog(supply, gang))})"
        case "selectors":
            return "devices that match, or claims with other selectors"
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


def amount(resource: str, value: int) -> str:
    """An amount of `noderesources` as people write it."""
    if resource == "cpu":
        return f"{value / 1000:g}"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return format_bytes(value)
    return str(value)

"""What nodes and devices say of a demand, in one value: two verdicts are equal when people would be told the same."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import structs

from ktui.diagnose.demand import GangDemand, Part
from ktui.diagnose.diagnosis import Funnel
from ktui.diagnose.explain import Told, tell
from ktui.diagnose.room import Obstacle
from ktui.diagnose.shortage import DEVICE, assess
from ktui.diagnose.supply import Supply


class Verdict(NamedTuple):
    placeable: bool | None  # None: it is not known, `reason` says why
    told: Told | None
    funnel: Funnel | None
    reason: str


def judge(supply: Supply, demand: GangDemand, named: frozenset[Obstacle] = frozenset()) -> Verdict:
    """Whether there is a place for what is asked for, and if not, why. `named`: what the scheduler's words speak of.

    The scheduler looks at devices last: where its words speak of nodes only, nodes alone must account for it.
    """
    supply.begin()
    only_nodes = bool(named) and not named & set(DEVICE)
    found = assess(supply, demand, frozenset() if only_nodes else named)
    told = tell(supply, demand, found)
    if only_nodes and demand.claims and found.placeable is False:
        told = _nodes_first(supply, demand, told)
    return Verdict(found.placeable, told, found.funnel, found.reason)


def _nodes_first(supply: Supply, demand: GangDemand, told: Told | None) -> Told | None:
    """What nodes account for by themselves; what devices do where the nodes have room, so that the words are old."""
    bare = GangDemand(tuple(_without_claims(part) for part in demand.parts), {})
    found = tell(supply, bare, assess(supply, bare))
    if found is None or told is None or told.cause == found.cause:
        return told or found
    return found._replace(message=f"{found.message}; then {told.message}")


def _without_claims(part: Part) -> Part:
    return part._replace(demand=structs.replace(part.demand, claims=(), shared=()))

"""Placing a gang on trial: pod after pod on the first node that takes it, each taking away what the next one could have.

That is how the scheduler goes about it, except that it prefers some nodes to others. Where that might matter (pods that differ,
claims that several share, devices that several nodes reach) other nodes are tried as well before it is said that there is no
place, and past the budget nothing is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from ktui.cluster.nodefit import matches_selector
from ktui.diagnose.catalog import Reach
from ktui.diagnose.demand import GangDemand, Part
from ktui.diagnose.room import (
    NOTHING,
    GivesUp,
    PoolRoom,
    Room,
    Undecided,
    Without,
    asks_for_all,
    imagine,
    imagine_claims,
    place,
    place_each,
)
from ktui.diagnose.supply import FRESH, Supply
from ktui.model.meta import Key
from ktui.model.resourceslice import PoolId

_RESOURCES: Without = frozenset(("resources",))
_TRIES = 4_000
_TWIN = "+"  # in no node's name: what follows is the number of one like it
_BACKTRACKING = 64  # pods; more are only placed one after the other

Allowed = Callable[[str], bool]


def placeable(supply: Supply, gang: GangDemand, without: Without) -> bool | None:
    """Whether the gang could be placed now, with some of what stands in the way imagined away; None when it is not known."""
    found = _find_place(supply, gang, without)
    return None if found and any(supply.doubts(part, gang.claims, without) for part in gang.parts) else found


def _find_place(supply: Supply, gang: GangDemand, without: Without) -> bool | None:
    simple = not gang.shared
    for part in gang.parts:
        if part.demand.shared or floats(supply, part, without):
            simple = False
            continue
        for imagined in (without | _RESOURCES, without):  # what nodes have left is counted only where it matters
            table = supply.table(part, imagined)
            if not table.reaches(part.pods):
                return None if table.undecided else False
        if any(supply.given_up_on(part, without)):
            return False
    if simple and len(gang.parts) == 1:
        return True
    try:
        return Trial(supply, gang, without).run()
    except Undecided:
        return None


def floats(supply: Supply, part: Part, without: Without = NOTHING) -> bool:
    """Whether devices that several nodes reach would do for one of the pod's requests."""
    claims = part.demand.claims
    if not claims:
        return False
    catalog = supply.catalog(claims)
    if not catalog.floating:
        return False
    if asks_for_all(claims) and not all(pool.complete for pool, _ in catalog.floating.values()):
        return True  # none of them would do, and still it matters
    imagined = imagine_claims(claims, without)
    wants = {ask.want for claim in imagined for alternatives in claim.requests for ask in alternatives}
    kinds = catalog.floating_kinds()
    return any(catalog.kinds.matches(want, kind) is not False for want in wants for kind in kinds)


class Trial:
    """One trial: what is taken by the pods placed so far."""

    def __init__(self, supply: Supply, gang: GangDemand, without: Without) -> None:
        self._supply = supply
        self._gang = gang
        self._without = without
        self._shared = {key: imagine_claims((claim,), without)[0] for key, claim in gang.shared.items()}
        every = tuple(claim for part in gang.parts for claim in part.demand.claims) + tuple(gang.shared.values())
        self._extended = tuple(
            claim for part in gang.parts for claim in supply.split(part.demand, "")[1] if part.demand.extended
        )
        self._catalog = supply.catalog((*every, *self._extended))
        self._pods = [part for part in gang.parts for _ in range(part.pods)]
        self._local: dict[str, Room] = {}
        self._floating: dict[PoolId, PoolRoom] = {
            pool_id: imagine((pool,), without)[0] for pool_id, (pool, _) in self._catalog.floating.items()
        }
        self._resources: dict[str, dict[str, int]] = {}
        self._where: dict[Key, Allowed] = {}
        self._tries = 0
        self.placed = 0  # the most pods that had a place at one time

    def run(self) -> bool:
        """Whether all pods of the gang find a place.

        Raises:
            Undecided: it was not found out within the budget.
        """
        return self._from(0) if len(self._pods) <= _BACKTRACKING else self._in_one_go()

    def _from(self, position: int) -> bool:
        self.placed = max(self.placed, position)
        if position == len(self._pods):
            return True
        part = self._pods[position]
        failed: set[object] = set()
        if self._gives_up(part):
            return False
        for node in self._candidates(part):
            same = self._alike(node)
            if same in failed and not part.demand.shared:
                continue
            failed.add(same)
            undo = self._put(part, node)
            if undo is None:
                continue
            if self._from(position + 1):
                return True
            undo()
        return False

    def _in_one_go(self) -> bool:
        """Whether all find a place with nothing taken back: so many pods are too many for calls within calls."""
        for part in self._gang.parts:
            missing = part.pods
            while missing:
                placed = self._put_most(part, missing)
                if not placed and self.placed:
                    raise Undecided("there are too many ways to place so many different pods")
                if not placed:
                    return False
                missing -= placed
                self.placed += placed
        return True

    def _put_most(self, part: Part, missing: int) -> int:
        """Place as many of the pods as will go, node after node; one that brings a shared claim, or might be given up on, by
        itself."""
        if self._gives_up(part):
            return 0
        most = 1 if self._new(part) or asks_for_all(part.demand.claims) else missing
        placed = 0
        failed: set[object] = set()
        for node in self._candidates(part):
            if self._alike(node) in failed and not part.demand.shared:
                continue
            while placed < most and self._put(part, node) is not None:
                placed += 1
            if placed == most:
                break
            failed.add(self._alike(node))
        return placed

    def _alike(self, node: str) -> object:
        """Equal for nodes that take the same pods now."""
        return self._room(node), tuple(sorted(self._left(node).items())), self._reached(node)

    def _candidates(self, part: Part) -> Iterator[str]:
        allowed = [self._where[key] for key in part.demand.shared if key in self._where]
        for node in self._supply.nodes():
            if self._supply.may_run(part, self._without, node):
                every = (node, *(f"{node}{_TWIN}{number}" for number in range(self._supply.extra.get(node, 0))))
                yield from (each for each in every if all(rule(each) for rule in allowed))

    def _put(self, part: Part, node: str) -> Callable[[], None] | None:
        """Place the pod on the node; returns what takes it back, None when it has no place there."""
        self._count_try()
        resources, own = self._supply.split(part.demand, _like(node))
        if not self._has(node, resources):
            return None
        new = self._new(part)
        claims = (*imagine_claims(own, self._without), *(self._shared[key] for key in new))
        order, room = self._whole(node)
        found = place_each(room, claims, self._catalog.kinds)
        if found is None:
            return None
        undo = self._take(node, resources, order, room, found.left)
        shared = found.chosen[len(found.chosen) - len(new) :]
        self._where |= {key: self._allowed(node, order, room, chosen) for key, chosen in zip(new, shared, strict=True)}

        def undo_all() -> None:
            for key in new:
                del self._where[key]
            undo()

        return undo_all

    def _gives_up(self, part: Part) -> bool:
        """Whether there is a node on which the allocator gives up on the pod, wherever else it might be."""
        claims = (*part.demand.claims, *(self._shared[key] for key in self._new(part)))
        if not asks_for_all(claims):
            return False
        wanted = imagine_claims(claims, self._without)
        for node in self._candidates(part):
            self._count_try()
            if self._has(node, self._supply.split(part.demand, _like(node))[0]):
                try:
                    place(self._whole(node)[1], wanted, self._catalog.kinds)
                except GivesUp:
                    return True
        return False

    def _count_try(self) -> None:
        self._tries += 1
        if self._tries > _TRIES:
            raise Undecided("there are too many ways to place its pods")

    def _has(self, node: str, resources: tuple[tuple[str, int], ...]) -> bool:
        left = self._left(node)
        return "resources" in self._without or all(left.get(r, 0) >= n for r, n in resources if n > 0)

    def _new(self, part: Part) -> list[Key]:
        """The shared claims that no pod before has brought with it."""
        return [key for key in part.demand.shared if key not in self._where]

    def _take(
        self,
        node: str,
        resources: tuple[tuple[str, int], ...],
        order: list[tuple[PoolId, list[int] | None]],
        before: Room,
        after: Room,
    ) -> Callable[[], None]:
        local, floating, left = self._local.get(node), dict(self._floating), self._resources.get(node)
        kept: list[PoolRoom] = []
        for (pool_id, positions), old, now in zip(order, before, after, strict=True):
            if positions is None:
                kept.append(now)
            elif old != now:
                self._merge(pool_id, positions, now)
        self._local[node] = tuple(kept)
        asked = dict(resources)
        self._resources[node] = {r: n - asked.get(r, 0) for r, n in self._left(node).items()}

        def undo() -> None:
            self._floating = floating
            _restore(self._local, node, local)
            _restore(self._resources, node, left)

        return undo

    def _merge(self, pool_id: PoolId, positions: list[int], now: PoolRoom) -> None:
        """Write a node's view of a pool back."""
        whole = self._floating[pool_id]
        units = list(whole.units)
        for position, unit in zip(positions, now.units, strict=True):
            units[position] = unit
        self._floating[pool_id] = PoolRoom(whole.complete, tuple(units), now.counters)

    def _allowed(
        self, node: str, order: list[tuple[PoolId, list[int] | None]], room: Room, chosen: Iterable[int]
    ) -> Allowed:
        """Where a claim with these devices can be used: on one node if one of them is that node's, else wherever all of them
        are."""
        units = [
            (pool_id, positions[index] if positions is not None else None)
            for (pool_id, positions), pool in zip(order, room, strict=True)
            for index in range(len(pool.units))
        ]
        reaches = []
        for pool_id, position in (units[index] for index in chosen):
            if position is None:
                return lambda other: other == node
            reaches.append(self._catalog.floating[pool_id][1][position])
        return lambda other: all(self._reaches(reach, other) for reach in reaches)

    def _reaches(self, reach: Reach, node: str) -> bool:
        if isinstance(reach, str):
            return reach == node
        found = self._supply.node(_like(node))
        return reach is None or (found is not None and matches_selector(reach, found))

    def _whole(self, node: str) -> tuple[list[tuple[PoolId, list[int] | None]], Room]:
        """The pools that the node reaches, in the allocator's order, and which units of each: None stands for a pool of its
        own."""
        rooms: dict[PoolId, tuple[list[int] | None, PoolRoom]] = {
            pool_id: (None, pool)
            for pool_id, pool in zip(self._catalog.pool_order(_like(node)), self._room(node), strict=True)
        }
        for pool_id, pool in self._floating.items():
            positions = [i for i, reach in enumerate(self._catalog.floating[pool_id][1]) if self._reaches(reach, node)]
            if positions:
                units = tuple(pool.units[i] for i in positions)
                rooms[pool_id] = (positions, PoolRoom(pool.complete, units, pool.counters))
        order = sorted(rooms)
        return [(pool_id, rooms[pool_id][0]) for pool_id in order], tuple(rooms[pool_id][1] for pool_id in order)

    def _room(self, node: str) -> Room:
        found = self._local.get(node)
        if found is not None:
            return found
        return imagine(self._catalog.room_of(_like(node)), self._imagined_away(node))

    def _imagined_away(self, node: str) -> Without:
        return self._without | FRESH if _TWIN in node else self._without

    def _left(self, node: str) -> dict[str, int]:
        found = self._resources.get(node)
        return found if found is not None else dict(self._supply.free(_like(node), self._imagined_away(node)))

    def _reached(self, node: str) -> object:
        """What of the floating pools the node sees: nodes that see the same are alike."""
        return tuple(
            tuple(self._reaches(reach, node) for reach in self._catalog.floating[pool_id][1])
            for pool_id in self._floating
        )


def _like(node: str) -> str:
    """The node that there is, of one that is imagined to be like it."""
    return node.partition(_TWIN)[0]


V = TypeVar("V")


def _restore(values: dict[str, V], key: str, value: V | None) -> None:
    if value is None:
        values.pop(key, None)
    else:
        values[key] = value

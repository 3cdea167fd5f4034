"""The search for room against an oracle that tries every assignment there is, and the rules it must know."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.diagnose.demand import Ask, ClaimDemand, Want
from ktui.diagnose.room import (
    Counts,
    GivesUp,
    Kind,
    Kinds,
    PoolRoom,
    Room,
    Undecided,
    Unit,
    Without,
    asks_for_all,
    count_room,
    imagine,
    place,
    take_of,
)
from ktui.model.claim import Constraint, DeviceToleration
from ktui.model.resourceslice import DeviceTaint
from tests.unit.builders import piece

DRIVER = "gpu.example.com"
BAD = DeviceTaint("example.com/bad", None, "NoSchedule")


def kind(number: int, model: str, numa: int | list[int] | None, draws: tuple[Any, ...] = (), **more: Any) -> Kind:
    attributes: dict[str, Any] = {"model": {"string": model}}
    if numa is not None:
        attributes["numa"] = {"ints": numa} if isinstance(numa, list) else {"int": numa}
    device = (piece("s", [{"name": "d", "attributes": attributes, **more}]).spec.devices or ())[0]
    return Kind(number, DRIVER, device, tuple((s, c, Decimal(n)) for s, c, n in draws))


KINDS = [
    kind(0, "a", 0),
    kind(1, "a", 1),
    kind(2, "b", 0),
    kind(3, "b", None),
    kind(4, "a", [0, 1]),
    kind(5, "b", 1, (("memory", "gi", 40),)),
    kind(6, "b", 1, (("memory", "gi", 20),)),
]


def kinds_of(kinds: list[Kind]) -> Kinds:
    def matches(want: Want, found: Kind) -> bool | None:
        model = (found.device.attributes or {})["model"].string
        return None if "?" in want.selectors else all(selector == model for selector in want.selectors)

    return Kinds(kinds, matches)


def want(model: str = "", **more: Any) -> Want:
    return Want("class", (model,) if model else (), **more)


def claim(*requests: Ask | tuple[Ask, ...], match: str = "", distinct: str = "") -> ClaimDemand:
    rules = (Constraint(None, match or None, distinct or None),) if match or distinct else ()
    return ClaimDemand(tuple(r if isinstance(r, tuple) else (r,) for r in requests), rules)


# --- the oracle ---


def possible(room: Room, claims: tuple[ClaimDemand, ...], kinds: Kinds) -> bool:
    """Whether any choice of alternatives and devices satisfies all claims at once."""
    units = [(p, unit) for p, pool in enumerate(room) for unit in pool.units]
    requests = [(c, r) for c, claim_ in enumerate(claims) for r in range(len(claim_.requests))]
    choices = [list(_choices(room, units, claims[c].requests[r], kinds)) for c, r in requests]
    return any(_holds(room, units, claims, requests, chosen, kinds) for chosen in itertools.product(*choices))


def _choices(
    room: Room, units: list[tuple[int, Unit]], alternatives: tuple[Ask, ...], kinds: Kinds
) -> Iterator[tuple[Ask, tuple[int, ...]]]:
    for ask in alternatives:
        match = [i for i, (_, u) in enumerate(units) if kinds.matches(ask.want, u.kind)]
        free = [
            i
            for i in match
            if room[units[i][0]].complete
            and (ask.want.admin or not (units[i][1].held or units[i][1].taken))
            and (not units[i][1].taints or ask.want.tolerations)
        ]
        if not ask.all:
            yield from ((ask, combination) for combination in itertools.combinations(free, ask.count))
        elif match and match == free and all(pool.complete for pool in room):
            yield ask, tuple(match)


def _holds(
    room: Room,
    units: list[tuple[int, Unit]],
    claims: tuple[ClaimDemand, ...],
    requests: list[tuple[int, int]],
    chosen: tuple[tuple[Ask, tuple[int, ...]], ...],
    kinds: Kinds,
) -> bool:
    taken = [i for ask, indexes in chosen if not ask.want.admin for i in indexes]
    if len(taken) != len(set(taken)):
        return False
    for c, claim_ in enumerate(claims):
        own = [i for (where, _), (_, indexes) in zip(requests, chosen, strict=True) if where == c for i in indexes]
        if len(own) != len(set(own)):
            return False
        for rule in claim_.constraints:
            name = rule.match_attribute or rule.distinct_attribute or ""
            values = [kinds.values(units[i][1].kind, name, Want("class")) for i in own]
            if not all(values):
                return False
            if rule.match_attribute and own and not frozenset.intersection(*values):
                return False
            if rule.distinct_attribute and any(a & b for a, b in itertools.combinations(values, 2)):
                return False
    for p, pool in enumerate(room):
        drawn = [i for _, indexes in chosen for i in indexes if units[i][0] == p]
        for counter_set, counter, _, left in pool.counters:
            total = sum(
                n for i in drawn for s, c, n in kinds[units[i][1].kind].counters if (s, c) == (counter_set, counter)
            )
            if total > left:
                return False
    return True


UNITS = st.builds(
    lambda number, held, taints: Unit(number, held, taints),
    st.integers(0, len(KINDS) - 1),
    st.sampled_from([False, False, True]),
    st.sampled_from([(), (), (), (BAD,)]),
)
POOLS = st.builds(
    lambda complete, units, left: PoolRoom(complete, tuple(units), (("memory", "gi", Decimal(80), Decimal(left)),)),
    st.sampled_from([True, True, True, False]),
    st.lists(UNITS, max_size=5),
    st.sampled_from([0, 20, 40, 60]),
)
WANTS = st.builds(
    lambda selectors, tolerations: Want("class", selectors, tolerations),
    st.sampled_from([(), ("a",), ("b",)]),
    st.sampled_from([(), (DeviceToleration(operator="Exists"),)]),
)
ASKS = st.builds(
    lambda wanted, count, request, all_: Ask(wanted, count, request, all=all_),
    WANTS,
    st.integers(1, 3),
    st.sampled_from(["x", "y"]),
    st.sampled_from([False, False, True]),
)
CLAIMS = st.builds(
    ClaimDemand,
    st.lists(st.lists(ASKS, min_size=1, max_size=2).map(tuple), min_size=1, max_size=2).map(tuple),
    st.sampled_from(
        [(), (Constraint(match_attribute=f"{DRIVER}/numa"),), (Constraint(distinct_attribute=f"{DRIVER}/numa"),)]
    ),
)


@settings(max_examples=400)
@given(st.lists(POOLS, max_size=2), st.lists(CLAIMS, min_size=1, max_size=2))
def test_there_is_room_exactly_when_some_assignment_holds(pools: list[PoolRoom], claims: list[ClaimDemand]) -> None:
    room, wanted, kinds = tuple(pools), tuple(claims), kinds_of(KINDS)
    try:
        found = place(room, wanted, kinds) is not None
    except GivesUp:
        assert asks_for_all(wanted)
        assert any(claim_.constraints for claim_ in wanted) or not all(pool.complete for pool in room)
        return
    assert found == possible(room, wanted, kinds)


@given(st.lists(POOLS, max_size=2), CLAIMS)
def test_what_is_placed_is_taken_and_nothing_else_changes(pools: list[PoolRoom], wanted: ClaimDemand) -> None:
    room, kinds = tuple(pools), kinds_of(KINDS)
    try:
        after = place(room, (wanted,), kinds)
    except GivesUp:
        return
    if after is None:
        return
    before_units = [unit for pool in room for unit in pool.units]
    after_units = [unit for pool in after for unit in pool.units]
    taken = [b for a, b in zip(before_units, after_units, strict=True) if a != b]
    assert all(unit.taken and not unit.held for unit in taken)
    assert taken
    assert [pool.complete for pool in after] == [pool.complete for pool in room]


# --- rules ---


def room_of(*kinds: int, **more: Any) -> Room:
    return (PoolRoom(True, tuple(Unit(k) for k in kinds), **more),)


def test_lists_match_where_they_meet() -> None:
    kinds = kinds_of(KINDS)
    both = claim(Ask(want("a"), 2, "x"), match=f"{DRIVER}/numa")
    assert place(room_of(0, 4), (both,), kinds) is not None
    assert place(room_of(0, 1), (both,), kinds) is None
    # 0 and 1 each meet {0, 1}, but not one another.
    assert place(room_of(0, 1, 4), (claim(Ask(want("a"), 3, "x"), match=f"{DRIVER}/numa"),), kinds) is None


def test_a_device_without_the_attribute_satisfies_no_constraint() -> None:
    kinds = kinds_of(KINDS)
    assert place(room_of(3), (claim(Ask(want("b"), 1, "x"), match=f"{DRIVER}/numa"),), kinds) is None
    assert place(room_of(3), (claim(Ask(want("b"), 1, "x"), distinct=f"{DRIVER}/numa"),), kinds) is None


def test_a_constraint_may_name_some_of_the_requests() -> None:
    kinds = kinds_of(KINDS)
    rule = Constraint(("x",), f"{DRIVER}/numa")
    demand = ClaimDemand(((Ask(want("a"), 1, "x"),), (Ask(want("b"), 1, "y"),)), (rule,))
    assert place(room_of(0, 3), (demand,), kinds) is not None


def test_administrators_see_what_others_have_and_take_nothing_away() -> None:
    kinds = kinds_of(KINDS)
    room = (PoolRoom(True, (Unit(0, held=True),)),)
    assert place(room, (claim(Ask(want("a"), 1, "x")),), kinds) is None
    assert place(room, (claim(Ask(want("a", admin=True), 1, "x")),), kinds) == room


def test_what_an_administrator_of_the_pod_has_is_not_for_its_other_requests() -> None:
    kinds = kinds_of(KINDS)
    admin, plain = Ask(want("a", admin=True), 1, "x"), Ask(want("a"), 1, "y")
    assert place(room_of(0), (claim(admin, plain),), kinds) is None
    assert place(room_of(0), (claim(admin), claim(plain)), kinds) is None
    assert place(room_of(0), (claim(plain), claim(admin)), kinds) is not None
    assert place(room_of(0, 0), (claim(admin, plain),), kinds) is not None


def test_no_device_that_draws_from_a_pool_that_is_overdrawn() -> None:
    kinds = kinds_of([kind(0, "a", 0), kind(1, "b", 0, (("memory", "gi", 10),))])
    room = room_of(0, 1, counters=(("memory", "gi", Decimal(40), Decimal(30)), ("lanes", "n", Decimal(1), Decimal(-1))))
    assert place(room, (claim(Ask(want("a"), 1, "x")),), kinds) is not None
    assert place(room, (claim(Ask(want("b"), 1, "x")),), kinds) is None
    assert count_room(want("b"), room, kinds).free == 0


def test_a_taint_keeps_administrators_away_too() -> None:
    kinds = kinds_of(KINDS)
    room = (PoolRoom(True, (Unit(0, taints=(BAD,)),)),)
    assert place(room, (claim(Ask(want("a", admin=True), 1, "x")),), kinds) is None


def test_all_of_a_node_needs_every_pool_complete() -> None:
    kinds = kinds_of(KINDS)
    wanted = (claim(Ask(want("a"), 0, "x", all=True)),)
    assert place(room_of(0, 1, 2), wanted, kinds) is not None
    with pytest.raises(GivesUp):
        place((*room_of(0), PoolRoom(False, ())), wanted, kinds)
    assert place(room_of(2), wanted, kinds) is None  # none at all is not all


def test_one_alternative_for_all_of_a_node_is_enough_to_need_every_pool_complete() -> None:
    choice = (Ask(want("a"), 1, "x", "one"), Ask(want("b"), 0, "x", "all", all=True))
    with pytest.raises(GivesUp):
        place((*room_of(0), PoolRoom(False, ())), (claim(choice),), kinds_of(KINDS))


def test_a_constraint_that_all_of_a_node_break_is_broken_for_every_node() -> None:
    kinds = kinds_of(KINDS)
    wanted = (claim(Ask(want("a"), 0, "x", all=True), match=f"{DRIVER}/numa"),)
    with pytest.raises(GivesUp):
        place(room_of(0, 1), wanted, kinds)
    in_use = (PoolRoom(True, (Unit(0), Unit(1, held=True))),)
    assert place(in_use, wanted, kinds) is None  # the allocator stops at the device that is in use


def test_an_alternative_is_taken_when_the_first_is_not_there() -> None:
    kinds = kinds_of(KINDS)
    choice = (Ask(want("b"), 2, "x", "two-b"), Ask(want("a"), 1, "x", "one-a"))
    after = place(room_of(0, 2), (claim(choice),), kinds)
    assert after is not None
    assert [unit.taken for unit in after[0].units] == [True, False]


def test_more_than_32_devices_do_not_fit_into_one_claim() -> None:
    kinds = kinds_of(KINDS)
    assert place(room_of(*[0] * 40), (claim(Ask(want("a"), 32, "x")),), kinds) is not None
    assert place(room_of(*[0] * 40), (claim(Ask(want("a"), 33, "x")),), kinds) is None


def test_an_expression_that_cannot_be_evaluated_decides_nothing() -> None:
    with pytest.raises(Undecided):
        place(room_of(0), (claim(Ask(want("?"), 1, "x")),), kinds_of(KINDS))
    assert count_room(want("?"), room_of(0), kinds_of(KINDS)) == Counts(1, 1, unknown=1)


def test_it_gives_up_rather_than_search_for_ever() -> None:
    kinds = kinds_of([kind(n, "a", n % 7) for n in range(64)])
    rooms = room_of(*range(64))
    wanted = claim(*[Ask(want("a"), 4, f"r{n}") for n in range(6)], match=f"{DRIVER}/numa")
    with pytest.raises(Undecided):
        place(rooms, (wanted,), kinds)


# --- capacity that is shared out (KEP-5075) ---

POLICY = {"default": "4Gi", "validRange": {"min": "2Gi", "step": "2Gi", "max": "16Gi"}}
SHARED = kind(0, "a", 0, allowMultipleAllocations=True, capacity={"memory": {"value": "16Gi", "requestPolicy": POLICY}})


@pytest.mark.parametrize(
    ("asked", "taken"),
    [(None, "4"), ("1Gi", "2"), ("2Gi", "2"), ("3Gi", "4"), ("16Gi", "16"), ("17Gi", None)],
)
def test_what_is_asked_for_is_rounded_up_by_the_devices_policy(asked: str | None, taken: str | None) -> None:
    amount = take_of(SHARED.device, want("a", capacity=(("memory", asked),) if asked else ()))
    assert amount == (None if taken is None else {"memory": Decimal(taken) * 2**30})


def test_a_device_is_shared_until_its_capacity_is_used_up() -> None:
    kinds = kinds_of([SHARED])
    wanted = (claim(Ask(want("a", capacity=(("memory", "6Gi"),)), 1, "x")),)
    room: Room | None = room_of(0)
    for expected in (True, True, False):
        assert room is not None
        room = place(room, wanted, kinds)
        assert (room is not None) == expected


def test_a_capacity_that_the_device_does_not_have_cannot_be_asked_of_it() -> None:
    assert take_of(SHARED.device, want("a", capacity=(("cores", "1"),))) is None


def test_what_others_have_is_given_back_in_imagination() -> None:
    kinds = kinds_of(KINDS)
    counters = (("memory", "gi", Decimal(80), Decimal(0)),)
    room = (PoolRoom(False, (Unit(5, held=True, taints=(BAD,)),), counters),)
    wanted = (claim(Ask(want("b"), 1, "x")),)
    assert place(imagine(room, frozenset(("pools", "taints", "use"))), wanted, kinds) is not None
    without: list[Without] = [frozenset(("pools", "taints")), frozenset(("taints", "use")), frozenset(("pools", "use"))]
    for some in without:
        assert place(imagine(room, some), wanted, kinds) is None


# --- derived attributes, compatibility groups ---

PARITY = ("derived/parity", "device.attributes['gpu.example.com'].numa == 0 ? 'even' : 'odd'")


def deriving(expression: tuple[str, str], count: int) -> Ask:
    return Ask(want(derived=(expression,)), count, "r")


@pytest.mark.parametrize(("count", "placed"), [(2, True), (3, False)])
def test_a_derived_attribute_is_what_its_expression_makes_of_each_device(count: int, placed: bool) -> None:
    """Of four devices two are on each side."""
    kinds = kinds_of(KINDS)
    room = (PoolRoom(True, (Unit(0), Unit(2), Unit(1), Unit(1))),)
    claims = (claim(deriving(PARITY, count), match=PARITY[0]),)
    assert (place(room, claims, kinds) is not None) is placed


def test_a_derived_attribute_stands_before_the_devices_own() -> None:
    room = (PoolRoom(True, (Unit(0), Unit(1))),)
    both = claim(deriving(("gpu.example.com/numa", "'one'"), 2), match="gpu.example.com/numa")
    own = claim(Ask(want(), 2, "r"), match="gpu.example.com/numa")
    assert place(room, (both,), kinds_of(KINDS)) is not None
    assert place(room, (own,), kinds_of(KINDS)) is None


def test_a_derived_attribute_that_cannot_be_evaluated_decides_nothing() -> None:
    """Kind 3 has no attribute of that name."""
    claims = (claim(deriving(PARITY, 1), match=PARITY[0]),)
    with pytest.raises(Undecided, match="derived attribute"):
        place((PoolRoom(True, (Unit(3),)),), claims, kinds_of(KINDS))


def test_compatibility_groups_decide_nothing() -> None:
    draws = [{"counterSet": "memory", "counters": {"gi": {"value": "40"}}, "compatibilityGroups": ["a"]}]
    grouped = kind(0, "a", 0, (("memory", "gi", 40),), consumesCounters=draws)
    room = (PoolRoom(True, (Unit(0),), (("memory", "gi", Decimal(80), Decimal(80)),)),)
    with pytest.raises(Undecided, match="compatibility groups"):
        place(room, (claim(Ask(want(), 1, "r")),), kinds_of([grouped]))

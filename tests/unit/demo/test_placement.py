"""Placement: all of a gang or none, devices that match, are not tainted, and go together."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from ktui.demo.controllers.eviction import due_time
from ktui.demo.placement import Constraint, Device, Request, Room, Wish, allocate, matches, place, refusal
from ktui.model import resourceslice
from ktui.model.resourceslice import Attribute, Capacity, DeviceId

DRIVER = "gpu.example.com"
NUMA = "resource.kubernetes.io/numaNode"
TAINT = {"key": "example.com/xid", "value": "79", "effect": "NoExecute", "timeAdded": "2026-11-30T00:00:00Z"}


def device(node: str, number: int, *taints: dict[str, str]) -> Device:
    attributes = {"productName": Attribute(string="H200"), NUMA: Attribute(integer=number // 4)}
    name = f"gpu-{number}"
    published = resourceslice.Device(name, attributes, {"memory": Capacity("141Gi")})
    return Device((DRIVER, node, name), published, taints)


def room(node: str, devices: int = 8) -> Room:
    return Room(node, 64.0, 1e12, {"zone": "a"}, tuple(device(node, number) for number in range(devices)))


def wish(name: str, count: int, *, cpu: float = 8.0) -> Wish:
    return Wish(("ml", name), cpu, 1e9, {}, (request(name, count),))


def request(claim: str, count: int, name: str = "gpu") -> Request:
    return Request(("ml", claim), name, count, (f"device.driver == '{DRIVER}'",))


def names(found: list[tuple[Request, DeviceId]] | None) -> list[str]:
    assert found is not None
    return [device for _, (_, _, device) in found]


@given(
    st.lists(st.integers(1, 8), min_size=1, max_size=8),
    st.lists(st.integers(0, 8), min_size=1, max_size=6),
)
def test_no_device_is_given_twice_and_every_pod_gets_what_it_asks_for(counts: list[int], free: list[int]) -> None:
    wishes = [wish(f"pod-{number}", count) for number, count in enumerate(counts)]
    plan = place(wishes, len(wishes), [room(f"node-{number}", devices) for number, devices in enumerate(free)])
    given_out = [found for spot in plan.spots.values() for pairs in spot.devices.values() for _, found in pairs]
    assert len(given_out) == len(set(given_out))
    for asked in wishes:
        if spot := plan.spots.get(asked.pod):
            (pairs,) = spot.devices.values()
            assert len(pairs) == asked.requests[0].count
            assert {found[1] for _, found in pairs} == {spot.node}
    assert (plan.refused is None) == (len(plan.spots) == len(wishes))


def test_a_gang_stops_at_the_first_pod_that_makes_it_hopeless() -> None:
    plan = place([wish(f"pod-{number}", 8) for number in range(4)], 4, [room("node-0"), room("node-1", 7)])
    assert list(plan.spots) == [("ml", "pod-0")]
    assert plan.refused == ("ml", "pod-1")
    assert refusal(plan.why, 2) == "0/2 nodes are available: 2 cannot allocate all claims."


def test_small_pods_go_where_few_devices_are_free() -> None:
    plan = place([wish("one", 1)], 1, [room("empty"), room("nearly-full", 2)])
    assert plan.spots["ml", "one"].node == "nearly-full"


def test_why_a_node_refuses() -> None:
    picky = Wish(("ml", "picky"), 1.0, 1.0, {"zone": "b"})
    assert place([picky], 1, [room("n")]).why == Counter({"node(s) didn't match Pod's node affinity/selector": 1})
    assert place([wish("big", 1, cpu=65.0)], 1, [room("n")]).why == Counter({"Insufficient cpu": 1})


def test_devices_of_one_request_share_the_attribute() -> None:
    wanted = request("numa", 4)
    same = Constraint(wanted.claim, NUMA)
    free = [device("n", number) for number in (2, 3, 4, 5, 6, 7)]
    assert set(names(allocate([wanted], [same], free))) == {"gpu-4", "gpu-5", "gpu-6", "gpu-7"}
    assert allocate([wanted], [same], free[:5]) is None
    # The smaller set is used, so that the larger stays whole.
    assert set(names(allocate([request("numa", 2)], [Constraint(("ml", "numa"), NUMA)], free))) == {"gpu-2", "gpu-3"}


def test_constraints_are_about_the_requests_they_name() -> None:
    free = [device("n", number) for number in range(8)]
    a, b, c = (request("claim", 1, name) for name in "abc")
    same, distinct = (
        Constraint(a.claim, NUMA, frozenset("ab")),
        Constraint(a.claim, NUMA, frozenset("bc"), distinct=True),
    )
    first, second, third = names(allocate([a, b, c], [same, distinct], free))
    numa = {f"gpu-{number}": number // 4 for number in range(8)}
    assert numa[first] == numa[second] != numa[third]
    everything = Constraint(a.claim, NUMA, distinct=True)
    assert allocate([a, b, c], [everything], free) is None, "there are two NUMA nodes, not three"
    assert allocate([a, b], [everything], free) is not None
    elsewhere = Constraint(("ml", "other"), NUMA, distinct=True)
    assert allocate([a, b, c], [elsewhere], free) is not None


def test_a_device_without_the_attribute_meets_no_constraint() -> None:
    free = [device("n", number) for number in range(8)]
    for distinct in (False, True):
        assert (
            allocate([request("claim", 1)], [Constraint(("ml", "claim"), "example.com/none", distinct=distinct)], free)
            is None
        )
    # A name with the driver's domain is that of an attribute without one.
    assert allocate([request("claim", 2)], [Constraint(("ml", "claim"), f"{DRIVER}/productName")], free) is not None


@given(st.lists(st.integers(1, 3), min_size=1, max_size=3), st.sets(st.integers(0, 7)), st.booleans())
def test_what_is_found_is_right_and_what_is_not_found_is_not_there(
    counts: list[int], numbers: set[int], distinct: bool
) -> None:
    requests = [request("claim", count, f"r{place}") for place, count in enumerate(counts)]
    constraint = Constraint(("ml", "claim"), NUMA, frozenset({"r0", "r1"}), distinct)
    found = allocate(requests, [constraint], [device("n", number) for number in sorted(numbers)])
    bound = sum(counts[:2])
    low, high = sum(number < 4 for number in numbers), sum(number > 3 for number in numbers)
    possible = bound <= (low > 0) + (high > 0) if distinct else bound <= max(low, high)
    assert (found is not None) is (possible and sum(counts) <= len(numbers))
    if found is not None:
        assert len(set(names(found))) == sum(counts)
        values = [int(each[4:]) // 4 for each in names(found)[:bound]]
        assert len(set(values)) == (len(values) if distinct else 1)


def test_a_taint_keeps_a_device_out_unless_it_is_tolerated() -> None:
    wanted = request("one", 1)
    tainted = device("n", 0, TAINT)
    assert allocate([wanted], [], [tainted]) is None
    tolerant = Request(wanted.claim, "gpu", 1, wanted.selectors, ({"operator": "Exists"},))
    assert names(allocate([tolerant], [], [tainted])) == ["gpu-0"]
    assert allocate([wanted], [], [device("n", 0, {**TAINT, "effect": "None"})]) is not None


def test_selectors_are_cel_and_one_that_fails_matches_nothing() -> None:
    gpu = device("n", 5)
    assert matches([f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].productName == "H200"'], gpu)
    assert matches(["device.attributes['resource.kubernetes.io'].numaNode == 1"], gpu)
    assert not matches(["device.attributes['resource.kubernetes.io'].numaNode == 0"], gpu)
    assert matches([f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('80Gi'))"], gpu)
    assert not matches([f"device.capacity['{DRIVER}'].memory.isGreaterThan(quantity('200Gi'))"], gpu)
    assert not matches(["device.attributes['resource.kubernetes.io'].nothing == 0"], gpu)
    assert not matches(["this is no CEL"], gpu)


def test_only_a_toleration_of_no_execute_delays_an_eviction() -> None:
    since = due_time(TAINT, ())
    assert since is not None
    assert due_time(TAINT, [{"operator": "Exists"}]) == since
    assert due_time(TAINT, [{"operator": "Exists", "effect": "NoExecute"}]) is None
    limited = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    assert due_time(TAINT, [limited]) == since + 30
    assert due_time(TAINT, [limited, {"operator": "Exists", "effect": "NoExecute"}]) is None


def any_of(claim: str, *alternatives: Request) -> Request:
    return Request(("ml", claim), "gpu", alternatives=alternatives)


def test_the_first_alternative_that_can_be_had_is_taken() -> None:
    free = [device("n", number) for number in range(3)]
    four, two = request("c", 4, "gpu/four"), request("c", 2, "gpu/two")
    found = allocate([any_of("c", four, two)], [], free)
    assert [each.name for each, _ in found or ()] == ["gpu/two", "gpu/two"]
    assert [each.name for each, _ in allocate([any_of("c", two, four)], [], free) or ()] == ["gpu/two", "gpu/two"]
    assert allocate([any_of("c", four)], [], free) is None
    # Only with the second of one request is there enough for the other.
    assert len(allocate([any_of("c", two, request("c", 1, "gpu/one")), request("c", 2, "more")], [], free) or ()) == 3


def test_a_constraint_is_about_an_alternative_by_its_own_name_and_its_requests() -> None:
    free = [device("n", number) for number in (3, 4)]
    wanted = any_of("c", request("c", 2, "gpu/two"))
    for name in ("gpu", "gpu/two"):
        assert allocate([wanted], [Constraint(("ml", "c"), NUMA, frozenset({name}))], free) is None
    assert allocate([wanted], [Constraint(("ml", "c"), NUMA, frozenset({"gpu/other"}))], free) is not None


def every(claim: str, expression: str = "true") -> Request:
    return Request(("ml", claim), "gpu", 1, (expression,), all=True)


def test_all_devices_are_those_that_match_and_every_one_of_them_has_to_be_free() -> None:
    free = [device("n", number) for number in range(8)]
    first_half = f"device.attributes['resource.kubernetes.io'].numaNode == 0 && device.driver == '{DRIVER}'"
    assert names(allocate([every("c")], [], free)) == [f"gpu-{number}" for number in range(8)]
    assert names(allocate([every("c", first_half)], [], free[1:], free[4:5])) == ["gpu-1", "gpu-2", "gpu-3"]
    assert allocate([every("c", first_half)], [], free[1:], free[:1]) is None, "one of them is in use"
    assert allocate([every("c")], [], [*free[1:], device("n", 0, TAINT)]) is None, "one of them is tainted"
    assert allocate([every("c")], [Constraint(("ml", "c"), NUMA)], free) is None, "they are not on one NUMA node"
    assert allocate([every("c", "false")], [], free) is None, "all of none is nothing to be had"
    assert allocate([every("c")], [], [device("n", number) for number in range(33)]) is None, "a claim has 32 at most"


def test_half_a_pool_anywhere_ends_the_search_of_who_wants_all() -> None:
    """On a node that would do otherwise; not on one that is too small."""
    half = Room("half", 64.0, 1e12, incomplete="nic.example.com/half")
    wants = Wish(("ml", "p"), 8.0, 1e9, {}, (every("c"),))
    plan = place([wants], 1, [room("whole"), half])
    assert plan.spots == {}
    assert "claim ml/c, request gpu: asks for all devices, but resource pool nic.example.com/half is" in plan.error
    assert list(place([wish("one", 1)], 1, [room("whole"), half]).spots) == [("ml", "one")]
    assert list(place([wants], 1, [room("whole"), replace(half, cpu=1.0)]).spots) == [("ml", "p")]

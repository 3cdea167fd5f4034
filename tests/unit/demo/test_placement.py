"""Placement: all of a gang or none, devices that match, are not tainted, and go together."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ktui.demo.controllers.eviction import due_time
from ktui.demo.placement import Device, Request, Room, Wish, choose, matches, place, refusal

DRIVER = "gpu.example.com"
NUMA = "resource.kubernetes.io/numaNode"
TAINT = {"key": "example.com/xid", "value": "79", "effect": "NoExecute", "timeAdded": "2026-11-30T00:00:00Z"}


def device(node: str, number: int, *taints: dict[str, str]) -> Device:
    attributes = {"productName": {"string": "H200"}, NUMA: {"int": number // 4}}
    return Device((DRIVER, node, f"gpu-{number}"), attributes, taints)


def room(node: str, devices: int = 8) -> Room:
    return Room(node, 64.0, 1e12, {"zone": "a"}, tuple(device(node, number) for number in range(devices)))


def wish(name: str, count: int, *, cpu: float = 8.0, same: str = "") -> Wish:
    claim = ("ml", f"{name}-gpu")
    return Wish(
        ("ml", name), cpu, 1e9, {}, (Request(claim, "gpu", count, (f"device.driver == '{DRIVER}'",), (), same),)
    )


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
    request = wish("numa", 4, same=NUMA).requests[0]
    free = [device("n", number) for number in (2, 3, 4, 5, 6, 7)]
    chosen = choose(request, free)
    assert chosen is not None
    assert {name for _, _, name in chosen} == {"gpu-4", "gpu-5", "gpu-6", "gpu-7"}
    assert choose(request, free[:5]) is None


def test_a_taint_keeps_a_device_out_unless_it_is_tolerated() -> None:
    request = wish("one", 1).requests[0]
    tainted = device("n", 0, TAINT)
    assert choose(request, [tainted]) is None
    tolerant = Request(request.claim, "gpu", 1, request.selectors, ({"operator": "Exists"},))
    assert choose(tolerant, [tainted]) == [tainted.id]
    assert choose(request, [device("n", 0, {**TAINT, "effect": "None"})]) is not None


def test_selectors_are_equalities_and_anything_else_matches_nothing() -> None:
    gpu = device("n", 5)
    assert matches([f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].productName == "H200"'], gpu)
    assert matches(["device.attributes['resource.kubernetes.io'].numaNode == 1"], gpu)
    assert not matches(["device.attributes['resource.kubernetes.io'].numaNode == 0"], gpu)
    assert not matches(["device.capacity['gpu.example.com'].memory.isGreaterThan(quantity('1Gi'))"], gpu)


def test_only_a_toleration_of_no_execute_delays_an_eviction() -> None:
    since = due_time(TAINT, ())
    assert since is not None
    assert due_time(TAINT, [{"operator": "Exists"}]) == since
    assert due_time(TAINT, [{"operator": "Exists", "effect": "NoExecute"}]) is None
    limited = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 30}
    assert due_time(TAINT, [limited]) == since + 30
    assert due_time(TAINT, [limited, {"operator": "Exists", "effect": "NoExecute"}]) is None

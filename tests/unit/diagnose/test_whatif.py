"""What would be if: what is imagined is what is found where it really happened."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.cluster.state import Cluster
from ktui.diagnose.demand import GangDemand, demand_of_pods
from ktui.diagnose.room import NOTHING
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from ktui.diagnose.whatif import Change, imagined, placed_by
from ktui.model.claim import ResourceClaimTemplate
from ktui.model.deviceclass import DeviceClass
from ktui.model.meta import Object
from ktui.model.node import Node
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId
from tests.unit import builders as b

NODES = ("n0", "n1", "n2")
DEVICES = ("d0", "d1", "d2")


def node(name: str, cpu: int = 4) -> Node:
    return b.make(Node, {"metadata": b.meta(name, ""), "status": {"allocatable": {"cpu": str(cpu), "pods": "110"}}})


def asking(name: str, devices: int, cpu: str = "1", *, gang: str = "") -> list[Object]:
    """A pending pod of a gang with a template from which its claim is to be made."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": devices}}
    template = b.make(
        ResourceClaimTemplate,
        {"metadata": b.meta(name), "spec": {"spec": {"devices": {"requests": [request]}}}},
    )
    wants: dict[str, Any] = {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}] if devices else [],
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
    }
    return [template, b.pod(name, group=gang, spec=wants)]


def running(gang: str, number: int, on: str, devices: tuple[str, ...], cpu: str = "1") -> list[Object]:
    """A running pod of a gang and the claim that it has."""
    name = f"{gang}-{number}"
    results = [b.result(device, pool=on) for device in devices]
    spec = {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": name}],
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu}}}],
    }
    return [
        b.claim(name, results=results, reserved=[b.pod_consumer(name)]),
        b.pod(name, group=gang, node=on, spec=spec),
    ]


def world(occupied: dict[str, list[tuple[str, ...]]], tainted: set[tuple[str, str]], *, twins: int = 0) -> list[Object]:
    """Three nodes with three devices; `occupied`: gang → the devices of each of its pods, the nth on the node n. `twins`: nodes
    like the first one, with nothing on them."""
    every: list[Object] = [b.make(DeviceClass, {"metadata": b.meta("gpu", "")})]
    for name in (*NODES, *(f"twin{i}" for i in range(twins))):
        every += [node(name), b.piece(f"{name}-slice", DEVICES, pool=name, nodeName=name)]
    for number, (pool, device) in enumerate(sorted(tainted)):
        every.append(b.rule(f"r{number}", {"driver": b.DRIVER, "pool": pool, "device": device}))
    for gang_name, pods in occupied.items():
        every.append(b.group(gang_name, len(pods)))
        for number, devices in enumerate(pods):
            every += running(gang_name, number, NODES[number], devices) if devices else []
    return every


Occupied = dict[str, list[tuple[str, ...]]]
_DEVICES = [(pool, device) for pool in NODES for device in DEVICES]


@st.composite
def occupations(draw: st.DrawFn) -> Occupied:
    """Two gangs with a pod on each node, or fewer: every device is used by one of them at most."""
    users = {at: draw(st.sampled_from(("", "a", "b"))) for at in _DEVICES}
    return {
        gang: [tuple(device for device in DEVICES if users[pool, device] == gang) for pool in NODES]
        for gang in ("a", "b")
    }


WANTED = st.lists(st.tuples(st.integers(0, 3), st.sampled_from(("1", "2", "4"))), min_size=1, max_size=4)


def demand(cluster: Cluster, wanted: list[tuple[int, str]]) -> GangDemand:
    pods = [
        o for n, (devices, cpu) in enumerate(wanted) for o in asking(f"new-{n}", devices, cpu) if isinstance(o, Pod)
    ]
    return demand_of_pods(cluster, pods)


def templates(wanted: list[tuple[int, str]]) -> list[Object]:
    return [asking(f"new-{n}", devices, cpu)[0] for n, (devices, cpu) in enumerate(wanted)]


@settings(max_examples=150, deadline=None)
@given(
    occupations(),
    st.sets(st.sampled_from(_DEVICES)),
    st.sets(st.sampled_from(_DEVICES)),
    st.sets(st.sampled_from(("a", "b"))),
    st.integers(0, 2),
    WANTED,
)
def test_what_is_imagined_is_what_is_found_where_it_happened(
    occupied: Occupied,
    tainted: set[tuple[str, str]],
    lifted: set[tuple[str, str]],
    gone: set[str],
    twins: int,
    wanted: list[tuple[int, str]],
) -> None:
    before = b.cluster_of(*world(occupied, tainted), *templates(wanted))
    left = {gang: pods for gang, pods in occupied.items() if gang not in gone}
    after = b.cluster_of(*world(left, tainted - lifted, twins=twins), *templates(wanted))
    change = Change(
        frozenset((b.DRIVER, *at) for at in lifted),
        frozenset(("ml", gang) for gang in gone),
        (("n0", twins),) if twins else (),
    )
    supply = Supply(before)
    asked = demand(before, wanted)
    now = placeable(supply, asked, NOTHING)
    for imaginary, real in ((imagined(supply, change), Supply(after)), (supply, Supply(before))):
        assert placeable(imaginary, asked, NOTHING) is placeable(real, asked, NOTHING)
        for part in asked.parts:
            assert sum(imaginary.table(part).on_node.values()) == sum(real.table(part).on_node.values())
            for want, _ in part.demand.wants():
                claims = part.demand.claims
                assert imaginary.counts(want, imaginary.catalog(claims)) == real.counts(want, real.catalog(claims))
    assert placeable(supply, asked, NOTHING) is now  # nothing is changed by asking


def test_the_gangs_that_could_be_placed_then() -> None:
    cluster = b.cluster_of(
        *world({"a": [DEVICES, DEVICES, DEVICES[:2]]}, {("n2", "d2")}), *templates([(1, "1"), (3, "1")])
    )
    supply = Supply(cluster)
    one, three = demand(cluster, [(1, "1")]), demand(cluster, [(0, "1"), (3, "1")])
    gangs = [(("ml", "one"), one), (("ml", "three"), three), (("ml", "a"), one)]
    device: DeviceId = (b.DRIVER, "n2", "d2")
    assert placed_by(supply, Change(frozenset((device,))), gangs) == (("ml", "one"), ("ml", "a"))
    assert placed_by(supply, Change(gone=frozenset((("ml", "a"),))), gangs) == (("ml", "one"), ("ml", "three"))
    assert placed_by(supply, Change(nodes=(("n0", 1),)), gangs) == (("ml", "one"), ("ml", "three"), ("ml", "a"))
    assert placed_by(supply, Change(), gangs) == ()


def test_a_change_in_words() -> None:
    change = Change(frozenset(((b.DRIVER, "n0", "d0"),)), frozenset((("ml", "a"),)), (("n0", 2),))
    assert change.text == (
        "gpu.example.com/n0/d0 were untainted and gang ml/a were gone and there were 2 more empty nodes like n0"
    )

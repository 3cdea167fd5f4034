"""Placing gangs on trial, against an oracle that tries every way to spread the pods over the nodes.

The oracle reads the documents of the cluster, not ktui's state. On each node it gives a pod the first devices that will do, as
the allocator does; which node a pod goes to is what it tries all ways.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.cluster.gangs import gang
from ktui.diagnose.demand import demand_of
from ktui.diagnose.room import NOTHING, Obstacle
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from ktui.model.claim import ResourceClaim
from ktui.model.deviceclass import DeviceClass
from ktui.model.meta import Object
from ktui.model.node import Node
from tests.unit import builders as b

Json = dict[str, Any]

ZONE = "example.com/zone"
NUMA = "resource.kubernetes.io/numaNode"
LAST = "z-pool"  # after the pools of the nodes, in the allocator's order


class Board(NamedTuple):
    """A cluster and one gang. Devices: pool → documents; `reach` says where each device of the last pool is: "all", a zone,
    a node. `claims`: name → spec, of which `shared` is for all pods; `pods`: the claims and the CPU of each."""

    nodes: dict[str, Json]  # name → {"cpu", "zone", "cordoned"}
    pools: dict[str, list[Json]]
    incomplete: frozenset[str]
    reach: tuple[str, ...]
    held: frozenset[tuple[str, str]]
    claims: dict[str, Json]
    pods: list[tuple[tuple[str, ...], int]]
    bound: str  # a node that has the devices of one more claim, which all pods use; "" for none


# --- the oracle ---


def oracle(board: Board, without: frozenset[Obstacle]) -> bool:
    return any(_runs(board, nodes, without) for nodes in itertools.product(board.nodes, repeat=len(board.pods)))


def _runs(board: Board, nodes: tuple[str, ...], without: frozenset[Obstacle]) -> bool:
    taken = set() if "use" in without else set(board.held)
    left = {name: node["cpu"] for name, node in board.nodes.items()}
    shared: list[tuple[str, str]] | None = None
    for (claims, cpu), node in zip(board.pods, nodes, strict=True):
        looked_at = [
            name
            for name in board.nodes
            if ("placement" in without or _allows(board, name))
            and ("resources" in without or left[name] >= cpu)
            and all(_reachable(board, device, name) for device in (shared or ()) if "shared" in claims)
        ]
        if shared is not None:
            claims = tuple(name for name in claims if name != "shared")
        if node not in looked_at or any(_gives_up(board, claims, name, without) for name in looked_at):
            return False
        left[node] -= cpu
        found = _first(board, [board.claims[name] for name in claims], node, taken, without)
        if found is None:
            return False
        for name, devices in zip(claims, found, strict=True):
            taken |= set(devices)
            shared = devices if name == "shared" else shared
    return True


def _allows(board: Board, node: str) -> bool:
    return not board.nodes[node]["cordoned"] and board.bound in ("", node)


def _gives_up(board: Board, claims: tuple[str, ...], node: str, without: frozenset[Obstacle]) -> bool:
    """Whoever asks for all devices of a node gets none anywhere while a pool of a node that is looked at is not complete."""
    every = any(_asks_for_all(board.claims[name]) for name in claims)
    return every and "pools" not in without and any(_concerns(board, pool, node) for pool in board.incomplete)


def _asks_for_all(claim: Json) -> bool:
    asked = [a for r in claim["requests"] for a in (r.get("firstAvailable") or [r["exactly"]])]
    return any(a["allocationMode"] == "All" for a in asked)


def _first(
    board: Board, claims: list[Json], node: str, taken: set[tuple[str, str]], without: frozenset[Obstacle]
) -> list[list[tuple[str, str]]] | None:
    """The devices of each claim, None when there are none."""
    if not claims:
        return []
    for devices in _assignments(board, claims[0]["requests"], node, taken, without):
        if "constraints" in without or all(_holds(board, rule, devices) for rule in claims[0].get("constraints", [])):
            rest = _first(board, claims[1:], node, taken | set(devices), without)
            if rest is not None:
                return [devices, *rest]
    return None


def _assignments(
    board: Board, requests: list[Json], node: str, taken: set[tuple[str, str]], without: frozenset[Obstacle]
) -> Iterator[list[tuple[str, str]]]:
    if not requests:
        yield []
        return
    for asked in requests[0].get("firstAvailable") or [requests[0]["exactly"]]:
        for devices in _choices(board, asked, node, taken, without):
            for rest in _assignments(board, requests[1:], node, taken | set(devices), without):
                yield [*devices, *rest]


def _choices(
    board: Board, asked: Json, node: str, taken: set[tuple[str, str]], without: frozenset[Obstacle]
) -> Iterator[list[tuple[str, str]]]:
    here = [
        (pool, d)
        for pool in sorted(board.pools)
        for d in board.pools[pool]
        if _reachable(board, (pool, d["name"]), node)
    ]
    match = [(pool, d["name"]) for pool, d in here if _matches(asked, d, without)]
    usable = [device for device in match if device not in taken and _allowed(board, asked, device, without)]
    if asked.get("allocationMode") != "All":
        yield from map(list, itertools.combinations(usable, asked["count"]))
    elif match and match == usable:
        yield match


def _reachable(board: Board, device: tuple[str, str], node: str) -> bool:
    pool, name = device
    return pool == node if pool != LAST else board.reach[int(name[1:])] in ("all", board.nodes[node]["zone"], node)


def _concerns(board: Board, pool: str, node: str) -> bool:
    return pool == node or any(_reachable(board, (pool, d["name"]), node) for d in board.pools[pool])


def _matches(asked: Json, device: Json, without: frozenset[Obstacle]) -> bool:
    selected = asked.get("selectors", []) if "selectors" not in without else []
    return all(s["cel"]["expression"].endswith(f"'{device['attributes']['model']['string']}'") for s in selected)


def _allowed(board: Board, asked: Json, device: tuple[str, str], without: frozenset[Obstacle]) -> bool:
    if device[0] in board.incomplete and "pools" not in without:
        return False
    return "taints" in without or "tolerations" in asked or "taints" not in _device(board, device)


def _device(board: Board, device: tuple[str, str]) -> Json:
    return next(d for d in board.pools[device[0]] if d["name"] == device[1])


def _holds(board: Board, rule: Json, devices: list[tuple[str, str]]) -> bool:
    values = [_device(board, device)["attributes"].get(NUMA, {}).get("int") for device in devices]
    if None in values:
        return False
    return len(set(values)) == (len(values) if "distinctAttribute" in rule else min(1, len(values)))


# --- the same board for ktui ---


def _objects(board: Board) -> Iterator[Object]:
    for name, node in board.nodes.items():
        yield b.make(Node, _node(name, node))
    for pool, devices in board.pools.items():
        placed = [d | _place(board, i) for i, d in enumerate(devices)] if pool == LAST else devices
        where: Json = {"perDeviceNodeSelection": True} if pool == LAST else {"nodeName": pool}
        yield b.piece(pool, placed, pool=pool, count=1 + (pool in board.incomplete), **where)
    yield b.make(DeviceClass, {"metadata": b.meta("class", ""), "spec": {}})
    yield b.pod("occupant", node=next(iter(board.nodes)))
    results = [b.result(device, pool=pool) for pool, device in sorted(board.held)]
    yield b.claim("occupant", results, reserved=[b.pod_consumer("occupant")])
    yield b.group("gang", len(board.pods))
    for name, spec in board.claims.items():
        if name == "shared":
            yield b.make(ResourceClaim, {"metadata": b.meta(name), "spec": {"devices": spec}})
    if board.bound:
        yield b.make(ResourceClaim, _bound(board.bound))
    for index, (claims, cpu) in enumerate(board.pods):
        yield from _pod(board, index, claims, cpu)


def _node(name: str, node: Json) -> Json:
    amounts = {"cpu": str(node["cpu"]), "pods": "100"}
    spec = {"unschedulable": True} if node["cordoned"] else {}
    labels = {ZONE: node["zone"], "kubernetes.io/hostname": name}
    return {"metadata": b.meta(name, "", labels=labels), "spec": spec, "status": {"allocatable": amounts}}


def _place(board: Board, index: int) -> Json:
    reach = board.reach[index]
    if reach in board.nodes:
        return {"nodeName": reach}
    return {"allNodes": True} if reach == "all" else {"nodeSelector": _selector(ZONE, reach)}


def _selector(label: str, value: str) -> Json:
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": label, "operator": "In", "values": [value]}]}]}


def _bound(node: str) -> Json:
    allocation = {"devices": {"results": []}, "nodeSelector": _selector("kubernetes.io/hostname", node)}
    return {"metadata": b.meta("bound"), "spec": {}, "status": {"allocation": allocation}}


def _pod(board: Board, index: int, claims: tuple[str, ...], cpu: int) -> Iterator[Object]:
    name = f"gang-{index}"
    own = {claim: f"{name}-{claim}" for claim in claims if claim != "shared"}
    entries = [{"name": c, "resourceClaimTemplateName": c} for c in own]
    entries += [{"name": "shared", "resourceClaimName": "shared"}] if "shared" in claims else []
    entries = sorted(entries, key=lambda entry: claims.index(entry["name"]))
    entries += [{"name": "bound", "resourceClaimName": "bound"}] if board.bound else []
    statuses = [{"name": claim, "resourceClaimName": made} for claim, made in own.items()]
    containers = [{"name": "main", "resources": {"requests": {"cpu": str(cpu)}}}]
    spec = {"containers": containers, "resourceClaims": entries}
    yield b.pod(name, group="gang", spec=spec, status={"resourceClaimStatuses": statuses})
    for claim, made in own.items():
        metadata = b.meta(made, ownerReferences=[b.owner("Pod", name)])
        yield b.make(ResourceClaim, {"metadata": metadata, "spec": {"devices": board.claims[claim]}})


def ktui(board: Board, without: frozenset[Obstacle]) -> bool | None:
    cluster = b.cluster_of(*_objects(board))
    found = gang(cluster, (b.NAMESPACE, "gang"))
    assert found is not None
    return placeable(Supply(cluster), demand_of(cluster, found), without)


# --- boards ---


@st.composite
def _devices(draw: st.DrawFn, least: int = 0) -> list[Json]:
    made = []
    for index in range(draw(st.integers(least, 3))):
        attributes: Json = {"model": {"string": draw(st.sampled_from("ab"))}}
        if (numa := draw(st.sampled_from((0, 0, 1, None)))) is not None:
            attributes[NUMA] = {"int": numa}
        tainted = {"taints": [b.taint()]} if draw(st.integers(0, 7)) == 0 else {}
        made.append({"name": f"d{index}", "attributes": attributes, **tainted})
    return made


@st.composite
def _asked(draw: st.DrawFn) -> Json:
    asked: Json = {"deviceClassName": "class"}
    count = draw(st.sampled_from((0, 1, 1, 1, 2, 2)))
    asked |= {"allocationMode": "ExactCount", "count": count} if count else {"allocationMode": "All"}
    if model := draw(st.sampled_from(("", "", "a", "b"))):
        expression = f"device.attributes['{b.DRIVER}'].model == '{model}'"
        asked["selectors"] = [{"cel": {"expression": expression}}]
    if draw(st.integers(0, 5)) == 0:
        asked["tolerations"] = [{"operator": "Exists"}]
    return asked


@st.composite
def _claims(draw: st.DrawFn) -> Json:
    requests: list[Json] = []
    for index in range(draw(st.sampled_from((1, 1, 2)))):
        if draw(st.integers(0, 4)) == 0:
            choices = [draw(_asked()) | {"name": f"s{i}"} for i in range(2)]
            requests.append({"name": f"r{index}", "firstAvailable": choices})
        else:
            requests.append({"name": f"r{index}", "exactly": draw(_asked())})
    made: Json = {"requests": requests}
    # What a constraint does to a request for all devices is told in the tests of the search itself.
    kind = draw(st.sampled_from(("", "", "matchAttribute", "distinctAttribute")))
    if kind and not _asks_for_all(made):
        made["constraints"] = [{kind: NUMA}]
    return made


@st.composite
def _boards(draw: st.DrawFn) -> Board:
    nodes = {
        f"n{index}": {
            "cpu": draw(st.integers(1, 4)),
            "zone": draw(st.sampled_from("ab")),
            "cordoned": draw(st.integers(0, 7)) == 0,
        }
        for index in range(draw(st.integers(1, 3)))
    }
    pools = {name: draw(_devices()) for name in nodes}
    if draw(st.booleans()):
        pools[LAST] = draw(_devices(least=1))
    every = [(pool, device["name"]) for pool, devices in pools.items() for device in devices]
    held = draw(st.sets(st.sampled_from(every), max_size=3)) if every else set()
    claims = {name: draw(_claims()) for name in ("one", "two", "shared")}
    kinds = draw(
        st.sampled_from((("one",), ("one",), ("one", "two"), ("one", "shared"), ("shared",), ("shared", "one"), ()))
    )
    pods = [(kinds, draw(st.integers(1, 2)))] * draw(st.integers(1, 3))
    if draw(st.integers(0, 2)) == 0:
        pods = [*pods[:2], (draw(st.sampled_from((("two",), ("shared",), ("two", "shared")))), 1)]
    # A claim that only one pod uses is that pod's own.
    if sum("shared" in names for names, _ in pods) < 2:
        pods = [
            (tuple("one" if name == "shared" else name for name in dict.fromkeys(names)), cpu) for names, cpu in pods
        ]
        pods = [(tuple(dict.fromkeys(names)), cpu) for names, cpu in pods]
    return Board(
        nodes,
        pools,
        frozenset(draw(st.sets(st.sampled_from(sorted(pools)), max_size=1))),
        tuple(draw(st.sampled_from(("all", "a", "n0"))) for _ in range(3)),
        frozenset(held),
        claims,
        pods,
        draw(st.sampled_from(("", "", "", *nodes))),
    )


IMAGINED: tuple[frozenset[Obstacle], ...] = (
    NOTHING,
    frozenset(("pools",)),
    frozenset(("taints",)),
    frozenset(("use",)),
    frozenset(("constraints",)),
    frozenset(("selectors",)),
    frozenset(("resources",)),
    frozenset(("placement",)),
)


@settings(max_examples=400, deadline=None)
@given(_boards(), st.sampled_from(IMAGINED))
def test_a_gang_has_a_place_exactly_when_some_way_to_spread_its_pods_works(
    board: Board, without: frozenset[Obstacle]
) -> None:
    assert ktui(board, without) is oracle(board, without)


def test_a_claim_that_administrators_share_stays_on_its_node() -> None:
    """Each node has room for one of the two pods, and the claim's device is one node's."""
    asked: Json = {"deviceClassName": "class", "allocationMode": "ExactCount", "count": 1, "adminAccess": True}
    devices: list[Json] = [{"name": "d0", "attributes": {"model": {"string": "a"}}}]
    nodes = {name: {"cpu": 1, "zone": "a", "cordoned": False} for name in ("n0", "n1")}
    claims = {"shared": {"requests": [{"name": "r", "exactly": asked}]}}
    pods: list[tuple[tuple[str, ...], int]] = [(("shared",), 1)] * 2
    board = Board(nodes, {"n0": devices, "n1": devices}, frozenset(), (), frozenset(), claims, pods, "")
    assert ktui(board, NOTHING) is False
    assert ktui(board, frozenset(("resources",))) is True


def test_a_place_is_in_doubt_while_an_expression_fails_on_a_device_of_another_node() -> None:
    expression = f"device.attributes['{NUMA.partition('/')[0]}'].numaNode == 0"
    asked: Json = {"deviceClassName": "class", "allocationMode": "ExactCount", "count": 1}
    claims = {
        "one": {"requests": [{"name": "r", "exactly": asked | {"selectors": [{"cel": {"expression": expression}}]}}]}
    }
    model = {"model": {"string": "a"}}
    pools: dict[str, list[Json]] = {
        "n0": [{"name": "d0", "attributes": {**model, NUMA: {"int": 0}}}],
        "n1": [{"name": "d0", "attributes": model}],
    }
    pods: list[tuple[tuple[str, ...], int]] = [(("one",), 1)]
    for cordoned, said in ((False, None), (True, True)):
        nodes = {name: {"cpu": 1, "zone": "a", "cordoned": cordoned and name == "n1"} for name in ("n0", "n1")}
        board = Board(nodes, pools, frozenset(), (), frozenset(), claims, pods, "")
        assert ktui(board, NOTHING) is said

"""The journal: whatever makes more or less of something free on a node is in it."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from ktui.cluster.allocation import holders
from ktui.cluster.journal import EVERYWHERE, Journal
from ktui.cluster.nodefit import obstacles
from ktui.cluster.noderesources import free_on
from ktui.cluster.state import Cluster
from ktui.cluster.taints import taints_of
from ktui.model.kinds import KINDS
from ktui.model.node import Node
from tests.unit import builders as b
from tests.unit.cluster import worlds

SUPPLY = ("Node", "Pod", "ResourceClaim", "ResourceSlice", "DeviceTaintRule")


def test_tells_what_was_noted_since() -> None:
    journal: Journal[str] = Journal()
    journal.note("a")
    start, noted = journal.since(0)
    assert (start, noted) == (1, frozenset(("a",)))
    assert journal.since(start) == (1, frozenset())
    for node in ("b", "c", "b", EVERYWHERE):
        journal.note(node)
    assert journal.since(start) == (5, frozenset(("b", "c", EVERYWHERE)))


def test_forgets_what_is_long_ago_and_says_so() -> None:
    journal: Journal[str] = Journal()
    for number in range(200_000):
        journal.note(str(number % 7))
    position, noted = journal.since(0)
    assert (position, noted) == (200_000, None)
    assert journal.since(position) == (200_000, frozenset())
    journal.note("last")
    assert journal.since(position) == (200_001, frozenset(("last",)))
    kept = journal.since(200_000 - 30_000)[1]
    assert kept is not None
    assert len(kept) == 8


def supply(cluster: Cluster) -> dict[str, list[object]]:
    """All that decides what fits on each node, "" for what no single node has."""
    found: dict[str, list[object]] = {}
    any_pod = b.pod("any")
    for node in cluster.all(Node):
        found.setdefault(node.name, []).append((obstacles(any_pod, node), dict(free_on(cluster, node.name))))
    for pool in cluster.pools():
        for name, published in pool.devices.items():
            device = (*pool.id, name)
            held = [(claim.key, result) for claim, result in holders(cluster, device)]
            facts = (device, pool.status, published.device, taints_of(cluster, device), held)
            found.setdefault(published.node, []).append(facts)
    return {node: sorted(facts, key=repr) for node, facts in found.items()}


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(24))
def test_every_change_of_what_a_node_has_is_noted(course: list[worlds.Step]) -> None:
    cluster = Cluster()
    for kind in KINDS:
        cluster.apply(b.listed(kind, version="1"))
    position, before = 0, supply(cluster)
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
        after = supply(cluster)
        position, noted = cluster.journal.since(position)
        assert noted is not None
        changed = {node for node in before.keys() | after.keys() if before.get(node) != after.get(node)}
        assert EVERYWHERE in noted or changed <= noted, f"step {version}: {step}"
        assert supply(b.cluster_of(*(o for k in SUPPLY for o in cluster.stores[k].objects.values()))) == after
        before = after


def test_what_a_controller_repeats_is_not_noted() -> None:
    """Kubelets and controllers write statuses all the time; nothing has to be thought over because of that."""
    pod = b.pod("p", node="n1")
    cluster = b.cluster_of(
        b.make(Node, {"metadata": b.meta("n1", "")}), pod, b.claim("c", [b.result("gpu-0")]), b.piece("s", ["gpu-0"])
    )
    position = cluster.journal.position
    newer = {"resourceVersion": "2"}
    ready = [b.condition("Ready", "True")]
    cluster.apply(b.changed("MODIFIED", b.pod("p", node="n1", meta_=newer, conditions=ready)))
    heartbeat = {"metadata": b.meta("n1", "", **newer), "status": {"conditions": ready}}
    cluster.apply(b.changed("MODIFIED", b.make(Node, heartbeat)))
    reserved = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")], meta_=newer)
    cluster.apply(b.changed("MODIFIED", reserved))
    assert cluster.journal.since(position) == (position, frozenset())


def test_devices_that_several_nodes_reach_are_everywhere() -> None:
    cluster = b.cluster_of(b.piece("s", ["gpu-0"], allNodes=True), b.piece("t", ["gpu-1"], pool="p2", nodeName="n2"))
    for obj, expected in (
        (b.claim("c", [b.result("gpu-0")]), {EVERYWHERE}),
        (b.claim("d", [b.result("gpu-1", pool="p2")]), {"n2"}),
        (b.claim("e", [b.result("gpu-9", pool="p3")]), set()),
        (b.rule("r", {"driver": b.DRIVER, "pool": "p2", "device": "gpu-1"}), {"n2"}),
        (b.rule("q", {"driver": b.DRIVER}), {EVERYWHERE}),
        (b.rule("o", None), set()),
    ):
        position = cluster.journal.position
        cluster.apply(b.added(obj))
        assert cluster.journal.since(position)[1] == frozenset(expected), obj.name


def test_devices_of_one_counter_set_on_several_nodes_are_everywhere() -> None:
    draws = {"consumesCounters": [{"counterSet": "c", "counters": {"memory": {"value": "1"}}}]}
    devices = [{"name": f"gpu-{n}", "nodeName": f"n{n}", **draws} for n in (1, 2)]
    counters = [{"name": "c", "counters": {"memory": {"value": "1"}}}]
    cluster = b.cluster_of(b.piece("s", devices, perDeviceNodeSelection=True, sharedCounters=counters))
    position = cluster.journal.position
    cluster.apply(b.added(b.claim("c", [b.result("gpu-1")])))
    assert cluster.journal.since(position)[1] == frozenset(("n1", EVERYWHERE))


def test_a_pod_that_ends_frees_its_node() -> None:
    cluster = b.cluster_of(b.pod("p", node="n1"))
    assert list(cluster.pods_by_node["n1"]) == [("ml", "p")]
    position = cluster.journal.position
    cluster.apply(b.changed("MODIFIED", b.pod("p", node="n1", phase="Succeeded", meta_={"resourceVersion": "2"})))
    assert cluster.journal.since(position)[1] == frozenset(("n1",))
    assert list(cluster.pods_by_node["n1"]) == []

"""What a taint does to the pods that have the device, as the Taints view shows it."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.model.pod import Pod
from ktui.views.registry import VIEWS
from tests.unit import builders as b

ADDED = "2026-11-30T05:50:00Z"
NOW = 1796017860.0  # a minute later
RULE = ("rule", "r")
ONE = {"driver": b.DRIVER, "pool": "node-1", "device": "gpu-0"}
FOREVER = {"key": "example.com/xid", "operator": "Exists", "effect": "NoExecute"}


def user(name: str, claim: str, **more: Any) -> Pod:
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": claim}]}
    return b.pod(name, **{"node": "node-1", "spec": spec, **more})


def world(*pods: Pod, tolerations: tuple[b.Document, ...] = (), effect: str = "NoExecute", **rule: Any) -> Cluster:
    """A device, a claim c that these pods use, and a rule."""
    claim = b.claim(
        "c", [b.result("gpu-0", tolerations=list(tolerations))], reserved=[b.pod_consumer(p.name) for p in pods]
    )
    taint = {**b.taint(effect=effect), "timeAdded": ADDED}
    return b.cluster_of(b.piece("s", ["gpu-0"]), claim, b.rule("r", ONE, taint, **rule), *pods)


def shown(cluster: Cluster, now: float = NOW) -> str:
    sections = VIEWS["taints"].detail(cluster, RULE, now)
    return "\n".join("".join(cell.text for cell in line) for section in sections for line in section.lines)


def told(cluster: Cluster) -> list[Any]:
    item = VIEWS["taints"].item(cluster, RULE)
    assert item is not None
    return [(pod["name"], pod["eviction"]) for pod in item["pods"]]


def test_pods_that_go_are_going_or_stay() -> None:
    going = user("b", "c", meta_={"deletionTimestamp": ADDED})
    nowhere = user("d", "c", node="")
    done = user("e", "c", phase="Succeeded")  # as long as the claim is reserved for it, it goes like the others
    cluster = world(user("a", "c"), going, nowhere, done)
    assert "pods          2 to go, 1 being deleted, 1 stay" in shown(cluster)
    assert told(cluster) == [
        ("a", {"what": "goes", "afterSeconds": 0}),
        ("b", {"what": "going", "afterSeconds": None}),
        ("d", {"what": "stays", "afterSeconds": None}),
        ("e", {"what": "goes", "afterSeconds": 0}),
    ]


def test_tolerated_for_ever() -> None:
    cluster = world(user("a", "c"), tolerations=(FOREVER,))
    assert "ml/a  tolerates it for ever" in shown(cluster)
    assert told(cluster) == [("a", {"what": "stays", "afterSeconds": None})]
    device = VIEWS["devices"].detail(cluster, b.one_device("gpu-0"), NOW)
    claims = next(section for section in device if section.title == "Claims")
    assert claims.lines[0][-1].text == "tolerates it for ever"


def test_tolerated_for_some_time() -> None:
    cluster = world(user("a", "c"), tolerations=({**FOREVER, "tolerationSeconds": 300},))
    assert "tolerates it for 300 s: goes in 4m" in shown(cluster)
    assert told(cluster) == [("a", {"what": "goes", "afterSeconds": 300})]
    assert "ml/a  goes" in shown(cluster, NOW + 600)


@pytest.mark.parametrize("effect", ["NoSchedule", "None", "Sulk"])
def test_other_effects_touch_no_pod(effect: str) -> None:
    cluster = world(user("a", "c"), effect=effect)
    assert told(cluster) == [("a", None)]
    assert "to go" not in shown(cluster)


def test_the_claim_that_tolerates_less_decides() -> None:
    spec = {"resourceClaims": [{"name": n, "resourceClaimName": n} for n in ("c", "e")]}
    both = b.pod("a", node="node-1", spec=spec)
    share = {"shareID": "f2cb8a3c-1f0b-4b7c-9d51-0a4f5c8c1f3a"}
    consumers = [b.pod_consumer("a")]
    cluster = b.cluster_of(
        both,
        b.piece("s", ["gpu-0"]),
        b.claim("c", [b.result("gpu-0", tolerations=[FOREVER])], reserved=consumers),
        b.claim(
            "e", [b.result("gpu-0", tolerations=[{**FOREVER, "tolerationSeconds": 30}], **share)], reserved=consumers
        ),
        b.rule("r", ONE),
    )
    assert told(cluster) == [("a", {"what": "goes", "afterSeconds": 30})]


def test_the_controllers_words_are_passed_on() -> None:
    said = b.condition("EvictionInProgress", "True", "PodsPendingEviction", "3 pods are to go in 2 namespaces")
    text = shown(world(user("a", "c"), status={"conditions": [said]}))
    assert "PodsPendingEviction: 3 pods are to go in 2 namespaces" in text


@pytest.mark.parametrize(
    ("selector", "style"),
    [
        (ONE, ""),
        (None, ""),
        ({"driver": b.DRIVER, "pool": "node-1"}, "warn"),
        ({}, "bad"),
        ({"driver": b.DRIVER}, "bad"),
        ({"pool": "node-1"}, "bad"),
        ({"device": "gpu-0"}, "bad"),
    ],
)
def test_a_rule_that_reaches_beyond_a_pool_is_red(selector: b.Document | None, style: str) -> None:
    cluster = b.cluster_of(b.piece("s", ["gpu-0"]), b.rule("r", selector))
    row = VIEWS["taints"].row(cluster, RULE)
    assert row is not None
    assert row.cells[2].style == style

"""Effective taints by source, what rules select, and the quirks of tolerations (the API reference, section 3)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, scope, slice_taints, taints_of, tolerates, worst
from ktui.model.claim import DeviceToleration
from ktui.model.resourceslice import DeviceTaint
from tests.unit import builders as b

GPU0 = b.one_device("gpu-0")
PLAIN = b.piece("s", ["gpu-0", "gpu-1"])


def tainted(*taints: b.Document, **more: Any) -> Any:
    return b.piece("s", [{"name": "gpu-0", "taints": list(taints)}, "gpu-1"], **more)


def texts(cluster: Cluster, device: Any = GPU0) -> list[str]:
    return [f"{t.text} {t.rule or t.source}" for t in taints_of(cluster, device)]


def test_the_drivers_taint_and_the_rules_add_up() -> None:
    exact = {"driver": b.DRIVER, "pool": "node-1", "device": "gpu-0"}
    cluster = b.cluster_of(
        tainted(b.taint("a", None, "NoSchedule")),
        b.rule("z", exact, b.taint("a", None, "NoSchedule")),
        b.rule("b", {"driver": b.DRIVER}, b.taint("b", "1", "None")),
    )
    assert texts(cluster) == ["a:NoSchedule slice", "b=1:None b", "a:NoSchedule z"]
    assert texts(cluster, b.one_device("gpu-1")) == ["b=1:None b"]


def test_taints_of_older_generations_do_not_count() -> None:
    new = b.piece("new", ["gpu-0"], generation=2)
    assert texts(b.cluster_of(tainted(b.taint()), new)) == []


def test_a_device_that_is_published_no_longer_keeps_the_rules_taints() -> None:
    cluster = b.cluster_of(b.claim("c", [b.result("gpu-0")]), b.rule("r", {"device": "gpu-0"}))
    assert texts(cluster) == ["example.com/xid=79:NoExecute r"]
    assert list(cluster.devices_of_rule(next(iter(cluster.rules_of(GPU0))))) == [GPU0]


SELECTORS = [
    (None, [], "nothing"),
    ({}, ["node-1/gpu-0", "node-1/gpu-1", "node-2/gpu-0", "other/gpu-0"], "EVERY device of EVERY driver"),
    ({"driver": b.DRIVER}, ["node-1/gpu-0", "node-1/gpu-1", "node-2/gpu-0"], f"all of driver {b.DRIVER}"),
    ({"pool": "node-1"}, ["node-1/gpu-0", "node-1/gpu-1"], "pool node-1 of every driver"),
    ({"device": "gpu-0"}, ["node-1/gpu-0", "node-2/gpu-0", "other/gpu-0"], "device gpu-0 in EVERY pool"),
    (
        {"driver": b.DRIVER, "pool": "node-1"},
        ["node-1/gpu-0", "node-1/gpu-1"],
        f"all of pool {b.DRIVER}/node-1",
    ),
    (
        {"driver": b.DRIVER, "pool": "node-1", "device": "gpu-0"},
        ["node-1/gpu-0"],
        f"{b.DRIVER}/node-1/gpu-0",
    ),
    ({"driver": b.DRIVER, "device": "gpu-1"}, ["node-1/gpu-1"], f"driver {b.DRIVER}, pool any, device gpu-1"),
    ({"driver": ""}, [], "all of driver "),
]


@pytest.mark.parametrize(("selector", "hit", "words"), SELECTORS, ids=str)
def test_what_a_rule_selects(selector: b.Document | None, hit: list[str], words: str) -> None:
    rule = b.rule("r", selector)
    cluster = b.cluster_of(
        PLAIN,
        b.piece("s2", ["gpu-0"], pool="node-2"),
        b.piece("s3", ["gpu-0"], pool="other", driver="other.example.com"),
        rule,
    )
    assert [f"{pool}/{device}" for _, pool, device in cluster.devices_of_rule(rule)] == hit
    every = [(*pool.id, name) for pool in cluster.pools() for name in pool.devices]
    assert [d for d in every if rule.matches(d)] == [d for d in every if taints_of(cluster, d)]
    assert sorted(f"{d[1]}/{d[2]}" for d in every if rule.matches(d)) == sorted(hit)
    assert scope(rule.spec.device_selector) == words


@given(st.lists(st.tuples(*(st.sampled_from((None, "a", "b", "")),) * 3), max_size=8))
def test_rules_found_by_index_are_those_that_match(selectors: list[tuple[str | None, ...]]) -> None:
    rules = [
        b.rule(f"r{i}", {k: v for k, v in zip(("driver", "pool", "device"), s, strict=True) if v is not None})
        for i, s in enumerate(selectors)
    ]
    cluster = b.cluster_of(*rules)
    for device in [("a", "a", "a"), ("a", "b", "a"), ("b", "b", "b"), ("", "a", "")]:
        assert cluster.rules_of(device) == [rule for rule in rules if rule.matches(device)]


def test_keys_of_the_drivers_taints() -> None:
    taints = (b.taint("a", None, "None"), b.taint("a", "1", "None"), b.taint("a", None, "None"))
    cluster = b.cluster_of(tainted(*taints))
    assert list(slice_taints(cluster)) == [("slice", *GPU0, "a", "", "None"), ("slice", *GPU0, "a", "1", "None")]


@pytest.mark.parametrize(
    ("effects", "effect"),
    [
        (["None", "NoExecute", "NoSchedule"], "NoExecute"),
        (["None", "NoSchedule"], "NoSchedule"),
        (["PreferNoSchedule", "NoSchedule"], "NoSchedule"),
        (["PreferNoSchedule"], "None"),
        ([], None),
    ],
)
def test_D02_the_worst_taint_an_unknown_effect_counting_as_none(effects: list[str], effect: str | None) -> None:
    found = worst(EffectiveTaint(DeviceTaint(key="k", effect=e), "slice") for e in effects)
    assert (found.effect if found else None) == effect


def test_D02_an_unknown_effect_is_shown_as_it_is() -> None:
    assert EffectiveTaint(DeviceTaint(key="k", effect="Weird"), "slice").text == "k:Weird"


TAINT = DeviceTaint(key="k", value="v", effect="NoExecute")


@pytest.mark.parametrize(
    ("toleration", "allocating", "evicting"),
    [
        ({"key": "k", "operator": "Equal", "value": "v", "effect": "NoExecute"}, True, True),
        ({"key": "k", "value": "v", "effect": "NoExecute"}, True, True),
        ({"key": "k", "operator": "", "value": "v", "effect": "NoExecute"}, True, True),
        ({"key": "k", "operator": "Exists", "effect": "NoExecute"}, True, True),
        ({"operator": "Exists", "effect": "NoExecute"}, True, True),
        ({"operator": "Exists"}, True, False),  # the quirk: an empty effect is not honoured when evicting
        ({"key": "k", "operator": "Exists", "effect": ""}, True, False),
        ({"key": "k", "operator": "Exists", "effect": "NoSchedule"}, False, False),
        ({"key": "k", "operator": "Equal", "value": "w", "effect": "NoExecute"}, False, False),
        ({"key": "k", "effect": "NoExecute"}, False, False),
        ({"key": "other", "operator": "Exists", "effect": "NoExecute"}, False, False),
        ({"operator": "Equal", "value": "v", "effect": "NoExecute"}, False, False),
        ({"key": "k", "operator": "Like", "value": "v", "effect": "NoExecute"}, False, False),
        ({}, False, False),
    ],
)
def test_tolerations(toleration: dict[str, Any], allocating: bool, evicting: bool) -> None:
    found = DeviceToleration(**toleration)
    assert tolerates(found, TAINT) is allocating
    assert tolerates(found, TAINT, evicting=True) is evicting


def test_an_absent_value_equals_an_empty_one() -> None:
    bare = DeviceTaint(key="k", effect="NoSchedule")
    assert tolerates(DeviceToleration(key="k", value=""), bare)
    assert tolerates(DeviceToleration(key="k"), bare)

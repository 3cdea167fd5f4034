"""Whether the devices of a pod sit together."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.alignment import Alignment, alignment
from ktui.cluster.attributes import PCIE_ROOT, PLACES, values_of
from ktui.cluster.state import Cluster
from ktui.model.resourceslice import NUMA_NODE
from tests.unit import builders as b

NIC = "nic.example.com"


def device(name: str, **value: Any) -> b.Document:
    return {"name": name, "attributes": {NUMA_NODE: value} if value else {}}


def looked_at(*values: dict[str, Any]) -> Alignment:
    """Devices a, b, c… with these numaNodes."""
    names = "abcdefgh"[: len(values)]
    pieces = b.piece("s", [device(name, **value) for name, value in zip(names, values, strict=True)])
    return alignment(b.cluster_of(pieces), [b.one_device(name) for name in names], NUMA_NODE)


@pytest.mark.parametrize(
    ("values", "verdict", "common"),
    [
        (({"int": 1}, {"int": 1}), "aligned", (1,)),
        (({"int": 0}, {"int": 1}), "apart", ()),
        (({"int": 0}, {}), "unknown", (0,)),
        (({}, {}), "unknown", ()),
        (({"int": 0}, {"int": 1}, {}), "apart", ()),
        (({"ints": [0, 1]}, {"int": 1}), "aligned", (1,)),
        (({"ints": [1, 0]}, {"ints": [0, 1]}), "aligned", (1, 0)),
        (({"ints": []}, {"int": 1}), "unknown", (1,)),
        (({"int": 3},), "aligned", (3,)),
        ((), "unknown", ()),
    ],
)
def test_verdicts(values: tuple[dict[str, Any], ...], verdict: str, common: tuple[int, ...]) -> None:
    found = looked_at(*values)
    assert (found.verdict, found.common) == (verdict, common)


def test_the_pairs_that_are_apart_are_named() -> None:
    found = looked_at({"int": 0}, {"ints": [0, 1]}, {"int": 1})
    assert found.apart == ((b.one_device("a"), b.one_device("c")),)
    assert looked_at({"ints": [0, 1]}, {"ints": [1, 2]}, {"ints": [0, 2]}).apart == ()


def test_a_gpu_and_a_nic_of_two_drivers_are_compared() -> None:
    roots = {"attributes": {PCIE_ROOT: {"string": "pci0000:10"}}}
    gpu = b.piece("gpu", [{"name": "gpu-0", **roots}])
    nic = b.piece("nic", [{"name": "nic-0", **roots}], driver=NIC)
    devices = [b.one_device("gpu-0"), b.one_device("nic-0", driver=NIC)]
    assert alignment(b.cluster_of(gpu, nic), devices, PLACES["pcieRoot"]).common == ("pci0000:10",)


def test_a_device_that_is_published_no_longer_has_no_values() -> None:
    assert values_of(Cluster(), b.one_device("gone"), NUMA_NODE) == ()


@given(st.lists(st.sets(st.integers(0, 4)), max_size=5))
def test_the_verdict_is_that_of_match_attribute(sets: list[set[int]]) -> None:
    found = looked_at(*({"ints": sorted(each)} if each else {} for each in sets))
    matches = bool(sets) and all(sets) and bool(set.intersection(*sets))
    assert (found.verdict == "aligned") == matches
    said = [each for each in sets if each]
    assert (found.verdict == "apart") == (bool(said) and not set.intersection(*said))
    assert found.verdict == "apart" or not found.apart

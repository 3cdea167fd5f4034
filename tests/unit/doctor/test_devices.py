"""What doctor says of drivers, pools and taint rules."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.doctor import devices
from ktui.doctor.finding import Status
from ktui.model.resourceslice import ResourceSlice
from tests.unit.builders import DRIVER, cluster_of, make, meta, rule, taint

from .facts import facts
from .test_access import only
from .test_nodes import node


def piece(pool: str, *versions: str | None, count: int = 1) -> ResourceSlice:
    """A slice of the node with the pool's name: a device for each version of the driver."""
    named = [{"version": version} if version else None for version in versions]
    listed = [
        {"name": f"gpu-{i}", "attributes": {"driverVersion": value} if value else {}} for i, value in enumerate(named)
    ]
    spec = {
        "driver": DRIVER,
        "nodeName": pool,
        "pool": {"name": pool, "generation": 1, "resourceSliceCount": count},
        "devices": listed,
    }
    return make(ResourceSlice, {"metadata": meta(f"slice-{pool}", ""), "spec": spec})


def test_an_incomplete_pool_is_a_failure_with_its_reason() -> None:
    found = only(devices.pools(facts(cluster_of(piece("n1", None), piece("n2", None, count=2)))))
    assert (found.status, found.objects) == ("fail", (f"{DRIVER}/n2",))
    assert "1 of 2 slices" in found.text


def test_complete_pools() -> None:
    assert only(devices.pools(facts(cluster_of(piece("n1", None))))).text == "1 pool, all complete and valid"
    assert only(devices.pools(facts())).text == "no driver publishes devices"


@pytest.mark.parametrize(
    ("versions", "status", "says"),
    [
        (("1.2.0", "1.2.0"), "ok", "2 devices in 1 pool, driverVersion 1.2.0 (2)"),
        ((None,), "ok", "driverVersion not published"),
        (("1.2.0", "1.2.0", "1.1.0"), "warn", "several versions: 1.2.0 (2), 1.1.0 (1)"),
    ],
)
def test_drivers(versions: tuple[str | None, ...], status: Status, says: str) -> None:
    found = only(devices.drivers(facts(cluster_of(piece("n1", *versions)))))
    assert (found.status, says in found.text) == (status, True), found


def test_slices_of_nodes_that_are_gone() -> None:
    cluster = cluster_of(node("n1"), piece("n1", None), piece("n2", None))
    found = only(devices.stray_slices(facts(cluster)))
    assert (found.status, found.objects) == ("warn", ("n2",))


@pytest.mark.parametrize(
    ("selector", "effect", "status", "says"),
    [
        ({}, "NoSchedule", "fail", "EVERY device of EVERY driver"),
        ({}, "None", "warn", "EVERY device of EVERY driver"),
        ({"driver": DRIVER}, "NoExecute", "fail", f"all of driver {DRIVER}"),
        ({"device": "gpu-0"}, "NoSchedule", "fail", "gpu-0 in EVERY pool"),
        ({"driver": DRIVER, "pool": "n1"}, "NoExecute", "ok", ""),
        (None, "NoExecute", "ok", ""),
    ],
)
def test_rules_that_match_too_much(selector: Any, effect: str, status: Status, says: str) -> None:
    found = only(devices.broad_rules(facts(cluster_of(rule("r", selector, taint(effect=effect))))))
    assert (found.status, says in found.text) == (status, True), found


def test_rules_in_force_with_what_the_controller_says() -> None:
    progress = {"conditions": [{"type": "EvictionInProgress", "status": "True", "message": "2 pods to go"}]}
    selector = {"driver": DRIVER, "pool": "n1", "device": "gpu-0"}
    cluster = cluster_of(piece("n1", None), rule("r", selector, taint(effect="NoExecute"), status=progress))
    found = only(devices.evicting_rules(facts(cluster)))
    assert found.text == f"NoExecute in force: r on {DRIVER}/n1/gpu-0 (1 device: 2 pods to go)"
    assert found.objects == ("devicetaintrules/r",)


def test_no_rule_evicts() -> None:
    assert only(devices.evicting_rules(facts(cluster_of(rule("r", {}, taint(effect="NoSchedule")))))).status == "ok"

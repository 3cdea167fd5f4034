"""What drivers say of devices in claims, as the Claims view shows it."""

from __future__ import annotations

from typing import Any

from ktui.cluster.state import Cluster
from ktui.views.base import Row
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "c")
SHARE = "f2cb8a3c-1f0b-4b7c-9d51-0a4f5c8c1f3a"


def world(*entries: b.Document, **more: Any) -> Cluster:
    """A claim with gpu-0, of which the driver has written these entries."""
    status = {"devices": [{"driver": b.DRIVER, "pool": "node-1", "device": "gpu-0", **entry} for entry in entries]}
    return b.cluster_of(b.claim("c", [b.result("gpu-0", **more)], status=status))


def shown(cluster: Cluster, title: str = "Devices") -> str:
    sections = {section.title: section for section in VIEWS["claims"].detail(cluster, KEY, 0.0)}
    return "\n".join("".join(cell.text for cell in line) for line in sections[title].lines)


def told(cluster: Cluster) -> Any:
    item = VIEWS["claims"].item(cluster, KEY)
    assert item is not None
    return item


def row(cluster: Cluster) -> Row:
    found = VIEWS["claims"].row(cluster, KEY)
    assert found is not None
    return found


def test_network_data_and_conditions() -> None:
    network = {"interfaceName": "net1", "ips": ["10.9.0.2/24", "fd00::2/64"], "hardwareAddress": "02:00:5e:10:00:01"}
    cluster = world(
        {"conditions": [b.condition("Ready", "True", "Up")], "networkData": network, "data": {"token": "s"}}
    )
    for text in ("Ready True", "Up", "net1", "10.9.0.2/24, fd00::2/64", "02:00:5e:10:00:01", "with data of the driver"):
        assert text in shown(cluster)
    assert told(cluster)["devices"][0]["status"] == {
        "conditions": [{"type": "Ready", "status": "True", "reason": "Up", "message": ""}],
        "network": {"interface": "net1", "ips": ["10.9.0.2/24", "fd00::2/64"], "mac": "02:00:5e:10:00:01"},
        "data": True,
    }
    assert not row(cluster).problem


def test_a_device_that_is_not_ready_is_a_problem() -> None:
    cluster = world({"conditions": [b.condition("Ready", "False", "LinkDown", "no carrier")]})
    assert row(cluster).problem
    assert "Ready False  LinkDown no carrier" in shown(cluster)


def test_nothing_said_is_nothing_shown() -> None:
    assert told(world())["devices"][0]["status"] is None
    assert "Ready" not in shown(world())
    told_null = told(world({"conditions": None, "networkData": None}))["devices"][0]["status"]
    assert told_null == {"conditions": [], "network": None, "data": False}


def test_words_that_nobody_knows() -> None:
    cluster = world({"conditions": [b.condition("Glow", "Perhaps")], "networkData": {}})
    assert "Glow Perhaps" in shown(cluster)
    assert "interface not told" in shown(cluster)
    assert not row(cluster).problem


def test_each_share_has_its_own_status() -> None:
    cluster = world({"shareID": "other", "conditions": [b.condition("Ready", "False")]}, shareID=SHARE)
    assert not row(cluster).problem
    mine = {"shareID": SHARE, "conditions": [b.condition("Ready", "False")]}
    cluster = world(mine, shareID=SHARE, consumedCapacity={"memory": "10Gi"})
    assert row(cluster).problem
    assert f"share {SHARE}" in shown(cluster)
    assert "takes 10Gi of memory" in shown(cluster)
    assert told(cluster)["devices"][0]["consumed"] == {"memory": "10Gi"}


def test_derived_attributes_are_shown_as_declared() -> None:
    derived = {"name": "derived/socket", "expression": "device.attributes['d'].numa / 2"}
    exactly = {"deviceClassName": "gpu", "derivedAttributes": [derived]}
    cluster = b.cluster_of(b.claim("c", requests=[{"name": "gpu", "exactly": exactly}]))
    assert told(cluster)["requests"][0]["derivedAttributes"] == [derived]
    text = shown(cluster, "Requests")
    assert "derived/socket derived by device.attributes['d'].numa / 2" in text
    assert "stored nowhere" in text


def test_what_the_driver_keeps_is_not_recorded() -> None:
    """Its data may hold anything: they do not get as far as an object of ktui's."""
    claim = world({"data": {"password": "hunter2"}}).claim(KEY)
    assert "hunter2" not in repr(claim)


def test_the_device_says_what_its_driver_says() -> None:
    cluster = world({"networkData": {"interfaceName": "net1"}})
    sections = {section.title: section for section in VIEWS["devices"].detail(cluster, b.one_device("gpu-0"), 0.0)}
    assert ["".join(cell.text for cell in line) for line in sections["Claims"].lines][1] == "  interface net1"

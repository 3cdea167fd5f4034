"""What devices share, and where their taints and health disagree, as the Devices view shows it."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.model.meta import Object
from ktui.views.registry import VIEWS
from tests.unit import builders as b

SHARE = "f2cb8a3c-1f0b-4b7c-9d51-0a4f5c8c1f3a"


def drawing(name: str, memory: str, *groups: str) -> b.Document:
    consumption: b.Document = {"counterSet": "gpu-0", "counters": {"memory": {"value": memory}}}
    if groups:
        consumption["compatibilityGroups"] = list(groups)
    return {"name": name, "consumesCounters": [consumption]}


def partitioned(*holders: str, groups: tuple[str, ...] = ()) -> Cluster:
    """A whole GPU of 80Gi, and two partitions of half of it."""
    devices = [drawing("whole", "80Gi"), drawing("mig-1", "40Gi", *groups), drawing("mig-2", "40Gi", *groups)]
    pieces = [
        b.piece("s", devices, count=2),
        b.piece("c", count=2, sharedCounters=[{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]),
    ]
    claims = [b.claim(f"c-{name}", [b.result(name)]) for name in holders]
    return b.cluster_of(*pieces, *claims)


def shown(cluster: Cluster, device: str, title: str) -> str:
    sections = {section.title: section for section in VIEWS["devices"].detail(cluster, b.one_device(device), 0.0)}
    found = sections.get(title)
    return "\n".join("".join(cell.text for cell in line) for line in found.lines) if found else ""


def told(cluster: Cluster, device: str) -> Any:
    item = VIEWS["devices"].item(cluster, b.one_device(device))
    assert item is not None
    return item


def test_what_is_left_of_a_counter_and_who_has_the_rest() -> None:
    cluster = partitioned("mig-1")
    text = shown(cluster, "whole", "Counters it draws on")
    assert "gpu-0/memory  draws 80Gi, left 40Gi of 80Gi" in text
    assert "drawn on by mig-1" in text
    assert told(cluster, "whole")["state"] == "blocked"
    assert told(cluster, "mig-2")["counters"] == [
        {
            "counterSet": "gpu-0",
            "counter": "memory",
            "draws": "40Gi",
            "total": "80Gi",
            "left": "40Gi",
            "drawnBy": ["mig-1"],
        }
    ]
    assert told(partitioned("mig-1", "mig-2"), "whole")["counters"][0]["left"] == "0"


def test_counters_that_contradict_what_is_allocated_are_shown_as_they_are() -> None:
    assert told(partitioned("whole", "mig-1"), "mig-2")["counters"][0]["left"] == "-40Gi"


@pytest.mark.parametrize(("amount", "text"), [("-1", "-1"), ("1500m", "1.500"), ("", "0"), ("x", "0")])
def test_odd_amounts(amount: str, text: str) -> None:
    cluster = b.cluster_of(b.piece("s", [drawing("whole", amount)]))
    assert told(cluster, "whole")["counters"][0]["draws"] == text


def test_an_amount_beyond_all_measure_is_shown() -> None:
    cluster = b.cluster_of(b.piece("s", [drawing("whole", "1e63")]))
    assert told(cluster, "whole")["counters"][0]["draws"].endswith("i")


def test_compatibility_groups_as_declared() -> None:
    cluster = partitioned(groups=("a", "b"))
    assert told(cluster, "mig-1")["compatibilityGroups"] == {"gpu-0": ["a", "b"]}
    assert told(cluster, "whole")["compatibilityGroups"] == {}
    text = shown(cluster, "mig-1", "Counters it draws on")
    assert "compatibility groups a, b" in text
    assert "DRADeviceCompatibilityGroups off" in text


def shared(*amounts: str) -> Cluster:
    """One device of 80Gi, of which each claim takes a share."""
    device = {"name": "gpu-0", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}}
    claims = [
        b.claim(f"c-{i}", [b.result("gpu-0", shareID=f"{SHARE}{i}", consumedCapacity={"memory": amount})])
        for i, amount in enumerate(amounts)
    ]
    return b.cluster_of(b.piece("s", [device]), *claims)


def test_who_took_how_much_of_a_shared_device() -> None:
    cluster = shared("10Gi", "30Gi")
    text = shown(cluster, "gpu-0", "Shares")
    assert f"ml/c-0  10Gi memory  share {SHARE}0" in text
    assert "memory  left 40Gi" in text
    item = told(cluster, "gpu-0")
    assert (item["multipleAllocations"], item["capacityLeft"]) == (True, {"memory": "40Gi"})
    assert [entry["consumed"] for entry in item["allocatedTo"]] == [{"memory": "10Gi"}, {"memory": "30Gi"}]


@pytest.mark.parametrize("amount", ["x", "", None, {}])
def test_an_amount_that_is_none_takes_nothing(amount: Any) -> None:
    assert told(shared(amount), "gpu-0")["capacityLeft"] == {"memory": "80Gi"}


def test_a_device_for_one_claim_has_no_shares() -> None:
    cluster = b.cluster_of(b.piece("s", [{"name": "gpu-0", "capacity": {"memory": {"value": "80Gi"}}}]))
    item = told(cluster, "gpu-0")
    assert (item["multipleAllocations"], item["capacityLeft"], item["counters"]) == (False, {}, [])
    assert shown(cluster, "gpu-0", "Shares") == ""


def reported(health: str, *objects: Object) -> Cluster:
    """A pod that has gpu-0, and the kubelet's word on it."""
    containers = [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}]
    entry = {"name": "claim:gpu", "resources": [{"resourceID": "cdi/0", "health": health}]}
    pod = b.pod(
        "p",
        node="node-1",
        spec={"containers": containers, "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]},
        status={"containerStatuses": [{"name": "main", "allocatedResourcesStatus": [entry]}]},
    )
    claim = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")])
    return b.cluster_of(b.piece("s", ["gpu-0"]), claim, pod, *objects)


@pytest.mark.parametrize(
    ("health", "effect", "disagreement"),
    [
        ("Unhealthy", None, "unhealthy, not tainted"),
        ("Unhealthy", "None", "unhealthy, not tainted"),
        ("Unhealthy", "NoSchedule", None),
        ("Healthy", "NoExecute", "tainted, healthy"),
        ("Healthy", "None", None),
        ("Healthy", None, None),
        ("Unknown", "NoExecute", None),
        ("Unknown", None, None),
        ("Sulking", None, None),
    ],
)
def test_health_and_taints_that_disagree(health: str, effect: str | None, disagreement: str | None) -> None:
    selector = {"driver": b.DRIVER, "pool": "node-1", "device": "gpu-0"}
    rules = [b.rule("r", selector, b.taint(effect=effect))] if effect else []
    cluster = reported(health, *rules)
    assert told(cluster, "gpu-0")["disagreement"] == disagreement
    about = VIEWS["devices"].detail(cluster, b.one_device("gpu-0"), 0.0)[0]
    assert any(line[0].text.strip() == "but" for line in about.lines) == (disagreement is not None)

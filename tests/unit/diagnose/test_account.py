"""The whole account of a gang agrees with its diagnosis and with the cluster, in every scenario."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from msgspec import structs

from ktui.cluster.gangs import gangs
from ktui.cluster.state import Cluster
from ktui.diagnose.account import Account, account_of_gang, account_of_pod
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import diagnose
from ktui.diagnose.pods import diagnose_pod
from ktui.diagnose.supply import Supply
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceTaint, ResourceSlice
from tests.recordings import cluster_at
from tests.scenarios import files
from tests.scenarios.outcome import cluster_of
from tests.unit import builders as b

NAMES = files.names()
TAINT = DeviceTaint("x", None, "NoSchedule")
BY_NAME = frozenset(
    ("PoolIncomplete", "DevicesTainted", "NotEnoughDevices", "NotEnoughNodeResources", "NodeConstraints")
)


def accounts(cluster: Cluster) -> Iterator[tuple[Diagnosis, Account]]:
    """Of every gang, and of every pod outside gangs: the diagnosis by itself, and the account."""
    supply = Supply(cluster)
    for gang in gangs(cluster):
        yield diagnose(cluster, gang), account_of_gang(supply, gang)
    for pod in cluster.all(Pod):
        if not pod.group:
            yield diagnose_pod(Supply(cluster), pod), account_of_pod(supply, pod)


@pytest.mark.parametrize("name", NAMES)
def test_an_account_says_what_the_diagnosis_says(name: str) -> None:
    for alone, account in accounts(cluster_of(name)):
        found = account.diagnosis
        assert (found.state, found.cause, found.message, found.facts) == (
            alone.state,
            alone.cause,
            alone.message,
            alone.facts,
        )
        assert found.funnel == alone.funnel
        assert len(found.unblock) >= len(alone.unblock)


@pytest.mark.parametrize("name", NAMES)
def test_every_device_that_a_step_takes_away_is_accounted_for(name: str) -> None:
    for _, account in accounts(cluster_of(name)):
        funnel, lost = account.diagnosis.funnel, account.lost
        if funnel is None or None in (funnel.matching, funnel.pool_complete, funnel.untainted, funnel.free):
            continue
        assert funnel.matching is not None
        assert funnel.pool_complete is not None
        assert funnel.untainted is not None
        assert funnel.free is not None
        assert sum(count for _, count in lost.pools) == funnel.matching - funnel.pool_complete
        assert sum(len(devices) for _, devices in lost.taints) == funnel.pool_complete - funnel.untainted
        assert sum(count for _, count in lost.holders) + lost.others == funnel.untainted - funnel.free


@pytest.mark.parametrize("name", NAMES)
def test_evidence_is_of_objects_that_are_there(name: str) -> None:
    cluster = cluster_of(name)
    for _, account in accounts(cluster):
        evidence = account.diagnosis.evidence
        assert len(evidence) <= 8
        for item in evidence:
            if item.kind in cluster.stores:
                assert cluster.stores[item.kind].get((item.namespace, item.name)) is not None, item
        if account.diagnosis.cause in BY_NAME and account.diagnosis.unblock:
            assert any(not item.said for item in evidence), f"{name}: only words"


def account_of(name: str) -> Account:
    cluster, _ = cluster_at("pending", 18)
    gang = next(gang for gang in gangs(cluster) if gang.key == ("research", name))
    return account_of_gang(Supply(cluster), gang)


@pytest.mark.parametrize(
    ("name", "first", "hint"),
    [
        ("tainted", "DeviceTaintRule", "node-8/gpu-0, node-8/gpu-1 (rule maintenance)"),
        ("too-big", "PodGroup", "2 more free devices: research/healthy has 4"),
        ("stale-pool", "ResourceSlice", "node-9 is incomplete, 1 of 2 slices, generation 1"),
        ("numa", "ResourceClaim", "2 for each would fit"),
        ("cpu-hog", "Node", "nodes with more cpu: a pod asks for 500, the most left is 64"),
        ("wrong-zone", "Node", "would do with the label topology.kubernetes.io/zone=z9"),
    ],
)
def test_what_would_help_is_named_and_the_object_of_the_cause_comes_first(name: str, first: str, hint: str) -> None:
    found = account_of(name).diagnosis
    assert hint in found.unblock[0]
    assert next(item.kind for item in found.evidence if not item.said) == first


@pytest.mark.parametrize(
    ("scenario", "hint"),
    [
        ("nodes-that-are-cordoned", "uncordon cork-1"),
        ("degraded-node-cordoned", "uncordon savory-1"),
        ("extended-resource-and-a-taint", "2 of pebble-1/b0, pebble-1/b1, pebble-1/b2 (rule wednesday)"),
        ("affinity-to-two-zones", "gorse-1, gorse-2 would do but for topology.kubernetes.io/zone In (n1, n2)"),
        ("distinct-boards", "1 for each would fit"),
        ("devices-over-the-network", "nodes that the pods may run on"),
    ],
)
def test_what_would_help_in_scenarios(scenario: str, hint: str) -> None:
    hints = [text for _, account in accounts(cluster_of(scenario)) for text in account.diagnosis.unblock]
    assert [text for text in hints if text.endswith(hint)]


@pytest.mark.parametrize("scenario", ["pods-spread-over-zones", "pods-that-must-be-apart"])
def test_nothing_is_made_up_where_only_the_scheduler_sees_why(scenario: str) -> None:
    for _, account in accounts(cluster_of(scenario)):
        assert account.diagnosis.unblock == ()


def test_a_taint_of_the_driver_says_whose_it_is() -> None:
    cluster, _ = cluster_at("pending", 18)
    rule = cluster.stores["DeviceTaintRule"].objects["", "maintenance"]
    cluster.apply(b.deleted(rule))
    for piece in [p for p in cluster.all(ResourceSlice) if p.pool_id[1] == "node-8"]:
        devices = tuple(structs.replace(device, taints=(TAINT,)) for device in piece.spec.devices or ())
        newer = structs.replace(piece.metadata, resource_version="999999")
        spec = structs.replace(piece.spec, devices=devices)
        cluster.apply(b.changed("MODIFIED", structs.replace(piece, metadata=newer, spec=spec)))
    gang = next(gang for gang in gangs(cluster) if gang.key == ("research", "tainted"))
    found = account_of_gang(Supply(cluster), gang).diagnosis
    assert found.unblock[0].endswith("(by the driver, who alone can take it away)")
    assert ("ResourceSlice", "x:NoSchedule on node-8/gpu-0, node-8/gpu-1, by the driver") in [
        (item.kind, item.text) for item in found.evidence
    ]

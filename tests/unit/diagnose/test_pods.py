"""Why pods outside gangs wait, and when one is said to wait for victims of preemption."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.diagnose.pods import diagnose_pod
from ktui.diagnose.supply import Supply
from tests.unit import builders as b

GONE = "2026-11-30T05:54:09Z"
REFUSED = b.condition("PodScheduled", "False", "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.")


def victim(name: str, *, reason: str = "PreemptionByScheduler", deleted: bool = True) -> Any:
    return b.pod(
        name,
        node="node-1",
        conditions=[b.condition("DisruptionTarget", "True", reason)],
        meta_={"deletionTimestamp": GONE} if deleted else {},
    )


@pytest.mark.parametrize(
    ("parts", "state"),
    [
        ({"node": "node-1"}, "Running"),
        ({"node": "node-1", "phase": "Pending"}, "Scheduling"),
        ({"phase": "Succeeded"}, "Completed"),
        ({"phase": "Failed"}, "Failed"),
        ({"meta_": {"deletionTimestamp": GONE}}, "Deleting"),
    ],
)
def test_a_pod_that_does_not_wait_has_no_cause(parts: dict[str, Any], state: str) -> None:
    pod = b.pod("a", **parts)
    found = diagnose_pod(Supply(b.cluster_of(pod)), pod)
    assert (found.state, found.cause) == (state, None)


def test_a_pod_that_was_never_tried_is_queued() -> None:
    pod = b.pod("a")
    found = diagnose_pod(Supply(b.cluster_of(pod)), pod)
    assert (found.state, found.cause) == ("Pending", "Queued")


def test_a_pod_waits_for_its_victims() -> None:
    pod = b.pod("a", conditions=[REFUSED], status={"nominatedNodeName": "node-1"})
    found = diagnose_pod(Supply(b.cluster_of(pod, victim("v1"), victim("v2"), b.pod("other", node="node-1"))), pod)
    assert (found.state, found.cause, found.facts) == ("Preempting", "WaitingForPreemption", {"victims": 2})
    assert [(item.kind, item.name) for item in found.evidence] == [("Pod", "v1"), ("Pod", "v2")]


@pytest.mark.parametrize(
    "other", [victim("v", reason="DeletionByTaintManager"), victim("v", deleted=False), b.pod("v", node="node-1")]
)
def test_a_nominated_node_alone_is_no_preemption(other: Any) -> None:
    """The scheduler also writes it while a binding waits (KEP-5278)."""
    pod = b.pod("a", conditions=[REFUSED], status={"nominatedNodeName": "node-1"})
    assert diagnose_pod(Supply(b.cluster_of(pod, other)), pod).state == "Pending"

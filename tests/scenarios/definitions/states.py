"""Gangs that ran and do not run whole any more, and gangs that are done."""

from __future__ import annotations

from typing import Any

from tests.scenarios import manifests as m
from tests.scenarios.definitions import steps
from tests.scenarios.definitions.devices import farm
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]


def _pod_is_gone(stage: Stage) -> None:
    stage.delete("v1", "Pod", "dunnock-1")
    stage.until(lambda: len(stage.pods("dunnock")) == 2, "a pod to go")


def _replaced_on_a_cordoned_node(stage: Stage) -> None:
    stage.patch("v1", "Node", "savory-1", {"spec": {"unschedulable": True}})
    stage.delete("v1", "Pod", "fieldfare-0")
    stage.until(lambda: len(stage.pods("fieldfare")) == 1, "a pod to go")
    stage.create([m.pod("fieldfare-2", group="fieldfare")])
    stage.until(lambda: stage.refused("fieldfare"), "the replacement to be refused")


def _evicted(stage: Stage) -> None:
    """The Job makes the evicted pod anew, and the scheduler refuses it."""
    group = stage.group("whinchat")
    assert group is not None
    pod = stage.pods(group["metadata"]["name"])[0]["metadata"]["name"]
    driver, pool, device = stage.devices_of(pod)[0]
    stage.create(
        [
            m.taint_rule(
                "december", m.taint("alarm.example.com/xid", "NoExecute", "94"), driver=driver, pool=pool, device=device
            )
        ]
    )
    stage.until(lambda: stage.refused("whinchat"), "the replacement to be refused")


def _phase(stage: Stage, pod: str, phase: str) -> None:
    stage.patch("v1", "Pod", pod, {"status": {"phase": phase}}, "status")


def _ended(stage: Stage) -> None:
    for pod, phase in (
        ("ouzel-0", "Succeeded"),
        ("ouzel-1", "Succeeded"),
        ("serin-0", "Succeeded"),
        ("serin-1", "Failed"),
    ):
        _phase(stage, pod, phase)
    stage.delete(steps.GROUPS, "PodGroup", "twite")


SCENARIOS: list[Scenario] = [
    Scenario(
        "degraded-pod-gone",
        "All three pods ran; one was deleted and nobody has made it again.",
        {"dunnock": Truth("Degraded", "WaitingForPods", {"have": 2, "need": 3})},
        m.nodes("lotus-1"),
        [],
        occupants=m.gang("dunnock", 3),
        later=_pod_is_gone,
        fix=(steps.make("the pod is made again", m.pod("dunnock-1", group="dunnock")),),
    ),
    Scenario(
        "degraded-node-cordoned",
        "Both pods ran. One was made anew, and meanwhile the only node has been cordoned.",
        {"fieldfare": Truth("Degraded", "NodeConstraints")},
        m.nodes("savory-1"),
        [],
        occupants=m.gang("fieldfare", 2),
        later=_replaced_on_a_cordoned_node,
        fix=(steps.patch("the node is uncordoned", "v1", "Node", "savory-1", {"spec": {"unschedulable": None}}),),
        namespace="oder",
    ),
    Scenario(
        "degraded-device-tainted",
        "The gang held all 4 devices. One was tainted, its pod evicted, and the pod made in its place finds no device.",
        {"whinchat": Truth("Degraded", "DevicesTainted", {"taint": "alarm.example.com/xid"})},
        [*farm("gpu.gemini.example", "gemini", "vetch-1"), m.template("one", m.request("r", "gemini"))],
        [],
        occupants=[m.gang_job("whinchat", 4, made_from="one")],
        later=_evicted,
        fix=(steps.untaint("december"),),
        namespace="isar",
    ),
    Scenario(
        "gangs-that-are-done",
        "One gang's pods have succeeded, one of another's failed, and the group of a third is being deleted while its pods run.",
        {
            "ouzel": Truth("Completed", None),
            "serin": Truth("Failed", None),
            "twite": Truth("Deleting", None),
        },
        m.nodes("clover-1"),
        [],
        occupants=[*m.gang("ouzel", 2), *m.gang("serin", 2), *m.gang("twite", 2)],
        later=_ended,
        namespace="elbe",
    ),
]

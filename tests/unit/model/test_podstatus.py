"""A pod's state in one word, as kubectl has it."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.model.podstatus import in_trouble, status_word
from tests.unit.builders import pod

WAITING: dict[str, Any] = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}


def _state(name: str = "main", **state: Any) -> dict[str, Any]:
    return {"name": name, "state": state}


@pytest.mark.parametrize(
    ("status", "word", "trouble"),
    [
        ({}, "Pending", False),
        ({"containerStatuses": [_state(running={"startedAt": "2026-11-30T05:00:00Z"})]}, "Pending", False),
        ({"containerStatuses": [_state(**WAITING)]}, "CrashLoopBackOff", True),
        ({"containerStatuses": [_state(running={}), _state("b", **WAITING)]}, "CrashLoopBackOff", True),
        ({"containerStatuses": [_state(waiting={"reason": "ContainerCreating"})]}, "ContainerCreating", False),
        ({"containerStatuses": [_state(waiting={})]}, "Pending", False),
        ({"containerStatuses": [_state(waiting=None), {"name": "x", "state": None}]}, "Pending", False),
        ({"containerStatuses": [_state(terminated={"exitCode": 1})]}, "Error", True),
        ({"containerStatuses": [_state(terminated={"exitCode": 137, "reason": "OOMKilled"})]}, "OOMKilled", True),
        ({"containerStatuses": [_state(terminated={"exitCode": 0, "reason": "Completed"})]}, "Completed", False),
        (
            {"initContainerStatuses": [_state("i", waiting={"reason": "ImagePullBackOff"})]},
            "Init:ImagePullBackOff",
            True,
        ),
        ({"initContainerStatuses": [_state("i", terminated={"exitCode": 2})]}, "Init:Error", True),
        ({"initContainerStatuses": [_state("i", waiting={"reason": "PodInitializing"})]}, "Pending", False),
        (
            {
                "initContainerStatuses": [_state("i", terminated={"exitCode": 0})],
                "containerStatuses": [_state(**WAITING)],
            },
            "CrashLoopBackOff",
            True,
        ),
        ({"reason": "Evicted"}, "Evicted", True),
    ],
)
def test_word(status: dict[str, Any], word: str, trouble: bool) -> None:
    found = pod("p", status=status)
    assert status_word(found) == word
    assert in_trouble(found) is trouble


def test_a_sidecar_that_fails_is_told_though_it_is_an_init_container() -> None:
    spec = {"initContainers": [{"name": "s", "restartPolicy": "Always"}]}
    failing = pod("p", spec=spec, status={"initContainerStatuses": [_state("s", **WAITING)]})
    assert status_word(failing) == "Init:CrashLoopBackOff"
    running = pod("p", spec=spec, node="n", status={"initContainerStatuses": [_state("s", running={})]})
    assert status_word(running) == "Running"


def test_a_finished_pod_is_told_by_its_phase() -> None:
    failed = pod("p", phase="Failed", status={"containerStatuses": [_state(terminated={"exitCode": 1})]})
    assert not in_trouble(failed)

"""Resources, resizes and memory of pods as the Pods view shows them. Each pod is valid against the schemas of Kubernetes 1.37."""

from __future__ import annotations

from typing import Any

import kubernetes_validate
import pytest

from ktui.model.node import Node
from ktui.model.pod import Pod
from ktui.views.base import Row
from ktui.views.registry import VIEWS
from tests.unit import builders as b

KEY = ("ml", "p")
SINCE = "2026-11-30T05:50:00Z"
SINCE_SECONDS = 1796017800.0
NOW = SINCE_SECONDS + 300
TITLE = "Resources (request/limit)"
MEMORY = "Memory QoS, if it is on"
TOO_MUCH = "Node didn't have enough capacity: cpu, requested: 200000, capacity: 64000"


def box(name: str = "main", **resources: Any) -> b.Document:
    return {"name": name, "image": "registry.example.com/train:1", "resources": resources}


def report(name: str = "main", allocated: Any = None, **applied: Any) -> b.Document:
    return {
        "name": name,
        "image": "registry.example.com/train:1",
        "imageID": "x",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {}},
        **({"allocatedResources": allocated} if allocated else {}),
        **({"resources": applied} if applied else {}),
    }


def said(type_: str, reason: str, message: str = "", generation: int = 2) -> b.Document:
    about = {"type": type_, "status": "True", "lastTransitionTime": SINCE, "observedGeneration": generation}
    return {**about, **({"reason": reason} if reason else {}), **({"message": message} if message else {})}


def pod(*boxes: b.Document, conditions: tuple[b.Document, ...] = (), status: Any = None, **spec: Any) -> Pod:
    document: b.Document = {
        "metadata": b.meta("p", generation=2),
        "spec": {"nodeName": "n1", "containers": list(boxes), **spec},
        "status": {"phase": "Running", "conditions": list(conditions), **(status or {})},
    }
    kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", **document}, "1.37", strict=True)
    return b.make(Pod, document)


def resizing(*conditions: b.Document, allocated: str = "2", applied: str = "1", seen: int = 2) -> Pod:
    """A pod that asks for 4 processors."""
    reports = [report(allocated={"cpu": allocated}, requests={"cpu": applied}, limits={"cpu": "8"})]
    asked = box(requests={"cpu": "4"}, limits={"cpu": "8"})
    return pod(asked, conditions=conditions, status={"observedGeneration": seen, "containerStatuses": reports})


def section(of: Pod, title: str = TITLE) -> list[str]:
    node = b.make(
        Node,
        {
            "metadata": b.meta("n1", ""),
            "status": {"allocatable": {"memory": "100Gi"}, "nodeInfo": {"kubeletVersion": "v1.36.1"}},
        },
    )
    sections = {s.title: s for s in VIEWS["pods"].detail(b.cluster_of(node, of), KEY, NOW)}
    return ["".join(cell.text for cell in line).rstrip() for line in sections[title].lines] if title in sections else []


def item(of: Pod) -> b.Document:
    found = VIEWS["pods"].item(b.cluster_of(of), KEY)
    assert found is not None
    return found


def row(of: Pod) -> Row:
    found = VIEWS["pods"].row(b.cluster_of(of), KEY)
    assert found is not None
    return found


def test_a_line_for_each_container_with_what_it_asks_for_below_each_other() -> None:
    gpus = {"example.com/gpu": "8"}
    main = box(requests={"cpu": "4", "memory": "8Gi", **gpus}, limits={"cpu": "16", "memory": "8Gi", **gpus})
    side = {**box("logs", requests={"memory": "64Mi"}), "restartPolicy": "Always"}
    assert section(pod(main, initContainers=[side])) == [
        "logs (sidecar)            memory 64Mi/-",
        "main            cpu 4/16  memory 8Gi     example.com/gpu 8",
    ]
    assert section(pod(box())) == []


def test_what_was_set_aside_and_what_is_applied_where_they_differ() -> None:
    assert section(resizing(said("PodResizeInProgress", "")))[:3] == [
        "main  asked      cpu 4/8",
        "      allocated  cpu 2",
        "      applied    cpu 1/8",
    ]


@pytest.mark.parametrize(
    ("conditions", "state", "words"),
    [
        ((said("PodResizePending", "Deferred", "no room"),), "Deferred", "deferred until there is room"),
        ((said("PodResizePending", "Infeasible", TOO_MUCH),), "Infeasible", "infeasible, is not tried again"),
        ((said("PodResizePending", "Novel", "why not"),), "Pending", "pending"),
        ((said("PodResizeInProgress", "", ""),), "InProgress", "in progress: set aside, not all applied"),
        ((said("PodResizeInProgress", "Error", "runtime"),), "Error", "failing: set aside, not applied"),
    ],
    ids=["deferred", "infeasible", "unknown reason", "in progress", "error"],
)
def test_a_resize_that_is_not_done(conditions: tuple[b.Document, ...], state: str, words: str) -> None:
    of = resizing(*conditions, allocated="4" if state in ("InProgress", "Error") else "2")
    message = conditions[0].get("message")
    assert item(of)["resize"] == {
        "state": state,
        "reason": conditions[0].get("reason"),
        "message": message,
        "since": SINCE,
        "generation": 2,
        "other": None,
    }
    (line,) = [line for line in section(of) if line.startswith("resize")]
    assert line.startswith(f"resize  {words}  5m ago")
    assert line.endswith(message or "ago")


def test_a_newer_resize_waits_while_an_older_one_fails() -> None:
    of = resizing(said("PodResizePending", "Deferred", "no room"), said("PodResizeInProgress", "Error", "bad", 1))
    found = item(of)["resize"]
    assert (found["state"], found["other"]["state"], found["other"]["generation"]) == ("Error", "Deferred", 1 + 1)
    assert "  said of generation 1 of the pod, which is at 2" in section(of)


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        (said("PodResizePending", "Deferred"), "ResizeLater"),
        (said("PodResizePending", "Infeasible"), "Unresizable"),
        (said("PodResizeInProgress", "Error"), "ResizeError"),
        (said("PodResizeInProgress", ""), "Running"),
        (said("PodResizePending", "Deferred") | {"status": "False"}, "Running"),
    ],
)
def test_only_a_resize_that_is_stuck_is_a_problem(condition: b.Document, word: str) -> None:
    found = row(resizing(condition, allocated="4"))
    assert found.cells[2].text == word
    assert len(word) <= VIEWS["pods"].columns[2].width
    assert found.problem is (word != "Running")


def test_what_the_kubelet_has_not_answered() -> None:
    of = resizing(seen=1)
    assert item(of)["resize"]["state"] == "Requested"
    assert "  the kubelet has seen generation 1 of the pod, which is at 2" in section(of)
    assert not row(of).problem
    assert not any("generation" in line for line in section(resizing(seen=2)))


def test_finished_pods_and_equal_amounts_are_no_resize() -> None:
    done = pod(
        box(requests={"cpu": "4"}),
        conditions=(said("PodResizePending", "Deferred"),),
        status={"phase": "Succeeded", "containerStatuses": [report(allocated={"cpu": "2"})]},
    )
    assert item(done)["resize"] is None
    other_unit = pod(
        box(requests={"memory": "4G"}, limits={"memory": "4G"}),
        status={
            "containerStatuses": [
                report(allocated={"memory": "4G"}, requests={"memory": "4G"}, limits={"memory": "3906250Ki"})
            ]
        },
    )
    assert item(other_unit)["resize"] is None
    assert item(other_unit)["containers"][0]["resources"]["applied"] is None


def test_resources_as_json() -> None:
    assert item(resizing(said("PodResizePending", "Deferred")))["containers"][0]["resources"] == {
        "desired": {"requests": {"cpu": "4"}, "limits": {"cpu": "8"}},
        "allocated": {"requests": {"cpu": "2"}},
        "applied": {"requests": {"cpu": "1"}, "limits": {"cpu": "8"}},
        "restartsFor": [],
    }


def test_resources_of_the_pod_as_a_whole() -> None:
    asked = {"requests": {"cpu": "4", "memory": "8Gi"}, "limits": {"memory": "8Gi"}}
    status = {
        "allocatedResources": {"cpu": "3", "memory": "8Gi", "example.com/gpu": "1"},
        "resources": {"requests": {"cpu": "3", "memory": "8Gi"}, "limits": {"memory": "8Gi"}},
    }
    of = pod(box(), resources=asked, status=status)
    assert section(of)[:3] == [
        "(pod)  asked      cpu 4/-  memory 8Gi",
        "       allocated  cpu 3    memory 8Gi  example.com/gpu 1",
        "       applied    cpu 3/-  memory 8Gi",
    ]
    assert item(of)["resize"]["state"] == "Requested"
    assert item(of)["resources"]["desired"] == asked
    assert item(of)["resources"]["allocated"] == {"requests": status["allocatedResources"]}


def test_overhead_of_the_sandbox_is_set_aside_as_well() -> None:
    asked = {"requests": {"cpu": "4"}}
    status = {"allocatedResources": {"cpu": "4250m"}, "resources": {"requests": {"cpu": "4250m"}}}
    of = pod(box(), resources=asked, overhead={"cpu": "250m"}, status=status, runtimeClassName="kata")
    assert (item(of)["resize"], item(of)["resources"]["allocated"], section(of)) == (None, None, ["(pod)  cpu 4/-"])


def test_which_resources_restart_a_container() -> None:
    policies = [
        {"resourceName": "cpu", "restartPolicy": "NotRequired"},
        {"resourceName": "memory", "restartPolicy": "RestartContainer"},
    ]
    of = pod({**box(requests={"cpu": "1"}), "resizePolicy": policies})
    assert section(of)[-1] == "main restarts when its memory is resized"
    assert item(of)["containers"][0]["resources"]["restartsFor"] == ["memory"]


def test_memory_qos_is_said_to_be_an_assumption() -> None:
    of = pod(box(requests={"memory": "1Gi"}, limits={"memory": "2Gi"}), box("free"))
    *amounts, assumed = section(of, MEMORY)
    assert amounts == [
        "main   memory.low 1Gi  memory.high 1.9Gi",
        "free   memory.high 90Gi or more, from what the node has",
        "(pod)  memory.low 1Gi",
    ]
    assert "as a kubelet of 1.37 would do it, this node's is v1.36.1" in assumed
    assert "The API does not show it" in assumed
    told = item(of)
    assert told["qosClass"] == "Burstable"
    assert told["memoryQoS"]["shownByAPI"] is False
    assert told["memoryQoS"]["assuming"]["memoryThrottlingFactor"] == 0.9
    assert told["memoryQoS"]["containers"][0]["memoryLow"] == 1024**3
    assert told["memoryQoS"]["containers"][1]["memoryHighAtLeast"] is None, "no node was read"


def test_hostile_status() -> None:
    """Reports of containers that the pod does not have, nulls, and amounts that are none."""
    of = b.pod(
        "p",
        node="n1",
        spec={"containers": [{"name": "main", "resources": None}], "resources": {"requests": {"cpu": "x"}}},
        status={
            "containerStatuses": [
                {"name": "ghost", "allocatedResources": {"cpu": "2"}, "resources": None},
                {"name": "main", "allocatedResources": None, "resources": {"requests": None, "limits": None}},
            ],
            "allocatedResources": {"cpu": "\x1b[31m"},
        },
        conditions=[{"type": "PodResizePending", "status": "True", "reason": None, "message": None}],
    )
    assert item(of)["resize"]["state"] == "Pending"
    assert section(of)
    assert item(of)["containers"][0]["resources"]["applied"] is None

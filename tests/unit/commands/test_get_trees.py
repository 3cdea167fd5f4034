"""`ktui get workloads`: trees drawn, and their Workloads as JSON and names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ktui.cli import main
from ktui.recording.output import Output
from ktui.recording.writer import Facts, Writer
from tests.ui.treeworld import frames
from tests.ui.world import NOW

Get = Callable[..., str]


@pytest.fixture
def get(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Get:
    """`ktui get workloads` of a recording: what it prints."""
    path = tmp_path / "trees.ktui"
    writer = Writer(Output(path), lambda: Facts("trees", "prod", "v1.37.2"), started=NOW)
    for frame in frames():
        writer.take(NOW, frame)
    writer.close()

    def run(*arguments: str) -> str:
        assert main(["get", "workloads", *arguments, "-A", "--recording", str(path)]) == 0
        return capsys.readouterr().out

    return run


def column(out: str) -> list[str]:
    """The second column, as drawn."""
    header, *lines = out.splitlines()
    start, end = header.index("WORKLOAD"), header.index("STATE")
    return [line[start:end].rstrip() for line in lines]


def test_trees_are_drawn(get: Get) -> None:
    """Issue 6, item 1: many pods in one line, few one by one."""
    assert column(get("pretrain")) == [
        "JobSet/pretrain",
        "└─Job/pretrain-main",
        "  └─Workload/pretrain-main-5d7f",
        "    └─Composite/pretrain",
        "      ├─Composite/pretrain-r1",
        "      │ ├─PodGroup/pretrain-r1-workers",
        "      │ │ └─9 pods: 7 Running, 2 Pending",
        "      │ └─PodGroup/pretrain-r1-driver",
        "      │   └─Pod/pretrain-r1-driver-0",
        "      └─Composite/pretrain-r0",
        "        ├─PodGroup/pretrain-r0-driver",
        "        │ └─Pod/pretrain-r0-driver-0",
        "        └─PodGroup/pretrain-r0-workers",
        "          └─9 pods: 9 Running",
    ]


def test_an_owner_that_could_not_be_read_says_so(get: Get) -> None:
    assert column(get("serve"))[:2] == ["LeaderWorkerSet/serve (no access)", "└─Workload/serve-0"]


@pytest.mark.parametrize("name", ["eval", "eval-77b1"])
def test_a_workload_goes_by_its_name_and_by_those_of_its_owners(get: Get, name: str) -> None:
    assert column(get(name))[:2] == ["Job/eval", "└─Workload/eval-77b1"]


def test_names_are_those_of_workloads(get: Get) -> None:
    assert get("-o", "name").split() == ["workload/eval-77b1", "workload/pretrain-main-5d7f", "workload/serve-0"]


def test_the_owners_of_each_workload_as_json(get: Get) -> None:
    items: dict[str, Any] = {item["name"]: item for item in json.loads(get("-o", "json"))["items"]}
    train, serve = items["pretrain-main-5d7f"], items["serve-0"]
    assert [(o["group"], o["kind"], o["name"], o["read"]) for o in train["owners"]] == [
        ("jobset.x-k8s.io", "JobSet", "pretrain", True),
        ("batch", "Job", "pretrain-main", True),
    ]
    (said,) = train["owners"][0]["conditions"]
    assert (said["type"], said["status"], said["reason"]) == ("StartupPolicyCompleted", "True", "AllJobsStarted")
    (owner,) = serve["owners"]
    assert (owner["kind"], owner["read"], owner["conditions"]) == ("LeaderWorkerSet", False, [])
    assert "is forbidden" in owner["notRead"]

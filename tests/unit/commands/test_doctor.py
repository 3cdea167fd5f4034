"""`ktui doctor` through the command line, on the embedded API server and on recordings."""

from __future__ import annotations

import asyncio
import io
import json
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from ktui.cli import main
from ktui.commands import examining
from ktui.demo.access import Attributes, User
from ktui.demo.apiserver import SERVES_1_36, SERVES_1_37, ApiServer
from tests.faults import Answer, Delay, Faults, status_body
from tests.recordings import PATHS
from tests.unit.kube.harness import pod
from tests.unit.recording.files import HEADER, listed, write
from tests.unit.test_architecture import modules_after

from .test_get import Ktui, Ran, ktui

__all__ = ["ktui"]
TOKEN = "token-0815"
METRICS = 'kubernetes_feature_enabled{name="GenericWorkload",stage="BETA"} 1\n'

Doctor = Callable[..., Awaitable[Ran]]


def kubeconfig(directory: Path, server: str) -> Path:
    file = directory / "config"
    file.write_text(f"""
apiVersion: v1
kind: Config
current-context: prod
contexts: [{{name: prod, context: {{cluster: c, user: u, namespace: ml}}}}]
clusters: [{{name: c, cluster: {{server: "{server}"}}}}]
users: [{{name: u, user: {{token: {TOKEN}}}}}]
""")
    file.chmod(0o600)
    return file


@asynccontextmanager
async def cluster(ktui: Ktui, tmp_path: Path, faults: Faults | None = None, **server: Any) -> AsyncIterator[Any]:
    """(the server, a way to run `ktui doctor` on it)."""
    async with ApiServer(middlewares=[(faults or Faults()).middleware], **server) as at:
        file = kubeconfig(tmp_path, at.url)

        async def doctor(*arguments: str) -> Ran:
            return await asyncio.to_thread(ktui, "doctor", "--kubeconfig", str(file), *arguments)

        yield at, doctor


def findings(ran: Ran) -> dict[str, dict[str, Any]]:
    assert ran.err == ""
    document = json.loads(ran.out)
    assert document["version"] == 1
    return {finding["check"]: finding for finding in document["findings"]}


async def test_a_cluster_that_is_well(ktui: Ktui, tmp_path: Path) -> None:
    faults = Faults()
    faults.script("GET /metrics", Answer(200, METRICS, "text/plain"))
    async with cluster(ktui, tmp_path, faults) as (server, doctor):
        server.create("Pod", pod("a"))
        ran = await doctor("-o", "json")
    found = findings(ran)
    assert ran.code == 0
    assert {check for check, each in found.items() if each["status"] == "fail"} == set()
    assert found["server-version"]["text"] == "Kubernetes v1.37.2; ktui is made for 1.35 to 1.37"
    assert found["reading"]["status"] == "ok"
    assert found["actions"]["text"] == "may: taint, untaint, list budgets, min-replicas"
    assert found["feature-gates"]["objects"] == ["GenericWorkload=true"]
    assert found["clock"]["status"] == "ok"
    assert found["files"]["status"] == "ok"


async def test_requests_are_counted_and_none_of_them_writes(ktui: Ktui, tmp_path: Path) -> None:
    faults = Faults()
    async with cluster(ktui, tmp_path, faults) as (_, doctor):
        ran = await doctor("--readonly", "-o", "json")
    sent = len(faults.journal)
    assert findings(ran)["requests"]["text"].startswith(f"this look took {sent} requests and ")
    assert {a.path.rsplit("/", 1)[1] for a in faults.journal if a.method != "GET"} == {
        "selfsubjectreviews",
        "selfsubjectaccessreviews",
    }


async def test_plain_text_for_a_pipe_and_the_exit_codes(ktui: Ktui, tmp_path: Path) -> None:
    async with cluster(ktui, tmp_path) as (_, doctor):
        ran, strict = await doctor(), await doctor("--strict")
    assert (ran.code, strict.code) == (0, 1)
    assert ran.out.isascii()
    assert "WARN  tls: 127.0.0.1:" in ran.out
    assert ran.lines[-1].endswith("skipped")
    assert TOKEN not in ran.out + ran.err


async def test_an_incomplete_pool_fails(ktui: Ktui, tmp_path: Path) -> None:
    spec = {"driver": "gpu.example.com", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 2}, "devices": []}
    async with cluster(ktui, tmp_path) as (server, doctor):
        server.create("ResourceSlice", {"metadata": {"name": "s"}, "spec": spec})
        ran = await doctor()
    assert ran.code == 1
    assert "FAIL  pools: gpu.example.com/n is incomplete" in ran.out


async def test_a_1_36_cluster_says_what_blocks_the_upgrade(ktui: Ktui, tmp_path: Path) -> None:
    async with cluster(ktui, tmp_path, serves=SERVES_1_36, git_version="v1.36.3") as (server, doctor):
        spec = {"schedulingPolicy": {"gang": {"minCount": 2}}}
        server.create("PodGroup", {"metadata": {"name": "old", "namespace": "ml"}, "spec": spec})
        found = findings(await doctor("-o", "json"))
    assert (found["upgrade"]["status"], found["upgrade"]["objects"]) == ("warn", ["podgroups/ml/old"])
    assert "off by default before 1.37" in found["scale-to-zero"]["text"]


async def test_a_cluster_without_any_of_it_is_no_failure(ktui: Ktui, tmp_path: Path) -> None:
    plain = {name: versions if name in ("Pod", "Node", "Event") else () for name, versions in SERVES_1_37.items()}
    async with cluster(ktui, tmp_path, serves=plain) as (_, doctor):
        ran = await doctor("-o", "json")
    found = findings(ran)
    assert ran.code == 0
    assert "--feature-gates=GenericWorkload=true" in found["gang-scheduling"]["text"]
    assert found["pools"]["status"] == "skipped"


def tenant(asked: Attributes) -> bool:
    """Reads pods and autoscalers of one namespace."""
    return bool(asked.path not in ("", "/metrics")) or (
        asked.namespace == "ml"
        and asked.resource in ("pods", "horizontalpodautoscalers")
        and asked.verb in ("get", "list", "watch")
    )


async def test_a_tenant_is_told_what_is_skipped_and_why(ktui: Ktui, tmp_path: Path) -> None:
    async with cluster(ktui, tmp_path, authorizer=tenant) as (_, doctor):
        ran = await doctor("-o", "json")
    found = findings(ran)
    assert ran.code == 0
    assert found["credentials"]["text"].startswith("the server takes us for nobody: context prod, 127.0.0.1:")
    assert found["reading"]["status"] == "warn"
    assert "only in namespace ml: horizontalpodautoscalers, pods" in found["reading"]["text"]
    assert "list nodes" in found["reading"]["objects"]
    for check in ("pools", "kubelets", "feature-gates", "control-plane", "broad-taint-rules"):
        assert (found[check]["status"], "may not be read" in found[check]["text"]) == ("skipped", True), found[check]
    assert found["pending-gangs"]["text"] == "no gangs in namespace ml"


async def test_who_is_not_let_in_sees_one_failure(ktui: Ktui, tmp_path: Path) -> None:
    async with cluster(ktui, tmp_path, tokens={"other": User("other")}) as (_, doctor):
        ran = await doctor("-o", "json")
    assert ran.code == 1
    assert [check for check, each in findings(ran).items() if each["status"] == "fail"] == ["server"]
    assert TOKEN not in ran.out


async def test_nobody_there_is_one_failure(ktui: Ktui, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    file = kubeconfig(tmp_path, f"http://127.0.0.1:{port}")
    ran = await asyncio.to_thread(ktui, "doctor", "--kubeconfig", str(file))
    assert ran.code == 1
    assert [line for line in ran.lines if line.startswith("FAIL")] == [
        f"FAIL  server: 127.0.0.1:{port} cannot be reached: connect call failed ('127.0.0.1', {port})"
    ]


async def test_a_question_without_an_answer_is_given_up_alone(
    ktui: Ktui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examining, "_LIST_LIMIT", 1.0)
    faults = Faults()
    faults.script("GET /metrics", Delay(60.0))
    faults.script("list /api/v1/nodes", Delay(60.0))
    async with cluster(ktui, tmp_path, faults) as (_, doctor):
        found = findings(await doctor("-o", "json"))
    assert found["feature-gates"]["status"] == "skipped"
    assert found["kubelets"]["text"] == "nodes: no complete list within 1 s"
    assert found["pools"]["status"] == "ok"


async def test_hostile_text_is_harmless(ktui: Ktui, tmp_path: Path) -> None:
    evil = "\x1b]0;owned\x07\nFAIL  fake: line"
    faults = Faults()
    faults.script("GET /metrics", Answer(403, status_body(403, "Forbidden", evil)), repeat=True)
    faults.script("list /api/v1/nodes", Answer(500, status_body(500, "InternalError", evil)), repeat=True)
    async with cluster(ktui, tmp_path, faults, git_version=f"v1.37.2-{evil}") as (server, doctor):
        rule = {"deviceSelector": {}, "taint": {"key": evil, "effect": "NoSchedule"}}
        server.create("DeviceTaintRule", {"metadata": {"name": "r"}, "spec": rule})
        ran = await doctor()
    assert "\x1b" not in ran.out
    assert not [line for line in ran.lines if line.startswith("FAIL  fake")]


async def test_read_only_by_the_settings_is_said(ktui: Ktui, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KTUI_READONLY", "1")
    async with cluster(ktui, tmp_path) as (_, doctor):
        found = findings(await doctor("-o", "json"))
    assert found["actions"]["text"].endswith("read-only mode: nothing is written")


class Terminal(io.StringIO):
    """Of people whose terminal knows ASCII only."""

    encoding = "ascii"

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", [80, 50])
def test_a_terminal_gets_lines_that_fit(monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    assert main(["doctor", "--recording", str(PATHS["causes"])]) == 1
    lines = terminal.getvalue().splitlines()
    assert max(len(line) for line in lines) <= columns
    assert all(line.isascii() for line in lines)
    assert all(line[:6].strip() in ("ok", "skip", "WARN", "FAIL", "") for line in lines[:-1])


def test_a_recording_needs_no_network_and_no_screen() -> None:
    heavy = {"textual", "rich", "aiohttp", "pydantic", "yaml", "kubernetes_asyncio"}
    assert not modules_after("doctor", "--recording", str(PATHS["v1.36"])) & heavy


def test_a_recording(ktui: Ktui) -> None:
    ran = ktui("doctor", "--recording", str(PATHS["causes"]))
    assert (ran.code, ran.err) == (1, "")
    assert ran.lines[0].startswith("skip  credentials, files, tls, clock, reading, actions")
    assert "FAIL  pools: gpu.example.com/gpu-node-9 is incomplete (1 of 2 slices" in ran.out


def test_a_recording_of_nothing_much(ktui: Ktui, tmp_path: Path) -> None:
    ran = ktui("doctor", "--recording", str(write(tmp_path, [listed(0)], header=HEADER)), "-o", "json")
    found = findings(ran)
    assert (ran.code, found["server-version"]["status"]) == (0, "skipped")
    assert found["kubelets"]["text"] == "nodes: not in this recording"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--at", "3"], "--at goes with --recording"),
        (["--kubeconfig", "/nowhere/config"], "/nowhere/config"),
        (["--recording", __file__], "is not a ktui recording"),
    ],
)
def test_what_makes_no_sense_is_one_line_and_2(ktui: Ktui, arguments: list[str], error: str) -> None:
    ran = ktui("doctor", *arguments)
    assert (ran.code, ran.out, len(ran.err.splitlines()), error in ran.err) == (2, "", 1, True), ran

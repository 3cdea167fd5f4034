"""`ktui why` on recordings, through the command line as a person uses it."""

from __future__ import annotations

import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from ktui.cli import main
from tests.recordings import PATHS
from tests.scenarios import files
from tests.unit.diagnose.test_gang import TRUTH
from tests.unit.recording.files import listed, pod, write

from .test_get import Ktui, Ran, ktui

__all__ = ["ktui"]
JSON = (Path(__file__).parents[3] / "docs/json.md").read_text(encoding="utf-8")


def why(ktui: Ktui, *arguments: str, recording: str | Path = "pending") -> Ran:
    path = PATHS.get(str(recording), recording)
    return ktui("why", *arguments, "--recording", str(path))


def answer(ktui: Ktui, *arguments: str, recording: str | Path = "pending") -> dict[str, Any]:
    ran = why(ktui, *arguments, "-o", "json", recording=recording)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", TRUTH)
def test_causes_and_facts(ktui: Ktui, name: str) -> None:
    found = answer(ktui, f"research/{name}", recording="causes")
    cause, facts = TRUTH[name]
    assert (found["cause"], {key: found["facts"].get(key) for key in facts}) == (cause, facts)


def test_the_shape_of_the_json(ktui: Ktui) -> None:
    found = answer(ktui, "numa")
    keys = "version kind namespace name state cause message facts evidence funnel unblock waitingBeyond whatIf"
    assert list(found) == keys.split()
    assert (found["version"], found["kind"], found["namespace"], found["name"]) == (1, "gang", "research", "numa")
    assert list(found["evidence"][0]) == ["kind", "namespace", "name", "text", "since"]
    assert found["funnel"] == {
        "published": 20,
        "inClass": 20,
        "matching": 20,
        "poolComplete": 18,
        "untainted": 16,
        "free": 12,
        "satisfying": 0,
        "needed": 6,
    }


def test_every_key_of_the_json_is_explained(ktui: Ktui) -> None:
    found = answer(ktui, "numa")
    part = JSON[JSON.index("# JSON of `ktui why") :]
    for key in (*found, *found["evidence"][0], *found["funnel"], "change", "placeable", "gangs"):
        assert re.search(rf"`[^`]*\b{key}\b[^`]*`", part), key


def test_there_is_no_funnel_where_devices_are_not_what_is_missing(ktui: Ktui) -> None:
    assert answer(ktui, "short")["funnel"] is None


# --- whom a name means ---


@pytest.mark.parametrize(
    "arguments",
    [["research/numa"], ["numa"], ["numa", "-n", "research"], ["numa-1"], ["research/numa-1"], ["numa", "-A"]],
)
def test_a_gang_by_its_names_and_by_its_pods(ktui: Ktui, arguments: list[str]) -> None:
    assert answer(ktui, *arguments)["name"] == "numa"


@pytest.mark.parametrize("name", ["waiting", "older/waiting", "waiting/workers", "older/waiting/workers"])
def test_1_35_a_gang_by_its_workloads_name(ktui: Ktui, name: str) -> None:
    assert answer(ktui, name, recording="v1.35")["name"] == "waiting/workers"


def test_a_gang_by_its_jobs_name(ktui: Ktui) -> None:
    found = answer(ktui, "llm-train", "--at", "40", recording="xid79")
    assert (found["name"].startswith("llm-train-"), found["state"]) == (True, "Degraded")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nope"], "no gang or pod 'nope'"),
        (["numa", "-n", "other"], "no gang or pod 'numa' in namespace other"),
        (["other/numa"], "no gang or pod 'other/numa'"),
    ],
)
def test_a_name_that_is_not_there(ktui: Ktui, arguments: list[str], error: str) -> None:
    assert why(ktui, *arguments) == Ran(1, "", f"ktui: {error}\n")


def test_a_name_that_may_be_several(ktui: Ktui, tmp_path: Path) -> None:
    pods = [pod("a"), pod("a")]
    pods[1]["metadata"] |= {"namespace": "ml2", "uid": "other"}
    path = write(tmp_path, [listed(0, *pods)])
    assert why(ktui, "a", recording=path) == Ran(1, "", "ktui: 'a' may be 2 of them: ml/a, ml2/a\n")
    assert answer(ktui, "ml2/a", recording=path)["namespace"] == "ml2"
    assert answer(ktui, "a", "-n", "ml", recording=path)["namespace"] == "ml"


# --- pods outside gangs ---


@pytest.mark.parametrize(
    ("scenario", "name"),
    [(name, pod) for name in ("single-pods", "devices-all-held-by-pods") for pod in files.truth_of(name)["pods"]],
)
def test_a_pod_outside_gangs(ktui: Ktui, scenario: str, name: str) -> None:
    found = answer(ktui, name, recording=files.recording_of(scenario))
    truth = files.truth_of(scenario)["pods"][name]
    assert (found["kind"], found["state"], found["cause"]) == ("pod", truth["state"], truth["cause"])
    assert found["facts"] | truth["facts"] == found["facts"]


# --- as text ---


def test_the_text_of_a_gang_that_waits_for_devices(ktui: Ktui) -> None:
    ran = why(ktui, "stale-pool")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines[:2] == ["gang research/stale-pool", "pool node-9 is incomplete: 1 of 2 slices, generation 1"]
    step = next(line for line in ran.lines if line.startswith("pool complete"))
    assert re.sub(" +", " ", step) == "pool complete 0 ◀ stops here − 2 node-9: 1 of 2 slices, generation 1"
    assert sum("stops here" in line for line in ran.lines) == 1
    assert "█" not in ran.out
    assert any(line.startswith("scheduler says  0/6 nodes are available") for line in ran.lines)


def test_the_losses_are_named(ktui: Ktui) -> None:
    out = why(ktui, "numa").out
    assert "− 4  research/healthy" in out
    assert "− 2  node-8/gpu-0, node-8/gpu-1 example.com/maintenance=ticket-1:NoSchedule (rule maintenance)" in out


class Terminal(io.StringIO):
    """What people sit in front of."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # an attribute of the base class
        return self._encoding

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("encoding", "bar", "stop"), [("utf-8", "█", "◀"), ("ascii", "#", "<")])
def test_bars_are_for_terminals(monkeypatch: pytest.MonkeyPatch, encoding: str, bar: str, stop: str) -> None:
    terminal = Terminal(encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["why", "numa", "--recording", str(PATHS["pending"])]) == 0
    lines = terminal.getvalue().splitlines()
    assert any(line.split()[:2] == ["published", bar * 20] for line in lines)
    assert any(f"{stop} stops here" in line for line in lines)
    assert max(map(len, lines)) <= 80
    assert encoding == "utf-8" or terminal.getvalue().isascii()
    assert "\x1b" not in terminal.getvalue()


def test_hostile_text_is_made_safe(ktui: Ktui, tmp_path: Path) -> None:
    path = write(tmp_path, [listed(0, pod("a", spec={"schedulingGates": [{"name": "\x1b[31mred\u202e"}]}))])
    out = why(ktui, "a", recording=path).out
    assert "held by gate" in out
    assert not set("\x1b\u202e") & set(out)


# --- what goes wrong ---


@pytest.mark.parametrize(
    "arguments", [["why"], ["why", "a", "b"], ["why", "a", "-o", "yaml"], ["why", "a", "--at", "4"]], ids=" ".join
)
def test_usage_errors_are_one_line_and_exit_with_2(ktui: Ktui, arguments: list[str]) -> None:
    ran = ktui(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_nothing_is_said_not_to_be_there_that_was_not_read(ktui: Ktui, tmp_path: Path) -> None:
    ran = why(ktui, "a", recording=write(tmp_path, []))
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "ktui: pods cannot be read: nothing was read\n"


# --- what would be if ---

TAINTED = [f"untaint=gpu.example.com/node-8/{device}" for device in ("gpu-0", "gpu-1")]


@pytest.mark.parametrize(
    ("name", "changes", "placeable", "others"),
    [
        ("tainted", TAINTED[:1], False, []),
        ("tainted", TAINTED, True, []),
        ("too-big", ["without=healthy"], True, []),
        ("too-big", ["without=research/healthy"], True, []),
        ("tainted", ["nodes=1xnode-0"], False, ["too-big"]),
        ("short", ["nodes=1xnode-0"], None, ["too-big"]),
        ("wrong-zone", ["nodes=3xnode-0"], False, ["too-big"]),
    ],
    ids=str,
)
def test_what_would_be_if(ktui: Ktui, name: str, changes: list[str], placeable: bool | None, others: list[str]) -> None:
    found = answer(ktui, name, *(part for change in changes for part in ("--if", change)))["whatIf"]
    assert found["placeable"] is placeable
    assert [gang["name"] for gang in found["gangs"]] == others


def test_what_would_be_if_as_text(ktui: Ktui) -> None:
    ran = why(ktui, "tainted", *(part for change in TAINTED for part in ("--if", change)))
    assert [re.sub(" +", " ", line) for line in ran.lines[-3:-1]] == [
        "if gpu.example.com/node-8/gpu-0 were untainted and gpu.example.com/node-8/gpu-1 were untainted",
        "then research/tainted could be placed",
    ]
    assert "waits for something else: 3 of 4 pods exist" in why(ktui, "short", "--if", TAINTED[0]).out


@pytest.mark.parametrize(
    ("change", "code", "error"),
    [
        ("", 2, "--if takes untaint="),
        ("untaint", 2, "--if takes untaint="),
        ("frob=x", 2, "--if takes untaint="),
        ("untaint=a/b", 2, "does not name a device"),
        ("untaint=gpu.example.com/node-8/gpu-9", 1, "no device 'gpu.example.com/node-8/gpu-9' is published"),
        ("untaint=gpu.example.com/node-0/gpu-0", 1, "has no taint"),
        ("without=nope", 1, "no gang or pod 'nope'"),
        ("nodes=node-0", 2, "is not COUNTxNODE"),
        ("nodes=0xnode-0", 2, "is not COUNTxNODE"),
        ("nodes=99999999999999999999xnode-0", 2, "is not COUNTxNODE"),
        ("nodes=2x", 2, "is not COUNTxNODE"),
        ("nodes=2xnope", 1, "no node 'nope'"),
    ],
)
def test_a_change_that_cannot_be_imagined_is_one_line(ktui: Ktui, change: str, code: int, error: str) -> None:
    ran = why(ktui, "numa", f"--if={change}")
    assert (ran.code, ran.out, ran.err.count("\n")) == (code, "", 1)
    assert error in ran.err

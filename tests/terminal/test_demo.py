"""The demo, as a person goes through it: from a gang that waits to one that runs, with the keys that the screen names."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.terminal.screen import Screen

DEVICE = "gpu.example.com/gpu-node-04/gpu-3"


def _filter(screen: Screen, text: str) -> None:
    screen.press("/")
    screen.see("part of any column")
    screen.press(text, "enter")
    screen.see(rf"· filter {text}")


def _confirm(screen: Screen, words: str) -> None:
    """Type what the dialog wants to be typed, and press its button."""
    screen.press(words, "enter")
    screen.see("enter again")
    screen.press("enter")


def _unfilter(screen: Screen) -> None:
    screen.press("esc")
    screen.gone("· filter")


@pytest.mark.parametrize(
    ("release", "part", "version"),
    [("1.37", "", "v1"), ("1.36", "", "v1beta2"), ("1.35", "/workers", "v1alpha3")],
    ids=["1.37", "1.36", "1.35"],
)
def test_the_guided_incident_from_pending_to_recovered(release: str, part: str, version: str, tmp_path: Path) -> None:
    """On every release, with the taint rule in the version that it has."""
    with Screen("demo", "--kubernetes", release, home=tmp_path, size=(120, 40)) as screen:
        screen.see(rf"training +llama-70b{part} +Pending +0 of 4")
        assert "DEMO" in screen.text.splitlines()[0]
        assert f"v{release}." in screen.text.splitlines()[0]
        screen.see(r"1/7 llama-70b is pending. j/k to it, enter: why")
        _filter(screen, "llama-70b")
        screen.press("enter")
        screen.see(r"0/10 nodes are available: 10 cannot allocate all")
        screen.see(r"2/7 Its 4th node has a sick GPU .* 3: devices")
        screen.press("esc")
        screen.gone("Evidence")
        _unfilter(screen)
        screen.press("3")
        screen.see(r"3/7 / gpu-node-04 enter; j/k to gpu-3; T")
        _filter(screen, "gpu-node-04 gpu-3")
        screen.see(r"gpu-node-04 +gpu-3 +unhealthy")
        screen.press("T")
        screen.see(f"Taint {DEVICE}")
        screen.press("example.com/xid", "tab", "79", "tab", "down", "tab", "Xid 79", "enter")
        screen.see(r"server dry run +accepted")
        screen.see(r"research/embed-sweep-1-")
        _confirm(screen, f"embed-sweep{part}")
        screen.see(r"5/7 gpu-3 is unused and has been reset")
        screen.see(r"gpu-node-04 +gpu-3 +tainted")
        screen.press("U")
        screen.see(f"Untaint {DEVICE}")
        screen.see(r"server dry run +accepted")
        screen.press("y")
        screen.see(r"7/7 llama-70b has its GPUs. esc drops the filter, 2: gangs")
        _unfilter(screen)
        screen.press("2")
        screen.see(r"Recovered: llama-70b runs")
        screen.see(rf"llama-70b{part} +Running +4 of 4")
        screen.press("q")
        assert screen.ended() == 0
    kept = tmp_path / "state" / "ktui"
    taints, untaints = map(json.loads, (kept / "demo-audit.log").read_text().splitlines())
    assert {taints["path"], untaints["path"].rpartition("/")[0]} == {
        f"/apis/resource.k8s.io/{version}/devicetaintrules"
    }
    assert not (kept / "audit.log").exists(), "what was practised was not done"


def test_a_gang_waits_for_a_device_with_a_forgotten_taint(tmp_path: Path) -> None:
    with Screen("demo", "--incident", "forgotten", home=tmp_path, size=(120, 40)) as screen:
        screen.see(r"training +llama-70b +Pending +0 of 4")
        screen.see(r"1/5 llama-70b is pending. j/k to it, enter: why")
        _filter(screen, "llama-70b")
        screen.press("enter")
        screen.see(r"0/10 nodes are available: 10 cannot allocate all")
        screen.see(r"2/5 A taint keeps the last GPU from it. .* esc, 3: devices")
        screen.press("esc")
        screen.gone("Evidence")
        _unfilter(screen)
        screen.press("3")
        screen.see(r"3/5 / gpu-node-04 enter; j/k to gpu-3")
        _filter(screen, "gpu-node-04 gpu-3")
        screen.see(r"gpu-node-04 +gpu-3 +tainted")
        screen.press("U")
        screen.see(f"Untaint {DEVICE}")
        screen.see(r"server dry run +accepted")
        screen.see("type +fan-service +to confirm")
        _confirm(screen, "fan-service")
        screen.see(r"5/5 llama-70b has its GPUs. esc drops the filter, 2: gangs")
        _unfilter(screen)
        screen.press("2")
        screen.see(r"Recovered: llama-70b runs")
        screen.see(r"llama-70b +Running +4 of 4")
        screen.press("q")
        assert screen.ended() == 0


def test_a_service_that_sleeps_is_woken(tmp_path: Path) -> None:
    with Screen("demo", "--incident", "asleep", home=tmp_path) as screen:
        screen.see(r"1/3 rerank answers nobody")
        screen.press("6")
        screen.see(r"serving +rerank .* asleep")
        _filter(screen, "rerank")
        screen.press("M")
        screen.see("minReplicas of serving/rerank, now 0")
        screen.press("2", "enter")
        screen.see(r"server dry run +accepted")
        screen.press("y")
        screen.see(r"Recovered: rerank answers")
        screen.press("q")
        assert screen.ended() == 0


def test_what_pods_and_gpus_use_is_on_the_screen(tmp_path: Path) -> None:
    with Screen("demo", home=tmp_path) as screen:
        screen.see(r"training +llama-70b +Pending")
        screen.press("8")
        screen.see(r"AGE +CPU +MEM +DEVICES")
        screen.see(r"reward-model-0-\S+ +Running +gpu-node-09 +\S+ +\S+ +[0-9.]+ +[0-9.]+Gi +gpu-node-09/gpu-0")
        screen.press("3", "f")
        screen.see(r"gpu-node-04 +gpu-3 +unhealthy .* 0% .* 79 +research/embed")
        screen.press("m")
        screen.see(r"gpu-node-05 +8 of 8 +\d+% +[0-9.]+Gi +\d+C ")
        screen.press("q")
        assert screen.ended() == 0


def test_a_demo_is_recorded_like_any_session(tmp_path: Path) -> None:
    file = tmp_path / "practice.ktui.gz"
    with Screen("demo", "--record", str(file), home=tmp_path) as screen:
        screen.see(r"training +llama-70b +Pending +0 of 4")
        screen.press("q")
        assert screen.ended() == 0
    command = [sys.executable, "-m", "ktui", "get", "gangs", "llama-70b", "-A", "--recording", str(file)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    assert re.search(r"training +llama-70b +Pending +0 of 4", answer.stdout)


def test_a_file_that_cannot_be_recorded_to_is_said_before_the_screens(tmp_path: Path) -> None:
    with Screen("demo", "--record", str(tmp_path / "nowhere" / "file.ktui.gz"), home=tmp_path) as screen:
        assert screen.ended() == 2
        assert "nowhere" in screen.text
        assert "demo" not in screen.text.lower().replace("test_demo", "")


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--incident", "fire"], "there are xid79, forgotten, asleep"),
        (["--size", "-1"], "--size -1 is not"),
        (["--kubernetes", "1.34"], "only 1.37, 1.36, 1.35"),
        (["--kubernetes", "1.36", "--incident", "asleep"], "minReplicas 0 is on by default from 1.37 on"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(flags: list[str], words: str) -> None:
    answer = subprocess.run([sys.executable, "-m", "ktui", "demo", *flags], capture_output=True, text=True, check=False)
    assert answer.returncode == 2
    assert words in answer.stderr
    assert answer.stderr.count("\n") == 1

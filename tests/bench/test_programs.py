"""How far a program is, told from its screen: not before it is, and not never."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.bench import programs
from tests.bench.gateway import Server
from tests.bench.programs import COLUMNS, ROWS, Cluster, Seen
from tests.bench.screen import Screen
from tests.bench.terminal import Terminal
from tests.bench.test_terminal import python

HEADER = " admin · v1.37.2 · admin · all namespaces      ● live 12 of 12  13:41"
TABS = " 1 Triage  2 Gangs"
FIRST = "  fleet   gang-00000-0   Running   fleet-00000   gang-00000   30s   fleet-00000/gpu-0"
K9S = [
    " Context: admin [RW]",
    "┌──── pods(all)[8,000] ────┐",
    "│ NAMESPACE↑  NAME │",
    "│ fleet  gang-00000-0  Running │",
]


def shows(seen: Seen, lines: list[str]) -> bool:
    """Whether a program whose screen has these lines is that far."""
    text = "\r\n".join(lines)
    with Terminal(
        python(f"print({text!r}, end='\\r\\nthe end', flush=True); input()"), {}, columns=COLUMNS, rows=ROWS
    ) as t:
        screen = Screen(t, columns=COLUMNS, rows=ROWS)
        screen.wait_for(lambda now: "the end" in now.text, "the screen")
        return seen(screen)


def ktui(state: str, *, header: str = HEADER, row: str = FIRST) -> list[str]:
    return [header, TABS, state, " NAMESPACE  POD", row]


@pytest.mark.parametrize(
    ("lines", "counted", "joined"),
    [
        (ktui(" live                 8,000 pods"), True, True),
        (ktui(" live                 800 pods"), False, False),
        (ktui(" live                18,000 pods"), False, False),
        (ktui(" live  preparing 7,000 rows   8,000 pods"), False, False),
        (ktui(" live                 8,000 pods", header=HEADER.replace("12 of", "11 of")), True, False),
        (ktui(" live                 8,000 pods", header=HEADER.replace("of 12", "of 125")), True, False),
        (ktui(" live                 8,000 pods", row=FIRST.replace("fleet-00000/gpu-0", "")), True, False),
        (ktui(" live                 8,000 pods", row=FIRST.replace("gang-00000-0", "gang-00000-1")), True, False),
    ],
)
def test_ktui_is_there_when_all_is_live_and_counted_and_has_its_devices(
    tmp_path: Path, lines: list[str], counted: bool, joined: bool
) -> None:
    program = programs.ktui(tmp_path / "ktui", tmp_path)
    assert program.joined is not None
    assert shows(program.pods(8_000), lines) is counted
    assert shows(program.joined(8_000), lines) is joined


def test_k9s_counts_its_pods_in_the_title(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "k9s"
    binary.write_bytes(b"\0path\tgithub.com/derailed/k9s\nmod\tgithub.com/derailed/k9s\tv0.50.16\th1:x=\n\0")
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    program = programs.k9s(tmp_path / "home")
    assert program is not None
    assert program.name == "k9s 0.50.16"
    assert shows(program.pods(8_000), K9S)
    assert not shows(program.pods(800), K9S)
    assert shows(programs.first_pods, K9S)
    assert not shows(programs.first_pods, K9S[:3])


def test_a_build_that_does_not_say_its_version_has_none(tmp_path: Path) -> None:
    binary = tmp_path / "k9s"
    binary.write_bytes(b"something else")
    assert programs.k9s_version(binary) == ""


def test_peers_that_are_not_on_the_path_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert programs.k9s(tmp_path) is None
    assert programs.kubectl(tmp_path) is None


def test_kubectl_is_named_with_its_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "kubectl"
    script.write_text("#!/bin/sh\necho 'Client Version: v1.37.2'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = programs.kubectl(tmp_path)
    assert found is not None
    assert found.name == "kubectl 1.37.2"
    assert found.follow[-1] == "--watch"


def test_the_floor_says_when_it_has_joined_all(tmp_path: Path) -> None:
    program = programs.floor(tmp_path)
    assert program.joined is not None
    assert shows(program.pods(8_000), ["8000 pods"])
    assert not shows(program.joined(8_000), ["8000 pods"])
    assert shows(program.joined(8_000), ["8000 pods, all joined"])
    cluster = Cluster(tmp_path / "kubeconfig", Server("https://h", "c", "k", "ca", "t"), 8)
    assert json.loads(program.surroundings(cluster)["KTUI_FLOOR"]) == {
        "url": "https://h",
        "token": "t",
        "authority": "ca",
    }


def test_the_first_gang_is_not_one_of_its_pods() -> None:
    assert shows(programs.first_gangs, [" fleet  gang-00000  Running"])
    assert not shows(programs.first_gangs, [" fleet  gang-00000-0  Running"])


def test_pods_are_named_as_the_fleet_names_them() -> None:
    assert [programs.pod_name(number) for number in (0, 7, 8, 7_999)] == [
        "gang-00000-0",
        "gang-00000-7",
        "gang-00001-0",
        "gang-00999-7",
    ]

"""The programs that are measured side by side: how each is started, and how one sees how far it is.

ktui shows pods with the devices of their containers, and everything behind that; the floor the same rows and nothing else;
k9s and kubectl show pods only.
"""

from __future__ import annotations

import json
import mmap
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.bench import fleet, subject
from tests.bench.gateway import Server
from tests.bench.screen import Screen

Seen = Callable[[Screen], bool]

COLUMNS: Final = 200
ROWS: Final = 50
_ALL_LIVE: Final = re.compile(r"\blive (\d+) of \1\b")
_K9S_MODULE: Final = re.compile(rb"mod\tgithub\.com/derailed/k9s\tv(\d+\.\d+\.\d+)")


@dataclass(frozen=True)
class Cluster:
    """Where programs find the fleet: the server, or the gateway before it. `pods` is how many there are."""

    kubeconfig: Path
    server: Server
    pods: int


@dataclass(frozen=True)
class Program:
    """A program with a full screen. `opening` is typed at its first frame and leads to the pods.

    `gangs` leads to the gangs instead, and `still` from the pods to a view without ages, where there are such views.
    """

    name: str
    command: Sequence[str]
    surroundings: Callable[[Cluster], Mapping[str, str]] = field(repr=False)
    pods: Callable[[int], Seen] = field(repr=False)
    joined: Callable[[int], Seen] | None = field(repr=False, default=None)
    opening: str = ""
    gangs: str = ""
    still: str = ""
    quit: str = "q"


@dataclass(frozen=True)
class Printer:
    """A program that prints a line for each pod; `follow` is the command that goes on with changes."""

    name: str
    command: Sequence[str]
    follow: Sequence[str]
    surroundings: Callable[[Cluster], Mapping[str, str]] = field(repr=False)


def ktui(command: Path, home: Path) -> Program:
    """Joined is: every source is live, every pod is counted, and the first of them has its device."""

    def joined(pods: int) -> Seen:
        counted = _ktui_pods(pods)

        def seen(screen: Screen) -> bool:
            rows = [line for line in screen.lines if pod_name(0) in line]
            return bool(counted(screen) and rows and "/gpu-0" in rows[0] and _ALL_LIVE.search(screen.lines[0]))

        return seen

    return Program(
        "ktui",
        [str(command)],
        lambda cluster: subject.surroundings(home, cluster.kubeconfig),
        _ktui_pods,
        joined,
        opening="8",
        gangs="2",
        still="3",
    )


def floor(home: Path) -> Program:
    def surroundings(cluster: Cluster) -> Mapping[str, str]:
        server = cluster.server
        access = {"url": server.url, "token": server.token, "authority": server.authority}
        common = subject.surroundings(home, cluster.kubeconfig)
        return {**common, "KTUI_FLOOR": json.dumps(access), "PYTHONPATH": str(subject.ROOT)}

    return Program(
        "floor",
        [sys.executable, "-m", "tests.bench.floor"],
        surroundings,
        lambda pods: lambda screen: f"{pods} pods" in screen.lines[0],
        lambda pods: lambda screen: f"{pods} pods, all joined" in screen.lines[0],
    )


def k9s(home: Path) -> Program | None:
    """None where it is not on PATH. Without its splash screen, and without asking for a newer release."""
    if (found := shutil.which("k9s")) is None:
        return None
    settings = home / "k9s"
    settings.mkdir(parents=True, exist_ok=True)
    (settings / "config.yaml").write_text("k9s:\n  skipLatestRevCheck: true\n")

    def surroundings(cluster: Cluster) -> Mapping[str, str]:
        own = {"K9S_CONFIG_DIR": str(settings), "XDG_STATE_HOME": str(home / "state")}
        return {**subject.surroundings(home, cluster.kubeconfig), **own}

    return Program(
        f"k9s {k9s_version(Path(found))}".strip(),
        [found, "--command", "pods", "-A", "--splashless"],
        surroundings,
        lambda pods: lambda screen: f"[{pods:,}]" in screen.text,
        quit="\x03",
    )


def kubectl(home: Path) -> Printer | None:
    """None where it is not on PATH."""
    if (found := shutil.which("kubectl")) is None:
        return None
    version = _first_match(r"v(\d+\.\d+\.\d+)", [found, "version", "--client"])
    return Printer(
        f"kubectl {version}".strip(),
        [found],
        [found, "get", "pods", "-A", "--watch"],
        lambda cluster: subject.surroundings(home, cluster.kubeconfig),
    )


def first_pods(screen: Screen) -> bool:
    """In all of them the first row is the same pod."""
    return pod_name(0) in screen.text


def first_gangs(screen: Screen) -> bool:
    return re.search(r"\bgang-00000\s", screen.text) is not None


def pod_name(number: int) -> str:
    """The name that `tests.bench.fleet` gives to one of its pods, from 0 on."""
    gang, member = divmod(number, fleet.DEVICES)
    return f"gang-{gang:05d}-{member}"


def k9s_version(binary: Path) -> str:
    """From what Go notes of the modules in a program: builds other than the project's own call themselves "dev"."""
    with binary.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as contents:
        found = _K9S_MODULE.search(contents)
        return found[1].decode() if found else ""


def _ktui_pods(pods: int) -> Seen:
    """The state line counts the rows. Those that are still to be made are told of beside it."""
    count = re.compile(rf"(?<![\d,]){pods:,} pods?\b")
    return lambda screen: bool(count.search(screen.lines[2])) and "preparing" not in screen.lines[2]


def _first_match(pattern: str, command: Sequence[str]) -> str:
    try:
        said = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(pattern, said)
    return found[1] if found else ""

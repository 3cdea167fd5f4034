"""`ktui replay` as a person runs it: it opens no socket (G11), and a hostile file writes nothing but glyphs (G10)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.recordings import PATHS
from tests.terminal.screen import Screen
from tests.unit.ui.payloads import PAYLOADS

CHECKOUT: Final = Path(__file__).parents[2]

NO_SOCKETS: Final = """
import os, sys

AF_UNIX = 1  # an event loop wakes itself through a pair of these, which are connected to nothing else

def refuse(event, arguments):
    made = event == "socket.__new__" and arguments[1] != AF_UNIX
    if made or event in ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo", "socket.gethostbyname"):
        with open(os.environ["SOCKETS_LOG"], "a") as log:
            log.write(event + "\\n")
        raise OSError("sockets are forbidden here")

sys.addaudithook(refuse)
"""
"""Python imports a module of the name sitecustomize before anything else; an audit hook cannot be taken away again."""


@pytest.fixture
def no_sockets(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which making a socket fails; what it tried stands in the file SOCKETS_LOG."""
    module = tmp_path / "hook" / "sitecustomize.py"
    module.parent.mkdir()
    module.write_text(NO_SOCKETS)
    return {"PYTHONPATH": f"{module.parent}{os.pathsep}{CHECKOUT}", "SOCKETS_LOG": str(tmp_path / "sockets.log")}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("nowhere.ktui.gz", "No such file or directory"),
        ("", "is not a regular file"),
        ("x.ktui", "its first line is no header"),
    ],
)
def test_what_is_no_recording_is_said_before_the_screens(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "x.ktui").write_text("hello\n")
    with Screen("replay", str(tmp_path / name), home=tmp_path, size=(200, 24)) as screen:
        assert screen.ended() == 2
        assert said in screen.text
        assert len(screen.text.strip().splitlines()) == 1


def test_g11_a_replay_opens_no_socket_and_changes_nothing(tmp_path: Path, no_sockets: dict[str, str]) -> None:
    with Screen("replay", str(PATHS["xid79"]), "--at", "40", home=tmp_path, environ=no_sockets) as screen:
        screen.see(r"REPLAY")
        screen.press(" ")
        screen.see(r"paused")
        for key, shown in {
            "3": "16 devices",
            "4": "24 claims",
            "5": "1 taint",
            "6": "1 autoscaler",
            "7": "3 workloads",
        }.items():
            screen.press(key)
            screen.see(shown)
        screen.press("2")
        screen.see(r"llm-train +Degraded +7 of 8")
        screen.press("enter")
        screen.see(r"Pods \(\d+\)")
        screen.press("esc")
        screen.gone(r"Pods \(\d+\)")
        screen.press("8")
        screen.see(r"25 pods")
        screen.press("y")
        screen.see(r"kind: Pod")
        screen.press("esc")
        screen.gone(r"kind: Pod")
        screen.press("e")
        screen.see(r"Events of")
        screen.press("esc")
        screen.gone(r"Events of")
        screen.press("3")
        screen.see(r"16 devices")
        for key in ("T", "U", "M", "Z", "c", "ctrl+r"):
            screen.press(key)
        screen.press("]", ".", ")", "}")
        screen.press("9")
        screen.see(r"NoExecute")
        assert "server dry run" not in screen.text
        screen.press("q")
        assert screen.ended() == 0
    assert not Path(no_sockets["SOCKETS_LOG"]).exists()
    assert not list(tmp_path.rglob("audit.log")), "nothing was done, so nothing was logged"


@pytest.mark.parametrize("command", [["get", "gangs", "-A"], ["get", "pods", "-A"], ["get", "timeline"]], ids=" ".join)
def test_g11_reading_a_recording_opens_no_socket(no_sockets: dict[str, str], command: list[str]) -> None:
    done = _ktui(*command, "--recording", str(PATHS["xid79"]), "--at", "40", environ=no_sockets)
    assert (done.returncode, done.stderr) == (0, "")
    assert "llm-train" in done.stdout
    assert not Path(no_sockets["SOCKETS_LOG"]).exists()


def test_g11_the_proof_would_notice(tmp_path: Path, no_sockets: dict[str, str]) -> None:
    cluster = {"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:9"}}], "current-context": "x"}
    context = {
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {}}],
    }
    (tmp_path / "config").write_text(json.dumps(cluster | context))
    done = _ktui(
        "get", "gangs", "--kubeconfig", str(tmp_path / "config"), "--request-timeout", "2s", environ=no_sockets
    )
    assert done.returncode == 1
    assert Path(no_sockets["SOCKETS_LOG"]).read_text().startswith("socket.")


def _ktui(*arguments: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ktui", *arguments]
    return subprocess.run(command, env=os.environ | environ, capture_output=True, text=True, timeout=120, check=False)


PODS: Final = "/api/v1/pods"
EVENTS: Final = "/api/v1/events"


def _hostile_recording(path: Path, payloads: list[str]) -> Path:
    """Payloads in the header, in names, in every text of pods and events, in notes and in the words of the streams."""
    first = payloads[0]
    header = {
        "ktui": "recording",
        "version": 1,
        "created": "2026-11-30T06:00:00Z",
        "title": first,
        "context": "".join(payloads),
        "server": {"gitVersion": "".join(payloads)},
        "resources": [{"path": PODS, "kind": "Pod"}, {"path": EVENTS, "kind": "Event"}],
    }
    lines: list[dict[str, Any]] = [
        header,
        _list(PODS, [_pod(number, payload) for number, payload in enumerate(payloads)]),
        _list(EVENTS, [_event(number, payload) for number, payload in enumerate(payloads)]),
        *({"t": 0, "type": "MARK", "text": payload} for payload in payloads),
        {"t": 0, "path": EVENTS, "type": "STATE", "state": "watching"},
        {"t": 0, "path": PODS, "type": "STATE", "state": "waiting", "message": "".join(payloads)},
        {"t": 1, "type": "MARK", "text": "the end"},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def _list(path: str, items: list[dict[str, Any]]) -> dict[str, Any]:
    return {"t": 0, "path": path, "type": "LIST", "resourceVersion": "1", "items": items}


def _metadata(number: int, text: str) -> dict[str, Any]:
    return {"name": text, "namespace": text, "uid": f"u{number}", "resourceVersion": "1", "labels": {text: text}}


def _pod(number: int, text: str) -> dict[str, Any]:
    status = {
        "phase": text,
        "reason": text,
        "message": text,
        "conditions": [{"type": text, "status": text, "message": text}],
    }
    spec = {"nodeName": text, "schedulingGroup": {"podGroupName": text}, "containers": [{"name": text}]}
    return {"metadata": _metadata(number, text), "spec": spec, "status": status}


def _event(number: int, text: str) -> dict[str, Any]:
    about = {"kind": "Pod", "namespace": text, "name": text, "uid": f"u{number}"}
    return {"metadata": _metadata(number, text), "involvedObject": about, "reason": text, "message": text, "type": text}


STRINGS: Final = re.compile(rb"\x1b[\]P_^X][^\x1b\x07]*|\x1bc|\x1b#8|\x1b\[[\d;]*[tcn]|\xc2[\x80-\x9f]")
"""OSC, DCS, APC, PM and SOS strings, resets, requests for reports, 8-bit controls."""
OWN: Final = {b"\x1b]22;default"}
"""What the screens themselves send of these: the shape of the pointer."""
QUESTION: Final = re.compile(rb"\x1b\[\d+;\d+H\x1b\[6n")
"""How a frame may end: where the cursor is, told by the terminal, says that the frame has arrived."""


def test_g10_a_hostile_recording_writes_glyphs_only(tmp_path: Path) -> None:
    # A file cannot hold half a surrogate pair.
    payloads = [payload for payload in PAYLOADS if not any(0xD800 <= ord(character) < 0xE000 for character in payload)]
    path = _hostile_recording(tmp_path / "hostile.ktui", payloads)
    with Screen("replay", str(path), home=tmp_path, size=(150, 50)) as screen:
        screen.see(r"REPLAY")
        screen.press(" ")
        screen.see("paused")
        screen.press("8")
        screen.see(rf"{len(payloads)} pods")
        for key, shown in {"enter": "│", "e": "Events of"}.items():
            screen.press(key)
            screen.see(shown)
        screen.press("esc")
        screen.gone("Events of")
        screen.press("y")
        screen.see("kind: Pod")
        screen.press("esc")
        screen.gone("kind: Pod")
        screen.press("2")
        screen.see("gangs")
        screen.press("9")
        screen.see("Timeline")
        screen.press("G")
        screen.press("q")
        assert screen.ended() == 0
    assert set(STRINGS.findall(QUESTION.sub(b"", screen.raw))) <= OWN
    assert "␛]52;c;" in screen.raw.decode(), "the payloads are there, in their visible form"

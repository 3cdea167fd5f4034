"""What ktui says that it asked of a real API server, and what the server wrote down about it: its audit log, line by line.

Bytes are counted by a relay between the two, which sees what encryption adds.
"""

from __future__ import annotations

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import pytest
import yaml

from ktui.cli import main
from ktui.kube.picked import Picked
from ktui.model.kinds import KINDS
from ktui.views.registry import VIEWS
from tests.background import in_background
from tests.cluster import infra, objects
from tests.cluster.controlplane.api import wait_for
from tests.cluster.controlplane.cluster import ControlPlane, Options
from tests.relay import Relay, relay_to
from tests.terminal.screen import Screen

POLICY: Final = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [{"level": "Metadata"}],
}
CROWD: Final = 120
SIZE: Final = 4_000  # bytes that do not compress, in each object of the crowd
UNITS: Final = {"B": 1, "KiB": 2**10, "MiB": 2**20}


class Audited:
    """A control plane that writes down who asked for what."""

    def __init__(self, plane: ControlPlane, log: Path) -> None:
        self.plane = plane
        self._log = log
        self._seen: set[str] = set()

    def forget(self) -> None:
        self._seen |= {entry["auditID"] for entry in self._entries()}

    def asked(self) -> list[dict[str, Any]]:
        """ktui's requests since `forget`, each once."""
        return list({each["auditID"]: each for each in self._entries() if each["auditID"] not in self._seen}.values())

    def counted(self) -> Counter[str]:
        """The same by verb and resource, as ktui calls them."""
        return Counter(map(_what, self.asked()))

    def _entries(self) -> list[dict[str, Any]]:
        lines = self._log.read_text().splitlines()
        found = (json.loads(line) for line in lines if line.endswith("}"))
        return [entry for entry in found if entry.get("userAgent", "").startswith("ktui/")]


def _what(entry: dict[str, Any]) -> str:
    about = entry.get("objectRef")
    if about is None:
        return f"{entry['verb']} /{entry['requestURI'].split('?')[0].split('/')[1]}"
    resource = ".".join(filter(None, (about["resource"], about.get("apiGroup"))))
    return f"{entry['verb']} {'/'.join(filter(None, (resource, about.get('subresource'))))}"


@pytest.fixture(scope="module")
def audited(control_plane_binaries: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Audited]:
    """With a gang that runs in `ml2`, and a namespace with far more in it than that."""
    directory = tmp_path_factory.mktemp("audit")
    policy, log = directory / "policy.yaml", directory / "audit.log"
    policy.write_text(yaml.safe_dump(POLICY))
    log.touch()
    arguments = (f"--audit-policy-file={policy}", f"--audit-log-path={log}")
    with ControlPlane(control_plane_binaries, Options(api_server_arguments=arguments)) as plane:
        api = plane.api()
        infra.load(api)
        api.create(objects.namespace("crowd"))
        for number in range(CROWD):
            made = objects.claim_template("crowd", f"t{number}")
            made["metadata"] |= {
                "annotations": {"note": secrets.token_hex(SIZE // 2)},
                "labels": {"half": str(number % 2)},
            }
            api.create(made)
        api.create(objects.gang_job("ml2", "train", 4, "one-gpu"))
        pods = "/api/v1/namespaces/ml2/pods"
        wait_for(
            lambda: [p for p in api.list(pods) if p["status"].get("phase") == "Running"][3:], "the gang", limit=120
        )
        yield Audited(plane, log)


@contextmanager
def through_a_relay(plane: ControlPlane, home: Path) -> Iterator[tuple[Relay, str]]:
    """A relay to the API server, and a kubeconfig that leads there."""
    with in_background(relay_to(urlsplit(plane.url).port or 0)) as relay:
        document = yaml.safe_load(plane.kubeconfig.read_text())
        for cluster in document["clusters"]:
            cluster["cluster"]["server"] = f"https://127.0.0.1:{relay.port}"
        path = home / "kubeconfig-of-the-relay"
        path.write_text(yaml.safe_dump(document))
        yield relay, str(path)


def _shown(screen: Screen) -> dict[str, tuple[int, int]]:
    """What `I` says of each verb and resource: requests, bytes (rounded as people read them)."""
    screen.press("I")
    screen.see(r"^ in all +[\d,]+ ")
    rows = re.findall(r"^ (\w+ [/\w.-]+) +([\d,]+) +([\d.]+) (B|KiB|MiB)", screen.text, re.MULTILINE)
    return {what: (int(number.replace(",", "")), round(float(size) * UNITS[unit])) for what, number, size, unit in rows}


@pytest.mark.parametrize("scope", ["-A", "-n"])
def test_the_screens_say_what_the_server_counted(audited: Audited, tmp_path: Path, scope: str) -> None:
    """And with a namespace nothing of another one was asked for, and nothing of it came."""
    audited.forget()
    arguments = ["-A"] if scope == "-A" else ["-n", "ml2"]
    with (
        through_a_relay(audited.plane, tmp_path) as (relay, kubeconfig),
        Screen("--kubeconfig", kubeconfig, *arguments, home=tmp_path, size=(110, 90)) as screen,
    ):
        screen.see(r"live (\d+) of \1\b")
        screen.press("8")
        screen.see(r"ml2 +train-")
        shown = _shown(screen)
        requests, received = shown.pop("in all")
        assert requests == sum(number for number, _ in shown.values())
        assert received == pytest.approx(sum(size for _, size in shown.values()), rel=0.1)
        assert {what: number for what, (number, _) in shown.items()} == dict(audited.counted())
        assert received < relay.passed < received + 400_000, "handshakes and headers come on top, once a connection"
        if scope == "-A":
            assert received > CROWD * SIZE / 2  # hexadecimal digits are packed into half of their size
        else:
            assert relay.passed < CROWD * SIZE / 2
            namespaced = {kind.plural for kind in KINDS.values() if kind.namespaced}
            about = [each["objectRef"] for each in audited.asked() if "objectRef" in each]
            asked = {each.get("namespace") for each in about if each["resource"] in namespaced}
            assert asked == {"ml2"}
        screen.press("esc", "q")


def test_doctor_says_what_the_server_counted(audited: Audited, capsys: pytest.CaptureFixture[str]) -> None:
    audited.forget()
    assert main(["doctor", "-o", "json", "--kubeconfig", str(audited.plane.kubeconfig)]) == 0
    findings = {finding["check"]: finding for finding in json.loads(capsys.readouterr().out)["findings"]}
    said = {}
    for each in findings["requests"]["objects"]:
        match = re.fullmatch(r"(\w+ \S+) \((\d+) requests?, .*\)", each)
        assert match is not None, each
        said[match[1]] = int(match[2])
    counted = audited.counted()
    assert said == dict(counted)
    assert f"this look took {counted.total()} requests and " in findings["requests"]["text"]


@pytest.mark.parametrize("form", ["table", "json", "name"])
@pytest.mark.parametrize("resource", [name for name, view in VIEWS.items() if view.labelled])
def test_what_the_server_selects_is_what_we_would(
    audited: Audited, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, resource: str, form: str
) -> None:
    def get(*arguments: str) -> str:
        main(["get", resource, "-A", "-o", form, "--kubeconfig", str(audited.plane.kubeconfig), *arguments])
        out, err = capsys.readouterr()
        return re.sub(r"\b\d+s\b", "", out + err)  # ages

    kind = KINDS[VIEWS[resource].kinds[0]]  # type: ignore[index]  # one of the views
    found = audited.plane.api().list(kind.path(kind.versions[0]))
    pairs = {pair for obj in found for pair in obj["metadata"].get("labels", {}).items()}
    selectors = {text for key, value in sorted(pairs)[:3] for text in (f"{key}={value}", f"{key}!={value}", f"!{key}")}
    for selector in sorted(selectors | {"team in (red, blue)", "nobody=has"}):
        audited.forget()
        selected = get("-l", selector)
        assert [each for each in audited.asked() if "labelSelector=" in each["requestURI"]], selector
        with monkeypatch.context() as patch:
            patch.setattr("ktui.commands.get.picked", _nothing)
            assert get("-l", selector) == selected


def _nothing(*_: object) -> Picked | None:
    return None


def test_one_pod_costs_one_pod(audited: Audited, capsys: pytest.CaptureFixture[str]) -> None:
    (name, *_) = (pod["metadata"]["name"] for pod in audited.plane.api().list("/api/v1/namespaces/ml2/pods"))
    audited.forget()
    arguments = ("--kubeconfig", str(audited.plane.kubeconfig), "-n", "ml2")
    assert main(["get", "pod", name, "-o", "name", *arguments]) == 0
    assert capsys.readouterr().out == f"pod/{name}\n"
    (listed,) = [each for each in audited.asked() if each["verb"] == "list"]
    assert listed["requestURI"] == f"/api/v1/namespaces/ml2/pods?limit=500&fieldSelector=metadata.name%3D{name}"
    assert main(["get", "pod", "a,b=c", *arguments]) == 1
    assert capsys.readouterr().err == "ktui: no pod 'a,b=c' in namespace ml2\n"

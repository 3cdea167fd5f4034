"""`ktui get` on recordings, through the command line as a person uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ktui.cli import RESOURCES, main
from ktui.views.registry import VIEWS
from tests.recordings import PATHS
from tests.unit.recording.files import HEADER, event, listed, pod, write

XID79 = str(PATHS["xid79"])


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def items(self) -> list[dict[str, Any]]:
        found = json.loads(self.out)["items"]
        assert isinstance(found, list)
        return found


class Ktui:
    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> Ran:
        code = main(arguments)
        out, err = self._capsys.readouterr()
        return Ran(code, out, err)

    def get(self, *arguments: str, recording: str | Path = XID79) -> Ran:
        return self("get", *arguments, "--recording", str(recording))


@pytest.fixture
def ktui(capsys: pytest.CaptureFixture[str]) -> Ktui:
    return Ktui(capsys)


@pytest.mark.parametrize("form", ["table", "wide", "json", "name"])
@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("name", PATHS)
def test_every_resource_in_every_form(ktui: Ktui, name: str, resource: str, form: str) -> None:
    ran = ktui.get(resource, "-o", form, recording=PATHS[name])
    assert ran.code == 0
    if form == "json":
        document = json.loads(ran.out)
        assert (document["version"], document["kind"], ran.err) == (1, resource, "")
    elif not ran.out:
        nothing = "Nothing needs you." if resource == "triage" else f"No {VIEWS[resource].title.lower()} found."  # type: ignore[index]  # one of RESOURCES
        assert ran.err == ("" if form == "name" else f"{nothing}\n")
    elif form == "name":
        kinds = (
            ("job", "podgroup", "replicaset.apps", "workload")
            if resource == "workloads"
            else (resource.removesuffix("s"),)
        )
        assert all(line.split("/")[0] in kinds for line in ran.lines)
    else:
        columns = VIEWS[resource].columns  # type: ignore[index]  # one of RESOURCES
        titles = [column.title for column in columns if not column.needs]  # no recording has figures of what is used
        assert ran.lines[0].replace(" ", "") == "".join(titles).replace(" ", "")
        assert all(line == line.rstrip() for line in ran.lines)


def test_the_resources_are_the_views() -> None:
    assert set(RESOURCES) == set(VIEWS)


def test_rows_of_gangs(ktui: Ktui) -> None:
    ran = ktui.get("gangs", "-n", "research", recording=PATHS["causes"])
    row = next(line for line in ran.lines if " short " in line)
    assert row.split()[:6] == ["research", "short", "Pending", "0", "of", "4"]
    assert "3 of 4 pods exist" in row


# --- selecting ---


@pytest.mark.parametrize(
    "name", ["llm-train", "llm-train-756696b945-llm-train-pgt-0-87fdd7966", "llm-train-756696b945"]
)
def test_a_gang_by_any_of_its_names(ktui: Ktui, name: str) -> None:
    (item,) = ktui.get("gangs", name, "-o", "json").items
    assert item["owner"] == {"kind": "Job", "name": "llm-train"}


@pytest.mark.parametrize("name", ["waiting", "waiting/workers"])
def test_1_35_a_gang_by_its_workloads_name(ktui: Ktui, name: str) -> None:
    (item,) = ktui.get("gangs", name, "-o", "json", recording=PATHS["v1.35"]).items
    assert item["name"] == "waiting/workers"


@pytest.mark.parametrize("name", ["gpu.example.com/node-1/gpu-0", "node-1/gpu-0"])
def test_a_device_by_its_names(ktui: Ktui, name: str) -> None:
    (item,) = ktui.get("devices", name, "-o", "json").items
    assert (item["pool"], item["device"]) == ("node-1", "gpu-0")


def test_a_name_that_is_not_there(ktui: Ktui) -> None:
    assert ktui.get("gangs", "nope") == Ran(1, "", "ktui: no gang 'nope'\n")
    assert ktui.get("pods", "nope", "-n", "ml2") == Ran(1, "", "ktui: no pod 'nope' in namespace ml2\n")


def test_a_name_of_nothing_is_no_wish_for_everything(ktui: Ktui) -> None:
    """As from a script whose variable is not set."""
    assert ktui.get("pods", "", "-n", "ml2") == Ran(1, "", "ktui: no pod '' in namespace ml2\n")
    code, out, err = ktui.get("pod/")
    assert (code, out) == (2, "")
    assert "'pod/' ends without a name" in err


def test_a_namespace(ktui: Ktui) -> None:
    assert {item["namespace"] for item in ktui.get("pods", "-n", "ml2", "-o", "json").items} == {"ml2"}
    assert ktui.get("pods", "-n", "empty") == Ran(0, "", "No pods found in namespace empty.\n")
    assert len(ktui.get("pods", "-n", "empty", "-A", "-o", "json").items) > 0


def test_nothing_changed(ktui: Ktui, tmp_path: Path) -> None:
    assert ktui.get("timeline", recording=write(tmp_path, [listed(0, pod("a"))])) == Ran(0, "", "No changes found.\n")


def test_kinds_without_a_namespace_are_shown_whatever_the_namespace(ktui: Ktui) -> None:
    assert len(ktui.get("devices", "-n", "empty", "-o", "json").items) > 0


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("app=a", ["a"]),
        ("app==a,tier!=test", []),
        ("app", ["a", "b"]),
        ("!app", ["c"]),
        ("app in (a, b),tier notin (prod)", ["a"]),
        ("app!=a", ["b", "c"]),
        ("tier=", []),
        ("example.com/x=1", ["c"]),
        ("", ["a", "b", "c"]),
    ],
)
def test_label_selectors(ktui: Ktui, tmp_path: Path, selector: str, names: list[str]) -> None:
    labels = {"a": {"app": "a", "tier": "test"}, "b": {"app": "b", "tier": "prod"}, "c": {"example.com/x": "1"}}
    pods = [{"metadata": {**pod(name)["metadata"], "labels": found}} for name, found in labels.items()]
    ran = ktui.get("pods", "-l", selector, "-o", "name", recording=write(tmp_path, [listed(0, *pods)]))
    assert ran.lines == [f"pod/{name}" for name in names]


NO_LABELS = (
    "a=-b",
    "a=b.",
    "a in (b,c d)",
    "a/b/c=d",
    "A.b/c",
    "a_b/c",
    f"a={'b' * 64}",
    f"{'a' * 64}=b",
    f"{'a' * 254}/b",
)


@pytest.mark.parametrize("selector", ["a=b=c", "in (a)", "a in b", "=x", "a>1", "a,,b", "a in (b", "a;b", *NO_LABELS])
def test_a_selector_that_cannot_be_read(ktui: Ktui, selector: str) -> None:
    ran = ktui.get("pods", "-l", selector)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("ktui: cannot read ")
    assert ran.err.count("\n") == 1


# --- moments ---


def test_at_a_moment(ktui: Ktui) -> None:
    def state(*at: str) -> str:
        (item,) = ktui.get("gangs", "llm-train", "-o", "json", *at).items
        assert isinstance(item["state"], str)
        return item["state"]

    assert [state("--at", "40"), state("--at", "1e6"), state()] == ["Degraded", "Running", "Running"]
    assert ktui.get("gangs", "--at", "1").err == "No gangs found.\n"


@pytest.mark.parametrize("at", ["-1", "x", "nan", "inf", "1e9", ""])
def test_a_moment_that_is_none(ktui: Ktui, at: str) -> None:
    ran = ktui.get("gangs", f"--at={at}")
    assert (ran.code, ran.out) == (2, "")
    assert "is not a number of seconds" in ran.err


def test_a_moment_without_a_recording(ktui: Ktui) -> None:
    assert ktui("get", "gangs", "--at", "4") == Ran(2, "", "ktui: --at goes with --recording\n")


# --- what goes wrong ---


@pytest.mark.parametrize(
    "arguments",
    [
        ["get"],
        ["get", "gang"],
        ["get", "gangs", "a", "b"],
        ["get", "gangs", "-o", "yaml"],
        ["get", "gangs", "--recording"],
        ["get", "gangs", "--recording", "/does/not/exist"],
        ["get", "gangs", "--recording", "/"],
        ["get", "gangs", "--recording", __file__],
        ["frobnicate"],
        ["--frobnicate"],
    ],
    ids=" ".join,
)
def test_usage_errors_are_one_line_and_exit_with_2(ktui: Ktui, arguments: list[str]) -> None:
    ran = ktui(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("ktui: ")
    assert ran.err.count("\n") == 1
    assert "Traceback" not in ran.err


def test_what_was_not_recorded_is_not_called_empty(ktui: Ktui, tmp_path: Path) -> None:
    ran = ktui.get("claims", recording=write(tmp_path, [listed(0)]))
    assert ran == Ran(1, "", "ktui: claims cannot be shown: not in this recording\n")


def test_skipped_lines_are_told(ktui: Ktui, tmp_path: Path) -> None:
    lines = [listed(0, pod("a")), b"junk", event(1, "FUTURE\x1b[2J", {})]
    ran = ktui.get("pods", "-o", "name", recording=write(tmp_path, lines))
    assert (ran.code, ran.lines) == (0, ["pod/a"])
    assert "ktui: skipped 1 lines that are not frames\n" in ran.err
    assert "\x1b" not in ran.err


def test_a_source_without_access_is_told(ktui: Ktui, tmp_path: Path) -> None:
    claims = "/apis/resource.k8s.io/v1/resourceclaims"
    header_resources = [{"path": "/api/v1/pods", "kind": "Pod"}, {"path": claims, "kind": "ResourceClaim"}]
    state = {"t": 0, "path": claims, "type": "STATE", "state": "no-access", "message": "forbidden\x1b[0m"}
    path = write(tmp_path, [listed(0, pod("a")), state], header={**HEADER, "resources": header_resources})
    ran = ktui.get("pods", "-o", "name", recording=path)
    assert (ran.code, ran.lines) == (0, ["pod/a"])
    assert ran.err.startswith("ktui: without ResourceClaim: forbidden")
    assert "\x1b" not in ran.err


HOSTILE = ("\x1b]52;c;aGk=\x07", "gpu\u202e0-upg", "a\nb", "zero\u200bwidth", "c1\x9b2J", "nul\0")


@pytest.mark.parametrize("form", ["table", "wide", "name"])
@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_X02_hostile_names_are_printed_visibly(ktui: Ktui, tmp_path: Path, name: str, form: str) -> None:
    hostile = {**pod(name), "spec": {"nodeName": name}, "status": {"phase": name}}
    ran = ktui.get("pods", "-o", form, recording=write(tmp_path, [listed(0, hostile)]))
    assert ran.code == 0
    assert len(ran.lines) == (1 if form == "name" else 2)
    assert all(char.isprintable() for line in ran.lines for char in line)
    assert name not in ran.out


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_X14_json_is_exact(ktui: Ktui, tmp_path: Path, name: str) -> None:
    (item,) = ktui.get("pods", "-o", "json", recording=write(tmp_path, [listed(0, pod(name))])).items
    assert item["name"] == name


@pytest.mark.parametrize("name", HOSTILE, ids=ascii)
def test_X10_hostile_arguments_come_back_safely(ktui: Ktui, name: str) -> None:
    ran = ktui.get("pods", name)
    assert ran.code == 1
    assert all(char.isprintable() for char in ran.err.rstrip("\n"))


@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_a_reader_that_goes_away_is_no_error(unbuffered: str) -> None:
    """Buffered, the write fails only when the interpreter ends."""
    read, written = os.pipe()
    os.close(read)
    with os.fdopen(written, "wb") as gone:
        ran = subprocess.run(
            [sys.executable, "-m", "ktui", "get", "pods", "--recording", XID79],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=gone,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.parametrize("resource", RESOURCES)
def test_the_singular_is_the_same_resource(ktui: Ktui, resource: str) -> None:
    """What `-o name` prints in front of the name can be typed, as with kubectl."""
    assert ktui.get(resource.removesuffix("s"), "-o", "json").out == ktui.get(resource, "-o", "json").out


# --- the timeline ---


def test_the_timeline_up_to_a_moment_newest_first(ktui: Ktui) -> None:
    items = ktui.get("timeline", "-o", "json", "--at", "28").items
    assert [item["time"] for item in items] == sorted((item["time"] for item in items), reverse=True)
    degraded = next(item for item in items if item["change"] == "GangDegraded")
    assert (degraded["namespace"], degraded["name"], degraded["text"]) == ("ml2", "llm-train", "degraded, 7 of 8 run")
    assert "TaintRemoved" not in {item["change"] for item in items}


def test_the_timeline_of_one_moment_of_a_cluster_is_refused(ktui: Ktui) -> None:
    ran = ktui("get", "timeline")
    assert ran == Ran(2, "", "ktui: one look at a cluster sees no changes: the timeline needs --recording FILE\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize(
    "arguments", [("get", "gangs", "--recording"), ("export", "--format", "markdown")], ids=["get", "export"]
)
def test_a_full_disk_behind_stdout_is_said_in_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "ktui", *arguments, XID79],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
            check=False,
        )
    assert (ran.returncode, ran.stderr) == (1, "ktui: cannot write the output: No space left on device\n")
    assert not list(tmp_path.iterdir()), "and it is no defect to report"

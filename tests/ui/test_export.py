"""`ktui export`: casts, pictures and reports of recordings, as a person makes and reads them."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import pyte
import pytest

from ktui.cli import main
from ktui.commands.replay import ReplayOpener
from ktui.ui.cast import cast
from ktui.ui.script import parse
from ktui.ui.stage import Stage, staged, stopped_clock
from tests.recordings import PATHS
from tests.unit.commands.test_markdown import hostile_documents
from tests.unit.recording.files import listed, pod, write
from tests.unit.ui.payloads import PAYLOADS

GOLDENS = Path(__file__).parent / "goldens"
XID79 = PATHS["xid79"]
SCRIPT = XID79.with_name("xid79.script")
SIZE = (100, 30)
HARMLESS = re.compile(r"\x1b\[(?:\d+(?:;\d+)*)?m|\x1b\[\d+;1H|\x1b\[2J|\x1b\[\?25[lh]")
"""Colours, to the beginning of a line, clear, and the cursor."""


class Ran(NamedTuple):
    code: int
    out: bytes
    err: str


def ktui(*arguments: str, **environ: str) -> Ran:
    """In a process of its own, without a terminal, as a person or a pipeline starts it."""
    ran = subprocess.run(
        [sys.executable, "-m", "ktui", *arguments],
        capture_output=True,
        timeout=200,
        env={**os.environ, **environ},
        check=False,
    )
    return Ran(ran.returncode, ran.stdout, ran.stderr.decode())


def events(lines: bytes) -> tuple[dict[str, Any], list[tuple[float, str]]]:
    """Header and (time, output) of a cast, checked against the format's rules."""
    header, *rest = [json.loads(line) for line in lines.splitlines()]
    assert header["version"] == 2
    assert all(isinstance(header[key], int) and header[key] > 0 for key in ("width", "height", "timestamp"))
    assert header["env"] == {"TERM": "xterm-256color"}
    assert set(header) <= {"version", "width", "height", "timestamp", "title", "env"}
    for event in rest:
        assert len(event) == 3
        assert event[1] == "o"
        assert isinstance(event[2], str)
    times = [event[0] for event in rest]
    assert times == sorted(times)
    assert times[0] >= 0
    return header, [(event[0], event[2]) for event in rest]


def screen_after(lines: bytes, at: float = float("inf")) -> list[str]:
    """What a terminal shows when it has played the cast up to `at` seconds."""
    header, outputs = events(lines)
    screen = pyte.Screen(header["width"], header["height"])
    stream = pyte.Stream(screen)
    for t, output in outputs:
        if t <= at:
            stream.feed(output)
    return [line.rstrip() for line in screen.display]


# --- casts ---


def test_a_cast_is_the_same_every_time_and_ends_with_the_screen_that_is_there(tmp_path: Path) -> None:
    for number in (1, 2):
        ran = ktui(
            *("export", str(XID79), "--script", str(SCRIPT), "-o", str(tmp_path / f"{number}.cast")),
            PYTHONHASHSEED=str(number),
            TZ="UTC" if number == 1 else "Asia/Tokyo",
        )
        assert ran == Ran(0, b"", "")
    made = (tmp_path / "1.cast").read_bytes()
    assert made == (tmp_path / "2.cast").read_bytes()
    header, _ = events(made)
    assert (header["width"], header["height"]) == SIZE
    assert header["title"].startswith("Xid 79 on one GPU")
    golden = GOLDENS / "cast-xid79.txt"
    if os.environ.get("KTUI_GOLDENS") == "write":
        golden.write_text("\n".join(screen_after(made)) + "\n")
    assert screen_after(made) == golden.read_text().splitlines()
    assert any("Degraded" in line for line in screen_after(made, at=6.0))


def test_asciinema_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "xid79.cast"
    assert main(["export", str(XID79), "-o", str(path), "--size", "80x24"]) == 0
    read = subprocess.run(
        [sys.executable, "-m", "asciinema", "cat", str(path)],
        capture_output=True,
        timeout=60,
        env={**os.environ, "ASCIINEMA_CONFIG_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        check=False,
    )
    assert read.stderr == b""
    assert read.stdout.decode() == "".join(output for _, output in events(path.read_bytes())[1])


def test_without_a_script_it_plays_through(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["export", str(XID79), "--format", "cast"]) == 0
    made = capsysbinary.readouterr().out
    _, outputs = events(made)
    assert "1:27 of 1:27" in screen_after(made)[0]
    assert 20 < outputs[-1][0] < 60
    moments = ["0:00", "0:20", "0:40"]
    shown = [next(t for t, output in outputs if f"{moment} of" in output) for moment in moments]
    assert shown == sorted(shown)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_who_waits_at_a_terminal_sees_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    script = tmp_path / "x.script"
    script.write_text("1 8\n2 end\n")
    assert main(["export", str(XID79), "--script", str(script), "-o", str(tmp_path / "x.cast")]) == 0
    said = terminal.getvalue().split("\r")
    assert said[1:-2] == [f"{part:>3}%" for part in range(0, 101, 5)]
    assert said[-2:] == ["    ", ""]


@pytest.mark.parametrize("name", sorted(path.stem for path in XID79.parent.glob("*.script")))
async def test_shipped_scripts_show_something_all_along(name: str) -> None:
    script = parse(PATHS[name].with_name(f"{name}.script").read_text(), name)
    opener = ReplayOpener(str(PATHS[name]), 0.0, stopped_clock)
    async with staged(opener, 0.0, size=SIZE, theme="dark") as stage:
        made = b"".join([line async for line in cast(stage, script, size=SIZE, created=1.0)])
    _, outputs = events(made)
    assert outputs[-1][0] == script.end
    assert len(outputs) > 10
    assert "connecting" not in "\n".join(screen_after(made))


async def played(path: Path, script: str, size: tuple[int, int] = SIZE) -> bytes:
    async with staged(ReplayOpener(str(path), 0.0, stopped_clock), 0.0, size=size, theme="dark") as stage:
        return b"".join([line async for line in cast(stage, parse(script, "x"), size=size, created=1.0)])


async def test_keys_seeks_and_speeds() -> None:
    made = await played(XID79, '0 seek 40\n0 8\n1 slash "train-0"\n3 enter\n4 speed 8\n6 space\n8 end')
    assert "0:40 of 1:27" in screen_after(made, 0.0)[0]
    assert any("filter train-0" in line for line in screen_after(made, 3.5))
    assert "0:44 of 1:27  x8" in screen_after(made, 4.0)[0]
    assert "paused  1:00 of 1:27  x8" in screen_after(made)[0]
    _, outputs = events(made)
    assert all(t <= 6.1 or t == 8.0 for t, _ in outputs), "nothing is written while nothing changes"


async def test_a_key_that_quits_ends_the_cast() -> None:
    made = await played(XID79, "0 seek 40\n1 q\n9 end")
    _, outputs = events(made)
    assert outputs[-1][0] < 2
    assert any("llm-train" in line for line in screen_after(made))


@pytest.mark.parametrize("payload", [p for p in PAYLOADS if "\ud800" not in p][::7], ids=ascii)
async def test_text_of_a_cluster_is_only_what_the_screens_make_of_it(tmp_path: Path, payload: str) -> None:
    header, documents = hostile_documents(payload)
    path = write(tmp_path, documents, header=header)
    made = await played(path, "0 seek 3\n0 enter\n+0.5 escape 8\n+0.5 enter\n+0.5 y\n+0.5 escape 9\n+0.5 end")
    for _, output in events(made)[1]:
        assert not re.search(r"[\x00-\x1f\x7f-\x9f]", HARMLESS.sub("", output))


async def test_long_lists_are_waited_for(tmp_path: Path) -> None:
    """Nothing is drawn while a list is half taken in, and rows are not computed yet."""
    pods = [pod(f"p-{n:04}") for n in range(4000)]
    path = write(tmp_path, [listed(0, pods[0]), listed(5, *pods)])
    made = await played(path, "0 8\n1 seek 5\n2 end")
    counts = {match for _, output in events(made)[1] for match in re.findall(r"([\d,]+) pods?\b", output)}
    assert counts == {"1", "4,000"}


# --- pictures ---


async def picture(at: float, *keys: str, size: tuple[int, int] = SIZE, theme: str = "dark") -> str:
    async with staged(ReplayOpener(str(XID79), 0.0, stopped_clock), at, size=size, theme=theme) as stage:
        await _press(stage, *keys)
        return stage.picture()


async def _press(stage: Stage, *keys: str) -> None:
    for key in keys:
        await stage.press(key)


def texts(svg: str) -> str:
    return "\n".join(
        "".join(element.itertext()) for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")
    ).replace("\xa0", " ")


def test_a_picture_from_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "gangs.svg"
    arguments = ("export", str(XID79), "--at", "40", "--keys", "8 enter", "--size", "132x30", "-o", str(out))
    assert ktui(*arguments, PYTHONHASHSEED="1") == Ran(0, b"", "")
    made = out.read_bytes()
    shown = texts(made.decode())
    assert "0:40 of 1:27" in shown
    assert re.search(r"Pod ml2/\S+", shown)
    assert ktui(*arguments) == Ran(2, b"", f"ktui: {out} exists already; --force replaces it\n")
    assert ktui(*arguments, "--force", PYTHONHASHSEED="2").code == 0
    assert out.read_bytes() == made


async def test_a_picture_fetches_nothing() -> None:
    made = await picture(40.0)
    root = ET.fromstring(made)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "@font-face" not in made
    assert "url(http" not in made
    assert not [element for element in root.iter() if any("href" in name for name in element.attrib)]


async def test_without_a_moment_it_is_the_end() -> None:
    assert "1:27 of 1:27" in texts(await picture(float("inf")))


async def test_themes_differ() -> None:
    assert await picture(40.0) != await picture(40.0, theme="light")


# --- reports ---


def test_a_report_from_the_command_line(tmp_path: Path) -> None:
    out = tmp_path / "incident.md"
    assert ktui("export", str(XID79), "-o", str(out)) == Ran(0, b"", "")
    piped = ktui("export", str(XID79), "--format", "markdown")
    assert piped == Ran(0, out.read_bytes(), "")
    assert "gang `ml2/llm-train` degraded, 7 of 8 run" in piped.out.decode()


def test_what_a_recording_has_that_is_not_known_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, [listed(0, pod("a")), {"t": 1, "type": "PARTY"}])
    assert main(["export", str(path), "--format", "markdown"]) == 0
    assert capfd.readouterr().err == "ktui: skipped 1 frames of the unknown type PARTY\n"


# --- what is wrong is one line ---


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "say what to make: --format cast|svg|markdown, or -o with a name that ends in .cast, .svg, .md"),
        (["-o", "x.gif"], "say what to make"),
        (["--format", "gif"], "argument --format: invalid choice: 'gif'"),
        (["--format", "cast", "--at", "4"], "--at goes with svg, not with cast"),
        (["--format", "svg", "--script", "x"], "--script goes with cast, not with svg"),
        (["--format", "markdown", "--theme", "dark"], "--theme goes with cast and svg, not with markdown"),
        (["--format", "markdown", "--from", "9", "--to", "3"], "--from 9 is after --to 3"),
        (["--format", "markdown", "--from", "500"], "--from 500 is after the end of the recording, 87.8 s"),
        (["--format", "svg", "--from", "9"], "--from goes with markdown, not with svg"),
        (["--format", "svg", "--size", "big"], "argument --size: 'big' is no size, as 100x30 is"),
        (["--format", "svg", "--size", "10x10"], "argument --size: 10x10 is not between 40x10 and 500x200"),
        (["--format", "svg", "--theme", "pink"], "there is no theme 'pink'; there are dark, light, colorblind, ansi"),
        (["--format", "svg", "--keys", "entr"], "'entr' is no key; text to type stands in double quotes"),
        (["--format", "svg", "--keys", "q"], "the key q ends the program, and nothing is left to draw"),
        (["--format", "cast", "--script", "nowhere"], "cannot read the script nowhere: No such file or directory"),
        (["--format", "cast", "--script", "/"], "cannot read the script /: Is a directory"),
    ],
)
def test_wrong_flags(arguments: list[str], message: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(XID79), *arguments]) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"ktui: {message}")
    assert err.count("\n") == 1


def test_a_wrong_script_leaves_no_file(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "x.script"
    script.write_text("0 enter\n1 entr\n")
    assert main(["export", str(XID79), "--script", str(script), "-o", str(tmp_path / "x.cast")]) == 2
    assert capfd.readouterr().err.startswith(f"ktui: {script}, line 2: 'entr' is no key")
    assert list(tmp_path.iterdir()) == [script]


@pytest.mark.parametrize("form", ["cast", "svg", "markdown"])
def test_a_file_that_is_no_recording(tmp_path: Path, form: str, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "no.ktui"
    path.write_text("nothing\n")
    assert main(["export", str(path), "--format", form]) == 2
    assert capfd.readouterr().err == f"ktui: {path} is not a ktui recording: its first line is no header\n"


@pytest.mark.parametrize("form", ["cast", "svg", "markdown"])
def test_a_recording_that_is_damaged_further_on(tmp_path: Path, form: str, capfd: pytest.CaptureFixture[str]) -> None:
    whole = XID79.read_bytes()
    path = tmp_path / "half.ktui.gz"
    path.write_bytes(whole[: len(whole) // 2] + b"\xff" * 4000)
    out = tmp_path / "out"
    assert main(["export", str(path), "--format", form, "-o", str(out)]) in (1, 2)
    err = capfd.readouterr().err
    assert err.startswith(f"ktui: {path} cannot be unpacked: ")
    assert err.count("\n") == 1
    assert not out.exists()


def test_interrupted_it_leaves_no_file(tmp_path: Path) -> None:
    out = tmp_path / "x.cast"
    script = tmp_path / "x.script"
    script.write_text("0 speed 0.25\n3000 end\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "ktui", "export", str(XID79), "--script", str(script), "-o", str(out)],
        stderr=subprocess.PIPE,
    )
    try:
        deadline = time.monotonic() + 60
        while not (out.exists() and out.stat().st_size):
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(2)
        _, err = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, err) == (130, b"")
    assert not out.exists()

"""G14: what nobody expected ends with one line and a private report, and no secret in either."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ktui import crash, redact
from tests.canaries import encoded, files, traces
from tests.recordings import PATHS

ROOT = Path(__file__).parents[2]
SECRET = "canary+crash/0001 <x>"
OTHER = "canary-crash-0002"

PLANT = f"""
import sys
from ktui.commands import get
from ktui.redact import OF_THIS_PROCESS
from tests.canaries import encoded

def fail(args):
    secret = sys.stdin.read()
    OF_THIS_PROCESS.add(lambda: (secret,))
    try:
        raise KeyError(*encoded(secret))
    except KeyError as error:
        other = "{OTHER}"[:7] + "{OTHER}"[7:]
        raise RuntimeError("https://u:" + other + "@x.example.com\\nAuthorization: Bearer " + other, secret) from error

get.run = fail
from ktui.cli import main
sys.exit(main(["get", "gangs", "--recording", "x", *sys.argv[1:]]))
"""


def crashed(home: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", PLANT, *flags],
        input=SECRET,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_command_that_fails_says_so_in_one_line_and_writes_a_report_without_secrets(tmp_path: Path) -> None:
    done = crashed(tmp_path, "--debug-log", str(tmp_path / "debug.log"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("ktui failed unexpectedly: RuntimeError: ")
    (report,) = (tmp_path / "state" / "ktui" / "crashes").iterdir()
    assert done.stderr.rstrip().endswith(f"; report written to {report}")
    assert report.stat().st_mode & 0o777 == 0o600
    assert report.parent.stat().st_mode & 0o777 == 0o700
    text = report.read_text("ascii")
    assert all(words in text for words in ("ktui ", "Python ", "Textual ", "Traceback", "in fail", "KeyError"))
    everything = [done.stderr.encode(), *files(tmp_path).values()]
    assert len(everything) == 3
    assert [traces(content, [SECRET, OTHER]) for content in everything] == [[], [], []]


def test_the_planted_secret_would_be_found(tmp_path: Path) -> None:
    for form in encoded(SECRET):
        assert traces(f'before {form} "after"'.encode(), [SECRET]), form


def test_where_no_report_can_be_written_the_line_says_that(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("a file")
    done = crashed(tmp_path)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "; no report could be written: " in done.stderr
    assert traces(done.stderr.encode(), [SECRET]) == []


def test_old_reports_go_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    directory = tmp_path / "ktui" / "crashes"
    directory.mkdir(parents=True)
    for number in range(20):
        (directory / f"crash-20260101T0000{number:02}Z-1.txt").write_text("old")
    (directory / "a note of mine.txt").write_text("mine")
    new = crash.write(ValueError("x"))
    names = sorted(path.name for path in directory.glob("crash-*"))
    assert len(names) == crash.KEPT
    assert names[-1] == new.name
    assert (directory / "a note of mine.txt").exists()


def test_a_report_has_the_last_notices_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redact, "OF_THIS_PROCESS", redact.Redactor(lambda: (SECRET,)))
    crash.NOTICES.append(f"cannot log in with {SECRET}\x1b]0;x\x07")
    try:
        text = crash.report(ValueError("x" * 10_000_000))
    finally:
        crash.NOTICES.clear()
    assert r"cannot log in with [redacted]\x1b]0;x\x07" in text
    assert len(text) < 300_000
    assert text.isascii()


def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    environ = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = f"{sys.executable} -m ktui get pods --recording {PATHS['xid79']} -o json | true"
    done = subprocess.run(["sh", "-c", command], env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []

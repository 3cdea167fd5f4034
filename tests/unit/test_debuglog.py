"""G14, G01, G02: the debug log says what was done, and no secret; it is private, new, and does not grow without end."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

import pytest

from ktui import redact
from ktui.cli import main
from ktui.debuglog import DebugLog, writing
from ktui.errors import KtuiError, UsageError
from ktui.kube.execplugin import run_plugin
from ktui.kube.failures import ApiError
from ktui.kube.host import Host
from tests.canaries import encoded, files, traces
from tests.faults import Answer, status_body
from tests.recordings import PATHS
from tests.unit.kube.fakeplugin import FakePlugin, reply
from tests.unit.kube.harness import rig

SECRET = "canary+log/0001 <x>"

log = logging.getLogger("ktui.test")


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> str:
    """A secret that the process knows as its own."""
    monkeypatch.setattr(redact, "OF_THIS_PROCESS", redact.Redactor(lambda: (SECRET,)))
    return SECRET


def test_no_secret_in_any_form_is_written(tmp_path: Path, known: str) -> None:
    def run() -> None:
        with writing(str(tmp_path / "a.log")):
            for form in encoded(known):
                log.debug("got %s from it", form)
            log.warning("Authorization: Bearer canary+other/0002")
            log.debug("https://user:canary+other/0002@example.com")
            raise ValueError(f"in vain: {encoded(known)}") from KeyError(known)

    with pytest.raises(ValueError, match="canary"):
        run()
    content = (tmp_path / "a.log").read_bytes()
    assert traces(content, [known, "canary+other/0002"]) == []
    assert content.count(b"[redacted]") > len(encoded(known))
    assert b"ValueError: in vain" in content
    assert b"test_debuglog.py" in content, "where it happened"


def test_a_log_is_private_and_of_lines_that_no_terminal_obeys(tmp_path: Path, known: str) -> None:
    before = os.umask(0)
    try:
        with writing(str(tmp_path / "a.log")):
            log.debug("%s", "one\nDEBUG forged \x1b]0;x\x07 \u202eäö\x9b \ud800")
    finally:
        os.umask(before)
    path = tmp_path / "a.log"
    assert path.stat().st_mode & 0o777 == 0o600
    lines = path.read_text("ascii").splitlines()
    assert len(lines) == 2
    assert lines[1].endswith(r"DEBUG ktui.test one\nDEBUG forged \x1b]0;x\x07 \u202e\xe4\xf6\x9b \ud800")


def test_what_is_there_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "there.log").write_text("precious")
    (tmp_path / "link.log").symlink_to(tmp_path / "nowhere")
    (tmp_path / "b.log.1").write_text("precious")
    for name in ("there.log", "link.log", "b.log", "no/a.log"):
        with pytest.raises(UsageError, match=r"exists already|No such file"), writing(str(tmp_path / name)):
            pass
    assert set(files(tmp_path).values()) == {b"precious"}


def test_a_log_does_not_grow_without_end(tmp_path: Path, known: str) -> None:
    handler = DebugLog(tmp_path / "a.log", most=2000)
    for number in range(200):
        handler.emit(logging.makeLogRecord({"name": "ktui.x", "levelno": 10, "msg": f"line {number}"}))
    handler.close()
    assert set(files(tmp_path)) == {"a.log", "a.log.1"}
    assert all(len(content) <= 2000 for content in files(tmp_path).values())
    assert [path.stat().st_mode & 0o777 for path in tmp_path.iterdir()] == [0o600, 0o600]
    last = (tmp_path / "a.log.1").read_text() + (tmp_path / "a.log").read_text()
    numbers = [int(line.rpartition(" ")[2]) for line in last.splitlines()]
    assert numbers == list(range(numbers[0], 200))


def test_a_disk_that_is_full_ends_the_log_and_nothing_else(
    tmp_path: Path, known: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_file: int, _data: bytes) -> None:
        raise OSError(28, "No space left on device")

    with writing(str(tmp_path / "a.log")):
        monkeypatch.setattr("ktui.debuglog.write_all", full)
        log.debug("one")
        log.debug("two")
    assert capsys.readouterr().err == "ktui: the debug log ended early: [Errno 28] No space left on device\n"


def test_libraries_may_warn_but_not_debug(tmp_path: Path, known: str, capsys: pytest.CaptureFixture[str]) -> None:
    """kubernetes_asyncio writes whole bodies when it debugs."""
    library = logging.getLogger("kubernetes_asyncio.client.rest")
    library.setLevel(logging.DEBUG)
    try:
        with writing(str(tmp_path / "a.log")):
            library.debug("response body: %s", "the whole of it")
            library.warning("slow")
    finally:
        library.setLevel(logging.NOTSET)
    text = (tmp_path / "a.log").read_text()
    assert "body" not in text
    assert "WARNING kubernetes_asyncio.client.rest slow" in text
    assert capsys.readouterr().err == ""


def test_without_a_log_nothing_is_written_and_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    before = list(logging.getLogger().handlers)
    with writing(None):
        assert not log.isEnabledFor(logging.DEBUG)
        logging.getLogger("asyncio").error("unclosed")
    assert capsys.readouterr().err == ""
    assert logging.getLogger().handlers == before


def test_the_flag_goes_with_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.log"
    assert main(["get", "gangs", "--recording", str(PATHS["xid79"]), "--debug-log", str(path)]) == 0
    assert path.read_text().count("\n") == 1
    assert main(["get", "gangs", "--recording", str(PATHS["xid79"]), "--debug-log", str(path)]) == 2
    assert "a debug log never replaces a file" in capsys.readouterr().err
    assert main(["--debug-log", str(tmp_path / "b.log"), "replay", str(PATHS["xid79"])]) == 2
    assert "ends: the screens need a terminal" in (tmp_path / "b.log").read_text()


async def test_requests_streams_and_epochs_are_written(tmp_path: Path, known: str) -> None:
    with writing(str(tmp_path / "a.log")):
        async with rig() as r:
            r.credentials.token = known  # a server in the same process takes any
            r.faults.script("GET /api/v1/nodes/n", Answer(403, status_body(403, "Forbidden", f"no: {known}")))
            connection = await r.live()
            with pytest.raises(ApiError):
                await connection.transport.request("GET", "/api/v1/nodes/n", params={"x": "5"})
            Host(connection.transport).new_epoch(None)
    text = (tmp_path / "a.log").read_text()
    assert traces(text.encode(), [known]) == []
    assert re.search(r"DEBUG ktui.kube.journal GET /apis: 200, \d+ bytes, \d+ ms\n", text)
    assert re.search(r"GET /api/v1/pods\?.*watch=1.*: 200, \d+ bytes, CancelledError, \d+ ms\n", text)
    assert re.search(r"GET /api/v1/nodes/n\?x=5: 403, .*no: \[redacted\], \d+ ms\n", text)
    assert "stream of /api/v1/pods (all): watching" in text
    assert "back in time: epoch 1" in text


async def test_a_plugin_that_ran_is_written_without_what_it_wrote(tmp_path: Path, known: str) -> None:
    plugin = FakePlugin(tmp_path / "bin").install(reply("canary-token-of-plugin"), stderr="canary-words", exit=3)
    with writing(str(tmp_path / "a.log")):
        with pytest.raises(KtuiError):
            await run_plugin(plugin.settings(args=("--token", "canary-argument")), environ={})
        plugin.install(reply("canary-token-of-plugin"))
        await run_plugin(plugin.settings(), environ={})
    text = (tmp_path / "a.log").read_text()
    assert re.search(r'exec plug-in "fake-plugin": exit code 3, \d+ ms\n', text)
    assert re.search(r'exec plug-in "fake-plugin": exit code 0, \d+ ms\n', text)
    assert "canary" not in text

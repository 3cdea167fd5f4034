"""`ktui record`: without screens, until a limit, ctrl-c or the end of everything (G07)."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from ktui.cli import main, parser
from ktui.commands.live import LiveOpener
from ktui.kube.credentials import Credentials
from ktui.model.frame import Changed, Listed, Mark
from ktui.recording.output import Output
from ktui.recording.reader import Recording
from tests.unit.commands.test_live import KUBECONFIG
from tests.unit.kube.harness import Rig, pod, rig
from tests.unit.recording.test_reader import frames

PATIENCE = 60.0


async def started(r: Rig, file: Path, *flags: str) -> asyncio.subprocess.Process:
    config = file.with_name("config")
    config.write_text(KUBECONFIG.replace("https://127.0.0.1:1", r.server.url).replace("{token: t}", "{}"))
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "ktui", "record", str(file), "--kubeconfig", str(config), *flags),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


def seen(file: Path) -> tuple[set[str], set[str]]:
    """Names of pods that were listed, and that were added."""
    try:
        found = [f.frame for f in frames(Recording(file))]
    except Exception:  # noqa: BLE001 - nothing to be read yet
        return set(), set()
    listed = {o.name for f in found if isinstance(f, Listed) and f.source.kind == "Pod" for o in f.items}
    return listed, {f.object.name for f in found if isinstance(f, Changed) and f.type == "ADDED"}


async def until_seen(file: Path, listed: str, added: str = "") -> None:
    async with asyncio.timeout(PATIENCE):
        while listed not in seen(file)[0] or (added and added not in seen(file)[1]):
            await asyncio.sleep(0.05)


async def ended(process: asyncio.subprocess.Process) -> tuple[int | None, str]:
    async with asyncio.timeout(PATIENCE):
        _, stderr = await process.communicate()
    return process.returncode, stderr.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_recording_well(tmp_path: Path, number: int) -> None:
    file = tmp_path / "a.ktui.gz"
    async with rig(0) as r:
        r.server.create("Pod", pod("first"))
        process = await started(r, file, "--title", "a night")
        await until_seen(file, "first")
        r.server.create("Pod", pod("second"))
        await until_seen(file, "first", "second")
        process.send_signal(number)
        code, told = await ended(process)
    assert code == 0, told
    assert "ctrl-c ends it" in told
    assert "bytes" in told
    assert "Traceback" not in told
    recording = Recording(file)
    assert recording.header.title == "a night"
    assert recording.header.context == "prod"
    assert recording.header.server.git_version
    assert frames(recording)[-1].frame == Mark("the session ended")
    assert not recording.notes


@pytest.mark.parametrize("suffix", [".ktui", ".ktui.gz", ".ktui.zst"])
async def test_g07_killed_it_is_readable_to_the_last_whole_line(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a{suffix}"
    async with rig(0) as r:
        r.server.create("Pod", pod("first"))
        process = await started(r, file)
        await until_seen(file, "first")
        r.server.create("Pod", pod("second"))
        await until_seen(file, "first", "second")
        process.kill()
        await ended(process)
    assert seen(file) == ({"first"}, {"second"})
    assert file.stat().st_mode & 0o777 == 0o600


async def test_for_a_while(tmp_path: Path) -> None:
    file = tmp_path / "a.ktui.zst"
    async with rig(0) as r:
        code, told = await ended(await started(r, file, "--for", "500ms"))
    assert code == 0, told
    assert frames(Recording(file))[-1].frame == Mark("the session ended")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["there.ktui"], "exists already"),
        (["a.txt"], "name ends in"),
        (["a.ktui", "--for", "soon"], "--for 'soon' is not a duration"),
        (["a.ktui", "--size", "0"], "not a number from 1"),
    ],
)
def test_what_makes_no_sense_is_said_before_anything_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flags: list[str], said: str
) -> None:
    (tmp_path / "config").write_text(KUBECONFIG)
    (tmp_path / "there.ktui").write_text("precious")
    monkeypatch.chdir(tmp_path)
    assert main(["record", "--kubeconfig", "config", *flags]) == 2
    assert said in capsys.readouterr().err
    assert sorted(os.listdir(tmp_path)) == ["config", "there.ktui"]


async def test_what_the_screens_show_is_recorded_without_our_own_token_and_ends_with_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """G03, G13: the credentials in use are masked; a switch of the context ends the recording with a mark."""
    file, config = tmp_path / "a.ktui", tmp_path / "config"
    # The server speaks plain HTTP, over which a token of the kubeconfig would not even be looked at.
    monkeypatch.setattr(Credentials, "secrets", lambda _: frozenset({"canary-token-1234"}))
    async with rig(0) as r:
        r.server.create("Pod", pod("first"))
        said = "refused: canary-token-1234 (Y2FuYXJ5LXRva2VuLTEyMzQ=)"
        r.server.create("Event", {"metadata": {"name": "e", "namespace": "ml"}, "message": said})
        config.write_text(KUBECONFIG.replace("https://127.0.0.1:1", r.server.url).replace("{token: t}", "{}"))
        args = parser().parse_args(["--kubeconfig", str(config)])
        opener = LiveOpener(args, read_only=False, record=Output(file))
        session = await opener.open()
        again = await opener.open()
        assert session.tape is not None
        assert session.tape.recording
        assert again.tape is not None
        assert not again.tape.recording, "only the first session is recorded"
        running = asyncio.create_task(session.feed.run())
        async with asyncio.timeout(PATIENCE):
            while not session.cluster.synced("Pod", "Event"):
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert seen(file)[0] == {"first"}
    assert frames(Recording(file))[-1].frame == Mark("the session ended")
    content = file.read_text()
    assert "refused: [redacted] ([redacted])" in content
    assert "canary" not in content


def test_a_file_for_the_screens_goes_with_the_screens(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--record", "a.ktui", "get", "pods"]) == 2
    assert "ktui record FILE" in capsys.readouterr().err

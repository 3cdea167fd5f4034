"""The demo cluster's own process: it comes up, and it ends with the process that started it, however that ends."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from asyncio.subprocess import Process
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from ktui.debuglog import writing
from ktui.demo.process import DemoProcess, Play
from ktui.errors import KtuiError

PARENT = """
import asyncio
from ktui.demo.process import DemoProcess, Play

async def main():
    async with DemoProcess(Play()) as demo:
        print(demo.where.url, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


async def refuses(url: str) -> bool:
    async with aiohttp.ClientSession() as session:
        try:
            async with session.get(f"{url}/readyz"):
                return False
        except aiohttp.ClientConnectionError:
            return True


async def until_refused(url: str) -> None:
    deadline = time.monotonic() + 30
    while not await refuses(url):
        assert time.monotonic() < deadline, "it still listens"
        await asyncio.sleep(0.05)


async def test_it_lets_in_who_has_the_token_and_ends_with_its_context() -> None:
    async with DemoProcess(Play(size=300)) as demo:
        headers = {"Authorization": f"Bearer {demo.where.token}"}
        async with (
            aiohttp.ClientSession() as session,
            session.get(f"{demo.where.url}/api/v1/pods", headers=headers) as answer,
        ):
            assert answer.status == 200
            assert len((await answer.json())["items"]) >= 300
        async with aiohttp.ClientSession() as session, session.get(f"{demo.where.url}/api/v1/pods") as answer:
            assert answer.status == 401
    await until_refused(demo.where.url)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
async def test_it_ends_when_its_parent_is_killed(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        url = (await asyncio.to_thread(parent.stdout.readline)).decode().strip()
        assert not await refuses(url)
        parent.send_signal(number)
        await asyncio.to_thread(parent.wait)
        await until_refused(url)


async def test_that_it_ended_by_itself_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    start = asyncio.create_subprocess_exec

    async def noted(*program: str, **options: Any) -> Process:
        started.append(await start(*program, **options))
        return started[0]

    monkeypatch.setattr(asyncio, "create_subprocess_exec", noted)
    async with DemoProcess(Play()) as demo:
        started[0].kill()
        with pytest.raises(KtuiError, match="ended by itself: its process returned -9"):
            await demo.ended()


async def test_what_it_writes_when_it_fails_is_in_the_debug_log(tmp_path: Path) -> None:
    file = tmp_path / "debug.log"
    with writing(str(file)), pytest.raises(KtuiError, match="did not start: its process ended with 1"):
        async with DemoProcess(Play(release="1.2")):
            pass
    assert "the demo cluster's process says: KeyError: '1.2'" in file.read_text()


async def test_a_line_that_is_too_long_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nhead -c 300000 /dev/zero >&2\necho >&2\necho at last >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    caplog.set_level("DEBUG", "ktui.demo.process")
    with pytest.raises(KtuiError, match="its process ended with 3"):
        async with DemoProcess(Play()):
            pass
    assert "at last" in caplog.text


@pytest.mark.parametrize(
    ("python", "words"), [("/bin/false", "its process ended with 1"), ("/nowhere", "No such file or directory")]
)
async def test_that_it_cannot_start_is_said(monkeypatch: pytest.MonkeyPatch, python: str, words: str) -> None:
    monkeypatch.setattr(sys, "executable", python)
    with pytest.raises(KtuiError, match=f"did not start: {words}"):
        async with DemoProcess(Play()):
            pass

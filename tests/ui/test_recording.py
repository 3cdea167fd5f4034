"""Recording from the screens: the mark in the header, notes, the last minutes, and what is said when it ends (G06, G13)."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ktui.model.frame import Frame, Listed, Mark
from ktui.recording.reader import Recording
from ktui.ui.app import KtuiApp

from .screen import lacks, running, shows, wait_for
from .test_replay import ReplayOpener
from .world import NOW, ScriptedOpener, TapedOpener, changed, example, gang, phase, pod, source


def content(path: Path) -> list[Frame]:
    return [timed.frame for timed in Recording(path).frames()]


async def told(pilot: Pilot[int], text: str) -> None:
    """Until there is a notice with the text, however it is broken into lines."""
    await wait_for(pilot, lambda: any(text in notice.message for notice in pilot.app._notifications), text)


async def test_start_mark_and_stop(tmp_path: Path) -> None:
    path = tmp_path / "incident.ktui.gz"
    opener = TapedOpener(example())
    async with running(opener) as (app, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("R")
        await shows(pilot, "Record from now on", "secrets are masked", "ktui-prod-eu-")
        app.screen.query_one("#form-file", Input).value = str(tmp_path / "x.txt")
        await pilot.press("enter")
        await shows(pilot, "a recording's name")
        app.screen.query_one("#form-file", Input).value = str(path)
        await pilot.press("enter")
        await shows(pilot, "REC 0:00")
        opener.feed.moment = NOW + 65
        await shows(pilot, "REC 1:05")
        await pilot.press("N")
        await shows(pilot, "Mark this moment")
        await pilot.press(*"it fell", "enter")
        await told(pilot, "marked")
        await pilot.press("R")
        await lacks(pilot, "REC ")
        await told(pilot, " frames, ")
    found = content(path)
    assert found[-2:] == [Mark("it fell"), Mark("the recording was stopped")]
    assert {o.name for f in found if isinstance(f, Listed) and f.source.kind == "PodGroup" for o in f.items} == {
        "llm-train",
        "numa",
    }


async def test_a_file_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "there.ktui"
    there.write_text("precious")
    async with running(TapedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("R")
        await shows(pilot, "Record from now on")
        app.screen.query_one("#form-file", Input).value = str(there)
        await pilot.press("enter")
        await told(pilot, "exists already")
        await lacks(pilot, "REC ")
    assert there.read_text() == "precious"


async def test_the_last_minutes_are_saved_with_other_names(tmp_path: Path) -> None:
    path = tmp_path / "before.ktui"
    opener = TapedOpener(example())
    async with running(opener) as (app, pilot):
        await shows(pilot, "2 gangs")
        opener.feed.moment = NOW + 125
        opener.feed.give(changed("Pod", "MODIFIED", pod("web-0", namespace="prod", phase="Failed", version=2)))
        await pilot.press("L")
        await shows(pilot, "Save the last 2m5s", "anonymised")
        app.screen.query_one("#form-file", Input).value = str(path)
        await pilot.press("tab", "down", "enter")
        await told(pilot, "the last 2m5s are in")
    assert Recording(path).header.start == NOW
    assert "llm-train" not in path.read_text()
    assert "web-0" not in path.read_text()


async def test_g06_a_disk_that_is_full_is_told_and_the_screens_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opener = TapedOpener(example())
    async with running(opener, size=(160, 30)) as (_, pilot):
        await shows(pilot, "2 gangs")
        opener.tape.start(tmp_path / "a.ktui")
        await pilot.press("s")  # time stands: only a key has it drawn, and one for the cursor draws no header
        await shows(pilot, "REC ")
        write = os.write

        def full(file: int, data: bytes) -> int:
            if (file > 2 and b"kind" in bytes(data)) or b"path" in bytes(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return write(file, data)

        monkeypatch.setattr(os, "write", full)
        opener.feed.give(changed("Pod", "ADDED", pod("late", version=2)))
        await told(pilot, "No space left on device")
        await lacks(pilot, "REC ")
        await pilot.press("8")
        await shows(pilot, "late")


async def test_g13_a_switch_of_the_context_an_epoch_and_refusals_are_in_the_recording_and_on_its_replay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "all.ktui"
    opener = TapedOpener(example())
    async with running(opener, size=(160, 30)) as (_, pilot):
        await shows(pilot, "2 gangs")
        opener.tape.start(path)
        opener.feed.moment = NOW + 10
        opener.feed.give(phase("ResourceSlice", "no-access", "forbidden"))
        opener.feed.moment = NOW + 20
        opener.feed.give(Listed(source("PodGroup"), "7", (gang("numa", 2),), epoch=1))
        await shows(pilot, "4 of ?")
        opener.feed.moment = NOW + 30
        await pilot.press("c")
        await shows(pilot, "prod-us")
        await pilot.press("down", "enter")
        await told(pilot, "ended: the session ended (")
        await wait_for(pilot, lambda: opener.opened == ["", "prod-us"])
        assert not opener.tape.recording
    app = KtuiApp(ReplayOpener(path))
    async with app.run_test(size=(160, 30)) as pilot:
        await shows(pilot, "REPLAY", "of 0:30")
        await pilot.press("space", "9", "end")
        await shows(pilot, "the session ended", "the server's state of PodGroup went back in time")
        await shows(pilot, "not read any longer: forbidden")
        await pilot.press("left_curly_bracket")
        await shows(pilot, "0:20 of 0:30")
        await lacks(pilot, "the session ended")
        await pilot.press("comma", "3")
        await shows(pilot, "0:10 of 0:30", "no access to resourceslices")


async def test_leaving_with_a_recording_under_way_ends_it_whole(tmp_path: Path) -> None:
    path = tmp_path / "left.ktui"
    opener = TapedOpener(example())
    async with running(opener) as (app, pilot):
        await shows(pilot, "2 gangs")
        opener.tape.start(path)
        await pilot.press("q")
        await wait_for(pilot, lambda: app.return_code is not None)
    assert content(path)[-1] == Mark("the session ended")


async def test_a_recording_has_nothing_to_be_recorded() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("R", "N", "L")
        await pilot.pause()
        assert len(app.screen_stack) == 1

"""Looking back: the last minutes of a live session as a replay in its place, while it goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input

from ktui.model.frame import Changed
from ktui.recording import ring
from ktui.recording.reader import Recording
from ktui.ui.screens.main import MainScreen

from .screen import lacks, panes, running, shows, wait_for
from .test_recording import content, told
from .world import NOW, TapedOpener, changed, example, phase, pod


def happens(opener: TapedOpener, after: float, name: str) -> None:
    """A pod comes so many seconds after the start."""
    opener.feed.moment = NOW + after
    opener.feed.give(changed("Pod", "ADDED", pod(name, namespace="prod", version=2)))


async def live(pilot: Pilot[int]) -> None:
    await lacks(pilot, "THE PAST")


async def test_back_and_forth_in_the_past_and_return_to_what_happened_meanwhile() -> None:
    opener = TapedOpener(example())
    async with running(opener, size=(130, 30)) as (_, pilot):
        await pilot.press("8")
        await shows(pilot, "7 pods")
        happens(opener, 60, "late-1")
        happens(opener, 120, "late-2")
        opener.feed.moment = NOW + 180
        await shows(pilot, "9 pods")
        await pilot.press("B")
        await shows(pilot, "THE PAST, B returns", "paused", "3:00 of 3:00", "9 pods", "recorded")
        happens(opener, 200, "meanwhile")
        await pilot.press("left_square_bracket")
        await shows(pilot, "2:00 of 3:00", "late-2")
        await pilot.press("left_square_bracket", "comma")
        await shows(pilot, "0:50 of 3:00", "7 pods")
        await lacks(pilot, "late-1")
        await pilot.press("home")
        await shows(pilot, "0:00 of 3:00")
        await pilot.press("right_curly_bracket")
        await shows(pilot, "3:00 of 3:00", "9 pods")
        await lacks(pilot, "meanwhile")
        await pilot.press("B")
        await live(pilot)
        await shows(pilot, "10 pods", "meanwhile", "prod-eu")
        await pilot.press("B")
        await shows(pilot, "3:20 of 3:20", "10 pods")


async def test_esc_goes_back_one_thing_at_a_time_and_at_last_to_the_present() -> None:
    async with running(TapedOpener(example()), size=(130, 30)) as (app, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("B")
        await shows(pilot, "THE PAST", "llm-train")
        await pilot.press("enter")
        await wait_for(pilot, lambda: panes(app).opened)
        await pilot.press("escape")
        await wait_for(pilot, lambda: not panes(app).opened)
        await shows(pilot, "THE PAST")
        await pilot.press("escape")
        await live(pilot)


async def test_the_past_has_its_timeline_and_keeps_the_map() -> None:
    opener = TapedOpener(example())
    async with running(opener, size=(130, 30)) as (app, pilot):
        await pilot.press("3", "m")
        await wait_for(pilot, lambda: panes(app).on_map)
        opener.feed.moment = NOW + 30
        opener.feed.give(changed("Pod", "DELETED", pod("web-0", namespace="prod", node="cpu-node-0", version=2)))
        await pilot.press("B")
        await shows(pilot, "THE PAST", "gpu-node-1")
        assert panes(app).on_map
        await pilot.press("9")
        await shows(pilot, "deleted, was on cpu-node-0", "looked back")
        await pilot.press("home")
        await lacks(pilot, "deleted, was on cpu-node-0")


async def test_nothing_can_be_done_to_the_past_and_it_says_why() -> None:
    async with running(TapedOpener(example()), size=(130, 30)) as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "gpu-0")
        await pilot.press("B")
        await shows(pilot, "THE PAST", "gpu-0")
        for key in ("T", "U", "M", "Z"):
            app.clear_notifications()
            await pilot.press(key)
            await told(pilot, "this is the past: B returns to the present")
        assert len(app.screen_stack) == 1
        await pilot.press("question_mark")
        await shows(pilot, "Return from the past", "One step back", "Choose a context")
        await lacks(pilot, "Taint the device")
        await lacks(pilot, "Mark this moment")


async def test_what_is_looked_at_can_be_saved_though_it_is_forgotten_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring.Ring.__init__, "__defaults__", (600.0, 50))
    path = tmp_path / "past.ktui"
    opener = TapedOpener(example())
    async with running(opener, size=(130, 30)) as (app, pilot):
        await pilot.press("8")
        happens(opener, 10, "remembered")
        await shows(pilot, "8 pods")
        await pilot.press("B")
        await shows(pilot, "0:10 of 0:10")
        for number in range(200):
            happens(opener, 100 + number, f"later-{number}")
        await pilot.press("left_square_bracket")
        await shows(pilot, "0:00 of 0:10", "7 pods")
        await pilot.press("L")
        await shows(pilot, "Save the last 10s")
        app.screen.query_one("#form-file", Input).value = str(path)
        await pilot.press("enter")
        await told(pilot, "are in")
        await pilot.press("escape")
        await live(pilot)
        await shows(pilot, "208 pods")
    assert [f.object.name for f in content(path) if isinstance(f, Changed)] == ["remembered"]
    assert Recording(path).header.start == NOW


async def test_a_recording_goes_on_while_the_past_is_looked_at(tmp_path: Path) -> None:
    opener = TapedOpener(example())
    async with running(opener, size=(130, 30)) as (_, pilot):
        await shows(pilot, "2 gangs")
        opener.tape.start(tmp_path / "a.ktui")
        await pilot.press("B")
        await shows(pilot, "THE PAST", "REC ")
        happens(opener, 5, "meanwhile")
        await pilot.press("R")
        await told(pilot, " frames, ")
        await pilot.press("R")
        await lacks(pilot, "Record from now on")
    assert "meanwhile" in [f.object.name for f in content(tmp_path / "a.ktui") if isinstance(f, Changed)]


async def test_nothing_remembered_yet() -> None:
    async with running(TapedOpener()) as (_, pilot):
        await shows(pilot, "connecting")
        await pilot.press("B")
        await told(pilot, "nothing is remembered yet")
        await live(pilot)


async def test_another_context_ends_the_past() -> None:
    opener = TapedOpener(example())
    async with running(opener, size=(130, 30)) as (_, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("B")
        await shows(pilot, "THE PAST")
        await pilot.press("c")
        await shows(pilot, "prod-us")
        await pilot.press("down", "enter")
        await wait_for(pilot, lambda: opener.opened == ["", "prod-us"])
        await live(pilot)
        await shows(pilot, "2 gangs")
        happens(opener, 9, "of-the-new-one")
        await pilot.press("8")
        await shows(pilot, "of-the-new-one")


async def test_a_live_session_that_is_lost_meanwhile_is_told_of_and_the_past_stays() -> None:
    opener = TapedOpener(example())
    async with running(opener, size=(130, 30)) as (app, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("B")
        await shows(pilot, "THE PAST", "2 gangs")
        opener.feed.give(phase("PodGroup", "waiting", "connection refused"))
        assert isinstance(app.screen, MainScreen)
        app.screen.showing.show_failure("another cluster answers")
        await told(pilot, "of the live session: another cluster answers")
        await shows(pilot, "THE PAST", "2 gangs", "recorded")
        await pilot.press("B")
        await live(pilot)
        await shows(pilot, "another cluster answers", "2 gangs")


async def test_a_recording_has_no_past_of_its_own_and_says_that_nothing_can_be_done() -> None:
    from ktui.ui.app import KtuiApp
    from tests.recordings import PATHS

    from .test_replay import ReplayOpener

    app = KtuiApp(ReplayOpener(PATHS["xid79"]))
    async with app.run_test(size=(130, 30)) as pilot:
        await shows(pilot, "REPLAY")
        await pilot.press("B", "T")
        await told(pilot, "this is a recording: nothing can be done")
        await lacks(pilot, "THE PAST")

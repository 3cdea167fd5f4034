"""The triage on the screen: where one lands, and from where every row can be worked on."""

from __future__ import annotations

import pytest
from textual.pilot import Pilot

from ktui.model.frame import Frame
from ktui.ui.app import KtuiApp
from ktui.ui.screens.main import MainScreen
from tests.unit.builders import autoscaler, condition

from .screen import lacks, lines, running, shows, text, wait_for
from .world import ScriptedOpener, changed, degraded, everything_live, gang, phase, pod, pool, recorded

SIZE = (140, 30)
UNREAD = {
    "currentReplicas": 1,
    "conditions": [condition("ScalingActive", "False", "FailedGetExternalMetric", "no metric")],
}


def troubled() -> list[Frame]:
    """One of each: a gang that waits, one that runs, a tainted device, an autoscaler that reads no metric."""
    return everything_live(
        Pod=[pod(f"calm-{n}", gang="calm", node="node-1") for n in range(2)]
        + [pod("w", gang="waits", phase="Pending")],
        PodGroup=[gang("calm", 2), gang("waits", 1)],
        ResourceSlice=[pool("node-1", 4, tainted=0)],
        HorizontalPodAutoscaler=[autoscaler("chat", {"minReplicas": 1, "maxReplicas": 4}, UNREAD)],
    )


def main(app: KtuiApp) -> MainScreen:
    assert isinstance(app.screen, MainScreen)
    return app.screen


def under_cursor(app: KtuiApp) -> str:
    return next(line for line in lines(app) if line.startswith("▌"))


async def on_row(app: KtuiApp, pilot: Pilot[int], words: str) -> None:
    await wait_for(pilot, lambda: any(words in line for line in lines(app) if line.startswith("▌")), f"on {words}")


async def test_it_is_what_one_sees_first() -> None:
    async with running(ScriptedOpener(degraded()), SIZE, view="triage") as (app, pilot):
        await shows(pilot, "Gangs that need you", "2 of 3", "1 of 16", "1 of 1", "4 need you")
        await on_row(app, pilot, "llm-train")
        assert "llm-eval" not in text(app)


async def test_the_cursor_goes_from_part_to_part_and_never_stands_on_a_heading() -> None:
    async with running(ScriptedOpener(troubled()), SIZE, view="triage") as (app, pilot):
        await shows(pilot, "3 need you")
        seen = [under_cursor(app)]
        for key in ("j", "j", "j"):
            await pilot.press(key)
            await pilot.pause()
            seen.append(under_cursor(app))
        names = ["waits", "gpu-0", "chat", "chat"]
        assert all(name in line for name, line in zip(names, seen, strict=True)), seen
        await pilot.press("g")
        await on_row(app, pilot, "waits")
        await pilot.press("s", "S")  # another order, and that reversed: the parts stay where they are
        places = [next(n for n, line in enumerate(lines(app)) if name in line) for name in ("waits", "gpu-0", "chat")]
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("down", "title"), [(0, "PodGroup"), (1, "gpu.example.com/node-1/gpu-0"), (2, "Autoscaler ml/chat")]
)
async def test_enter_opens_the_detail_that_its_own_view_has(down: int, title: str) -> None:
    async with running(ScriptedOpener(troubled()), SIZE, view="triage") as (_, pilot):
        await shows(pilot, "3 need you")
        await pilot.press(*["j"] * down, "enter")
        await shows(pilot, title if down else "Pods (1)")


async def test_what_can_be_done_is_what_can_be_done_to_the_row() -> None:
    async with running(ScriptedOpener(troubled()), SIZE, view="triage") as (app, pilot):
        await shows(pilot, "3 need you")
        found = []
        for _ in range(3):
            ids = {command.id for command in main(app).menu.available()}
            found.append((main(app).menu.situation().row_of, "act.taint" in ids, "act.replicas" in ids))
            await pilot.press("j")
        assert found == [("gangs", True, False), ("devices", True, False), ("autoscalers", False, True)]


async def test_yaml_and_events_are_of_the_object_behind_the_row() -> None:
    async with running(ScriptedOpener(troubled()), SIZE, view="triage") as (_, pilot):
        await shows(pilot, "3 need you")
        await pilot.press("y")
        await shows(pilot, "PodGroup research/waits")
        await pilot.press("escape", "j", "y")
        await shows(pilot, "ResourceSlice node-1-slice")
        await pilot.press("escape", "j", "y")
        await shows(pilot, "HorizontalPodAutoscaler ml/chat")
        await pilot.press("escape", "e")
        await shows(pilot, "Events of ml chat")


async def test_a_pool_opens_its_first_slice_and_can_only_be_looked_at() -> None:
    async with running(ScriptedOpener(recorded("pending", 18)), SIZE, view="triage") as (app, pilot):
        await shows(pilot, "16 need you")
        await pilot.press("G")
        await on_row(app, pilot, "incomplete")
        assert main(app).menu.situation().row_of == ""
        await pilot.press("y")
        await shows(pilot, "ResourceSlice node-9")


async def test_a_row_comes_with_the_trouble_and_goes_with_it_and_the_cursor_stays_with_its_own() -> None:
    opener = ScriptedOpener(troubled())
    async with running(opener, SIZE, view="triage") as (app, pilot):
        await shows(pilot, "3 need you")
        await pilot.press("j")
        await on_row(app, pilot, "gpu-0")
        opener.feed.give(changed("Pod", "DELETED", pod("calm-0", gang="calm", node="node-1")))
        await shows(pilot, "4 need you", "Degraded", "1 of 2", "2 of 2")
        await on_row(app, pilot, "gpu-0")
        again = pod("calm-0", gang="calm", node="node-1", version=9, uid="another")
        opener.feed.give(changed("Pod", "ADDED", again))
        await lacks(pilot, "Degraded")
        await shows(pilot, "3 need you")
        await on_row(app, pilot, "gpu-0")


async def test_the_filter_looks_in_all_parts() -> None:
    async with running(ScriptedOpener(troubled()), SIZE, view="triage") as (app, pilot):
        await shows(pilot, "3 need you")
        await pilot.press("slash", *"metric", "enter")
        await shows(pilot, "1 of 3 need you")
        await on_row(app, pilot, "chat")
        await lacks(pilot, "waits")


async def test_that_all_is_well_is_only_said_when_everything_is_read() -> None:
    calm = everything_live(Pod=[pod("p", gang="g", node="n")], PodGroup=[gang("g", 1)])
    opener = ScriptedOpener([*calm, phase("HorizontalPodAutoscaler", "waiting", "503")])
    async with running(opener, SIZE, view="triage") as (app, pilot):
        await shows(pilot, "Nothing needed you when it was last read.", "503")
        opener.feed.give(phase("HorizontalPodAutoscaler", "watching"))
        await shows(pilot, "Nothing needs you.", "1 gang, 0 devices, 0 autoscalers")
    partly = [frame for frame in calm if frame.source.kind != "ResourceSlice"]  # type: ignore[union-attr]
    async with running(ScriptedOpener([*partly, phase("ResourceSlice", "no-access")]), SIZE, view="triage") as (
        app,
        pilot,
    ):
        await shows(pilot, "Not everything is read yet.", "no access to resourceslices")
        assert "Nothing needs you" not in text(app)


async def test_a_heading_says_what_is_not_read_of_its_part() -> None:
    frames = [frame for frame in troubled() if frame.source.kind != "HorizontalPodAutoscaler"]  # type: ignore[union-attr]
    async with running(ScriptedOpener([*frames, phase("HorizontalPodAutoscaler", "listing")]), SIZE, view="triage") as (
        _,
        pilot,
    ):
        await shows(pilot, "2 need you", "loading horizontalpodautoscalers")


async def test_ascii_draws_ascii_only() -> None:
    async with running(ScriptedOpener(recorded("pending", 18)), (80, 24), view="triage", ascii_only=True) as (
        app,
        pilot,
    ):
        await shows(pilot, "- Gangs that need you -", "> o research", ". research", "x ")
        assert text(app).isascii()


async def test_a_click_on_a_heading_moves_nothing() -> None:
    async with running(ScriptedOpener(troubled()), SIZE, view="triage") as (app, pilot):
        await shows(pilot, "3 need you")
        heading = next(n for n, line in enumerate(lines(app)) if "Devices ─" in line)
        await pilot.click(offset=(30, heading))
        await on_row(app, pilot, "waits")
        await pilot.click(offset=(30, heading + 1))
        await on_row(app, pilot, "gpu-0")

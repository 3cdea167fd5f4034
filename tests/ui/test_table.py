"""The table draws what looks different and nothing else, whatever its size."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from textual.geometry import Region
from textual.pilot import Pilot

from ktui.ui.app import KtuiApp
from ktui.ui.main import flusher
from ktui.ui.screens.main import MainScreen
from ktui.ui.widgets.table import RowTable

from .screen import lacks, lines, running, shows, wait_for
from .world import NOW, ScriptedOpener, changed, everything_live, pod


def table(app: KtuiApp) -> RowTable:
    return app.screen.query_one(RowTable)


class Drawn:
    """Screen lines of the table that were drawn since the last look."""

    def __init__(self, app: KtuiApp) -> None:
        self.regions: list[Region] = []
        widget = table(app)
        refresh = widget.refresh

        def record(*regions: Region, **options: bool) -> object:
            self.regions += regions or (widget.region.reset_offset,)
            return refresh(*regions, **options)

        widget.refresh = record  # type: ignore[method-assign, assignment]

    def take(self) -> set[int]:
        found = {y for region in self.regions for y in range(region.y, region.bottom)}
        self.regions.clear()
        return found


async def settled(pilot: Pilot[int], condition: Callable[[], bool]) -> None:
    await wait_for(pilot, condition)
    await pilot.pause(0.25)


async def test_one_change_draws_one_line() -> None:
    opener = ScriptedOpener(everything_live(Pod=[pod(f"p-{n:03}", age=86_400) for n in range(200)]))
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "200 pods")
        await pilot.pause(0.3)
        drawn = Drawn(app)
        opener.feed.give(changed("Pod", "MODIFIED", pod("p-003", phase="Failed", version=101, age=86_400)))
        await settled(pilot, lambda: "Failed" in lines(app)[7])
        assert drawn.take() == {4}
        opener.feed.give(changed("Pod", "MODIFIED", pod("p-150", phase="Failed", version=101, age=86_400)))
        opener.feed.give(changed("Pod", "MODIFIED", pod("p-004", version=101, age=86_400)))
        await pilot.pause(0.3)
        assert drawn.take() == set(), "a row off the screen, and a row that looks the same"


async def test_moving_draws_two_lines() -> None:
    opener = ScriptedOpener(everything_live(Pod=[pod(f"p-{n:03}", age=86_400) for n in range(200)]))
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "200 pods")
        await pilot.pause(0.3)
        drawn = Drawn(app)
        await pilot.press("j")
        await settled(pilot, lambda: lines(app)[5].startswith("▌"))
        assert drawn.take() == {1, 2}


async def test_time_alone_draws_only_ages_that_read_differently() -> None:
    opener = ScriptedOpener(everything_live(Pod=[pod("new", age=30), pod("old", age=86_400 * 3)]))
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "30s")
        await pilot.pause(0.3)
        drawn = Drawn(app)
        opener.feed.moment = NOW + 1
        await pilot.pause(0.3)
        assert drawn.take() == set()
        opener.feed.moment = NOW + 10
        await shows(pilot, "40s")
        await pilot.pause(0.25)
        assert drawn.take() == {1}


async def test_paging_to_every_row_and_back() -> None:
    count = 500
    opener = ScriptedOpener(everything_live(Pod=[pod(f"p-{n:04}") for n in range(count)]))
    async with running(opener, (100, 24)) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "500 pods")
        seen: set[str] = set()
        for key in ["g"] + ["pagedown"] * (count // 18 + 1):
            await pilot.press(key)
            await pilot.pause()
            seen |= {word for line in lines(app) for word in line.split() if word.startswith("p-")}
        assert len(seen) == count
        assert "p-0499" in next(line for line in lines(app) if line.startswith("▌"))
        await pilot.press("home")
        await wait_for(pilot, lambda: "p-0000" in lines(app)[4], "the top")
        await pilot.press("ctrl+d", "ctrl+u", "k", "up", "ctrl+u")
        await wait_for(pilot, lambda: lines(app)[4].startswith("▌"), "the cursor at the top")


async def test_the_first_row_takes_the_place_of_all_that_stood_there() -> None:
    opener = ScriptedOpener(everything_live())
    async with running(opener) as (_, pilot):
        await pilot.press("8")
        await shows(pilot, "No pods.")
        opener.feed.give(changed("Pod", "ADDED", pod("first")))
        await shows(pilot, "first", "1 pod")
        await lacks(pilot, "No pods.")


async def test_a_change_costs_the_same_in_a_large_table() -> None:
    """Processor time of a change and a key, 200 against 40,000 rows: far from proportional."""

    async def cost(count: int) -> float:
        opener = ScriptedOpener(everything_live(Pod=[pod(f"p-{n:06}", age=86_400) for n in range(count)]))
        async with running(opener) as (app, pilot):
            await pilot.press("8")
            await shows(pilot, f"{count:,} pods")
            await wait_for(pilot, lambda: not app.screen.decks.model.behind, "all rows")  # type: ignore[attr-defined]
            started = time.process_time()
            for round_ in range(100):
                number = round_ * (count // 100)
                row = pod(f"p-{number:06}", phase="Failed", version=200 + round_, age=86_400)
                opener.feed.give(changed("Pod", "MODIFIED", row))
                app.screen.flusher.flush()  # type: ignore[attr-defined]
                table(app).move("down" if round_ % 2 else "bottom")
            return time.process_time() - started

    small = await cost(200)
    large = await cost(40_000)
    assert large < 20 * small, (small, large)


async def test_what_is_left_of_a_view_is_found_out_by_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often somebody asks for it: several would take turns with all else, and with each other."""
    monkeypatch.setattr(flusher, "_WORK", 0.0)
    opener = ScriptedOpener(everything_live(Pod=[pod(f"web-{number}") for number in range(5_000)]))
    async with running(opener) as (app, pilot):
        await shows(pilot, "No gangs")
        assert isinstance(app.screen, MainScreen)
        app.screen.showing.show_view("pods")
        for text in ("w", "we", "web"):
            app.screen.arrangement.filter_by(text)
        model = app.screen.decks.model
        assert model is not None
        assert model.behind
        assert [worker.group for worker in app.workers].count("rows") == 1
        await wait_for(pilot, lambda: not model.behind, "all rows are looked at")
        assert len(model.index) == 5_000

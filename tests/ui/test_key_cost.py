"""What a key costs, counted and not timed: lines drawn, calls, and the slices of other work that it waits for."""

from __future__ import annotations

import asyncio
import cProfile
import pstats
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest
from textual._compositor import CompositorUpdate
from textual.pilot import Pilot
from textual.screen import Screen

from ktui.turns import TURNS
from ktui.ui.app import KtuiApp
from ktui.ui.canvas import Canvas
from ktui.ui.driver import draw
from ktui.ui.widgets.bar import Bar
from ktui.ui.widgets.table import RowTable

from .screen import lacks, lines, running, shows, wait_for
from .world import ScriptedOpener, degraded, everything_live, gang, pod

SIZE = (200, 50)
SLICE = 0.002  # seconds of other work without a turn for keys


def opener(pods: int) -> ScriptedOpener:
    gangs = range(pods // 8)
    return ScriptedOpener(
        everything_live(
            Pod=[pod(f"gang-{n // 8:05}-{n % 8}", gang=f"gang-{n // 8:05}") for n in range(pods)],
            PodGroup=[gang(f"gang-{n:05}", 8) for n in gangs],
        )
    )


def cursor(app: KtuiApp) -> int:
    return next(y for y, line in enumerate(lines(app)) if line.startswith("▌"))


async def press(pilot: Pilot[int], key: str) -> None:
    """Until its answer is drawn, and nothing else is left to do."""
    app = pilot.app
    assert isinstance(app, KtuiApp)
    before = cursor(app)
    await pilot.press(key)
    await wait_for(pilot, lambda: cursor(app) != before, key)


@contextmanager
def counted(kind: type, method: str) -> Iterator[list[object]]:
    """The calls, by their first argument."""
    calls: list[object] = []
    original = getattr(kind, method)

    def count(self: object, *arguments: object, **named: object) -> object:
        calls.append(arguments[0] if arguments else None)
        return original(self, *arguments, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, method, count)
        yield calls


async def test_a_cursor_key_draws_two_lines_and_no_bar() -> None:
    async with running(opener(160), SIZE, view="pods") as (app, pilot):
        await shows(pilot, "160 pods")
        await press(pilot, "j")
        with counted(RowTable, "render_line") as rows, counted(Bar, "render_line") as bars:
            before = cursor(app)
            await press(pilot, "j")
            after = cursor(app)
        top = app.screen.query_one(RowTable).region.y
        assert sorted(set(rows)) == [before - top, after - top]  # type: ignore[type-var]
        assert len(rows) == 2
        assert bars == []


async def test_a_cursor_key_looks_at_each_line_once() -> None:
    """And it says nothing anew that it cannot change: no header, no headings, no footer."""
    import ktui.ui.bars
    from ktui.ui.lines import Lines

    async with running(opener(160), SIZE, view="pods") as (app, pilot):
        await shows(pilot, "160 pods")
        await press(pilot, "j")
        page = app.screen.query_one(RowTable).size.height - 1
        with counted(Lines, "shown") as looked_at, pytest.MonkeyPatch.context() as patch:
            for name in ("header", "headings", "footer", "tabs"):
                patch.setattr(ktui.ui.bars, name, partial(pytest.fail, name))
            await press(pilot, "j")
        assert len(looked_at) == page + 2, "all lines, to compare them, and the two that are drawn"


async def test_a_cursor_key_costs_the_same_in_a_large_cluster() -> None:
    found = []
    for pods in (160, 4_000):
        async with running(opener(pods), SIZE, view="pods") as (app, pilot):
            await shows(pilot, f"{pods:,} pods")
            await wait_for(pilot, lambda app=app: "preparing" not in "\n".join(lines(app)))  # type: ignore[misc]
            await press(pilot, "j")
            found.append(min([await _calls(app, key) for key in "jkjkjk"]))
    small, large = found
    assert large <= small * 1.05 + 50


async def _calls(app: KtuiApp, key: str) -> int:
    """Of all that the loop does from a key until its answer is drawn."""
    from textual.events import Key

    drawn = asyncio.Event()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "post_display_hook", drawn.set)
        profile = cProfile.Profile()
        app.post_message(Key(key, key))
        profile.enable()
        await drawn.wait()
        profile.disable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # missing in the stubs


async def _slices(app: KtuiApp, key: str, give_way: Callable[[], Awaitable[None]]) -> int:
    """How many slices of other work are done from a key until its answer is drawn."""
    from textual.events import Key

    drawn, done = asyncio.Event(), 0

    async def work() -> None:
        nonlocal done
        while not drawn.is_set():
            until = time.perf_counter() + SLICE
            while time.perf_counter() < until:
                pass
            done += 1
            await give_way()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(app, "post_display_hook", drawn.set)
        working = asyncio.create_task(work())
        await asyncio.sleep(0)
        before = done
        TURNS.key_came()
        app.post_message(Key(key, key))
        await drawn.wait()
        slices = done - before
        TURNS.key_answered()
        await working
    return slices


async def test_a_key_is_answered_before_long_work_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ktui.turns._LONGEST", 20.0)

    async def give_turns() -> None:
        await asyncio.sleep(0)

    async with running(opener(160), SIZE, view="pods") as (app, pilot):
        await shows(pilot, "160 pods")
        await press(pilot, "j")
        await asyncio.sleep(0.05)  # Textual draws sixty times a second
        turn_by_turn = await _slices(app, "j", give_turns)
        await asyncio.sleep(0.05)
        first = await _slices(app, "k", TURNS.give_way)
        assert first <= 1
        assert turn_by_turn > first


async def test_a_detail_is_right_in_the_first_frame_that_has_it() -> None:
    """Widgets are told of a new size only after the frame in which they have it; lines of old widths would be sent, and again."""
    async with running(ScriptedOpener(degraded().frames), SIZE, view="pods") as (app, pilot):
        await shows(pilot, "25 pods")
        await pilot.press("enter")
        await shows(pilot, "Containers")
        await pilot.press("escape")
        await lacks(pilot, "Containers")
        app.refresh()
        sizes: list[int] = []
        canvas = Canvas()
        canvas.resize(*SIZE)
        display = KtuiApp._display

        def shown(self: KtuiApp, screen: Screen[None], update: object) -> None:
            display(self, screen, update)
            if isinstance(update, CompositorUpdate):
                draw(canvas, update)
                sizes.append(len(canvas.changes()))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(KtuiApp, "_display", shown)
            await wait_for(pilot, lambda: bool(sizes), "all of the screen")
            sizes.clear()
            await pilot.press("enter")
            await shows(pilot, "Containers", "esc back")
            await pilot.pause(0.2)
        assert max(sizes) > 2_000
        assert max(sizes) > 0.9 * sum(sizes)

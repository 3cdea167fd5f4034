"""What a session leaves behind when another context is opened: nothing, whatever was looked at, and whatever was under way."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Iterator

import pytest
from textual.pilot import Pilot

from ktui.cluster.state import Cluster
from ktui.errors import KtuiError
from ktui.ui import session as session_module
from ktui.ui.screens.main import MainScreen

from .screen import lacks, running, shows, wait_for
from .test_usage import MeasuringOpener
from .world import ScriptedOpener, TapedOpener, example, listed, phase, pod


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No collector that would find by and by what is old: in the program it looks at nothing of that."""
    gc.disable()
    yield
    gc.enable()


async def leave(pilot: Pilot[int], opener: ScriptedOpener) -> None:
    """Open another context; the cluster of the session before is to be freed."""
    cluster: weakref.ref[Cluster] = weakref.ref(opener.sessions.pop().cluster)
    opener.feeds.clear()
    await pilot.press("c")
    await shows(pilot, "staging")
    await pilot.press(*"us", "enter")
    await wait_for(pilot, lambda: cluster() is None, "the session before is gone")


@pytest.mark.usefixtures("uncollected")
@pytest.mark.parametrize(
    "keys", [("8",), ("3", "m"), ("2", "w"), ("7", "right", "down"), ("8", "s", "f"), ("2", "/", "n"), ("2", "space")]
)
async def test_whatever_was_looked_at_is_freed(keys: tuple[str, ...]) -> None:
    opener = ScriptedOpener(example())
    async with running(opener, (140, 30)) as (_, pilot):
        await shows(pilot, "llm-train")
        await pilot.press(*keys)
        await pilot.pause()
        if "/" in keys:
            await pilot.press("enter")
        await leave(pilot, opener)


@pytest.mark.usefixtures("uncollected")
async def test_whoever_was_asked_for_figures_is_freed() -> None:
    opener = MeasuringOpener()
    async with running(opener, (200, 30)) as (_, pilot):
        await pilot.press("8")
        await shows(pilot, "train-0")
        await leave(pilot, opener)


@pytest.mark.usefixtures("uncollected")
async def test_a_past_that_was_looked_at_is_freed() -> None:
    opener = TapedOpener(example())
    async with running(opener, (140, 30)) as (_, pilot):
        await shows(pilot, "llm-train")
        await pilot.press("B")
        await shows(pilot, "THE PAST")
        await leave(pilot, opener)


class Nobodys:
    """It is never the turn of long work, which goes on waiting for it."""

    def __init__(self) -> None:
        self._turn = asyncio.Event()

    async def give_way(self) -> None:
        await self._turn.wait()


@pytest.mark.usefixtures("uncollected")
async def test_a_list_that_is_being_taken_in_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    opener = ScriptedOpener(example())
    async with running(opener, (140, 30)) as (_, pilot):
        await shows(pilot, "llm-train")
        turns = Nobodys()
        monkeypatch.setattr(session_module, "TURNS", turns)
        for version in range(1, 9):
            opener.feed.give(listed("Pod", *(pod(f"late-{number}", version=version) for number in range(2_000))))
        assert opener.sessions[-1].busy
        await leave(pilot, opener)


@pytest.mark.usefixtures("uncollected")
async def test_a_past_that_is_left_is_freed() -> None:
    """It is a second cluster as large as the live one."""
    opener = TapedOpener(example())
    async with running(opener, (140, 30)) as (app, pilot):
        await shows(pilot, "llm-train")
        await pilot.press("B")
        await shows(pilot, "THE PAST")
        assert isinstance(app.screen, MainScreen)
        assert app.screen.decks.session is not None
        past = weakref.ref(app.screen.decks.session.cluster)
        await pilot.press("B")
        await lacks(pilot, "THE PAST")
        await wait_for(pilot, lambda: past() is None, "the past is gone")


async def test_nobody_looks_for_rows_of_a_session_that_is_over() -> None:
    """A hundred times a second, for ever, where the next one cannot be opened."""
    opener = ScriptedOpener([phase("Pod", "listing")])
    async with running(opener, (140, 30)) as (app, pilot):
        await shows(pilot, "loading")
        assert isinstance(app.screen, MainScreen)
        flusher = app.screen.flusher
        assert flusher.awaits_rows
        opener.failure = KtuiError("no route to host")
        await pilot.press("c")
        await shows(pilot, "staging")
        await pilot.press(*"us", "enter")
        await shows(pilot, "no route to host")
        assert not flusher.awaits_rows

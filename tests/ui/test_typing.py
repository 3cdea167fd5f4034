"""Keys that come faster than the screens: each gets to where the key before it has moved the focus."""

from __future__ import annotations

import asyncio

from textual.events import Key
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from ktui.model.resourceslice import DeviceTaint
from ktui.ui.app import KtuiApp
from ktui.ui.screens.forms import TaintForm
from ktui.ui.session import Session

from .screen import lacks, running, shows, wait_for
from .test_journeys import cursor_line
from .world import ScriptedOpener, example


def burst(pilot: Pilot[int], *keys: str) -> None:
    """All at once, as a terminal gives what was pasted or typed ahead. A key with a name, or text."""
    for key in keys:
        for character in (key,) if key in ("enter", "escape", "down", "tab") else key:
            name = _character_to_key(character) if len(character) == 1 else character
            pilot.app.post_message(Key(name, character if len(character) == 1 else None))


async def test_a_filter_is_typed_in_one_go_with_its_key() -> None:
    """q would quit, s sort, f leave only problems."""
    async with running(ScriptedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        burst(pilot, "/qsfn", "enter")
        await shows(pilot, "filter qsfn", "0 of 2 gangs")
        await lacks(pilot, "problems only")
        assert app.screen.query_one("#filter", Input).value == "qsfn"
        assert app.focused is app.screen.query_one("#table")
        assert app.return_code is None


async def test_keys_behind_enter_are_not_part_of_the_filter() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        burst(pilot, "8/llm-train", "enter", "jj")
        await shows(pilot, "filter llm-train", "4 of ")
        await wait_for(pilot, lambda: cursor_line(app).split()[2] == "llm-train-2", "the cursor on the third row")
        assert app.screen.query_one("#filter", Input).value == "llm-train"
        burst(pilot, "/-1", "enter", "escape", "/x", "enter")
        await shows(pilot, "filter x")


async def test_another_view_and_its_filter_in_one_go() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        burst(pilot, "8/web-0")
        await shows(pilot, "filter web-0", "1 of ")
        assert app.focused is app.screen.query_one("#filter")


class LateOpener(ScriptedOpener):
    """Opens when it is told to."""

    gate: asyncio.Event

    async def open(self, context: str = "") -> Session:
        await self.gate.wait()
        return await super().open(context)


async def test_a_filter_that_is_typed_before_there_are_rows_goes_on_when_they_come() -> None:
    opener = LateOpener(example())
    opener.gate = asyncio.Event()
    app = KtuiApp(opener)
    async with app.run_test(size=(100, 30)) as pilot:
        await shows(pilot, "connecting")
        burst(pilot, "/num")
        await wait_for(pilot, lambda: app.screen.query_one("#filter", Input).value == "num")
        opener.gate.set()
        await shows(pilot, "1 of 2 need you")
        burst(pilot, "a")
        await shows(pilot, "filter numa")
        assert app.screen.query_one("#filter", Input).value == "numa"


async def test_a_name_is_chosen_in_one_go_with_the_key_that_asks_for_it() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        burst(pilot, "8nprod", "enter")
        await shows(pilot, "namespace prod", "1 of ")
        assert app.focused is app.screen.query_one("#table")


async def test_a_form_is_filled_in_in_one_go() -> None:
    """What is chosen with an arrow is chosen, though the tab behind it moves the focus on."""
    async with running(ScriptedOpener(example())) as (app, pilot):
        await shows(pilot, "2 gangs")
        form = TaintForm("gpu.example.com/node-1/gpu-0", "oncall")
        app.push_screen(form)
        await wait_for(pilot, lambda: app.focused is not None and app.focused.id == "form-key", "the form")
        burst(pilot, "example.com/xid", "tab", "79", "tab", "down", "tab", "Xid 79", "enter")
        await wait_for(pilot, lambda: form.taint is not None, "what was filled in")
        assert form.taint == DeviceTaint(key="example.com/xid", value="79", effect="NoExecute")
        assert form.reason == "Xid 79"

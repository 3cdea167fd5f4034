"""Dialogs: Cancel is the default, what must be typed is compared exactly, one answer counts."""

from __future__ import annotations

import pytest
from msgspec import structs
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widgets import Button

from ktui.ui.app import KtuiApp
from ktui.ui.preview import Preview
from ktui.ui.screens.dialog import ActionDialog
from ktui.ui.screens.picker import Picker
from ktui.ui.widgets.pager import Pager
from ktui.views.base import Cell
from tests.unit.ui.payloads import PAYLOADS

from .screen import lacks, lines, running, shows, wait_for
from .world import ScriptedOpener, example

PREVIEW = Preview(
    title="Taint gpu.example.com/gpu-node-1/gpu-0",
    who="context prod-eu · 10.0.0.1:6443 · oncall",
    lines=((Cell("effect  ", "dim"), Cell("NoExecute", "bad")), (Cell("1 pod is deleted now"),)),
    button="Evict 1 pod",
    warnings=("gang llm-train falls to 7 of 8",),
    body='{\n  "kind": "DeviceTaintRule"\n}',
)
TYPED = structs.replace(PREVIEW, confirm="llm-train")


class Answers(list[object]):
    """What the dialog was dismissed with."""


async def ask(app: KtuiApp, pilot: Pilot[int], preview: Preview) -> Answers:
    answers = Answers()
    await shows(pilot, "2 gangs")
    app.push_screen(ActionDialog(preview), answers.append)
    await shows(pilot, "Cancel")
    return answers


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["enter"], False),  # Cancel has the focus
        (["n"], False),
        (["escape"], False),
        (["y"], True),
        (["tab", "enter"], True),
        (["right", "enter"], True),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
async def test_answers(keys: list[str], answer: bool) -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        answers = await ask(app, pilot, PREVIEW)
        await shows(
            pilot, "Taint gpu.example.com", "context prod-eu", "! gang llm-train falls to 7 of 8", "Evict 1 pod"
        )
        await pilot.press(*keys)
        await wait_for(pilot, lambda: bool(answers), "an answer")
        assert answers == [answer]


async def test_a_repeated_key_answers_once() -> None:
    """A11."""
    async with running(ScriptedOpener(example())) as (app, pilot):
        answers = await ask(app, pilot, PREVIEW)
        await pilot.press("y", "y", "enter", "enter")
        await lacks(pilot, "Cancel")
        assert answers == [True]


@pytest.mark.parametrize("typed", ["", "llm-trai", "LLM-train", "llm-train ", "llm-tr\u0430in"])
async def test_what_is_typed_is_compared_exactly(typed: str) -> None:
    """X05: a look-alike is not the name."""
    async with running(ScriptedOpener(example())) as (app, pilot):
        answers = await ask(app, pilot, TYPED)
        await shows(pilot, "type  llm-train  to confirm:")
        app.screen.query_one("#dialog-typed").value = typed  # type: ignore[attr-defined]
        await pilot.pause()
        assert app.screen.query_one("#confirm", Button).disabled
        await pilot.press("y")
        assert answers == []
        await pilot.press("escape")
        assert answers == [False]


async def test_the_right_word_enables_the_button_and_enter_in_the_field_does_not_press_it() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        answers = await ask(app, pilot, TYPED)
        await pilot.press(*"llm-train")
        await wait_for(pilot, lambda: not app.screen.query_one("#confirm", Button).disabled, "the button")
        await pilot.press("enter")
        await shows(pilot, "enter again:  Evict 1 pod")
        assert answers == []
        await pilot.press("enter")
        await wait_for(pilot, lambda: answers == [True], "the answer")


async def test_it_is_as_high_as_its_text_in_its_first_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """The way its lines are broken follows from a width that it does not have before."""
    heights: list[int] = []
    drawn = Pager.render_line

    def note(pager: Pager, y: int) -> Strip:
        heights.append(pager.size.height)
        return drawn(pager, y)

    async with running(ScriptedOpener(example()), (150, 50)) as (app, pilot):
        await shows(pilot, "2 gangs")
        monkeypatch.setattr(Pager, "render_line", note)
        long = (Cell("research/embed-sweep-1-mhv6s is deleted, " * 4),)
        await ask(app, pilot, structs.replace(TYPED, lines=(*TYPED.lines, long)))
        await shows(pilot, "Evict 1 pod")
        assert set(heights) == {app.screen.query_one(Pager).size.height}


async def test_the_request_body_is_shown_on_demand() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        await ask(app, pilot, PREVIEW)
        await pilot.press("b")
        await shows(pilot, '"kind": "DeviceTaintRule"')
        await pilot.press("b")
        await lacks(pilot, "DeviceTaintRule")


@pytest.mark.parametrize("payload", PAYLOADS[::7])
async def test_hostile_text_in_a_dialog(payload: str) -> None:
    """X01."""
    preview = Preview(
        title=payload,
        who=payload,
        lines=((Cell(payload),),),
        button=payload,
        warnings=(payload,),
        confirm=payload,
        body=payload,
    )
    async with running(ScriptedOpener(example())) as (app, pilot):
        answers = await ask(app, pilot, preview)
        await pilot.press("b")
        await pilot.pause()
        assert not any(ord(c) < 32 or 127 <= ord(c) < 160 for line in lines(app) for c in line)
        await pilot.press("escape")
        assert answers == [False]


async def test_two_thousand_contexts_are_narrowed_by_typing() -> None:
    """K14, K15."""
    names = [f"cluster-{number}" for number in range(2000)] + ["../../etc/x", "[/]", "\x1b[31m", ""]
    async with running(ScriptedOpener(example())) as (app, pilot):
        chosen: list[str | None] = []
        await shows(pilot, "2 gangs")
        app.push_screen(Picker("Context", names, current="cluster-7"), chosen.append)
        await shows(pilot, "cluster-7")
        await pilot.press(*"1999")
        await lacks(pilot, "cluster-7")
        await pilot.press("enter")
        await wait_for(pilot, lambda: chosen == ["cluster-1999"], "the choice")


async def test_a_picker_without_a_match_chooses_nothing() -> None:
    async with running(ScriptedOpener(example())) as (app, pilot):
        chosen: list[str | None] = []
        await shows(pilot, "2 gangs")
        app.push_screen(Picker("Namespace", ["a", "[/]"]), chosen.append)
        await shows(pilot, "[/]")
        await pilot.press(*"nothing", "enter")
        await wait_for(pilot, lambda: chosen == [None], "nothing")

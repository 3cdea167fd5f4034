"""X01-X08: hostile text in every field that a cluster or its users control reaches the terminal as glyphs only."""

from __future__ import annotations

import unicodedata

import pytest

from ktui.errors import KtuiError
from ktui.model.frame import Frame
from ktui.model.podgroup import PodGroup
from ktui.model.resourceslice import Attribute, Device, DeviceTaint, Pool, ResourceSlice, SliceSpec
from ktui.ui.app import KtuiApp
from ktui.ui.safe import safe
from ktui.ui.session import Target
from tests.unit.ui.payloads import PAYLOADS

from .screen import lines, running, shows, wait_for
from .world import ScriptedOpener, everything_live, gang, meta, phase, pod

BATCH = 14


def hostile(payloads: tuple[str, ...]) -> list[Frame]:
    """A cluster whose names, states, nodes, devices, taints and messages are payloads."""
    devices = tuple(
        Device(
            name=payload,
            attributes={"productName": Attribute(string=payload)},
            taints=(DeviceTaint(key=payload, value=payload, effect="NoExecute"),),
        )
        for payload in payloads
    )
    groups: list[PodGroup] = [gang(payload, 2, namespace=payload) for payload in payloads]
    frames = everything_live(
        PodGroup=groups,
        Pod=[
            pod(payload, namespace=payload, gang=payload, phase="Pending", node=payload, reason=payload)
            for payload in payloads
        ],
        ResourceSlice=[
            ResourceSlice(
                metadata=meta(payload),
                spec=SliceSpec(
                    driver=payload,
                    node_name=payload,
                    pool=Pool(name=payload, generation=1, resource_slice_count=1),
                    devices=devices,
                ),
            )
            for payload in payloads
        ],
    )
    return [*frames, phase("Pod", "quiet", payloads[0])]


def assert_harmless(app: KtuiApp, width: int) -> None:
    for line in lines(app):
        bad = [c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")]
        assert bad == [], repr(line)
    for strip in app.screen._compositor.render_strips():
        assert strip.cell_length == width
        for segment in strip:
            assert segment.style is None or not segment.style.link
            assert segment.style is None or "@click" not in segment.style.meta


@pytest.mark.parametrize("start", range(0, len(PAYLOADS), BATCH))
async def test_every_view_draws_glyphs_only(start: int) -> None:
    payloads = PAYLOADS[start : start + BATCH]
    target = Target(context=payloads[0], server=payloads[-1], user=payloads[-1], impersonated=payloads[0])
    async with running(ScriptedOpener(hostile(payloads), target), (150, 40)) as (app, pilot):
        await shows(pilot, f"{len(payloads)} gangs")
        for keys in (
            ["enter"],
            ["3"],
            ["m"],
            ["m", "8"],
            ["y"],
            ["escape", "n"],
            ["escape", "5"],
            ["1", "enter"],
            ["escape", "4", "slash", "x"],
        ):
            await pilot.press(*keys)
            await pilot.pause()
            assert_harmless(app, 150)
        assert app.return_code is None, "nothing in the text acted"


async def test_the_visible_form_is_there() -> None:
    async with running(ScriptedOpener(hostile(("\x1b]52;c;AAAA\x07", "[/]", "gpu\u202e0"))), (150, 40)) as (_, pilot):
        await shows(pilot, "␛]52;c;AAAA␇", "[/]", "gpu‹U+202E›0")


async def test_hostile_errors_contexts_and_notices() -> None:
    """X10, X11."""
    opener = ScriptedOpener(hostile(("a",)))
    opener.failure = KtuiError("proxy said \x1b]52;c;AAAA\x07[/] and more")
    async with running(opener, (100, 24)) as (app, pilot):
        await shows(pilot, "proxy said ␛]52;c;AAAA␇[/] and more")
        assert_harmless(app, 100)


async def test_a_pasted_megabyte_is_only_a_filter() -> None:
    """X13."""
    async with running(ScriptedOpener(hostile(("a", "b")))) as (app, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("slash")
        app.screen.query_one("#filter").value = "(a+)+$[" * 150_000  # type: ignore[attr-defined]
        await shows(pilot, "0 of 2 gangs")
        assert_harmless(app, 100)
        await pilot.press("escape")
        await shows(pilot, "2 gangs")


async def test_ten_megabytes_in_one_cell() -> None:
    """X09: the row and its detail are drawn, cut, with what is missing counted."""
    huge = "x" * 10_000_000
    frames = everything_live(Pod=[pod("a", phase="Failed", reason=huge)])
    async with running(ScriptedOpener(frames), (140, 30)) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "xxx…")
        await pilot.press("enter")
        await wait_for(pilot, lambda: any("│" in line for line in lines(app)), "the detail")
        assert_harmless(app, 140)


def test_payloads_are_visible_after_safe() -> None:
    assert all(safe(payload).strip() for payload in PAYLOADS)

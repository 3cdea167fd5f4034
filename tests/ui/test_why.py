"""`w`: why the gang or the pod under the cursor waits, and where the evidence leads."""

from __future__ import annotations

import unicodedata

import pytest
from textual.pilot import Pilot

from ktui.model.frame import Changed
from ktui.recording.reader import Recording
from ktui.ui.app import KtuiApp
from tests.scenarios import files
from tests.unit.ui.payloads import PAYLOADS

from .screen import lacks, lines, panes, running, shows, text
from .world import Scene, ScriptedOpener, everything_live, gang, pod, recorded, source

WIDE, NARROW = (120, 40), (80, 24)


def pending() -> Scene:
    """A gang for each cause."""
    return recorded("pending", 18)


def scenario(name: str) -> Scene:
    """The cluster of a scenario as it was recorded."""
    recording = Recording(files.recording_of(name))
    return Scene([timed.frame for timed in recording.frames()], recording.header.start)


def keys(typed: str) -> list[str]:
    """The keys that type a text."""
    return [{"-": "minus", " ": "space"}.get(character, character) for character in typed]


async def at_gang(pilot: Pilot[int], name: str) -> None:
    """The cursor on a gang."""
    await pilot.press("2", "slash", *keys(name), "enter")
    await shows(pilot, f"filter {name}")


async def test_the_sentence_first_then_the_funnel_and_what_would_help() -> None:
    async with running(ScriptedOpener(pending()), WIDE) as (app, pilot):
        await at_gang(pilot, "numa")
        await pilot.press("w")
        await shows(pilot, "gang research/numa", "no node has 3 free devices with the same numaNode", "would help")
        shown = text(app)
        for part in (
            "DeviceConstraint · 2s · tried",
            "− 4  research/healthy",
            "scheduler says",
            "evidence",
            "2 pods × 3",
        ):
            assert part in shown, part
        stops = [line for line in lines(app) if "◀ stops here" in line]
        assert len(stops) == 1
        assert "usable together" in stops[0]
        bars = {line.count("█") for line in lines(app) if "published" in line or "free  " in line}
        assert len(bars) == 2, "a longer bar for what is published than for what is free"
        assert "▌" in shown, "the table stands beside it"


async def test_the_whole_screen_where_it_is_narrow_and_back() -> None:
    async with running(ScriptedOpener(pending()), NARROW) as (app, pilot):
        await at_gang(pilot, "tainted")
        await pilot.press("w")
        await shows(pilot, "gang research/tainted", "stops here")
        assert "▌" not in text(app)
        await pilot.press("G")
        await shows(pilot, "DeviceTaintRule maintenance")
        await pilot.press("escape")
        await lacks(pilot, "gang research/tainted")
        await shows(pilot, "▌")


async def test_w_again_closes_it() -> None:
    async with running(ScriptedOpener(pending()), WIDE) as (_, pilot):
        await at_gang(pilot, "numa")
        await pilot.press("w")
        await shows(pilot, "gang research/numa")
        await pilot.press("w")
        await lacks(pilot, "gang research/numa")


async def test_it_follows_the_cursor_and_other_views_have_their_own_detail() -> None:
    async with running(ScriptedOpener(pending()), WIDE) as (_, pilot):
        await pilot.press("2")
        await shows(pilot, "15 gangs")
        await pilot.press("w")
        await shows(pilot, "gang research/")
        before = next(line for line in lines(pilot.app) if "gang research/" in line)  # type: ignore[arg-type]
        await pilot.press("j")
        await lacks(pilot, before.partition("gang")[2])
        await pilot.press("4")
        await shows(pilot, "claims", "Requests")
        await lacks(pilot, "gang research/")


async def test_it_follows_what_changes() -> None:
    """A device is untainted, and the gang that waits for it has a place."""
    opener = ScriptedOpener(pending())
    async with running(opener, WIDE) as (_, pilot):
        await at_gang(pilot, "tainted")
        await pilot.press("w")
        await shows(pilot, "2 tainted example.com/maintenance: needs 2 devices, none is free")
        cluster = opener.sessions[-1].cluster
        rule = cluster.stores["DeviceTaintRule"].objects["", "maintenance"]
        opener.feed.give(Changed(source("DeviceTaintRule"), "DELETED", rule))
        await shows(pilot, "there is a place for it now")
        await lacks(pilot, "stops here")


async def test_a_pod_outside_gangs_and_one_that_waits_with_its_gang() -> None:
    async with running(ScriptedOpener(scenario("single-pods")), WIDE) as (_, pilot):
        await pilot.press("8", "slash", *"perch", "enter", "w")
        await shows(pilot, "pod weser/perch", "NotEnoughNodeResources", "not enough memory")
        await pilot.press("w", "enter")
        await shows(pilot, "Why it waits")
    async with running(ScriptedOpener(pending()), WIDE) as (_, pilot):
        await pilot.press("8", "slash", *keys("numa-0"), "enter", "enter")
        await shows(pilot, "with its gang")
        await pilot.press("w")
        await shows(pilot, "gang research/numa")


@pytest.mark.parametrize(
    ("gang_name", "choice", "shown"),
    [
        ("tainted", "DeviceTaintRule", ("maintenance", "1 taint")),
        ("too-big", "PodGroup", ("healthy", "Pods (4)")),
        ("numa", "ResourceClaim", ("Claim research/numa-0-gpu",)),
        ("stale-pool", "ResourceSlice", ("gpu.example.com/node-9/gpu-0",)),
        ("cpu-hog", "Node", ("gpu.example.com/node-",)),
        ("numa", "Pod r", ("Pod research/numa-0",)),
    ],
)
async def test_enter_goes_to_what_it_rests_on(gang_name: str, choice: str, shown: tuple[str, ...]) -> None:
    async with running(ScriptedOpener(pending()), WIDE) as (_, pilot):
        await at_gang(pilot, gang_name)
        await pilot.press("w")
        await shows(pilot, f"gang research/{gang_name}")
        await pilot.press("enter")
        await shows(pilot, "Go to")
        await pilot.press(*keys(choice), "enter")
        await lacks(pilot, "Go to")
        await shows(pilot, *shown)


async def test_w_means_nothing_where_nothing_waits() -> None:
    async with running(ScriptedOpener(pending()), WIDE) as (app, pilot):
        await pilot.press("3")
        await shows(pilot, "20 devices")
        await pilot.press("w")
        assert not panes(app).why
        assert "w why" not in text(app)


async def test_in_ascii() -> None:
    async with running(ScriptedOpener(pending()), WIDE, ascii_only=True) as (app, pilot):
        await at_gang(pilot, "numa")
        await pilot.press("w")
        await shows(pilot, "< stops here", "####", "2 pods x 3", "- 4  research/healthy")
        assert text(app).isascii()


async def test_X01_hostile_names_are_drawn_as_glyphs() -> None:
    frames = everything_live(
        PodGroup=[gang(payload, 2, namespace=payload) for payload in PAYLOADS[:12]],
        Pod=[
            pod(payload, namespace=payload, gang=payload, phase="Pending", reason=payload) for payload in PAYLOADS[:12]
        ],
    )
    async with running(ScriptedOpener(frames), WIDE) as (app, pilot):
        await pilot.press("2", "w")
        await shows(pilot, "WaitingForPods")
        for _ in range(12):
            await pilot.press("j")
            assert_harmless(app)


def assert_harmless(app: KtuiApp) -> None:
    for line in lines(app):
        assert [c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")] == [], repr(
            line
        )

"""What a person does with the screens, from the first frame to leaving."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

from ktui.cluster.moment import Moment
from ktui.errors import KtuiError
from ktui.model.frame import Frame, Listed, Source, StreamState
from ktui.model.kinds import KINDS
from ktui.ui import app as app_module
from ktui.ui.session import Target
from ktui.ui.theme import DARK

from .screen import lacks, lines, running, shows, text, wait_for
from .world import ScriptedOpener, changed, degraded, everything_live, example, gang, listed, phase, pod, pool

_NOT_RECORDED = {"Namespace", "CompositePodGroup"}  # could not be read; is alpha
_RECORDED = sum(not kind.program for kind in KINDS.values() if kind.name not in _NOT_RECORDED)


async def test_look_around() -> None:
    async with running(ScriptedOpener(degraded())) as (_app, pilot):
        await shows(
            pilot,
            "prod-eu · v1.37.2 · oncall · all namespaces",
            f"● live {_RECORDED} of {_RECORDED}",
        )
        await pilot.press("2")
        await shows(pilot, "llm-eval", "4 of 4", "llm-train", "7 of 8")
        await pilot.press("8")
        await shows(pilot, "25 pods", "llm-big-0-jtpn5")
        await pilot.press("3")
        await shows(pilot, "16 devices", "example.com/xid")
        await pilot.press("m")
        await shows(pilot, "node-1", "✖ ■ │ ■ ■", "■ used")
        await pilot.press("j", "enter")
        await shows(pilot, "4 of 16 devices", "filter node-1")
        await pilot.press("escape")
        await shows(pilot, "16 devices")
        await lacks(pilot, "4 of 16")


@pytest.mark.parametrize(("frames", "wanted"), [(example(), "llm-train"), (everything_live(), "No gangs")])
async def test_what_there_is_to_look_at_is_drawn_when_it_comes(
    monkeypatch: pytest.MonkeyPatch, frames: list[Frame], wanted: str
) -> None:
    """Who has nothing to look at does not wait until it is time to look again, which here it never is."""
    monkeypatch.setattr(app_module, "_FLUSHES", 1e-6)
    monkeypatch.setattr(app_module, "_FLUSHES_REMOTE", 1e-6)
    opener = ScriptedOpener([])
    async with running(opener) as (_, pilot):
        await pilot.pause(0.2)  # nothing comes for a while
        for frame in frames:
            opener.feed.give(frame)
        await shows(pilot, wanted)


async def test_rows_change_come_and_go_and_the_cursor_stays_on_its_row() -> None:
    opener = ScriptedOpener(example())
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "7 pods")
        await pilot.press("j", "j")
        await wait_for(pilot, lambda: cursor_line(app).split()[2] == "llm-train-1", "the cursor on llm-train-1")
        opener.feed.give(changed("Pod", "ADDED", pod("aaa", namespace="aaa")))
        await shows(pilot, "8 pods")
        await wait_for(pilot, lambda: "llm-train-1" in cursor_line(app), "the cursor still on llm-train-1")
        opener.feed.give(changed("Pod", "MODIFIED", pod("llm-train-1", gang="llm-train", phase="Failed", version=2)))
        await wait_for(pilot, lambda: "Failed" in cursor_line(app), "the change under the cursor")
        opener.feed.give(changed("Pod", "DELETED", pod("llm-train-1", gang="llm-train", version=3)))
        await shows(pilot, "7 pods")
        await wait_for(pilot, lambda: "llm-train-2" in cursor_line(app), "the cursor on the row that moved up")


def cursor_line(app: object) -> str:
    return next((line for line in lines(app) if line.startswith("▌")), "▌ - - -")  # type: ignore[arg-type]


async def test_a_mark_is_of_an_object_not_of_its_name() -> None:
    opener = ScriptedOpener(example())
    async with running(opener) as (_, pilot):
        await pilot.press("8")
        await shows(pilot, "7 pods")
        await pilot.press("space")
        await shows(pilot, "1 marked", "✓")
        opener.feed.give(changed("Pod", "MODIFIED", pod("web-0", namespace="prod", version=2)))
        await shows(pilot, "1 marked")
        opener.feed.give(listed("Pod", pod("web-0", namespace="prod", uid="another", version=200)))
        await lacks(pilot, "1 marked")


async def test_filter_is_live_kept_and_dropped() -> None:
    async with running(ScriptedOpener(degraded())) as (_, pilot):
        await pilot.press("8")
        await shows(pilot, "25 pods")
        await pilot.press("slash", *"eval")
        await shows(pilot, "4 of 25 pods", "filter eval")
        await pilot.press("enter")
        await pilot.press("j")
        await shows(pilot, "4 of 25 pods")
        await pilot.press("escape")
        await shows(pilot, "25 pods")
        await pilot.press("slash", "(", "[", "+")
        await shows(pilot, "0 of 25 pods", "None of 25 pods passes the filter.")
        await pilot.press("escape")
        await lacks(pilot, "0 of 25")


async def test_only_problems() -> None:
    async with running(ScriptedOpener(degraded())) as (_, pilot):
        await pilot.press("2")
        await shows(pilot, "3 gangs")
        await pilot.press("f")
        await shows(pilot, "2 of 3 gangs", "problems only", "llm-train", "llm-big")
        await lacks(pilot, "llm-eval")


async def test_one_namespace() -> None:
    async with running(ScriptedOpener(example())) as (_, pilot):
        await shows(pilot, "2 gangs")
        await pilot.press("8", "n")
        await shows(pilot, "all namespaces", "type to narrow")
        await pilot.press(*"pro", "enter")
        await shows(pilot, "1 of 7 pods", "namespace prod", "web-0")


async def test_sorting_by_key_and_by_click() -> None:
    opener = ScriptedOpener(example())
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "NAMESPAC▲")
        await pilot.press("s")
        await shows(pilot, "POD▲")
        await pilot.press("S")
        await shows(pilot, "POD▼")
        await pilot.click("#table", offset=(4, 0))
        await shows(pilot, "NAMESPAC▲")
        await pilot.click("#table", offset=(4, 0))
        await shows(pilot, "NAMESPAC▼")
        await pilot.click("#table", offset=(4, 3))
        await wait_for(pilot, lambda: lines(app)[6].startswith("▌"), "the cursor where it was clicked")


async def test_the_detail_stands_beside_where_there_is_room_and_alone_where_there_is_not() -> None:
    async with running(ScriptedOpener(degraded()), (140, 40)) as (_app, pilot):
        await pilot.press("2")
        await shows(pilot, "7 of 8")
        await pilot.press("g", "enter")
        await shows(pilot, "│", "Pods (8)", "GANG")
        await pilot.press("G")
        await shows(pilot, "Pods (4)")
        await pilot.resize_terminal(80, 24)
        await lacks(pilot, "NAMESPACE")
        await shows(pilot, "Pods (4)", "esc back")
        await pilot.press("escape")
        await shows(pilot, "NAMESPACE")
        await lacks(pilot, "Pods (4)")


async def test_yaml_help_and_palette_open_and_close() -> None:
    async with running(ScriptedOpener(degraded()), (120, 40)) as (_app, pilot):
        await pilot.press("2")
        await shows(pilot, "7 of 8")
        await pilot.press("g", "y")
        await shows(pilot, "PodGroup ml2/llm-train-756696b945", "minCount: 8")
        await pilot.press("escape", "question_mark")
        await shows(pilot, "Keys of this screen", "Filter rows by text")
        await pilot.press("escape", "colon")
        await shows(pilot, "Choose a namespace")
        await pilot.press(*"taints")
        await lacks(pilot, "Choose a namespace")
        await pilot.press("enter")
        await shows(pilot, "1 taint")


async def test_events_of_a_row() -> None:
    async with running(ScriptedOpener(degraded()), (120, 40)) as (_app, pilot):
        await pilot.press("8")
        await shows(pilot, "25 pods")
        await pilot.press("slash", *"llm-train-0", "enter")
        await shows(pilot, "1 of 25 pods")
        await pilot.press("e")
        await shows(pilot, "Events of ml2 llm-train-0", "FailedScheduling", "cannot allocate all claims")
        await pilot.press("escape")
        await lacks(pilot, "Events of")


async def test_every_theme_draws() -> None:
    opener = ScriptedOpener(degraded())
    async with running(opener) as (app, pilot):
        await shows(pilot, "llm-train")
        seen = set()
        for _ in range(4):
            seen.add(app.theme)
            await pilot.press("ctrl+t")
            await shows(pilot, "llm-train")
        assert seen == {"dark", "light", "colorblind", "ansi"}


async def test_ascii_draws_ascii_only() -> None:
    frames = [*example(), changed("Pod", "ADDED", pod("日本", namespace="é"))]
    async with running(ScriptedOpener(frames), (130, 30), ascii_only=True) as (app, pilot):
        for key in ("8", "enter", "3", "m", "question_mark", "escape", "n"):
            await pilot.press(key)
            await wait_for(pilot, lambda: text(app).isascii(), "ASCII only")
        await shows(pilot, "all namespaces")


async def test_another_context_shows_nothing_of_the_one_before() -> None:
    """W52, A20: the rows, marks and the detail of the old session are gone before the new one is open."""
    opener = ScriptedOpener(example())
    async with running(opener) as (app, pilot):
        await shows(pilot, "llm-train")
        first = opener.feed
        opener.frames = everything_live(PodGroup=[gang("other", 1)])
        opener.target = Target(context="prod-us")
        await pilot.press("c")
        await shows(pilot, "staging")
        await pilot.press(*"us", "enter")
        await shows(pilot, "prod-us", "other")
        assert opener.opened == ["", "prod-us"]
        first.give(changed("Pod", "ADDED", pod("late", gang="late")))
        await pilot.press("8")
        await shows(pilot, "No pods.")
        assert "late" not in text(app)
        assert "llm-train" not in text(app)


@pytest.mark.parametrize("reachable", [True, False])
async def test_another_context_frees_the_session_before(reachable: bool) -> None:
    """Without a collector that would find it by and by: of what is old it looks at nothing."""
    opener = ScriptedOpener(example())
    async with running(opener) as (_, pilot):
        await shows(pilot, "llm-train")
        await pilot.press("2", "8", "3")
        await shows(pilot, "gpu-node-1")
        gc.disable()
        try:
            there = weakref.ref(opener.sessions.pop().cluster)
            opener.feeds.clear()
            opener.failure = None if reachable else KtuiError("the context prod-us has no cluster")
            await pilot.press("c")
            await shows(pilot, "staging")
            await pilot.press(*"us", "enter")
            await wait_for(pilot, lambda: there() is None, "the session before is gone")
        finally:
            gc.enable()


async def test_a_cluster_that_cannot_be_opened_says_why_and_is_tried_again() -> None:
    """L01."""
    opener = ScriptedOpener(example())
    opener.failure = KtuiError("no route to host 10.0.0.1: is the VPN up?")
    async with running(opener) as (_, pilot):
        await shows(pilot, "no route to host 10.0.0.1: is the VPN up?", "ctrl+r tries again")
        opener.failure = None
        await pilot.press("ctrl+r")
        await shows(pilot, "Gangs that need you", "numa")


async def test_a_context_that_cannot_be_opened_leaves_nothing_of_the_one_before_and_is_the_one_tried_again() -> None:
    """W52: rows of one cluster under the trouble of another are a wrong answer, and so is going back unasked."""
    opener = ScriptedOpener(example())
    async with running(opener, (140, 30)) as (app, pilot):
        await shows(pilot, "llm-train")
        await pilot.press("enter")
        await shows(pilot, "Pods (2)")
        opener.failure = KtuiError("the context prod-us has no cluster")
        await pilot.press("c")
        await shows(pilot, "staging")
        await pilot.press(*"us", "enter")
        await shows(pilot, "the context prod-us has no cluster", "ctrl+r tries again")
        assert lines(app)[0].split() == ["prod-us"]
        for word in ("llm-train", "prod-eu", "live", "gangs "):
            await lacks(pilot, word)
        for key in ("m", "enter", "y", "T", "s", "n", "3", "escape"):
            await pilot.press(key)
        opener.failure, opener.target = None, Target(context="prod-us")
        await pilot.press("ctrl+r")
        await shows(pilot, "16 devices", "prod-us ·")  # the view that was asked for meanwhile
        assert opener.opened == ["", "prod-us", "prod-us"]


async def test_ctrl_r_tells_the_feed() -> None:
    opener = ScriptedOpener(degraded())
    async with running(opener) as (_, pilot):
        await shows(pilot, "llm-train")
        await pilot.press("ctrl+r")
        await wait_for(pilot, lambda: opener.feed.retries == 1)


async def test_going_back_in_a_recording_does_not_lose_the_place() -> None:
    opener = ScriptedOpener(example())
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "7 pods")
        await pilot.press("G")
        await wait_for(pilot, lambda: "numa-1" in cursor_line(app), "the cursor on the last row")
        there = Moment()
        for frame in everything_live(Pod=[pod("numa-1", gang="numa"), pod("zzz")]):
            there.take(frame)
        opener.feed.travel(there)
        await shows(pilot, "2 pods", "zzz")
        await wait_for(pilot, lambda: "numa-1" in cursor_line(app), "the cursor on the same pod")


async def test_keys_of_the_settings() -> None:
    opener = ScriptedOpener(example())
    async with running(opener, keys={"row.yaml": "v", "view.pods": "0"}) as (_, pilot):
        await shows(pilot, "llm-train", "v YAML")
        await pilot.press("0")
        await shows(pilot, "7 pods")
        await pilot.press("v")
        await shows(pilot, "kind: Pod")


@pytest.mark.parametrize(
    ("target", "words", "alarming"),
    [
        (Target(context="prod"), "prod", False),
        (Target(context="prod", insecure=True), "INSECURE · prod", True),
        (Target(context="prod", impersonated="viewer"), "AS viewer · prod", True),
        (Target(context="prod", read_only=True), "READ-ONLY · prod", True),
    ],
)
async def test_the_header_is_red_when_care_is_needed(target: Target, words: str, alarming: bool) -> None:
    async with running(ScriptedOpener(example(), target)) as (app, pilot):
        await shows(pilot, words, "llm-train")
        first = app.screen._compositor.render_strips()[0]
        grounds = {segment.style.bgcolor.name for segment in first if segment.style and segment.style.bgcolor}
        assert (grounds == {str(DARK.error)}) == alarming


async def test_a_stalled_terminal_holds_updates_back_and_loses_none() -> None:
    opener = ScriptedOpener(example())
    async with running(opener) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "7 pods")
        screen = app.screen
        slow = True
        screen.flusher.output_is_slow = lambda: slow  # type: ignore[attr-defined]
        opener.feed.give(changed("Pod", "ADDED", pod("late")))
        await pilot.pause(0.5)
        assert "late" not in text(app)
        slow = False
        await shows(pilot, "8 pods", "late")


async def test_leaving() -> None:
    opener = ScriptedOpener(degraded())
    async with running(opener) as (app, pilot):
        await shows(pilot, "llm-train")
        await pilot.press("q")
        await wait_for(pilot, lambda: not app._running or app._exit, "leaving")


async def test_phase_words_reach_the_screen() -> None:
    opener = ScriptedOpener()
    async with running(opener) as (_, pilot):
        await shows(pilot, "connecting")
        opener.feed.give(phase("Pod", "listing"))
        await shows(pilot, "loading pods")
        opener.feed.give(phase("Pod", "waiting", "429 from 10.0.0.1", until=opener.feed.moment + 7))
        await shows(pilot, "waiting 7s for pods: 429 from 10.0.0.1")
        opener.feed.moment += 3
        await shows(pilot, "waiting 4s for pods")


async def test_sorting_goes_through_the_columns_there_is_room_for() -> None:
    async with running(ScriptedOpener(example()), (40, 24)) as (app, pilot):
        await pilot.press("8")
        await shows(pilot, "7 pods")
        seen = []
        for _ in range(6):
            await pilot.press("s")
            await pilot.pause(0.1)
            seen.append("▲" in lines(app)[3])
        assert all(seen)


async def test_rows_follow_what_can_be_read() -> None:
    """A kind that turns out not to be served changes what rows of other kinds say, though no object changed."""
    opener = ScriptedOpener(
        [
            listed("Pod", pod("a", gang="g", node="n")),
            *(listed(kind) for kind in KINDS if kind not in ("Pod", "PodGroup", "ResourceSlice", "DeviceTaintRule")),
            listed("ResourceSlice", pool("gpu-node-0", 4)),
            *(phase(kind, "listing") for kind in ("PodGroup", "DeviceTaintRule")),
        ]
    )
    async with running(opener, (140, 30)) as (_, pilot):
        await shows(pilot, "Unknown", "podgroups are not read")
        opener.feed.give(phase("PodGroup", "absent"))
        await lacks(pilot, "Unknown")
        await pilot.press("3")
        await shows(pilot, "unknown", "taint rules cannot be")
        await pilot.press("m")
        await shows(pilot, "? ? │ ? ?", "unusable or unknown")
        opener.feed.give(phase("DeviceTaintRule", "absent"))
        await shows(pilot, "□ □ │ □ □")
        await pilot.press("m")
        await shows(pilot, "free")


async def test_a_tenant_reads_which_namespaces_are_shown() -> None:
    own = Source("Pod", "/api/v1/namespaces/ml/pods", "ml")
    opener = ScriptedOpener([phase("Pod", "no-access"), StreamState(own, "watching"), Listed(own, "1", ())])
    async with running(opener) as (app, pilot):
        await shows(pilot, "oncall · ml")
        assert "all namespaces" not in lines(app)[0]


async def test_trouble_is_readable_whole_at_80_columns_and_nothing_is_counted_before_it_was_read() -> None:
    trouble = "client-certificate of the user cannot be read: no such file " + "/very/long" * 8
    async with running(ScriptedOpener([phase("Pod", "waiting", trouble)]), (80, 24)) as (app, pilot):
        await shows(pilot, "waiting for pods")
        await wait_for(pilot, lambda: trouble.replace(" ", "") in text(app).replace("\n", "").replace(" ", ""))
        assert "0 gangs" not in text(app)
        await pilot.press("slash", "x", "enter")
        await shows(pilot, "filter x")


@pytest.mark.parametrize("marks", [{}, {"insecure": True}, {"read_only": True, "impersonated": "viewer"}])
@pytest.mark.parametrize("columns", [72, 80, 120])
async def test_the_context_is_on_the_screen_however_long_its_name(marks: dict[str, Any], columns: int) -> None:
    """Which cluster it is must be readable before a write to it is confirmed; in an ARN the end says it."""
    context = "arn:aws:eks:eu-west-1:123456789012:cluster/llm-prod"
    async with running(ScriptedOpener(example(), Target(context=context, **marks)), (columns, 24)) as (app, pilot):
        await shows(pilot, "llm-train")
        head = lines(app)[0]
        assert "cluster/llm-prod" in head
        assert "live" in head
        assert all(
            mark in head for mark, given in (("INSECURE", "insecure"), ("READ-ONLY", "read_only")) if given in marks
        )


async def test_all_tabs_are_there_at_80_columns() -> None:
    async with running(ScriptedOpener(example()), (80, 24)) as (app, pilot):
        await shows(pilot, "llm-train", "1 Triage", "6 HPAs", "9 Time")
        assert len(lines(app)[1]) <= 80
    async with running(ScriptedOpener(example()), (120, 24)) as (_app, pilot):
        await shows(pilot, "6 Autoscalers", "9 Timeline")

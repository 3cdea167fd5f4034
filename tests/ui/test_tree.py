"""Workloads as a tree: what is unfolded, what folding does, and where enter leads."""

from __future__ import annotations

from ktui.model.frame import Source, StreamState
from ktui.ui.app import KtuiApp
from tests.unit import builders as b

from .screen import lacks, lines, running, shows, wait_for
from .treeworld import JOBSET, JOBSETS, NAMESPACE, trees
from .world import ScriptedOpener, changed

SIZE = (120, 40)


def cursor(app: KtuiApp) -> str:
    return next((line for line in lines(app) if line.startswith("▌")), "")


async def test_what_is_in_trouble_is_unfolded_and_the_rest_is_not() -> None:
    """Issue 6, item 1."""
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (_app, pilot):
        await shows(
            pilot, "▾ JobSet/pretrain", "  ▾ Job/pretrain-main", "    ▾ Workload/pretrain-main-5d7f", "3 workloads"
        )
        await shows(pilot, "      ▾ Composite/pretrain", "        ▾ Composite/pretrain-r1")
        await shows(pilot, "          ▾ PodGroup/pretrain-r1-workers", "            ▸ 9 pods: 7 Running, 2 Pending")
        await shows(pilot, "▸ Composite/pretrain-r0", "▸ Job/eval", "▸ LeaderWorkerSet/serve (no access)")
        await lacks(pilot, "Workload/eval")


async def test_fold_and_unfold() -> None:
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (app, pilot):
        await shows(pilot, "▸ Job/eval")
        assert "Job/eval" in cursor(app)
        await shows(pilot, "l unfold")
        await pilot.press("l")
        await shows(pilot, "▾ Job/eval", "  ▸ Workload/eval-77b1", "h fold")
        await lacks(pilot, "unfold")
        await pilot.press("right")
        await wait_for(pilot, lambda: "Workload/eval-77b1" in cursor(app), "the cursor on what is below")
        await pilot.press("l", "l")
        await wait_for(pilot, lambda: "PodGroup/eval" in cursor(app), "the cursor on the group")
        await pilot.press("space")
        await shows(pilot, "      ", "Pod/eval-0", "Pod/eval-2")
        await pilot.press("j", "h")
        await wait_for(pilot, lambda: "PodGroup/eval" in cursor(app), "the cursor on the row above")
        await pilot.press("h")
        await lacks(pilot, "Pod/eval-0")
        await pilot.press("left", "left", "left", "left")
        await wait_for(pilot, lambda: "▸ Job/eval" in cursor(app), "the root, folded")


async def test_the_cursor_stays_on_its_row_and_goes_up_when_that_is_folded_away() -> None:
    opener = ScriptedOpener(trees())
    async with running(opener, SIZE, view="workloads") as (app, pilot):
        await shows(pilot, "9 pods: 7 Running")
        await pilot.press("slash", *"r1-workers", "enter")
        await shows(pilot, "PodGroup/pretrain-r1-workers")
        await lacks(pilot, "pretrain-r0")
        await pilot.press("G", "escape")
        await shows(pilot, "pretrain-r0")
        here = cursor(app).split()[2:4]
        opener.feed.give(changed("Pod", "ADDED", b.pod("eval-9", namespace=NAMESPACE, group="eval")))
        await shows(pilot, "3 of 3")
        await wait_for(pilot, lambda: cursor(app).split()[2:4] == here, "the cursor on the same row")


async def test_a_filter_shows_what_it_finds_with_what_is_above_it() -> None:
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (_app, pilot):
        await shows(pilot, "▸ Job/eval")
        await pilot.press("slash", *"eval-2", "enter")
        await shows(pilot, "▾ Job/eval", "▾ PodGroup/eval", "Pod/eval-2", "1 of 3 workloads")
        await lacks(pilot, "Pod/eval-1")
        await pilot.press("escape")
        await shows(pilot, "3 workloads")
        await lacks(pilot, "Pod/eval-2")


async def test_only_problems() -> None:
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (_app, pilot):
        await shows(pilot, "▸ Job/eval")
        await pilot.press("f")
        await lacks(pilot, "Job/eval")
        await shows(pilot, "PodGroup/pretrain-r1-workers", "1 of 3 workloads")
        await lacks(pilot, "pretrain-r1-driver")


async def test_enter_goes_to_a_gang_or_a_pod_in_its_own_view() -> None:
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (app, pilot):
        await shows(pilot, "▸ Job/eval")
        await pilot.press("l", "l", "l", "l", "l")
        await wait_for(pilot, lambda: "▾ PodGroup/eval" in cursor(app), "the group")
        await pilot.press("enter")
        await shows(pilot, "gangs", "Pods (3)")
        await wait_for(pilot, lambda: "eval" in cursor(app), "the gang")
        await pilot.press("escape", "7", "j", "enter")
        await shows(pilot, "pods", "eval-0")
        await wait_for(pilot, lambda: "eval-0" in cursor(app), "the pod")


async def test_the_detail_of_what_is_above_a_workload() -> None:
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (_app, pilot):
        await shows(pilot, "▾ JobSet/pretrain")
        await pilot.press("j", "enter")
        await shows(pilot, "JobSet research/pretrain", "StartupPolicyCompleted", "jobset.x-k8s.io")
        await pilot.press("G")
        await shows(pilot, "LeaderWorkerSet research/serve", "is forbidden", "Workload serve-0")


async def test_a_source_of_owners_that_is_lost_is_told_like_any_other() -> None:
    opener = ScriptedOpener(trees())
    async with running(opener, SIZE, view="workloads") as (_app, pilot):
        await shows(pilot, "▾ JobSet/pretrain")
        opener.feed.give(StreamState(Source(JOBSET, JOBSETS), "waiting", "connection refused"))
        await pilot.press("9")
        await shows(pilot, JOBSET, "connection refused")
        opener.feed.give(StreamState(Source(JOBSET, JOBSETS), "watching"))
        await pilot.press("7")
        await shows(pilot, "▾ JobSet/pretrain")


async def test_sort_stays_among_siblings() -> None:
    async with running(ScriptedOpener(trees()), SIZE, view="workloads") as (app, pilot):
        await shows(pilot, "▸ Job/eval")
        await pilot.press("s", "S")
        await wait_for(pilot, lambda: _rows(app)[0].startswith("▸ LeaderWorkerSet/serve"), "the last first")
        names = _rows(app)
        assert names[1].startswith("▾ JobSet/pretrain")
        assert names.index("▾ Composite/pretrain") > 1


def _rows(app: KtuiApp) -> list[str]:
    """The text of the tree's column, row by row."""
    found = (line[1:].split(NAMESPACE, 1)[1].strip() for line in lines(app) if f" {NAMESPACE} " in line[1:])
    return [row.split("  ")[0] for row in found]

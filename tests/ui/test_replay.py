"""Replaying a recording: the keys of the player, and that going back shows what was."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from ktui.cluster.moment import Moment
from ktui.recording.player import Player
from ktui.recording.reader import Recording, Timed
from ktui.ui.app import KtuiApp
from ktui.ui.session import Session, Target
from tests.recordings import PATHS

from .screen import lacks, shows, wait_for

PODS = "/api/v1/pods"


def pod(name: str, version: int) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "namespace": "ml",
            "uid": f"uid-{name}",
            "resourceVersion": str(version),
            "creationTimestamp": "2026-11-30T05:00:00Z",
        },
        "spec": {},
        "status": {"phase": "Running"},
    }


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A pod at the start and one more each 20 seconds, up to a minute."""
    documents: list[dict[str, Any]] = [
        {
            "ktui": "recording",
            "version": 1,
            "created": "2026-11-30T06:00:00Z",
            "title": "night",
            "server": {"gitVersion": "v1.37.2"},
            "resources": [{"path": PODS, "kind": "Pod"}],
        },
        {"t": 0, "path": PODS, "type": "LIST", "resourceVersion": "10", "items": [pod("first", 1)]},
        {"t": 0, "path": PODS, "type": "STATE", "state": "watching"},
        *({"t": t, "path": PODS, "type": "ADDED", "object": pod(f"at-{t}", 20 + t)} for t in (20, 40, 60)),
    ]
    path = tmp_path / "night.ktui"
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


class StoodStill:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class ReplayOpener:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.clock = StoodStill()
        self.opened = False

    def title(self) -> str:
        return "recording"

    async def open(self, context: str = "") -> Session:
        self.opened = True
        recorded = Recording(self.path)
        target = Target(context="night", read_only=True)
        return Session(target, lambda sink, travel: Player(recorded, sink, travel, Moment(), clock=self.clock))

    async def contexts(self) -> Sequence[str]:
        return ()


async def test_the_keys_of_the_player(recording: Path) -> None:
    opener = ReplayOpener(recording)
    app = KtuiApp(opener)
    async with app.run_test(size=(110, 24)) as pilot:
        await pilot.press("8")
        await shows(pilot, "REPLAY · night")
        await pilot.press("8")
        await shows(pilot, "1 pod", "first", "0:00 of 1:00", "06:00:00Z")
        await pilot.press("space")
        await shows(pilot, "paused")
        await pilot.press("right_square_bracket")
        await shows(pilot, "2 pods", "at-20", "0:20 of 1:00")
        await pilot.press("full_stop", "full_stop")
        await shows(pilot, "3 pods", "at-40", "0:40 of 1:00")
        await pilot.press("comma")
        await shows(pilot, "2 pods", "0:30 of 1:00")
        await lacks(pilot, "at-40")
        await pilot.press("left_square_bracket")
        await shows(pilot, "0:20 of 1:00")
        await pilot.press("end")
        await shows(pilot, "4 pods", "1:00 of 1:00", "06:01:00Z")
        await pilot.press("home")
        await shows(pilot, "1 pod", "0:00 of 1:00")
        await pilot.press("plus")
        await shows(pilot, "x2")
        await pilot.press("minus", "minus")
        await shows(pilot, "x0.5")
        await pilot.press("space")
        await lacks(pilot, "paused")
        opener.clock.now += 50
        await pilot.press("8")
        await shows(pilot, "0:25 of 1:00")


async def test_nothing_that_writes_or_switches_is_offered(recording: Path) -> None:
    app = KtuiApp(ReplayOpener(recording))
    async with app.run_test(size=(160, 24)) as pilot:
        await shows(pilot, "REPLAY · night")
        await pilot.press("question_mark")
        await shows(pilot, "Pause or go on")
        for words in ("Taint", "Untaint", "Choose a context", "Retry"):
            await lacks(pilot, words)


async def test_a_file_that_is_no_recording_says_so(tmp_path: Path) -> None:
    path = tmp_path / "no.ktui"
    path.write_text("nothing\n")
    app = KtuiApp(ReplayOpener(path))
    async with app.run_test(size=(160, 24)) as pilot:
        await shows(pilot, "is not a ktui recording")
        await wait_for(pilot, lambda: app.return_code is None)


async def test_the_timeline_ends_at_the_moment_shown_and_leads_to_what_changed() -> None:
    app = KtuiApp(ReplayOpener(PATHS["xid79"]))
    async with app.run_test(size=(160, 40)) as pilot:
        await shows(pilot, "REPLAY · night", "of 1:27")  # as long as it is: all of it has been read
        await pilot.press("space", "end", "9")
        await shows(pilot, "running again, 8 of 8 run", "degraded, 7 of 8 run", "deleting due to NoExecute taint")
        await pilot.press("home")
        await lacks(pilot, "degraded, 7 of 8 run")
        await pilot.press("end", "slash", *"degraded", "enter")
        await shows(pilot, "1 of ", "degraded, 7 of 8 run")
        await pilot.press("enter")
        await shows(pilot, "None of ")  # the filter still holds, and says so
        await pilot.press("9", "escape")
        await shows(pilot, "running again, 8 of 8 run")
        await pilot.press("g", "enter")
        await shows(pilot, "Pods (8)", "llm-train")


async def test_the_timeline_is_there_for_as_much_as_has_been_read() -> None:
    recorded = Recording(PATHS["xid79"])
    whole, allowed = list(recorded.frames()), threading.Event()

    def slowly(given_up: Callable[[], bool] = lambda: False) -> Iterator[Timed]:
        yield from whole[: len(whole) // 2]
        allowed.wait(60)
        yield from whole[len(whole) // 2 :]

    recorded.frames = slowly  # type: ignore[method-assign]
    session = Session(Target(), lambda sink, travel: Player(recorded, sink, travel, Moment()))
    player = session.feed
    assert isinstance(player, Player)
    timeline = session.cluster.timeline

    async def until(condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                session.take_changes()
                await asyncio.sleep(0.01)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(player.run()), group.create_task(session.recall())]
        await until(lambda: bool(player.duration))
        player.pause(True)
        player.seek(1e6)
        await until(lambda: len(timeline.numbers()) > 0)
        assert not player.loaded
        early = len(timeline.numbers())
        allowed.set()
        await tasks[1]
        player.seek(1e6)
        await until(lambda: len(timeline.numbers()) > early)
        player.seek(0)
        await until(lambda: len(timeline.numbers()) == 0)
        tasks[0].cancel()


async def test_to_marks_and_to_changes_of_the_row(recording: Path) -> None:
    with recording.open("a") as stream:
        mark = {"t": 60, "type": "MARK", "text": "end of shift"}
        changed = {"t": 70, "path": PODS, "type": "MODIFIED", "object": pod("first", 99)}
        stream.writelines(json.dumps(line) + "\n" for line in (mark, changed))
    app = KtuiApp(ReplayOpener(recording))
    async with app.run_test(size=(160, 24)) as pilot:
        await shows(pilot, "REPLAY · night")
        await pilot.press("8")
        await shows(pilot, "1 pod", "0:00 of 1:10")
        await pilot.press("right_parenthesis")
        await shows(pilot, "1:10 of 1:10", "4 pods", "paused")
        await pilot.press("left_curly_bracket")
        await shows(pilot, "1:00 of 1:10", "4 pods")
        await pilot.press("left_curly_bracket")
        await wait_for(pilot, lambda: [n.message for n in app._notifications] == ["no mark before this moment"])
        await pilot.press("left_square_bracket", "right_curly_bracket")
        await shows(pilot, "1:00 of 1:10")
        await pilot.press("9")
        await shows(pilot, "end of shift")


async def test_what_a_person_did_is_in_the_timeline_and_is_a_mark(recording: Path) -> None:
    action = {
        "verb": "taint",
        "object": "gpu.example.com/gpu-node-1/gpu-0",
        "before": "no taint",
        "after": "example.com/xid=79:NoExecute",
        "result": "applied",
        "who": "oncall",
    }
    with recording.open("a") as stream:
        stream.write(json.dumps({"t": 60, "type": "ACTION", "action": action}) + "\n")
    app = KtuiApp(ReplayOpener(recording))
    async with app.run_test(size=(140, 24)) as pilot:
        await shows(pilot, "REPLAY · night")
        await pilot.press("9")
        await lacks(pilot, "oncall")
        await pilot.press("right_curly_bracket")
        await shows(
            pilot, "1:00 of 1:00", "gpu.example.com/gpu-node-1/gpu-0", "oncall tainted it example.com/xid=79:NoExecute"
        )

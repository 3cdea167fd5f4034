"""Playing back and forth always shows what reading from the start would."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.cluster.moment import Moment
from ktui.cluster.state import Cluster
from ktui.errors import UsageError
from ktui.model.frame import Frame, Mark
from ktui.model.meta import Key, Object
from ktui.recording import longlines
from ktui.recording import player as player_module
from ktui.recording.player import SPEEDS, Player, replay_to
from ktui.recording.reader import Recording, Timed
from tests.recordings import PATHS
from tests.unit.recording.files import event, listed, pod, write

XID79 = Recording(PATHS["xid79"])


class Shown:
    """A state fed by a player, with a clock that a test turns."""

    def __init__(self, recording: Recording = XID79) -> None:
        self.cluster = Cluster()
        self.time = 0.0
        self.player = Player(recording, self.cluster.apply, self.travel, Moment(), clock=lambda: self.time)

    def travel(self, moment: Moment) -> None:
        for _ in self.cluster.become(moment):
            pass

    def objects(self) -> dict[str, dict[Key, Object]]:
        return {kind: store.objects for kind, store in self.cluster.stores.items()}


def at(t: float | None) -> dict[str, dict[Key, Object]]:
    cluster = Cluster()
    replay_to(XID79, t, cluster.apply)
    return {kind: store.objects for kind, store in cluster.stores.items()}


async def loaded(recording: Recording = XID79) -> Shown:
    shown = Shown(recording)
    await shown.player.load()
    return shown


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.005)


class Running:
    """The player's own task, for the length of a `with`."""

    def __init__(self, shown: Shown) -> None:
        self._shown = shown

    async def __aenter__(self) -> None:
        self._task = asyncio.create_task(self._shown.player.run())
        await until(lambda: self._shown.player.loaded and self._shown.player._since is not None)

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await self._task


def test_replay_to_a_moment() -> None:
    frames: list[object] = []
    assert replay_to(XID79, 10.0, frames.append) == 10.0
    assert len(frames) == sum(1 for t, _ in XID79.frames() if t <= 10.0)
    assert replay_to(XID79, 1e6, lambda _: None) == 1e6
    assert replay_to(XID79, None, lambda _: None) == max(t for t, _ in XID79.frames())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(-10, 120), min_size=1, max_size=6))
def test_seeking_back_and_forth_gives_the_state_of_that_moment(targets: list[float]) -> None:
    shown = asyncio.run(loaded())
    for target in targets:
        shown.player.seek(target)
        assert shown.player.position == max(0.0, min(target, shown.player.duration))
    assert shown.objects() == at(shown.player.position)


@settings(max_examples=15, deadline=None)
@given(st.floats(0, 90), st.lists(st.sampled_from([1, -1]), min_size=1, max_size=12))
def test_stepping_gives_the_state_of_that_moment(start: float, steps: list[int]) -> None:
    shown = asyncio.run(loaded())
    shown.player.seek(start)
    times = sorted({t for t, _ in XID79.frames()})
    for direction in steps:
        before = shown.player.position
        shown.player.step(direction)
        later = [t for t in times if t > before] or [times[-1]]
        earlier = [t for t in times if t < before] or [0.0]
        assert shown.player.position == (later[0] if direction > 0 else earlier[-1])
    assert shown.player.paused
    assert shown.objects() == at(shown.player.position)


async def test_now_is_the_moment_of_the_recording() -> None:
    shown = await loaded()
    shown.player.seek(40.0)
    assert shown.player.now() == XID79.header.start + 40.0


async def test_time_passes_only_while_it_plays_and_at_its_speed() -> None:
    shown = Shown()
    async with Running(shown):
        await until(lambda: shown.player._since is not None)
        shown.time += 3.0
        assert shown.player.position == 3.0
        shown.player.set_speed(+2)
        assert (shown.player.speed, shown.player.position) == (4.0, 3.0)
        await until(lambda: shown.player._since is not None)
        shown.time += 2.0
        assert shown.player.position == 11.0
        shown.player.pause()
        shown.time += 100.0
        assert shown.player.position == 11.0
        await until(lambda: shown.objects() == at(11.0))


async def test_it_plays_to_the_end_and_can_be_sent_back() -> None:
    shown = Shown()
    async with Running(shown):
        shown.time += 1000.0
        shown.player.set_speed(0)  # wakes it, as any key does
        await until(lambda: shown.player.ended)
        assert shown.player.position == shown.player.duration
        assert shown.objects() == at(None)
        shown.player.pause(True)
        shown.player.seek(20.0)
        assert not shown.player.ended
        assert shown.objects() == at(20.0)


async def test_speed_has_a_lowest_and_a_highest_notch() -> None:
    player = (await loaded()).player
    for _ in range(20):
        player.set_speed(+1)
    assert player.speed == SPEEDS[-1]
    for _ in range(20):
        player.set_speed(-1)
    assert player.speed == SPEEDS[0]


async def test_pause_is_a_toggle_or_told() -> None:
    player = (await loaded()).player
    player.pause()
    assert player.paused
    player.pause(True)
    assert player.paused
    player.pause()
    assert not player.paused


async def test_G09_what_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(player_module, "MAX_KEPT", 100)
    with pytest.raises(UsageError, match="more than 100 objects and changes"):
        await Shown().player.load()


def long_recording(directory: Path, events: int, pods: int = 50) -> Recording:
    """Pods that change, go and come back, a few each second; a list anew now and then, and events that come too late."""
    lines = [listed(0, *(pod(f"p{n}") for n in range(pods)))]
    for version in range(2, events + 2):
        name, t = f"p{version * 7 % pods}", version / 8
        if version % 400 == 0:
            lines.append(
                {**listed(t, *(pod(f"p{n}", version) for n in range(pods // 2))), "resourceVersion": str(version)}
            )
        else:
            late = version - 3 * pods if version % 11 == 0 else version
            lines.append(event(t, "DELETED" if version % 5 == 0 else "MODIFIED", pod(name, max(1, late))))
    return Recording(write(directory, lines))


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["seek", "step"]), st.floats(0, 1)), min_size=1, max_size=12))
def test_any_way_through_checkpoints_gives_the_state_of_that_moment(
    tmp_path: Path, moves: list[tuple[str, float]]
) -> None:
    recording = long_recording(tmp_path, 3_000)
    shown = asyncio.run(loaded(recording))
    for move, where in moves:
        if move == "seek":
            shown.player.seek(where * shown.player.duration)
        else:
            shown.player.step(1 if where > 0.5 else -1)
    expected = Cluster()
    replay_to(recording, shown.player.position, expected.apply)
    assert shown.objects() == {kind: store.objects for kind, store in expected.stores.items()}
    assert shown.cluster.stores["Pod"].tombstones == expected.stores["Pod"].tombstones
    assert shown.cluster.streams == expected.streams


def test_a_jump_costs_no_more_than_the_frames_since_the_last_checkpoint(tmp_path: Path) -> None:
    taken: list[Frame] = []

    class Counted(Moment):
        def take(self, frame: Frame) -> None:
            taken.append(frame)
            super().take(frame)

    recording = long_recording(tmp_path, 5_000)
    player = Player(recording, lambda _: None, lambda _: None, Counted())
    asyncio.run(player.load())
    assert len(taken) == len(list(recording.frames()))
    for share in (1.0, 0.1, 0.73, 0.5):
        taken.clear()
        player.seek(share * player.duration)
        assert len(taken) < 600


async def test_the_beginning_is_shown_while_the_rest_is_still_decoded(tmp_path: Path) -> None:
    """The file is a pipe of a kind: its second half cannot be read before the test lets it."""
    recording = long_recording(tmp_path, 100)
    whole, allowed = list(recording.frames()), threading.Event()

    def slowly(given_up: Callable[[], bool] = lambda: False) -> Iterator[Timed]:
        yield from whole[:60]
        allowed.wait(60)
        yield from whole[60:]

    recording.frames = slowly  # type: ignore[method-assign]
    shown = Shown(recording)
    task = asyncio.create_task(shown.player.run())
    try:
        await until(lambda: len(shown.cluster.stores["Pod"].objects) == 50)
        assert not shown.player.loaded
        assert shown.player.duration == whole[59].t
        shown.player.seek(1e6)
        assert shown.player.position == whole[59].t
        assert not shown.player.ended
    finally:
        allowed.set()
    await until(lambda: shown.player.loaded)
    shown.player.seek(1e6)
    await until(lambda: shown.player.ended)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_the_first_objects_of_a_long_list_are_shown_before_it_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(longlines, "PIECE", 500)
    recording = long_recording(tmp_path, 100)
    whole, allowed = list(recording.frames()), threading.Event()

    def slowly(given_up: Callable[[], bool] = lambda: False) -> Iterator[Timed]:
        allowed.wait(60)
        yield from whole

    recording.frames = slowly  # type: ignore[method-assign]
    shown = Shown(recording)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(shown.player.run())
        await until(lambda: bool(shown.cluster.stores["Pod"].objects))
        (stream,) = shown.cluster.streams.values()
        assert (stream.phase, stream.synced) == ("listing", False)
        assert 0 < len(shown.cluster.stores["Pod"].objects) < 50
        assert shown.player.position == 0
        allowed.set()
        await until(lambda: shown.player.loaded)
        shown.player.seek(0)
        assert len(shown.cluster.stores["Pod"].objects) == 50
        assert stream.synced
        task.cancel()


async def test_a_file_that_turns_bad_later_says_so_when_it_is_found_out(tmp_path: Path) -> None:
    recording = long_recording(tmp_path, 100)
    whole = list(recording.frames())

    def damaged(given_up: Callable[[], bool] = lambda: False) -> Iterator[Timed]:
        yield from whole
        raise UsageError("it cannot be unpacked")

    recording.frames = damaged  # type: ignore[method-assign]
    shown = Shown(recording)
    with pytest.raises(UsageError, match="it cannot be unpacked"):
        await shown.player.run()


async def test_to_the_next_and_the_last_frame_of_a_kind(tmp_path: Path) -> None:
    marks = [{"t": t, "type": "MARK", "text": "here"} for t in (2, 5)]
    lines = [listed(0, pod("a")), marks[0], event(3, "MODIFIED", pod("a", 2)), marks[1], event(9, "ADDED", pod("b"))]
    shown = await loaded(Recording(write(tmp_path, lines)))
    player = shown.player

    def is_mark(frame: Frame) -> bool:
        return isinstance(frame, Mark)

    reached = []
    for direction in (1, 1, 1, -1, -1):
        found = player.seek_to(direction, is_mark)
        reached.append((found, player.position))
    assert reached == [(True, 2), (True, 5), (False, 5), (True, 2), (False, 2)]
    assert player.paused
    assert shown.objects()["Pod"].keys() == {("ml", "a")}

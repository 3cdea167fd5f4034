"""The recorder's thread (G06, G08), and the minutes a session remembers."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.store import Store
from ktui.errors import UsageError
from ktui.model.frame import Changed, Frame, Listed, Mark, Source, StreamState
from ktui.recording import recorder as recorders
from ktui.recording.output import Output
from ktui.recording.reader import Recording
from ktui.recording.recorder import Recorder
from ktui.recording.ring import Ring
from ktui.recording.tape import Tape
from ktui.recording.writer import Facts, Limits, Plain, Writer
from tests.unit.recording.test_reader import frames
from tests.unit.recording.test_writer import FACTS, PODS, START, pod

PATIENCE = 30.0


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.ktui.gz"


def recorder(path: Path, limits: Limits | None = None) -> Recorder:
    return Recorder(Writer(Output(path), lambda: FACTS, Plain(), limits), sync=0.01)


def test_frames_are_on_the_disk_without_being_asked_for(path: Path) -> None:
    r = recorder(path)
    r.take(Listed(PODS, "1", (pod("a"),)))
    r.take(Changed(PODS, "ADDED", pod("b")))
    until(lambda: r.size and r.frames == 2 and len(frames(Recording(path))) == 2)
    assert not r.ended
    r.close("that is all")
    assert frames(Recording(path))[-1].frame == Mark("that is all")
    assert (r.ended, r.complete) == ("that is all", True)
    r.take(Mark("too late"))
    assert len(frames(Recording(path))) == 3


def test_g06_a_full_disk_ends_the_recording_and_nothing_else(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    r = recorder(path)
    r.take(Listed(PODS, "1", (pod("a"),)))
    until(lambda: r.size)

    def full(*_: object) -> int:
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))

    monkeypatch.setattr(os, "write", full)
    r.take(Changed(PODS, "ADDED", pod("b")))
    until(lambda: r.ended)
    monkeypatch.undo()
    assert r.ended == f"cannot write {path}: {os.strerror(errno.EDQUOT)}"
    assert not r.complete
    r.take(Mark("nobody minds"))
    r.close()
    assert len(frames(Recording(path))) == 1


def test_g06_a_disk_that_stands_still_holds_nobody_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorders, "MOST_WAITING", 3)
    r = recorder(path)
    r.take(Listed(PODS, "1", ()))
    until(lambda: r.size)
    go_on = [False]
    write = os.write

    def stalled(file: int, data: bytes) -> int:
        until(lambda: go_on[0])
        return write(file, data)

    monkeypatch.setattr(os, "write", stalled)
    for n in range(20):
        r.take(Mark(str(n)))
    r.close("left", patience=0.01)
    assert not r.ended
    go_on[0] = True
    until(lambda: r.ended)
    assert "the disk does not keep up" in r.ended


def test_g08_a_limit_is_told_and_marked(path: Path) -> None:
    r = recorder(path, Limits(size=1))
    r.take(Listed(PODS, "1", ()))
    until(lambda: r.ended)
    assert r.complete
    assert frames(Recording(path))[-1].frame == Mark(r.ended)


def test_a_defect_ends_the_recording_visibly(path: Path) -> None:
    def broken() -> Facts:
        raise ValueError

    r = Recorder(Writer(Output(path), broken))
    r.take(Listed(PODS, "1", ()))
    until(lambda: r.ended)
    assert r.ended == "internal error (ValueError)"


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tape(clock: Clock) -> Iterator[Tape]:
    made = Tape(lambda: FACTS, clock=clock)
    yield made
    made.stop()


def test_a_recording_that_begins_late_begins_with_what_is_known(tape: Tape, clock: Clock, path: Path) -> None:
    tape.take(Listed(PODS, "1", (pod("a"), pod("b"))))
    tape.take(StreamState(PODS, "watching"))
    clock.now += 30
    tape.take(Changed(PODS, "DELETED", pod("a", 2)))
    clock.now += 30
    tape.start(path)
    assert tape.recording
    with pytest.raises(UsageError, match="under way"):
        tape.start(path.with_name("b.ktui"))
    clock.now += 5
    tape.mark("here it began")
    assert tape.stop() is not None
    recording = Recording(path)
    assert recording.header.start == START + 60
    assert [tuple(f) for f in frames(recording)] == [
        (0.0, Listed(PODS, "1", (pod("b"),))),
        (0.0, StreamState(PODS, "watching")),
        (5.0, Mark("here it began")),
        (5.0, Mark("the recording was stopped")),
    ]


def test_the_last_minutes_can_be_saved_after_the_fact(tape: Tape, clock: Clock, path: Path) -> None:
    tape.take(Listed(PODS, "1", (pod("old"),)))
    clock.now += 700
    tape.take(Changed(PODS, "ADDED", pod("a", 2)))
    clock.now += 300
    tape.take(Changed(PODS, "ADDED", pod("b", 3)))
    clock.now += 400
    tape.take(Changed(PODS, "DELETED", pod("b", 4)))
    save = tape.saver(path)
    tape.take(Mark("later"))
    save()
    assert [tuple(f) for f in frames(Recording(path))] == [
        (0.0, Listed(PODS, "1", (pod("old"), pod("a", 2)))),
        (300.0, Changed(PODS, "ADDED", pod("b", 3))),
        (700.0, Changed(PODS, "DELETED", pod("b", 4))),
    ]


def test_a_recording_that_ended_by_itself_is_told_once(tape: Tape, path: Path) -> None:
    tape.start_on(Output(path), Limits(size=1))
    tape.take(Listed(PODS, "1", ()))
    until(lambda: tape.recorder and tape.recorder.ended)
    ended = tape.take_ended()
    assert ended
    assert "limit" in ended.ended
    assert tape.take_ended() is None


def test_a_recording_that_ends_with_its_session_is_told_once_with_the_reason(tape: Tape, path: Path) -> None:
    tape.end("nothing to end")
    assert tape.take_ended() is None
    tape.start(path)
    tape.take(Listed(PODS, "1", ()))
    tape.end("the session ended")
    assert not tape.recording
    ended = tape.take_ended()
    assert ended
    assert (ended.ended, ended.complete) == ("the session ended", True)
    assert tape.take_ended() is None
    assert frames(Recording(path))[-1].frame == Mark("the session ended")


@given(st.data())
def test_the_baseline_knows_what_the_store_knows(data: st.DataObject) -> None:
    """However much of what happened became part of it, and whether all namespaces or single ones are watched."""
    sources = [PODS, Source("PodGroup", "/apis/scheduling.k8s.io/v1beta1/podgroups")]
    store, ring = Store("Pod"), Ring(seconds=1e9, most=data.draw(st.integers(1, 5)))
    for version in range(1, data.draw(st.integers(2, 13))):
        source = data.draw(st.sampled_from(sources))
        frame: Frame
        if data.draw(st.booleans()):
            chosen = data.draw(st.sets(st.sampled_from("abc")))
            frame = Listed(source, str(version), tuple(pod(name, version) for name in sorted(chosen)))
        else:
            kind = data.draw(st.sampled_from(["ADDED", "MODIFIED", "DELETED"]))
            frame = Changed(source, kind, pod(data.draw(st.sampled_from("abc")), version))  # type: ignore[arg-type]
        ring.take(START + version, frame)
        if source == PODS:
            list(store.replacements(frame)) if isinstance(frame, Listed) else store.change(frame)
    for told in ([f for _, f in ring.frames()], list(ring.present())):
        again = Store("Pod")
        for frame in told:
            if isinstance(frame, Listed) and frame.source == PODS:
                list(again.replacements(frame))
            elif isinstance(frame, Changed) and frame.source == PODS:
                again.change(frame)
        assert again.objects == store.objects

"""Recordings are untrusted input (G09): refused in one line, or read as far as they are good; never without bounds."""

from __future__ import annotations

import gzip
import os
import weakref
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.errors import UsageError
from ktui.model.frame import ActionTaken, Changed, Frame, Listed, Mark, StreamState
from ktui.model.kinds import KINDS
from ktui.recording import reader
from ktui.recording.reader import Recording, Timed
from tests.recordings import PATHS
from tests.unit.recording.files import CREATED, HEADER, PODS, event, listed, pod, text, write


def plain(data: bytes) -> bytes:
    return data


def zstd(data: bytes) -> bytes:
    from backports import zstd as module

    return module.compress(data)


def frames(recording: Recording) -> list[Timed]:
    """All frames but those that say which kinds were not recorded."""
    return [f for f in recording.frames() if not (isinstance(f.frame, StreamState) and f.frame.phase == "absent")]


def read_or_refused(path: Path) -> list[Timed] | None:
    """The frames, or None when the file is refused in one line."""
    try:
        return frames(Recording(path))
    except UsageError as error:
        refusal = str(error)
    assert refusal.count("\n") == 0
    return None


def names(found: list[Timed]) -> list[tuple[float, str, str]]:
    def name(frame: Frame) -> tuple[str, str]:
        if isinstance(frame, Changed):
            return frame.type, frame.object.name
        return ("LIST", " ".join(o.name for o in frame.items)) if isinstance(frame, Listed) else ("", "")

    return [(f.t, *name(f.frame)) for f in found]


@pytest.mark.parametrize("pack", [plain, gzip.compress, zstd])
def test_the_form_is_told_by_the_content_not_by_the_name(tmp_path: Path, pack: Any) -> None:
    lines = [listed(0, pod("a")), event(1.5, "ADDED", pod("b")), event(2, "DELETED", pod("b", 2))]
    recording = Recording(write(tmp_path, lines, pack=pack))
    assert names(frames(recording)) == [(0, "LIST", "a"), (1.5, "ADDED", "b"), (2, "DELETED", "b")]
    assert not recording.notes
    assert recording.header.title == "test"
    assert recording.header.start == 1796018049


def test_what_was_not_recorded_is_absent_not_empty(tmp_path: Path) -> None:
    found = list(Recording(write(tmp_path, [])).frames())
    absent = {f.frame.source.kind for f in found if isinstance(f.frame, StreamState)}
    assert absent == KINDS.keys() - {"Pod"}


def test_nothing_is_kept_of_a_recording_that_has_only_lists(tmp_path: Path) -> None:
    """The names of its objects are looked among while lists are read; whoever plays it has it for long."""
    recording = Recording(write(tmp_path, [listed(0, pod("a"))]))
    playing = recording.frames()
    while not isinstance(next(playing).frame, Listed):
        pass
    assert recording._names is not None
    names = weakref.ref(recording._names)
    assert list(playing) == []
    assert names() is None


def test_states_and_marks(tmp_path: Path) -> None:
    lines = [
        {"t": 1, "path": PODS, "type": "STATE", "state": "no-access", "message": "forbidden"},
        {"t": 2, "path": PODS, "type": "STATE", "state": "made up"},
        {"t": 3, "type": "MARK", "text": "here"},
        {"t": 5, "path": PODS, "type": "BOOKMARK", "object": pod("x")},
    ]
    recording = Recording(write(tmp_path, lines))
    found = [f.frame for f in frames(recording)]
    assert [(f.phase, f.message) for f in found if isinstance(f, StreamState)] == [
        ("no-access", "forbidden"),
        ("waiting", ""),
    ]
    assert [f.text for f in found if isinstance(f, Mark)] == ["here"]
    assert len(found) == 3
    assert not recording.notes


ACTION = {"verb": "taint", "object": "d/p/n", "before": "no taint", "after": "k:None", "result": "applied"}


@pytest.mark.parametrize(
    "action",
    [
        None,
        [],
        "taint",
        {},
        {**ACTION, "verb": "drain"},
        {**ACTION, "result": 1},
        {**ACTION, "object": ["d", "p", "n"]},
    ],
)
def test_actions_of_an_unknown_shape_are_skipped_with_a_note(tmp_path: Path, action: object) -> None:
    known = {"t": 2, "type": "ACTION", "action": {**ACTION, "future": {"x": 1}}}
    recording = Recording(write(tmp_path, [{"t": 1, "type": "ACTION", "action": action}, known]))
    assert [f.frame for f in frames(recording)] == [ActionTaken("taint", "d/p/n", "no taint", "k:None", "applied")]
    assert dict(recording.notes) == {"actions of an unknown shape": 1}


def test_odd_lines_are_skipped_and_counted(tmp_path: Path) -> None:
    lines = [
        {"t": -1, "type": "MARK", "text": "before time"},
        {"t": "soon", "type": "MARK"},
        {"type": "MARK", "text": "no time"},
        {"t": 1e11, "type": "MARK", "text": "in the year 5000"},
        {"t": 1, "type": "FUTURE"},
        {"t": 1, "path": "/api/v1/secrets", "type": "ADDED", "object": pod("s")},
        {"t": 1, "type": "ADDED", "object": pod("no path")},
        event(1, "ADDED", None),
        event(1, "ADDED", ["x"]),
        {"t": 1, "path": PODS, "type": "LIST", "items": {"a": 1}},
        b"not json",
        b"[1]",
        b"",
        b'{"t": 1, "type": "MARK", "text": "\xff"}',
        event(2, "ADDED", pod("good")),
    ]
    recording = Recording(write(tmp_path, lines))
    assert names(frames(recording)) == [(1, "LIST", ""), (2, "ADDED", "good")]
    assert dict(recording.notes) == {
        "lines without a usable t": 3,
        "lines that are not frames": 4,
        "frames of the unknown type FUTURE": 1,
        "frames of /api/v1/secrets, which this ktui does not show": 1,
        "frames of no path, which this ktui does not show": 1,
        "objects of pods that cannot be read": 2,
        "lists without items": 1,
    }


def test_notes_are_those_of_one_pass(tmp_path: Path) -> None:
    recording = Recording(write(tmp_path, [b"not json"]))
    frames(recording)
    frames(recording)
    assert recording.notes == {"lines that are not frames": 1}


def test_time_never_goes_back(tmp_path: Path) -> None:
    lines = [event(t, "MODIFIED", pod("a")) for t in (1, 5, 3, 4, 6)]
    assert [f.t for f in frames(Recording(write(tmp_path, lines)))] == [1, 5, 5, 5, 6]


def test_a_last_line_that_is_cut_off_ends_the_recording(tmp_path: Path) -> None:
    path = tmp_path / "cut.ktui"
    path.write_bytes(text(event(1, "ADDED", pod("a")), event(2, "ADDED", pod("b")))[:-30])
    recording = Recording(path)
    assert names(frames(recording)) == [(1, "ADDED", "a")]
    assert dict(recording.notes) == {"a last line that is cut off": 1}


def test_a_last_line_without_a_newline_counts_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "whole.ktui"
    path.write_bytes(text(event(1, "ADDED", pod("a")))[:-1])
    assert names(frames(Recording(path))) == [(1, "ADDED", "a")]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.floats(0, 1))
def test_G07_a_gzip_cut_anywhere_plays_up_to_the_cut(tmp_path: Path, share: float) -> None:
    data = PATHS["v1.36"].read_bytes()
    path = tmp_path / "cut.ktui.gz"
    path.write_bytes(data[: int(len(data) * share)])
    whole = frames(Recording(PATHS["v1.36"]))
    found = read_or_refused(path)
    assert found is None or found == whole[: len(found)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200), st.sampled_from([b"", b"\x1f\x8b", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", text()]))
def test_G09_garbage_is_refused_or_skipped(tmp_path: Path, data: bytes, start: bytes) -> None:
    path = tmp_path / "garbage.ktui"
    path.write_bytes(start + data)
    read_or_refused(path)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(20, 5000), st.integers(1, 255))
def test_G09_a_damaged_gzip_is_refused_or_skipped(tmp_path: Path, at: int, flip: int) -> None:
    data = bytearray(PATHS["v1.36"].read_bytes())
    data[at] ^= flip
    path = tmp_path / "damaged.ktui.gz"
    path.write_bytes(data)
    read_or_refused(path)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (b"", "is not a ktui recording"),
        (b"[]", "is not a ktui recording"),
        ({"apiVersion": "v1"}, "is not a ktui recording"),
        ({**HEADER, "ktui": "settings"}, "is not a ktui recording"),
        ({**HEADER, "version": 2}, "is a recording of version 2; this ktui reads version 1"),
        ({**HEADER, "version": "1"}, "is not a ktui recording"),
        ({**HEADER, "created": "yesterday"}, "time of creation is not a time"),
        ({**HEADER, "resources": [{"path": 3}]}, "is not a ktui recording"),
        (b'{"ktui":' * 50_000, "is not a ktui recording"),
    ],
)
def test_G09_a_bad_header(tmp_path: Path, header: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        Recording(write(tmp_path, [], header=header))
    assert "\n" not in str(caught.value)


def test_a_header_may_hold_more(tmp_path: Path) -> None:
    header = {**HEADER, "redacted": False, "context": "prod", "future": {"x": 1}, "server": {"gitVersion": "v1.37.2"}}
    found = Recording(write(tmp_path, [], header=header)).header
    assert (found.redacted, found.context, found.server.git_version, found.created) == (
        False,
        "prod",
        "v1.37.2",
        CREATED,
    )


def test_a_kind_that_this_ktui_does_not_know_is_skipped(tmp_path: Path) -> None:
    resources = [*HEADER["resources"], {"path": "/apis/example.com/v1/widgets", "kind": "Widget"}]
    line = {"t": 1, "path": "/apis/example.com/v1/widgets", "type": "ADDED", "object": pod("w")}
    recording = Recording(write(tmp_path, [line], header={**HEADER, "resources": resources}))
    assert frames(recording) == []
    assert sum(recording.notes.values()) == 1


def test_G09_a_file_that_is_none(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path, words in (
        (tmp_path, "not a regular file"),
        (pipe, "not a regular file"),
        (tmp_path / "no", "No such file"),
    ):
        with pytest.raises(UsageError, match=words):
            Recording(path)


def test_G09_a_line_without_end_is_refused_before_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_LINE", 2**20)
    path = write(tmp_path, [b"x" * 2**26], pack=plain)
    recording = Recording(path)
    read = 0
    original = reader._Bounded.readinto

    def counting(self: reader._Bounded, buffer: memoryview) -> int:
        nonlocal read
        got = original(self, buffer)
        read += got
        return got

    monkeypatch.setattr(reader._Bounded, "readinto", counting)
    with pytest.raises(UsageError, match="a line of more than 1 MiB"):
        frames(recording)
    assert read < 2**23


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_G09_a_bomb_is_refused_at_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pack: Any) -> None:
    monkeypatch.setattr(reader, "MAX_UNPACKED", 2**22)
    path = write(tmp_path, [b" " * 1000] * 20_000, pack=pack)
    with pytest.raises(UsageError, match="unpacks to more than"):
        frames(Recording(path))


def test_G09_a_gap_of_years_costs_nothing(tmp_path: Path) -> None:
    lines = [event(0, "ADDED", pod("a")), event(1e9, "MODIFIED", pod("a", 2))]
    assert [f.t for f in frames(Recording(write(tmp_path, lines)))] == [0, 1e9]


def test_G09_path_tricks_in_names_are_only_names(tmp_path: Path) -> None:
    (found,) = frames(Recording(write(tmp_path, [event(0, "ADDED", pod("../../etc/passwd"))])))
    assert isinstance(found.frame, Changed)
    assert found.frame.object.name == "../../etc/passwd"
    assert [p.name for p in tmp_path.iterdir()] == ["test.ktui.gz"]


@pytest.mark.parametrize(
    "path", ["", "/", "/x", "/api", "/api/", "/api/v1", "/apis/v1/pods", "/api/v1/podsx", "/pods", "pods", "/api//pods"]
)
@pytest.mark.parametrize("line", [listed(0, pod("a")), event(0, "ADDED", pod("a")), {"t": 0, "type": "STATE"}])
def test_G09_a_path_that_is_none_of_the_kind_is_skipped(tmp_path: Path, path: str, line: dict[str, Any]) -> None:
    header = {**HEADER, "resources": [{"path": path, "kind": "Pod"}]}
    recording = Recording(write(tmp_path, [{**line, "path": path}], header=header))
    assert frames(recording) == []
    assert sum(recording.notes.values()) == 1


@given(path=st.text(st.sampled_from("/apisv1betacorepods.k8*"), max_size=40))
def test_G09_any_path_is_a_path_or_skipped(path: str) -> None:
    for kind in KINDS.values():
        version = reader._version(kind, path)
        assert not version or version in path.split("/")


def test_the_paths_of_all_kinds_are_known() -> None:
    for kind in KINDS.values():
        for version in kind.versions:
            assert reader._version(kind, kind.path(version)) == version
            assert reader._version(kind, kind.path(version, "ml")) == version


def test_G09_a_list_of_countless_nothings_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_ITEMS", 3)
    assert len(frames(Recording(write(tmp_path, [listed(0, *[pod(str(n)) for n in range(3)])])))) == 1
    with pytest.raises(UsageError, match=r"a list of more than 3 objects$"):
        frames(Recording(write(tmp_path, [listed(0, {}, {}, {}, {})])))

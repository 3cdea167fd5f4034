"""A long list in pieces says what the line says, whatever is in it; and its beginning can be seen before the rest is read."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.model.frame import Changed, Listed
from ktui.recording import longlines
from ktui.recording.longlines import LongList, TooLongError, read_line
from ktui.recording.reader import Recording
from tests.unit.recording.files import PODS, event, listed, pod, text, write
from tests.unit.recording.test_reader import frames, names, plain

SMALL = 200
_TRICKY = st.text(st.sampled_from('{}[],:" \\metadnqx'), max_size=30)
_VALUES = st.recursive(
    st.none() | st.integers() | _TRICKY,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TRICKY, inner, max_size=3),
    max_leaves=8,
)
_ITEMS = st.lists(st.fixed_dictionaries({"metadata": st.just({"name": "a"}), "spec": _VALUES}) | _VALUES, max_size=40)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longlines, "PIECE", SMALL)


def items_of(line: bytes | LongList) -> list[Any]:
    if isinstance(line, bytes):
        return list(json.loads(line)["items"])
    assert json.loads(line.head)["items"] == []
    found: list[Any] = []
    for piece in line.pieces():
        document = json.loads(piece)
        found += document if isinstance(document, list) else document["items"]
    return found


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=_ITEMS, separators=st.sampled_from([(",", ":"), (", ", ": ")]), after=st.booleans())
def test_the_pieces_of_any_list_are_its_items(
    small_pieces: None, items: list[Any], separators: tuple[str, str], after: bool
) -> None:
    document = {"t": 0, "type": "LIST", "items": items} | ({"more": [1]} if after else {})
    stream = io.BytesIO(json.dumps(document, separators=separators).encode() + b"\nnext\n")
    assert items_of(read_line(stream, 10**6)) == items
    assert read_line(stream, 10**6) == b"next\n"


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(items=_ITEMS, pieces=st.integers(0, 2))
def test_a_list_is_skipped_from_wherever_it_was_read_to(small_pieces: None, items: list[Any], pieces: int) -> None:
    stream = io.BytesIO(json.dumps({"t": 0, "items": items}).encode() + b"\nnext\n")
    line = read_line(stream, 10**6)
    if isinstance(line, LongList):
        for _, _ in zip(range(pieces), line.pieces(), strict=False):
            pass
        line.skip()
    assert read_line(stream, 10**6) == b"next\n"


def test_a_long_list_is_never_whole_in_memory(small_pieces: None) -> None:
    stream = io.BytesIO(json.dumps(listed(0, *(pod(f"p{n}") for n in range(1_000)))).encode() + b"\n")
    line = read_line(stream, 10**6)
    assert isinstance(line, LongList)
    assert max(map(len, line.pieces())) < 3 * SMALL


def test_g09_a_long_list_has_the_limit_of_any_line(small_pieces: None) -> None:
    line = json.dumps(listed(0, *(pod(f"p{n}") for n in range(100)))).encode() + b"\n"
    assert len(items_of(read_line(io.BytesIO(line), len(line)))) == 100
    for read in (items_of, LongList.skip, LongList.whole):
        found = read_line(io.BytesIO(line), len(line) - 1)
        assert isinstance(found, LongList)
        with pytest.raises(TooLongError):
            read(found)


def test_g09_text_that_only_looks_like_ends_of_objects_costs_a_few_attempts(
    small_pieces: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = 0
    original = longlines._is_json

    def counting(data: bytes) -> bool:
        nonlocal looked
        looked += len(data)
        return original(data)

    monkeypatch.setattr(longlines, "_is_json", counting)
    trap = '},{"metadata":' * 20_000
    document = {"t": 0, "type": "LIST", "items": [{"metadata": {"name": "a"}, "spec": trap}]}
    line = json.dumps(document, separators=(",", ":")).encode() + b"\n"
    assert items_of(read_line(io.BytesIO(line), 10**7)) == document["items"]
    assert looked < 20 * len(line)


@pytest.mark.parametrize("order", [("t", "path", "type", "items"), ("items", "type", "path", "t")])
def test_the_order_of_a_lines_keys_does_not_matter(small_pieces: None, tmp_path: Path, order: tuple[str, ...]) -> None:
    document = listed(3, *(pod(f"p{n}") for n in range(50))) | {"resourceVersion": "77", "epoch": 2}
    line = {key: document[key] for key in (*order, "resourceVersion", "epoch")}
    recording = Recording(write(tmp_path, [line, event(4, "ADDED", pod("z"))]))
    found = frames(recording)
    (lists,) = [f.frame for f in found if isinstance(f.frame, Listed)]
    assert (len(lists.items), lists.resource_version, lists.epoch) == (50, "77", 2)
    assert names(found)[-1] == (4, "ADDED", "z")
    assert not recording.notes


def test_a_long_list_that_is_cut_off_or_damaged_is_left_out(small_pieces: None, tmp_path: Path) -> None:
    line = json.dumps(listed(1, *(pod(f"p{n}") for n in range(50)))).encode()
    broken = Recording(write(tmp_path, [line[:-100] + b"}]", event(2, "ADDED", pod("z"))]))
    assert names(frames(broken)) == [(2, "ADDED", "z")]
    assert dict(broken.notes) == {"lines that are not frames": 1}
    cut = Recording(write(tmp_path, [event(0, "ADDED", pod("a")), line], pack=lambda data: data[:-500]))
    assert names(frames(cut)) == [(0, "ADDED", "a")]
    assert dict(cut.notes) == {"a last line that is cut off": 1}


def test_decoding_stops_inside_a_list_when_it_is_given_up(small_pieces: None, tmp_path: Path) -> None:
    asked = 0

    def given_up() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    recording = Recording(write(tmp_path, [listed(0, *(pod(f"p{n}") for n in range(500)))]))
    assert not [f for f in recording.frames(given_up) if isinstance(f.frame, Listed)]
    assert asked == 5


def test_glimpses_are_the_first_objects_of_the_first_lists(small_pieces: None, tmp_path: Path) -> None:
    nodes = "/api/v1/nodes"
    lines = [
        listed(0, *(pod(f"p{n}") for n in range(100))),
        {"t": 0, "path": PODS, "type": "STATE", "state": "watching"},
        {"t": 0, "path": "/x", "type": "LIST", "items": [pod("?")] * 100},
        {"epoch": 2} | listed(0, *(pod(f"n{n}") for n in range(100))) | {"path": nodes},
        event(1, "ADDED", pod("later")),
        listed(2, *(pod(f"p{n}") for n in range(100))),
    ]
    found = list(Recording(write(tmp_path, lines)).glimpses())
    assert [(g.source.path, g.epoch, g.objects[0].name) for g in found] == [(PODS, 0, "p0"), (nodes, 2, "n0")]
    assert all(0 < len(g.objects) < 10 for g in found)


@pytest.mark.parametrize("ending", [b"", b"garbage", b'{"t":0,"type":"LIST"}'])
def test_a_recording_without_long_lists_gives_none(tmp_path: Path, ending: bytes) -> None:
    path = tmp_path / "short.ktui"
    path.write_bytes(plain(text(listed(0, pod("a"))) + ending))
    assert list(Recording(path).glimpses()) == []


def test_changes_are_read_as_before(small_pieces: None, tmp_path: Path) -> None:
    big = pod("a", 2, status={"message": "x" * 1_000})
    (found,) = frames(Recording(write(tmp_path, [event(1, "MODIFIED", big)])))
    assert isinstance(found.frame, Changed)

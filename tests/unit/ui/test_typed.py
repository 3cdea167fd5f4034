"""What a terminal sends is read the same however it arrives, and nothing it sends ends the program."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual._time import get_time
from textual.events import CursorPosition, Key, Paste

from ktui.ui.typed import PATIENCE, Reader, Sequences

ANSWER = b"\x1b[12;34R"
SENT = st.sampled_from(
    [ANSWER, b"\x1b[A", b"\x1b[<35;10;4M", b"\x1b[1;5C", b"j", b"8", "é".encode(), b"\x1b[200~a\x1b[201~"]
)


class Hand:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def read(parts: list[bytes], pause: float = 0.0) -> list[str]:
    """Keys, pastes, and "answer". The parser's own time-outs are over after each part."""
    clock = Hand()
    reader = Reader(clock)
    found = []
    for part in (*parts, b"", b""):
        messages = reader.read(part)
        clock.now += pause
        if reader._parser._timeout_time is not None:
            reader._parser._timeout_time = get_time()
        for message in (*messages, *reader.read(b"")):
            if isinstance(message, CursorPosition):
                found.append("answer")
            elif isinstance(message, Key):
                found.append(message.key)
            elif isinstance(message, Paste):
                found.append(f"paste {message.text}")
    return found


@given(st.lists(SENT, min_size=1, max_size=8), st.data())
def test_what_arrives_in_parts_is_read_as_if_it_came_at_once(sent: list[bytes], data: st.DataObject) -> None:
    """A line that is cut right after an escape is left out: that is the key, too."""
    everything = b"".join(sent)
    places = [n for n in range(1, len(everything)) if everything[n - 1] != 0x1B]
    cuts = sorted(data.draw(st.sets(st.sampled_from(places), max_size=6))) if places else []
    parts = [everything[start:end] for start, end in pairwise([0, *cuts, len(everything)])]
    assert read(parts, PATIENCE / 20) == read([everything])


@pytest.mark.parametrize("place", range(2, len(ANSWER)))
def test_an_answer_is_never_a_key(place: int) -> None:
    assert read([ANSWER[:place], ANSWER[place:]], PATIENCE / 2) == ["answer"]


def test_escape_is_a_key_when_nothing_follows() -> None:
    assert read([b"\x1b"]) == ["escape"]


def test_what_only_looks_like_the_beginning_of_a_sequence_is_not_kept_for_ever() -> None:
    clock = Hand()
    sequences = Sequences(clock)
    assert sequences.whole("a\x1b[") == "a"
    assert sequences.whole("") == ""
    clock.now += PATIENCE
    assert sequences.whole("") == "\x1b["
    assert sequences.whole("b") == "b"


def test_each_beginning_has_its_own_time() -> None:
    clock = Hand()
    sequences = Sequences(clock)
    assert sequences.whole("\x1b[1") == ""
    clock.now += PATIENCE * 0.6
    assert sequences.whole(";2R\x1b[3") == "\x1b[1;2R"
    clock.now += PATIENCE * 0.6
    assert sequences.whole(";4R") == "\x1b[3;4R"


@given(st.lists(st.binary(max_size=80), max_size=8))
def test_a_terminal_may_send_anything(parts: list[bytes]) -> None:
    read(parts)


@pytest.mark.parametrize(
    "sent",
    [b"\x1b[99999999;1u", b"\x1b[67:2~", b"\x1b[1;1;1114112:5u", b"\x1b[48;4;4;0;0t\x1b[<0;5;5M"],
)
def test_a_sequence_that_cannot_be_read_costs_itself_alone(sent: bytes) -> None:
    assert read([b"j" + sent + b"\x1b[Ak"]) == ["j", "up", "k"]


@given(st.lists(st.from_regex(rb"\x1b\[[<?]?[0-9:;]{0,12}[ $]?[@-~]", fullmatch=True), max_size=8))
def test_no_control_sequence_ends_the_program(parts: list[bytes]) -> None:
    read(parts)


@given(st.lists(st.text(alphabet="\x1b[0;Ra", max_size=100), max_size=6))
def test_nothing_is_lost_or_put_in_another_order(parts: list[str]) -> None:
    clock = Hand()
    sequences = Sequences(clock)
    found = "".join(map(sequences.whole, parts))
    clock.now += PATIENCE
    assert found + sequences.whole("") == "".join(parts)

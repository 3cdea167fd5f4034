"""The line of `tests.bench.links`: it delays, it is slow, it loses nothing, and answers for the terminal."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from tests.bench.links import Line, RemoteTerminal


@given(st.lists(st.binary(min_size=1, max_size=300), max_size=10), st.integers(50, 5000), st.floats(0.001, 0.5))
def test_everything_arrives_in_order_and_no_faster_than_the_line(pieces: list[bytes], rate: int, delay: float) -> None:
    line = Line(rate, delay)
    line.take(0.0)
    for piece in pieces:
        line.put(piece)
    size = sum(map(len, pieces))
    arrived, now = b"", 0.0
    while len(arrived) < size:
        now += 0.05
        arrived += line.take(now)
        assert len(arrived) <= rate * now + 1
        assert line.waiting + len(arrived) <= size
        assert now < size / rate + delay + 1.0, "no slower either"
    assert arrived == b"".join(pieces)


def test_nothing_arrives_before_its_time() -> None:
    line = Line(1e6, 0.2)
    line.take(0.0)
    line.put(b"hello")
    assert line.take(0.1) == b""
    assert line.take(0.25) == b""
    assert line.take(0.35) == b"hello"


def test_the_terminal_answers_what_it_is_asked_and_keys_arrive() -> None:
    script = (
        "import sys,tty; tty.setraw(0); w=lambda t:(sys.stdout.write(t),sys.stdout.flush());"
        "w('\\x1b[6n'); got=sys.stdin.read(6); w('asked '+repr(got[1:])); w(' key '+sys.stdin.read(1)); sys.stdin.read(1)"
    )
    with RemoteTerminal([sys.executable, "-I", "-S", "-c", script], {}, (80, 24), 1e6, 0.01) as terminal:
        terminal.shows(r"asked '\[1;1R'")
        terminal.press("x")
        terminal.shows("key x")
        answer = terminal.answer_to("")
        assert answer.size == 0
        assert terminal.most_waiting > 0

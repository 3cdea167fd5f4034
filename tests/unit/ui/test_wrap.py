"""Wrapping of lines of cells."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ktui.ui.safe import cell_width, safe
from ktui.ui.wrap import LINE_LIMIT, wrap
from ktui.views.base import Cell, Line


def texts(lines: tuple[Line, ...]) -> list[str]:
    return ["".join(cell.text for cell in line) for line in lines]


def test_words_stay_whole_and_continue_under_the_value() -> None:
    line = (Cell("name  ", "dim"), Cell("one two three four"))
    assert texts(wrap(line, 20)) == ["name  one two three ", "      four"]


def test_a_long_word_is_broken() -> None:
    assert texts(wrap((Cell("a" * 25),), 10)) == ["a" * 10, "a" * 10, "a" * 5]


def test_newlines_break_and_styles_stay() -> None:
    lines = wrap((Cell("one\ntwo", "bad"),), 10)
    assert texts(lines) == ["one", "two"]
    assert lines[1][-1].style == "bad"


def test_an_empty_line_is_a_line() -> None:
    assert wrap((), 10) == ((),)


def test_ten_megabytes_are_cut() -> None:
    """X09."""
    lines = wrap((Cell("x" * 10_000_000),), 80)
    assert len(lines) == LINE_LIMIT // 80
    assert texts(lines)[-1].endswith("… +9996011")


@given(st.lists(st.text(max_size=30), max_size=4), st.integers(2, 40))
def test_no_line_is_wider_and_nothing_but_spaces_is_lost(parts: list[str], width: int) -> None:
    lines = wrap(tuple(Cell(part) for part in parts), width)
    assert all(cell_width(text) <= width for text in texts(lines))
    shown = "".join(safe(part, multiline=True) for part in parts)
    assert "".join("".join(texts(lines)).split()) == "".join(shown.split())

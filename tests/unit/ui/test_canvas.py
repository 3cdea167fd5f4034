"""From what a terminal shows to what is wanted: an emulated terminal ends up with it, whatever was drawn, and in few bytes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from hashlib import sha256
from unicodedata import category

import pyte
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from ktui.ui.canvas import Canvas
from ktui.ui.pens import Pen, PenCase, change

WIDTH, HEIGHT = 24, 12
STYLES = (
    None,
    Style(),
    Style(color="#d7dde4", bgcolor="#11151a"),
    Style(color="#6fc48d", bgcolor="#11151a"),
    Style(color="#d7dde4", bgcolor="#2b3542", bold=True),
    Style(color="red", underline=True),
    Style(bgcolor="#11151a", reverse=True),
)
BASE = STYLES[2]


def emulator() -> tuple[pyte.Screen, pyte.Stream]:
    screen = pyte.Screen(WIDTH, HEIGHT)
    screen.reset_mode(7, private=True)  # lines do not wrap: Textual asks for that
    return screen, pyte.Stream(screen)


def cells(screen: pyte.Screen) -> list[list[tuple[object, ...]]]:
    """What can be seen: of a blank without a line through or under it, its ground alone."""
    found = []
    for y in range(HEIGHT):
        line: list[tuple[object, ...]] = []
        for x in range(WIDTH):
            cell = screen.buffer[y][x]
            ink = (cell.fg, cell.bold, cell.italics)
            marks = (cell.underscore, cell.reverse, cell.strikethrough)
            blank = cell.data == " " and not any(marks)
            line.append((cell.data, cell.bg, marks) if blank else (cell.data, cell.bg, marks, ink))
        found.append(line)
    return found


class Terminal:
    def __init__(self, *, erases: bool = True) -> None:
        self.canvas = Canvas(erases=erases)
        self.canvas.resize(WIDTH, HEIGHT)
        self.screen, self._stream = emulator()
        self.written = 0

    def draw(self, lines: list[str], style: Style | None = BASE, *, top: int = 0) -> None:
        for y, line in enumerate(lines, top):
            self.canvas.draw(0, y, [Segment(line.ljust(WIDTH)[:WIDTH], style)])

    def update(self) -> str:
        output = self.canvas.changes()
        self._stream.feed(output)
        self.written += len(output)
        return output


words = st.text(alphabet="ab-1 ", max_size=WIDTH + 4)
marks = st.sampled_from(["a", "…", "│", "日", "é", "e\u0301", " ", "\u0301", "👩", "\x1b", "\x9b", "\x7f"])
joined = st.sampled_from(["a", " ", "日", "\u0301", "\u200d", "\ufe0f", "👩", "❤", "🏽", "🇩", "각", "ᆨ"])
pieces = st.tuples(
    st.integers(-3, WIDTH + 1),
    st.integers(-1, HEIGHT),
    st.lists(st.tuples(words | st.lists(marks, max_size=6).map("".join), st.sampled_from(STYLES)), max_size=3),
)
steps = st.lists(pieces | st.sampled_from(["up", "down", "write", "forget"]), max_size=30)


@settings(deadline=None, max_examples=150)
@given(steps, st.booleans())
def test_the_terminal_ends_up_with_what_is_wanted(drawn: list[object], erases: bool) -> None:
    """Against a canvas that writes everything anew."""
    terminal = Terminal(erases=erases)
    rows = [f"row-{number} {number * 7919 % 1000}" for number in range(60)]
    first = 20
    everything: list[tuple[int, int, list[Segment]]] = []

    def draw(x: int, y: int, segments: list[Segment]) -> None:
        everything.append((x, y, segments))
        terminal.canvas.draw(x, y, segments)

    for step in drawn:
        if isinstance(step, tuple):
            x, y, parts = step
            draw(x, y, [Segment(text, style) for text, style in parts])
        elif step == "write":
            terminal.update()
        elif step == "forget":
            terminal.canvas.forget()
        else:
            first += 1 if step == "up" else -1
            for y in range(2, HEIGHT - 1):
                draw(0, y, [Segment(rows[(first + y) % 60].ljust(WIDTH), BASE)])
    terminal.update()
    anew = Terminal(erases=False)
    for x, y, segments in everything:
        anew.canvas.draw(x, y, segments)
    anew.update()
    assert cells(terminal.screen) == cells(anew.screen)
    assert not terminal.canvas.changed
    assert terminal.update() == ""


@given(st.lists(joined | st.characters(exclude_categories=["Cs", "Cc", "Cf"])).map("".join).map("a".__add__))
def test_text_takes_the_cells_that_it_was_laid_out_for(text: str) -> None:
    """What follows it on the line stands where Textual put it."""
    characters, pens = Canvas()._cells([Segment(text)])
    assert len(characters) == len(pens) == cell_len(text)


@given(st.lists(st.text(max_size=6), max_size=4))
def test_no_control_character_reaches_the_terminal(texts: list[str]) -> None:
    canvas = Canvas()
    canvas.resize(WIDTH, HEIGHT)
    for y, text in enumerate(texts):
        canvas.draw(0, y, [Segment("a"), Segment(text)])
    written = re.sub(r"\x1b\[[\d;]*[mHCKX]", "", canvas.changes())
    assert not [character for character in written if category(character) == "Cc"]


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("erases", [True, False])
def test_a_terminal_with_other_widths_shows_the_columns_in_their_places(
    monkeypatch: pytest.MonkeyPatch, cells: int, erases: bool
) -> None:
    """As an older one that takes one cell for an emoji: what goes wrong, goes wrong in one column, and leaves nothing behind."""
    monkeypatch.setattr(pyte.screens, "wcwidth", lambda character: cells if character == "👩" else 1)
    terminal = Terminal(erases=erases)
    terminal.draw(["x" * WIDTH] * HEIGHT)
    terminal.update()
    name, state = Segment("a👩👩b".ljust(10), STYLES[3]), Segment("Running".ljust(WIDTH - 12), STYLES[4])
    terminal.canvas.draw(0, 3, [name, state])
    terminal.update()
    assert terminal.screen.display[3].replace(" ", "") == "a👩👩bRunning"
    assert [terminal.screen.buffer[3][x].data for x in range(12, 19)] == list("Running")
    terminal.draw(["y" * WIDTH], top=3)
    terminal.update()
    assert terminal.screen.display[3] == "y" * WIDTH


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("text", ["", "a", "abc", "日本", "a日"])
def test_no_terminal_is_too_narrow(width: int, text: str) -> None:
    canvas = Canvas(erases=True)
    canvas.resize(width, 2)
    canvas.draw(0, 0, [Segment(text, BASE)])
    assert canvas.changes()
    assert not canvas.changed


def test_a_mark_on_a_blank_is_drawn_in_its_own_colour() -> None:
    terminal = Terminal()
    terminal.canvas.draw(0, 0, [Segment(" \u0301".ljust(WIDTH + 1), STYLES[3])])
    assert "\u0301" in terminal.update()
    assert terminal.screen.buffer[0][0].fg == "6fc48d"


@pytest.mark.parametrize(
    ("name", "erases"), [("xterm-256color", True), ("rxvt", False), ("screen", False), ("", False)]
)
def test_only_what_the_terminal_can_erase_is_erased(name: str, erases: bool) -> None:
    """In a process of its own: curses looks once. rxvt has bce, but cannot erase a number of cells."""
    program = "from ktui.ui.driver import _erases; print(_erases())"
    output = subprocess.check_output([sys.executable, "-c", program], env={**os.environ, "TERM": name}, text=True)
    assert output.strip() == str(erases)


def test_what_is_there_already_is_not_written_again() -> None:
    terminal = Terminal()
    terminal.draw(["one two three"])
    terminal.update()
    terminal.draw(["one two three"])
    assert terminal.canvas.changed
    assert terminal.update() == ""


def test_whole_words_are_written_and_nothing_beside_them() -> None:
    terminal = Terminal()
    terminal.draw(["gpu-node-1      Running"])
    terminal.update()
    terminal.draw(["gpu-node-2      Running"])
    output = terminal.update()
    assert "gpu-node-2" in output
    assert "Running" not in output


def test_what_was_drawn_between_two_looks_is_never_sent() -> None:
    terminal = Terminal()
    for number in range(1000):
        terminal.draw([f"number {number}"] * HEIGHT)
    output = terminal.update()
    assert "999" in output
    assert "998" not in output
    assert len(output) < 2 * WIDTH * HEIGHT


@pytest.mark.parametrize("by", [1, -1, 3, -3])
def test_lines_that_move_are_not_written_again(by: int) -> None:
    terminal = Terminal()
    rows = [sha256(bytes([number])).hexdigest()[:20] for number in range(40)]
    terminal.draw(["title", *rows[10 : 10 + HEIGHT - 2], "footer"])
    terminal.update()
    terminal.draw(["title", *rows[10 + by : 10 + by + HEIGHT - 2], "footer"])
    output = terminal.update()
    assert terminal.screen.display[1].rstrip() == rows[10 + by]
    assert terminal.screen.display[-1].rstrip() == "footer"
    assert terminal.screen.display[0].rstrip() == "title"
    assert sum(row in output for row in rows) == abs(by)


def test_blanks_are_erased_where_that_keeps_their_colour() -> None:
    sizes = {}
    for erases in (True, False):
        terminal = Terminal(erases=erases)
        terminal.draw(["a"] * HEIGHT)
        sizes[erases] = len(terminal.update())
        assert {cell[1] for line in cells(terminal.screen) for cell in line} == {"11151a"}
    assert sizes[True] < sizes[False] / 2


def test_only_what_differs_in_a_style_is_said() -> None:
    case = PenCase("truecolor")
    text, ok = case.of(STYLES[2])[0], case.of(STYLES[3])[0]
    blank = case.of(STYLES[3])[1]
    _, pen = change(None, text)
    assert change(pen, text) == ("", pen)
    assert change(pen, ok) == ("\x1b[38;2;111;196;141m", ok)
    assert change(pen, blank) == ("", pen), "a blank takes any ink"
    bold = Pen(("1",), pen.foreground, pen.background)
    assert change(pen, bold) == ("\x1b[1m", bold)
    assert change(bold, pen) == ("\x1b[22m", pen)
    dim = Pen(("2",), pen.foreground, pen.background)
    both = Pen(("1", "2"), pen.foreground, pen.background)
    assert change(both, dim) == ("\x1b[22;2m", dim), "bold and dim go off together"
    underlined = Pen(("4",), pen.foreground, pen.background)
    assert change(underlined, blank)[0] == "\x1b[24m", "a line under a blank shows"
    assert change(bold, blank) == ("", bold), "on a blank, bold does not"


def test_fewer_colours_are_asked_of_a_terminal_that_has_fewer() -> None:
    assert PenCase("256").of(BASE)[0].background.startswith("48;5;")
    assert PenCase(None).of(BASE)[0] == PenCase("truecolor").of(BASE)[0]

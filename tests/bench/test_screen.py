"""What counts as seen, and since when."""

from __future__ import annotations

from functools import partial

import pytest

from tests.bench.screen import Screen
from tests.bench.terminal import Terminal
from tests.bench.test_terminal import python

# A list of five rows whose cursor is a row of another colour; j and k move it, anything else ends the program.
LIST = r"""
import sys, time, tty
tty.setraw(0)
def draw(at):
    for row in range(5):
        colour = "44" if row == at else "40"
        sys.stdout.write(f"\x1b[{row + 1};1H\x1b[{colour}m" + f"row {row}".ljust(40) + "\x1b[0m")
    sys.stdout.flush()
at = 0
draw(at)
while (key := sys.stdin.read(1)) in "jk":
    DELAY
    at += 1 if key == "j" else -1
    draw(at)
"""


def screen(terminal: Terminal) -> Screen:
    return Screen(terminal, columns=40, rows=8)


def ready(terminal: Terminal) -> Screen:
    made = screen(terminal)
    made.wait_for(lambda now: now.cursor == 0, "the list")
    return made


def contains(word: str, shown: Screen) -> bool:
    return word in shown.text


def size() -> dict[str, int]:
    return {"columns": 40, "rows": 8}


def test_the_cursor_is_the_line_that_stands_out() -> None:
    with Terminal(python(LIST.replace("DELAY", "")), {}, **size()) as terminal:
        shown = ready(terminal)
        assert shown.answer_to("j") > 0
        assert shown.cursor == 1
        assert shown.lines[1].startswith("row 1")
        shown.answer_to("k")
        assert shown.cursor == 0


def test_lines_of_a_frame_around_a_list_are_no_cursor() -> None:
    bars = r"print('\x1b[45m' + 'head'.ljust(40) + '\x1b[0m\n\n\x1b[45m' + 'foot'.ljust(40) + '\x1b[0m', flush=True); input()"
    with Terminal(python(bars), {}, **size()) as terminal:
        shown = screen(terminal)
        shown.wait_for(lambda now: "foot" in now.text, "the bars")
        assert shown.cursor is None


def test_a_key_is_timed_to_what_it_does_not_to_other_output() -> None:
    script = LIST.replace(
        "DELAY", r"for _ in range(4): time.sleep(0.05); sys.stdout.write('\x1b[7;1Hother'); sys.stdout.flush()"
    )
    with Terminal(python(script), {}, **size()) as terminal:
        shown = ready(terminal)
        assert shown.answer_to("j") >= 0.2
        assert shown.cursor == 1


def test_a_key_without_an_answer_is_an_error_with_the_screen() -> None:
    with Terminal(python(LIST.replace("DELAY", "continue")), {}, **size()) as terminal:
        shown = ready(terminal)
        with pytest.raises(TimeoutError, match="row 4"):
            shown.answer_to("j", limit=0.2)


def test_the_time_is_that_of_the_output_not_of_drawing_it() -> None:
    script = "for word in ('first', 'second', 'third'): print(word, flush=True); input()"
    with Terminal(python(script), {}, **size()) as terminal:
        pressed = []
        for word in ("first", "second", "third"):
            terminal.wait_for_output(word)
            pressed.append(terminal.elapsed)
            if word != "third":
                terminal.press("\n")
        shown = screen(terminal)
        seen = [shown.wait_for(partial(contains, word), word) for word in ("first", "second", "third")]
        assert seen[0] <= pressed[0] <= seen[1] <= pressed[1] <= seen[2] <= pressed[2]


def test_output_without_a_pause_is_seen_too() -> None:
    with Terminal(python("n = 0\nwhile True:\n n += 1\n print(n, flush=True)"), {}, **size()) as terminal:
        assert screen(terminal).wait_for(lambda now: "2000" in now.text, "a number") > 0


def test_a_command_that_ends_is_not_waited_for() -> None:
    with Terminal(python("print('bye')"), {}, **size()) as terminal, pytest.raises(TimeoutError, match="bye"):
        screen(terminal).wait_for(lambda now: "never" in now.text, "never")
    with Terminal(python("print('bye')"), {}, **size()) as terminal, pytest.raises(TimeoutError, match="ended"):
        screen(terminal).rest(30)

"""The measuring itself: what counts as visible, and that a command's end and failure are noticed."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.bench import machine
from tests.bench.terminal import ANYTHING, FULL_SCREEN, Terminal, visible


def python(script: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", script]


@pytest.mark.parametrize(
    "control",
    [
        b"\x1b[?1049h",
        b"\x1b[1;1H",
        b"\x1b[38;2;1;2;3m",
        b"\x1b]0;a title\x07",
        b"\x1b]8;;https://example.com\x1b\\",
        b"\x1bPtmux;\x1b\\",
        b"\x1b(B",
        b"\x1b[?2026$p",
        b"\x1b7",
        b"\r\n",
    ],
)
def test_control_sequences_are_not_visible(control: bytes) -> None:
    assert not ANYTHING.search(visible(control))
    assert visible(b"a" + control + b"b").split() in (["ab"], ["a", "b"])


@pytest.mark.parametrize(
    "cut", [b"\x1b", b"\x1b[38;2;1", b"\x1b]0;half a ti", b"\x1bPtmux", b"\x1b(", "│".encode()[:2]]
)
def test_what_has_not_arrived_whole_is_not_visible_yet(cut: bytes) -> None:
    assert visible(b"ab" + cut) == "ab"


def test_text_is_seen_though_colours_change_inside_it() -> None:
    script = r"print('\x1b[?1049h\x1b[1mtra\x1b[0min', end='', flush=True); input()"
    with Terminal(python(script), {}) as terminal:
        assert terminal.wait_for(re.compile("train")) > 0
        terminal.press("\r")
        assert terminal.ended().status == 0


def test_only_what_follows_counts_where_that_is_asked_for() -> None:
    script = r"print('early', end='', flush=True); input(); print('\x1b[?1049hlate', flush=True); input()"
    with Terminal(python(script), {}) as terminal:
        terminal.wait_for(ANYTHING)
        with pytest.raises(TimeoutError):
            terminal.wait_for(ANYTHING, after=FULL_SCREEN, limit=0.1)
        terminal.press("\r")
        terminal.wait_for(re.compile("^late"), after=FULL_SCREEN)


def test_the_terminal_has_the_size_that_was_asked_for() -> None:
    with Terminal(python("import os; print(*os.get_terminal_size())"), {}, columns=132, rows=43) as terminal:
        terminal.wait_for(re.compile("132 43"))
        assert terminal.ended().status == 0


def test_what_never_appears_is_an_error_with_what_did() -> None:
    with Terminal(python("print('something else'); input()"), {}) as terminal:
        terminal.wait_for(re.compile("else"))
        with pytest.raises(TimeoutError, match="something else"):
            terminal.wait_for(re.compile("train"), limit=0.1)


def test_a_command_that_ends_early_is_not_waited_for() -> None:
    with Terminal(python("raise SystemExit(3)"), {}) as terminal:
        with pytest.raises(TimeoutError):
            terminal.wait_for(ANYTHING)
        assert terminal.ended().status == 3


def test_a_command_that_does_not_end_is_killed() -> None:
    with Terminal(python("import time; print('up', flush=True); time.sleep(600)"), {}) as terminal:
        terminal.wait_for(re.compile("up"))
        assert terminal.ended(limit=0.1).status == 128 + 9


def test_a_key_is_timed_until_something_is_written() -> None:
    with Terminal(python("print('ready', flush=True)\nwhile input(): print('answer', flush=True)"), {}) as terminal:
        terminal.wait_for(re.compile("ready"))
        assert terminal.answer_to("x\r") > 0
        terminal.watch(0.2)
        with pytest.raises(TimeoutError, match="no answer to ''"):
            terminal.answer_to("", limit=0.1)


def test_an_answer_in_parts_is_timed_to_its_last_one() -> None:
    script = "import time\nprint('up', flush=True)\nwhile input():\n for _ in range(3): time.sleep(.05); print(1, flush=True)"
    with Terminal(python(script), {}) as terminal:
        terminal.wait_for(re.compile("up"))
        assert terminal.last_answer_to("x\r", silence=0.5) >= 0.15
    with Terminal(python("while True: print('.', flush=True)"), {}) as terminal, pytest.raises(TimeoutError):
        terminal.last_answer_to("x", silence=0.2, limit=0.5)


def test_a_watched_command_is_charged_with_what_it_does() -> None:
    with Terminal(python("print('up', flush=True); input()\nwhile True: print('.' * 100, flush=True)"), {}) as terminal:
        terminal.wait_for(re.compile("up"))
        idle = terminal.watch(0.3)
        assert idle.bytes == 0
        terminal.press("\r")
        busy = terminal.watch(0.3)
        assert busy.bytes > 100
        assert busy.cpu > idle.cpu


def test_the_kernel_counts_what_the_command_used() -> None:
    with Terminal(python("x = bytearray(64 << 20)"), {}) as terminal:
        ended = terminal.ended()
    assert ended.memory > 64 << 20
    assert ended.cpu > 0


def test_a_command_that_is_not_there_is_a_status(tmp_path: Path) -> None:
    with Terminal([str(tmp_path / "nothing")], {}) as terminal:
        assert terminal.ended().status == 127


def test_the_machine_is_one_line() -> None:
    assert re.fullmatch(r".+ cores, \d+ GiB, .+, Python 3\.\d+\.\d+\S*", machine.description())

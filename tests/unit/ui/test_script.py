"""Scripts of casts: what they say, and one clear line for what is wrong with them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ktui.ui.script
from ktui.cli import _SCRIPT
from ktui.errors import UsageError
from ktui.recording.player import SPEEDS
from ktui.ui.cast import plain_script
from ktui.ui.commands import COMMANDS
from ktui.ui.script import KEY_GAP, LONGEST, Press, Script, Seek, Speed, Step, keys, parse
from tests.recordings import PATHS

SHIPPED = sorted(PATHS["xid79"].parent.glob("*.script"))


def test_everything_a_script_may_say() -> None:
    script = parse(
        """
        # what is shown
        0      seek 25.5
        0      speed 4       # fast
        2      3 m
        +1.5   slash "n #1"
        20     end
        """,
        "x",
    )
    assert script == Script(
        (
            Step(0.0, Seek(25.5)),
            Step(0.0, Speed(4.0)),
            Step(2.0, Press("3")),
            Step(2.1, Press("m")),
            *(Step(round(3.5 + n * KEY_GAP, 3), Press(key)) for n, key in enumerate(["slash", *"n #1"])),
        ),
        20.0,
    )


def test_a_line_waits_for_the_keys_of_the_line_before() -> None:
    script = parse('0 "abc"\n0.1 enter', "x")
    assert [step.at for step in script.steps] == [0.0, 0.1, 0.2, 0.3]


def test_without_an_end_the_last_screen_can_be_read() -> None:
    assert parse("3 enter", "x").end > 4
    assert parse("", "x") == Script((), 2.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 enter\nsoon enter", "x, line 2: 'soon' is no time; a line begins with seconds, or with + and seconds"),
        ("-1 enter", "x, line 1: '-1' is no time"),
        ("nan enter", "x, line 1: 'nan' is no time"),
        ("٣ enter", "x, line 1: '٣' is no time"),
        ("5 enter\n4 enter", "x, line 2: 4 is before the line before"),
        ("1", "x, line 1: a time, and nothing to do"),
        ("1 entr", "x, line 1: 'entr' is no key; text to type stands in double quotes"),
        ("1 wait:500", "x, line 1: 'wait:500' is no key"),
        ('1 "half', "x, line 1: '\"half' is no key"),
        ("1 \x01", "x, line 1: '\\x01' is no key"),
        ('1 "bell\x07"', "x, line 1: only characters that print can be typed"),
        ("1 seek", "x, line 1: seek takes one number"),
        ("1 seek back", "x, line 1: 'back' is no number of seconds"),
        ("1 speed 3", "x, line 1: '3' is no speed; there are 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64"),
        ("1 end now", "x, line 1: end stands alone in its line"),
        ("1 end\n2 enter", "x, line 2: nothing comes after the end"),
        ("3601 end", "x, line 1: 3601 s is too long; at most 3600 s"),
        (f'3599 "{"a" * 20}"', "x: 3603 s is too long; at most 3600 s"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{re.escape(message)}") as caught:
        parse(text, "x")
    assert "\n" not in str(caught.value)


@given(st.text())
def test_any_text_is_a_script_or_one_line_of_what_is_wrong(text: str) -> None:
    said, script = "one line", Script((), 0.0)
    try:
        script = parse(text, "x")
    except UsageError as error:
        said = str(error)
    assert len(said.splitlines()) == 1
    times = [step.at for step in script.steps]
    assert times == sorted(times)
    assert script.end <= LONGEST


@given(st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters='"'), min_size=1))
def test_typed_text_is_its_characters(text: str) -> None:
    assert keys(f'enter "{text}" 3') == ["enter", *text, "3"]


def test_the_key_of_every_command_can_be_named() -> None:
    for command in COMMANDS:
        for key in command.keys.split(","):
            assert keys(key) == [key]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_scripts(path: Path) -> None:
    assert SHIPPED
    script = parse(path.read_text(encoding="utf-8"), path.name)
    assert path.with_suffix(".ktui.gz").is_file()
    assert 10 < script.end < 90


def test_the_scripts_that_people_are_shown_are_scripts() -> None:
    readme = (PATHS["xid79"].parents[1] / "README.md").read_text(encoding="utf-8")
    for text in (readme, _SCRIPT, ktui.ui.script.__doc__ or ""):
        (shown,) = re.findall(r"(?:^ +(?:#|[+\d]).*\n)+^ +20 +end.*$", text, re.MULTILINE)
        script = parse(shown, "shown")
        assert (len(script.steps), script.end) == (10, 20.0)


# --- without a script ---


def test_a_short_recording_plays_as_it_happened_without_what_is_idle() -> None:
    script = plain_script([0.0, 0.5, 2.0, 32.0, 33.0])
    assert script.steps == (
        Step(0.0, Speed(1.0)),
        Step(0.0, Seek(0.5)),
        Step(2.5, Seek(31.0)),  # a second after 2.0 was shown, to a second before what comes next
    )
    assert script.end == 7.5  # 1.5 s, a second each before and after what is left out, 1 s, and 3 s for the end


@given(st.lists(st.floats(0, 5e6, allow_nan=False, width=32), max_size=60))
def test_any_recording_plays_from_its_first_frame_to_its_last(times: list[float]) -> None:
    script = plain_script(times)
    assert 0 < script.end <= LONGEST
    at = [step.at for step in script.steps]
    assert at == sorted(at)
    speed = script.steps[0].action
    assert isinstance(speed, Speed)
    assert speed.factor in SPEEDS
    position, clock = 0.0, 0.0
    for step in script.steps[1:]:
        position += (step.at - clock) * speed.factor
        clock = step.at
        assert isinstance(step.action, Seek)
        assert step.action.to >= position - 0.2, "nothing is shown twice"
        position = step.action.to
    if script.end < LONGEST:
        assert position + (script.end - clock) * speed.factor >= max(times, default=0.0)

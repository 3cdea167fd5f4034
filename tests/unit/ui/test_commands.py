"""The command table and key maps."""

from __future__ import annotations

from collections import Counter

import pytest
from textual.keys import Keys, _character_to_key

from ktui import settings
from ktui.errors import UsageError
from ktui.ui.commands import BY_ID, COMMANDS, VIEW_NUMBERS, Situation
from ktui.ui.keymap import key_labels, keymap
from ktui.ui.theme import THEMES
from ktui.views.registry import VIEWS

SITUATIONS = [
    Situation(
        view=view,
        row_of=row_of,
        views=tuple(VIEWS),
        has_row=row,
        nested=True,
        replaying=replaying,
        past=past,
        recordable=past or not replaying,
        on_map=on_map,
    )
    for view, row_of in [*((view, view) for view in VIEWS if view != "triage"), ("triage", "gangs"), ("triage", "")]
    for row in (False, True)
    for replaying, past in ((False, False), (True, False), (True, True))
    for on_map in (False, True)
]


def test_ids_are_unique() -> None:
    assert len(BY_ID) == len(COMMANDS)


@pytest.mark.parametrize("situation", SITUATIONS[::3])
def test_no_two_available_commands_share_a_key(situation: Situation) -> None:
    keys = Counter(key for command in COMMANDS if command.available(situation) for key in command.keys.split(","))
    assert [key for key, count in keys.items() if count > 1] == []


def test_keys_are_keys_textual_knows() -> None:
    known = {key.value for key in Keys} | {_character_to_key(c) for c in map(chr, range(33, 127))}
    plain = {key.split("+")[-1] for command in COMMANDS for key in command.keys.split(",")}
    assert plain - known == set()


def test_every_view_has_its_number() -> None:
    assert set(VIEWS) <= set(VIEW_NUMBERS)


def test_views_that_do_not_exist_cannot_be_shown() -> None:
    assert not BY_ID["view.pods"].available(Situation(views=("gangs",)))


def test_settings_and_themes_name_the_same_themes() -> None:
    assert set(settings.THEMES) == set(THEMES)


def test_labels() -> None:
    assert key_labels("slash,ctrl+p") == "/ ctrl+p"


def test_a_key_map_may_move_commands() -> None:
    assert keymap({"row.yaml": "Y", "help": "H,?"}) == {"row.yaml": "Y", "help": "H,?"}
    assert keymap({"row.yaml": "v", "filter": "y"})


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ({"row.nothing": "x"}, "there is no command 'row.nothing'"),
        ({"row.yaml": "s"}, "'s' is both row.yaml and sort"),
        ({"row.yaml": ""}, "keys are names separated by commas"),
        ({"row.yaml": "a,,b"}, "keys are names separated by commas"),
        ({"row.yaml": "/"}, "'slash' is both row.yaml and filter"),
    ],
)
def test_wrong_key_maps_are_one_clear_line(wanted: dict[str, str], words: str) -> None:
    with pytest.raises(UsageError) as raised:
        keymap(wanted)
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)

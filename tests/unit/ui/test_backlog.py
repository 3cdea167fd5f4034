"""In which order keys are found, and how little of a table is looked at in one turn."""

from __future__ import annotations

from ktui.ui.backlog import Backlog
from ktui.views.base import RowKey


def key(name: str) -> RowKey:
    return ("ml", name)


def test_a_table_that_has_no_next_key_yet_ends_the_turn_and_not_the_pass() -> None:
    backlog = Backlog(lambda _: True)
    backlog.begin([(None, key("a"), key("b"), None, None, key("c")), (key("d"),)], 4)
    turns = []
    while backlog:
        turns.append(list(backlog.take(10)))
    assert turns == [[], [key("a"), key("b")], [], [key("c")], [key("d")]]
    assert backlog.through


def test_single_keys_come_before_those_of_tables() -> None:
    backlog = Backlog(lambda found: found != key("a"))
    backlog.begin([(key("a"), key("b"))], 2)
    backlog.add([key("x"), key("y")])
    assert list(backlog.take(3)) == [key("y"), key("x"), key("b")]

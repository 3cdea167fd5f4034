"""The order of rows: always what sorting and filtering everything from scratch gives."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ktui.ui.rowindex import Filter, RowIndex
from ktui.views.base import Row, RowKey, search_text

from .rows import make_row

PODS = 3  # the number column


def shown(index: RowIndex) -> list[Any]:
    keys: list[Any] = [index.key_at(position) for position in range(len(index))]
    return [name for _, name in keys]


def loaded(*rows: Row) -> RowIndex:
    index = RowIndex()
    index.update((row.key, row) for row in rows)
    return index


def test_numbers_compare_as_numbers() -> None:
    index = loaded(make_row("b", 10), make_row("c", 9))
    index.sort_by(PODS)
    assert shown(index) == ["c", "b"]
    index.sort_by(PODS, descending=True)
    assert shown(index) == ["b", "c"]


def test_filter_is_a_substring_without_case_and_never_a_pattern() -> None:
    """X13."""
    index = loaded(make_row("Numa"), make_row("a[b"), make_row("x"))
    index.narrow(Filter(text="NUM"))
    assert shown(index) == ["Numa"]
    index.narrow(Filter(text="["))
    assert shown(index) == ["a[b"]
    index.narrow(Filter(text="(a+)+$" * 100_000))
    assert shown(index) == []
    index.narrow(Filter())
    assert len(index) == index.total == 3


def test_problems_and_namespace() -> None:
    index = loaded(make_row("a", problem=True), make_row("b"), make_row("c", problem=True, namespace="other"))
    index.narrow(Filter(problems_only=True))
    assert shown(index) == ["a", "c"]
    index.narrow(Filter(problems_only=True, namespace="ml"))
    assert shown(index) == ["a"]


class RowIndexMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.index = RowIndex()
        self.rows: dict[RowKey, Row] = {}
        self.column, self.descending, self.filter = 0, False, Filter()

    names = st.sampled_from([f"{letter}{digit}" for letter in "abc" for digit in range(20)])
    parts = st.integers(0, 2)
    changes = st.lists(st.tuples(names, st.integers(0, 3), st.booleans(), parts, st.booleans()), max_size=40)

    @rule(changes=changes)
    def update(self, changes: list[tuple[str, int, bool, int, bool]]) -> None:
        batch: list[tuple[RowKey, Row | None]] = []
        for name, pods, problem, part, gone in changes:
            row = make_row(name, pods, problem=problem, part=part)
            batch.append((row.key, None if gone else row))
        self.index.update(batch)
        for key, change in batch:
            if change is None:
                self.rows.pop(key, None)
            else:
                self.rows[key] = change

    @rule(name=names, pods=st.integers(0, 3), problem=st.booleans(), part=parts)
    def change_one(self, name: str, pods: int, problem: bool, part: int) -> None:
        self.update([(name, pods, problem, part, False)])

    @rule(column=st.integers(0, 4), descending=st.booleans())
    def sort(self, column: int, descending: bool) -> None:
        self.column, self.descending = column, descending
        self.index.sort_by(column, descending=descending)

    @rule(text=st.sampled_from(["", "a", "b1", "Pend"]), problems=st.booleans())
    def narrow(self, text: str, problems: bool) -> None:
        self.filter = Filter(text=text, problems_only=problems)
        self.index.narrow(self.filter)

    @invariant()
    def order_is_what_a_full_sort_gives(self) -> None:
        def place(row: Row) -> tuple[bool, Any, Any]:
            value = row.sort[self.column]
            return (isinstance(value, str), value, row.key)

        rows = [
            row
            for row in self.rows.values()
            if self.filter.text.lower() in search_text(row).lower() and (row.problem or not self.filter.problems_only)
        ]
        rows.sort(key=place, reverse=self.descending)
        rows.sort(key=lambda row: row.part)  # in the same order, whatever that of the rows in them
        keys = [self.index.key_at(position) for position in range(len(self.index))]
        assert keys == [row.key for row in rows]
        assert self.index.total == len(self.rows)
        assert self.index.starts(3) == tuple(sum(row.part < part for row in rows) for part in range(3))
        every = [row.part for row in self.rows.values()]
        assert self.index.sizes(3) == tuple(every.count(part) for part in range(3))
        assert [self.index.position(key) for key in keys] == list(range(len(keys)))
        assert all((self.index.position(key) is None) == (key not in keys) for key in self.rows)


TestRowIndexMachine = RowIndexMachine.TestCase
TestRowIndexMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


@given(st.integers(0, 50))
def test_position_of_an_unknown_key(count: int) -> None:
    index = loaded(*(make_row(f"r{i}") for i in range(count)))
    assert index.position(("ml", "other")) is None
    assert index.uid(("ml", "other")) is None

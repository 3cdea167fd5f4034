"""Values in order, in blocks: always what a sorted list gives."""

from __future__ import annotations

from bisect import bisect_left

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.ui import ordered
from ktui.ui.ordered import Ordered

VALUES = st.integers(0, 60)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ordered, "_BLOCK", 3)


@given(first=st.sets(VALUES), changes=st.lists(st.tuples(st.booleans(), VALUES)), asked=VALUES)
def test_it_is_as_a_sorted_list(first: set[int], changes: list[tuple[bool, int]], asked: int) -> None:
    expected = sorted(first)
    values = Ordered(expected)
    for come, value in changes:
        if come and value not in expected:
            values.add(value)
            expected = sorted([*expected, value])
        elif not come:
            values.remove(value)
            expected = [each for each in expected if each != value]
        assert list(values) == expected
        assert len(values) == len(expected)
        assert [values[position] for position in range(len(values))] == expected
    assert [values.position(value) for value in expected] == list(range(len(expected)))
    assert (values.position(asked) is None) == (asked not in expected)
    assert values.before(lambda value: value >= asked) == bisect_left(expected, asked)


def test_a_position_behind_the_last_value_is_an_error() -> None:
    with pytest.raises(IndexError):
        Ordered([1, 2, 3, 4])[4]

"""Column placement."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ktui.ui.columns import GAP, place
from ktui.views.base import Column

from .rows import COLUMNS


def ids(width: int) -> list[str]:
    return [COLUMNS[placed.index].id for placed in place(COLUMNS, width)]


def test_everything_fits() -> None:
    assert ids(80) == ["namespace", "name", "state", "pods", "age"]


def test_the_column_of_lowest_priority_goes_first() -> None:
    assert ids(36) == ["name", "state", "pods", "age"]
    assert ids(26) == ["name", "state", "pods"]
    assert ids(19) == ["name", "state"]
    assert ids(5) == ["name"]


def test_of_equals_the_right_most_goes_first() -> None:
    columns = [Column(id=name, title=name, width=10, weight=0, priority=1, kind="text") for name in "abc"]
    assert [placed.index for placed in place(columns, 25)] == [0, 1]


def test_wide_columns_only_show_where_there_is_room() -> None:
    columns = [
        Column(id="name", title="NAME", width=10, priority=1),
        Column(id="node", title="NODE", width=10, priority=9, wide=True),
    ]
    assert len(place(columns, 21)) == 2
    assert [placed.index for placed in place(columns, 20)] == [0]


COLUMN = st.builds(
    Column,
    id=st.just("c"),
    title=st.just("C"),
    width=st.integers(1, 30),
    weight=st.integers(0, 4),
    priority=st.integers(0, 9),
    kind=st.just("text"),
)


@given(st.lists(COLUMN, max_size=9), st.integers(1, 200))
def test_columns_fill_the_width_and_never_exceed_it(columns: list[Column], width: int) -> None:
    placed = place(columns, width)
    used = sum(p.width for p in placed) + GAP * max(0, len(placed) - 1)
    assert used <= width
    assert bool(placed) == bool(columns)
    if any(columns[p.index].weight for p in placed):
        assert used == width

"""A tree's rows against the plain way: everything that is unfolded, in order, one below the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.ui.rowindex import Filter
from ktui.ui.treeindex import MOST_UNFOLDED, TreeIndex, above_of, depth_of
from ktui.views.base import Branch, Cell, Row, RowKey

Way = tuple[str, ...]
Node = tuple[int, bool, list[Any]]
"""(what it is sorted by, whether it is in trouble, what is below)."""


def row(way: Way, node: Node) -> Row:
    value, problem, below = node
    names = " ".join(name for name in inside(way, below))
    return Row(
        key=way,
        cells=(Cell(way[-1]), Cell(str(value))),
        sort=(way[-1], value),
        uid="/".join(way),
        problem=problem,
        within=names,
        folds=bool(below),
        unfolded=problem,
    )


def inside(way: Way, below: list[Node]) -> list[str]:
    found = []
    for place, node in enumerate(below):
        name = f"{way[-1]}{chr(97 + place)}"
        found += [name, *inside((*way, name), node[2])]
    return found


def branch(way: Way, node: Node) -> Branch:
    def grow() -> tuple[Branch, ...]:
        return tuple(branch((*way, f"{way[-1]}{chr(97 + place)}"), each) for place, each in enumerate(node[2]))

    return Branch(row(way, node), grow)


class Forest:
    """An index and the trees that it shows."""

    def __init__(self) -> None:
        self.trees: dict[str, Node] = {}
        self.index = TreeIndex(lambda key: branch((key[0],), self.trees[key[0]]))  # type: ignore[index]
        self.chosen: dict[RowKey, bool] = {}

    def put(self, name: str, node: Node | None) -> None:
        if node is None:
            self.trees.pop(name, None)
            self.chosen = {key: how for key, how in self.chosen.items() if key[:1] != (name,)}  # type: ignore[index]
        else:
            self.trees[name] = node
        self.index.update([((name,), row((name,), node) if node else None)])

    def shown(self) -> list[RowKey]:
        return [self.index.key_at(position) for position in range(len(self.index))]

    def expected(self) -> list[RowKey]:
        """Without a text to filter by."""
        column, backwards = self.index.column, self.index.descending
        wanted = self.index.filter

        def order(branches: list[Branch]) -> list[Branch]:
            return sorted(branches, key=lambda each: (each.row.sort[column], 0), reverse=backwards)

        def flat(each: Branch) -> list[RowKey]:
            found = [each.row.key]
            if each.row.folds and self.chosen.get(each.row.key, each.row.unfolded):
                below = [inner for inner in each.below() if inner.row.problem or not wanted.problems_only]
                for inner in order(below):
                    found += flat(inner)
            return found

        roots = [branch((name,), node) for name, node in self.trees.items()]
        roots = [each for each in roots if each.row.problem or not wanted.problems_only]
        roots.sort(key=lambda each: (each.row.sort[column], each.row.key), reverse=backwards)
        return [key for each in roots for key in flat(each)]


leaves: st.SearchStrategy[Node] = st.tuples(st.integers(0, 3), st.booleans(), st.just([]))
nodes: st.SearchStrategy[Node] = st.recursive(
    leaves, lambda inner: st.tuples(st.integers(0, 3), st.booleans(), st.lists(inner, max_size=4)), max_leaves=12
)
names = st.sampled_from("pqrstu")
steps = st.one_of(
    st.tuples(st.just("put"), names, nodes),
    st.tuples(st.just("put"), names, st.none()),
    st.tuples(st.just("fold"), st.integers(0, 30), st.booleans()),
    st.tuples(st.just("sort"), st.integers(0, 1), st.booleans()),
    st.tuples(st.just("problems"), st.booleans(), st.none()),
)


@settings(max_examples=150)
@given(st.lists(steps, max_size=25))
def test_it_shows_what_is_unfolded_in_order(course: list[Any]) -> None:
    forest = Forest()
    for what, first, second in course:
        if what == "put":
            forest.put(first, second)
        elif what == "sort":
            forest.index.sort_by(first, descending=second)
        elif what == "problems":
            forest.index.narrow(Filter(problems_only=first))
        elif first < len(forest.index):
            key = forest.index.key_at(first)
            found = forest.index.row(key) or row(key, forest.trees[key[0]])  # type: ignore[arg-type, index]
            forest.chosen[key] = second
            forest.index.fold(found, second)
        shown = forest.shown()
        assert shown == forest.expected()
        assert [forest.index.position(key) for key in shown] == list(range(len(shown)))


TRAINING: Node = (0, False, [(0, False, [(0, False, []), (1, False, [])])])


def test_a_filter_shows_what_it_finds_with_what_is_above_it() -> None:
    forest = Forest()
    forest.put("p", TRAINING)
    forest.put("q", TRAINING)
    assert forest.shown() == [("p",), ("q",)]
    forest.index.narrow(Filter(text="PAB"))
    assert forest.shown() == [("p",), ("p", "pa"), ("p", "pa", "pab")]
    assert forest.index.trees == 1
    forest.index.narrow(Filter(text="q"))
    assert forest.shown() == [("q",)]  # found itself: it stays as it is
    forest.index.narrow(Filter())
    assert forest.shown() == [("p",), ("q",)]


def test_what_a_filter_shows_can_be_folded() -> None:
    forest = Forest()
    forest.put("p", TRAINING)
    forest.index.narrow(Filter(text="pab"))
    forest.index.fold(row(("p",), TRAINING), unfolded=False)
    assert forest.shown() == [("p",)]


def test_a_row_is_revealed() -> None:
    forest = Forest()
    forest.put("p", TRAINING)
    forest.index.reveal(("p", "pa", "paa"))
    assert forest.index.position(("p", "pa", "paa")) == 2
    assert forest.index.uid(("p", "pa", "paa")) == "p/pa/paa"


def test_the_nearest_row_above_stands_for_one_that_is_folded_away() -> None:
    forest = Forest()
    forest.put("p", TRAINING)
    forest.index.reveal(("p", "pa", "paa"))
    assert forest.index.shown_above(("p", "pa", "paa")) == ("p", "pa", "paa")
    forest.index.fold(row(("p",), TRAINING), unfolded=False)
    assert forest.index.shown_above(("p", "pa", "paa")) == ("p",)


@pytest.mark.parametrize(("key", "above", "depth"), [(("p",), ("p",), 0), (("p", "pa"), ("p",), 1)])
def test_ways(key: Way, above: Way, depth: int) -> None:
    assert (above_of(key), depth_of(key)) == (above, depth)


def test_where_everything_is_in_trouble_not_all_of_it_is_unfolded() -> None:
    forest = Forest()
    sick: Node = (0, True, [(0, True, [])])
    for number in range(MOST_UNFOLDED + 50):
        forest.put(f"t{number:04}", sick)
    assert len(forest.index) == 2 * MOST_UNFOLDED + 50
    forest.put("t0000", TRAINING)
    forest.put("t0240", sick)  # another one takes its place when it is told of
    assert len(forest.index) == 2 * MOST_UNFOLDED + 50


def test_a_change_of_one_tree_asks_for_no_other() -> None:
    """No event may cost time in proportion to the cluster."""
    asked: list[RowKey] = []

    def grow(key: RowKey) -> Branch:
        asked.append(key)
        return branch(key, (0, True, [(0, True, [])]))  # type: ignore[arg-type]

    index = TreeIndex(grow)
    for number in range(50):
        index.update([((f"t{number}",), row((f"t{number}",), (0, True, [(0, True, [])])))])
    asked.clear()
    index.update([(("t7",), row(("t7",), (1, True, [(0, True, [])])))])
    assert asked == [("t7",)]

"""What belongs on each line of a table, before it is drawn: rows, and a heading above each part of a view that has parts.

Lines are counted from below the table's title. Knows nothing of Textual.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ktui.model.time import format_age
from ktui.ui.viewmodel import ViewModel
from ktui.views.base import Cell, Row

_AGE_STEPS: Final = ((60.0, 10.0), (600.0, 60.0))  # seconds: (younger than this, shown in steps of that)


class Shown(NamedTuple):
    """What decides how a row's line looks, beside columns and theme."""

    row: Row
    age: str
    cursor: bool
    mark: bool
    unfolded: bool = False  # what is below it in a tree


class Heading(NamedTuple):
    """A line above the rows of a part: its title, and at the right end what there is to say of it."""

    title: str
    said: Cell


class Lines:
    """The lines of a model as it is now. Made for one look at any number of them: what they have in common is found once."""

    def __init__(self, model: ViewModel, headings: Sequence[Heading], now: float) -> None:
        """`headings` of all parts of the view, in order; `now` in Unix seconds."""
        index = model.index
        self._model = model
        self._headings = headings
        self._now = now
        self._heads = [start + above for above, start in enumerate(index.starts(len(headings)))] if len(index) else []
        self.cursor = model.locate_cursor()

    def __len__(self) -> int:
        return len(self._model.index) + len(self._heads)

    def line_of(self, position: int) -> int:
        """The line of a row."""
        line = position
        for head in self._heads:
            line += head <= line
        return line

    def first_of(self, position: int) -> int:
        """The line to be seen together with that of a row: the heading of a part stands above its first row."""
        line = self.line_of(position)
        while line - 1 in self._heads:
            line -= 1
        return line

    def at(self, line: int) -> int | Heading | None:
        """The position of the row on a line, or the heading that is there; None below the last row."""
        if not self._heads:
            position = line
        elif line in self._heads:
            return self._headings[self._heads.index(line)]
        else:
            position = line - sum(head < line for head in self._heads)
        return position if 0 <= position < len(self._model.index) else None

    def shown(self, line: int) -> Shown | Heading | None:
        position = self.at(line)
        if not isinstance(position, int):
            return position
        model = self._model
        key = model.index.key_at(position)
        row = model.row(key)
        if row is None:
            return None
        age = "" if row.since is None else _age(self._now - row.since)
        unfolded = model.tree is not None and model.tree.is_unfolded(row)
        return Shown(row, age, position == self.cursor, key in model.marks, unfolded)


def _age(seconds: float) -> str:
    """Young ages in steps: a table full of seconds would be drawn anew every second, over SSH too."""
    for limit, step in _AGE_STEPS:
        if 0 <= seconds < limit:
            return format_age(seconds - seconds % step)
    return format_age(seconds)

"""Which line of a table a row is on, with headings above the parts of a view."""

from __future__ import annotations

from ktui.cluster.state import Cluster
from ktui.ui.lines import Heading, Lines, Shown
from ktui.ui.viewmodel import ViewModel
from ktui.views.base import Cell, Parted
from ktui.views.registry import VIEWS
from tests.ui.world import NOW, degraded, example


def triage() -> tuple[ViewModel, list[Heading]]:
    cluster = Cluster()
    for frame in degraded().frames:
        cluster.apply(frame)
    view = VIEWS["triage"]
    assert isinstance(view, Parted)
    model = ViewModel(view, cluster)
    while model.behind:
        model.work(lambda: True)
    return model, [Heading(part.title, Cell("")) for part in view.parts]


def pods() -> ViewModel:
    cluster = Cluster()
    for frame in example():
        cluster.apply(frame)
    model = ViewModel(VIEWS["pods"], cluster)
    model.work(lambda: True)
    return model


def test_each_row_is_found_on_its_line_and_each_heading_above_its_part() -> None:
    model, headings = triage()
    lines = Lines(model, headings, NOW)
    rows = len(model.index)
    assert rows > 1
    assert len(lines) == rows + len(headings)
    assert [lines.at(lines.line_of(position)) for position in range(rows)] == list(range(rows))
    assert [heading for line in range(len(lines)) if isinstance(heading := lines.at(line), Heading)] == headings
    assert isinstance(lines.at(0), Heading), "the first part has its heading on top"
    assert lines.first_of(0) == 0
    assert lines.at(len(lines)) is None


def test_without_parts_lines_are_positions() -> None:
    model = pods()
    lines = Lines(model, (), NOW)
    assert [lines.at(line) for line in range(-1, len(model.index) + 1)] == [None, *range(len(model.index)), None]
    assert lines.first_of(3) == lines.line_of(3) == 3


def test_a_line_says_what_decides_how_it_looks() -> None:
    model = pods()
    model.move_to(2)
    model.toggle_mark()
    shown = [Lines(model, (), NOW).shown(line) for line in range(len(model.index))]
    assert [line.cursor for line in shown if isinstance(line, Shown)] == [n == 2 for n in range(len(shown))]
    assert [line.mark for line in shown if isinstance(line, Shown)] == [n == 2 for n in range(len(shown))]


def test_young_ages_go_up_in_steps() -> None:
    """The pods are ten minutes old; from then on every second counts."""
    model = pods()

    def age(later: float) -> str:
        shown = Lines(model, (), NOW + later).shown(3)
        assert isinstance(shown, Shown)
        return shown.age

    assert age(-600 + 14) == age(-600 + 19) == "10s"
    assert age(-600 + 20) == "20s"
    assert age(-600 + 130) == age(-600 + 170) == "2m"
    assert age(0) == "10m"

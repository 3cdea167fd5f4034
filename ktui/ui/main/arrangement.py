"""Which rows of the view are shown and in which order: the filter, the order, what is folded, what is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from ktui.ui.screens.picker import Picker

if TYPE_CHECKING:
    from textual.screen import Screen

    from ktui.ui.commands import Handlers
    from ktui.ui.main.decks import Decks
    from ktui.ui.main.panes import Panes
    from ktui.ui.main.showing import Showing


class Arrangement:
    def __init__(self, screen: Screen[None], decks: Decks, panes: Panes, showing: Showing) -> None:
        self._screen = screen
        self._decks = decks
        self._panes = panes
        self._showing = showing

    def handlers(self) -> Handlers:
        return {
            "filter": self._panes.open_filter,
            "problems": self._toggle_problems,
            "namespace": self._choose_namespace,
            "sort": self.sort_by_next,
            "sort.reverse": self.reverse,
            "tree.unfold": self._unfold,
            "tree.fold": self._fold,
            "tree.toggle": self._toggle_fold,
            "row.mark": self._mark,
        }

    # --- filter ---

    def filter_by(self, text: str) -> None:
        self._showing.narrow(structs.replace(self._decks.filter, text=text))

    def drop_text(self) -> None:
        """All rows again, but for those that `problems` and `namespace` keep away."""
        self._panes.filter.value = ""
        self.filter_by("")

    def _toggle_problems(self) -> None:
        wanted = self._decks.filter
        self._showing.narrow(structs.replace(wanted, problems_only=not wanted.problems_only))

    def _choose_namespace(self) -> None:
        if self._decks.model is None:
            return
        names = ["", *self._decks.model.index.namespaces()]
        current = self._decks.filter.namespace
        picker = Picker("Namespace", names, labels={"": "all namespaces"}, current=current)
        self._screen.app.push_screen(picker, self._namespace_chosen)

    def _namespace_chosen(self, name: str | None) -> None:
        if name is not None:
            self._showing.narrow(structs.replace(self._decks.filter, namespace=name))

    # --- order ---

    def sort_by_next(self) -> None:
        """By the next column that there is room for."""
        if (model := self._decks.model) is not None:
            shown = self._panes.table.shown_columns
            following = (column for column in shown if column > model.column)
            self._showing.sort_by(next(following, shown[0]), descending=False)

    def reverse(self) -> None:
        if (model := self._decks.model) is not None:
            self._showing.sort_by(model.column, descending=not model.descending)

    def sort_by(self, column: int) -> None:
        """By a column of the view; by the one that decides already, the other way round."""
        if (model := self._decks.model) is not None:
            self._showing.sort_by(column, descending=column == model.column and not model.descending)

    # --- trees and marks ---

    def _unfold(self) -> None:
        if (model := self._decks.model) is not None:
            model.unfold()
            self._panes.table.follow_cursor()

    def _fold(self) -> None:
        if (model := self._decks.model) is not None:
            model.fold()
            self._panes.table.follow_cursor()

    def _toggle_fold(self) -> None:
        if (model := self._decks.model) is not None:
            model.toggle()
            self._panes.table.follow_cursor()

    def _mark(self) -> None:
        if (model := self._decks.model) is not None:
            model.toggle_mark()
            self._panes.table.move("down")

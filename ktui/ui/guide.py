"""The line that guides through an incident, for a feed that has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ktui.ui.widgets.bar import Part
from ktui.views.base import Cell

if TYPE_CHECKING:
    from ktui.cluster.state import Cluster
    from ktui.ui.session import Session


@runtime_checkable
class Guiding(Protocol):
    """A feed that knows what a person should do next."""

    def hint(self, cluster: Cluster, view: str, opened: bool) -> str:
        """One line, "" for nothing to say. `opened`: a row's detail is open."""
        ...


def hint(session: Session, view: str, *, opened: bool) -> list[Part]:
    """The parts of the guide's line, none without a guide."""
    text = session.feed.hint(session.cluster, view, opened) if isinstance(session.feed, Guiding) else ""
    words = [text[at : at + _PART] for at in range(0, len(text), _PART)]
    return [Part(tuple(Cell(word, "accent") for word in words), priority=9)] if words else []


_PART = 50  # a bar cuts longer cells

"""What a dialog says besides who is deleted: one plain line each, the same on screens and on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ktui.cluster.sources import gang_text
from ktui.diagnose.blast import Blast
from ktui.model.meta import Key

_NAMED = 3


def eviction_notes(blast: Blast, budgets: Sequence[Key] | None) -> Iterator[str]:
    """Claims of the pods that go, budgets that do not help (None: not read), gangs that lose a device they could have had."""
    if blast.claims:
        yield f"held by {_counted(blast.claims, 'claim')}: {_some(blast.claims)}"
    if blast.deleted and budgets is None:
        yield "PodDisruptionBudgets could not be read; none would help"
    elif budgets:
        yield f"{_counted(budgets, 'PodDisruptionBudget')} will not help: {_some(budgets)}"
    if blast.pending:
        loses = "lose" if len(blast.pending) > 1 else "loses"
        yield f"{_counted(blast.pending, 'pending gang')} {loses} a candidate device: {_some(blast.pending)}"


def helped_note(helped: Sequence[Key]) -> str:
    """Gangs that wait and could be placed afterwards, each by itself."""
    each = ", each by itself" if len(helped) > 1 else ""
    return f"{_counted(helped, 'pending gang')} could then be placed{each}: {_some(helped)}"


def _counted(keys: Sequence[Key], noun: str) -> str:
    return f"{len(keys)} {noun}{'s' if len(keys) > 1 else ''}"


def _some(keys: Sequence[Key]) -> str:
    named = ", ".join(gang_text(key) for key in keys[:_NAMED])
    return f"{named} and {len(keys) - _NAMED} more" if len(keys) > _NAMED else named

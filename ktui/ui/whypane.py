"""What the pane says of why a gang or a pod waits, and where its evidence leads.

What is said is worked out anew when something changed, and never so often that it takes more than a tenth of the time: it looks
at every device that is lost to the gang.
"""

from __future__ import annotations

import time
from typing import Final

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.diagnose.account import Account
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.ui.pace import Pace
from ktui.views import why
from ktui.views.base import Cell, Line, RowKey
from ktui.views.shared import as_key

_REST: Final = 10  # times as long as the last answer took
_BAR: Final = "█"
_WIDEST: Final = 20  # cells of a bar


def subject_of(cluster: Cluster, view: Entity, key: RowKey) -> why.Subject | None:
    """Whom a row asks about, None for rows that wait for nothing."""
    if view == "gangs":
        return why.gang_subject(cluster, as_key(key))
    pod = cluster.pod(as_key(key)) if view == "pods" else None
    return why.pod_subject(cluster, pod) if pod is not None else None


class WhyPane:
    """The answer that is shown, of one subject at a time."""

    def __init__(self) -> None:
        self._asked: tuple[Cluster, why.Subject] | None = None
        self._seen = (0, 0)  # the state of the cluster that the answer follows from
        self._found: Account | None = None
        self._pace = Pace(time.monotonic, rest=_REST)

    def forget(self) -> None:
        """The answer, and the cluster that it is about."""
        self._asked, self._found = None, None

    def lines(self, cluster: Cluster, subject: why.Subject, now: float, width: int) -> tuple[Line, ...]:
        """The answer at the moment `now` (Unix seconds), for so many cells."""
        found = self._account(cluster, subject)
        if found is None:
            return ((Cell("gone", "dim"),),)
        bar = max(_WIDEST // 4, min(_WIDEST, (width - why.LABEL) // 3 - 4))
        return why.lines(cluster, subject, found, now, bar=_BAR, width=bar)

    def places(self, cluster: Cluster, subject: why.Subject) -> dict[str, tuple[Entity, RowKey]]:
        """The rows that the evidence leads to, by what is shown for them."""
        found = self._account(cluster, subject)
        evidence = found.diagnosis.evidence if found is not None else ()
        places = ((item, why.target(cluster, item)) for item in evidence)
        return {f"{item.kind} {item.shown}": place for item, place in places if place is not None}

    def _account(self, cluster: Cluster, subject: why.Subject) -> Account | None:
        kept = diagnoses_of(cluster)
        seen = (kept.supply.revision, cluster.gang_journal.position)
        changed = seen != self._seen or subject.kind == "pod"  # no journal tells of pods outside gangs
        if self._asked != (cluster, subject) or (changed and self._pace.is_due()):
            with self._pace.doing():
                self._found = why.account(kept.supply, subject)
            self._asked, self._seen = (cluster, subject), seen
        return self._found

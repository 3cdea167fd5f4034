"""Which devices a request is about: its class's selectors and its own, in CEL, and what it asks of their capacity."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.cel.reading import Read
from ktui.cel.selector import DoesNotMatch, Matches, compile_selector, match_all
from ktui.cluster.state import Cluster
from ktui.diagnose.demand import ClaimDemand, Want, device_class
from ktui.diagnose.room import Kind, offers

Reads = tuple[tuple[Read, ...], tuple[str, ...]]
"""What of a device is looked at: by selectors, and the attributes that constraints compare."""


class Selection:
    """Evaluates selectors. What the library cannot evaluate, or what fails at run time, is not known (None)."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def expressions(self, want: Want) -> tuple[str, ...] | None:
        """All expressions a device has to match, the class's first; None when the class does not exist."""
        found = device_class(self._cluster, want.device_class)
        if found is None:
            return None
        return (*(s.cel.expression if s.cel else "" for s in found.spec.selectors or ()), *want.selectors)

    def matches(self, want: Want, kind: Kind) -> bool | None:
        """Whether devices of a kind do for a request: selectors match, and there is as much of their capacity in all."""
        expressions = self.expressions(want)
        if expressions is None:
            return False
        outcome = match_all(expressions, kind.driver, kind.device)
        if isinstance(outcome, Matches):
            return offers(kind.device, want)
        return False if isinstance(outcome, DoesNotMatch) else None

    def reads(self, claims: Iterable[ClaimDemand]) -> Reads:
        """Everything that these claims look at."""
        reads: set[Read] = set()
        compared: set[str] = set()
        for claim in claims:
            compared.update(c.match_attribute or c.distinct_attribute or "" for c in claim.constraints)
            for alternatives in claim.requests:
                for ask in alternatives:
                    derived = (expression for _, expression in ask.want.derived)
                    for expression in (*(self.expressions(ask.want) or ()), *derived):
                        reads |= compile_selector(expression).reads
        return tuple(sorted(reads, key=repr)), tuple(sorted(compared))

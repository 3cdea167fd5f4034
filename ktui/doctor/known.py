"""What a check needs to know. A check that cannot know it ends there, and is skipped with the reason."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar

from ktui.doctor.facts import Facts, Known, Unknown
from ktui.doctor.finding import Finding, skipped

T = TypeVar("T")

Check = Callable[[Facts], Iterator[Finding]]


class _NotKnown(Exception):
    """Ends a check."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.text)
        self.finding = finding


def skips(check: Check) -> Check:
    """For a check that calls `known` or `require`: where what it needs is not known, that is the last it says."""

    @functools.wraps(check)
    def checked(facts: Facts) -> Iterator[Finding]:
        try:
            yield from check(facts)
        except _NotKnown as unknown:
            yield unknown.finding

    return checked


def known(check: str, fact: Known[T]) -> T:
    """The fact. `check` is the code to skip under when it is not known."""
    if isinstance(fact, Unknown):
        raise _NotKnown(skipped(check, fact.why))
    return fact


def require(check: str, facts: Facts, *kinds: str) -> None:
    """See to it that every object of these kinds was read."""
    if why := facts.unread(*kinds):
        raise _NotKnown(skipped(check, why))

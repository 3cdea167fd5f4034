"""Device selectors: does this expression match this device, as the scheduler of Kubernetes 1.37 would say?

What the scheduler makes of an answer (dynamic-resource-allocation, structured/internal): with "no match" it goes on to the next
device. An error, of one device only, ends the allocation of the whole pod: the scheduler's Filter returns Error rather than
Unschedulable, no other node is tried, the pod keeps the message and is retried with back-off. Devices are visited pool by pool
and only until enough are found, so an error shows only when the device that causes it is reached. Class selectors come before
the request's, and the first that does not match ends the row for that device.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Final

from ktui.cel.evaluation import Evaluation
from ktui.cel.lowering import lower
from ktui.cel.quantities import Unclear
from ktui.cel.reading import Read, Reader, reader
from ktui.cel.syntax import Unsupported, parse
from ktui.cel.values import EvaluationError, unwire
from ktui.model.resourceslice import Device


@dataclass(frozen=True, slots=True)
class Matches:
    """The expression is true of the device."""


@dataclass(frozen=True, slots=True)
class DoesNotMatch:
    """The expression is false of the device."""


@dataclass(frozen=True, slots=True)
class RuntimeFailure:
    """The expression fails on the device, most often because it reads an attribute that the device lacks."""

    message: str


@dataclass(frozen=True, slots=True)
class CannotTell:
    """ktui does not know what Kubernetes would say."""

    reason: str


Outcome = Matches | DoesNotMatch | RuntimeFailure | CannotTell

_MATCHES: Final = Matches()
_DOES_NOT_MATCH: Final = DoesNotMatch()
_MAX_REASON: Final = 200  # characters
_MAX_OUTCOMES: Final = 4096  # kept for each selector; devices come in a handful of kinds


class Selector:
    """One compiled expression. Make it with `compile_selector`; may be used from several threads."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self._reason = ""
        self._reads: tuple[Read, ...] = ()
        self._readers: tuple[Reader, ...] = ()
        self._evaluation: Evaluation | None = None
        self._outcomes: dict[Hashable, Outcome] = {}
        try:
            lowered = lower(parse(expression))
            self._evaluation = Evaluation(lowered)
            self._reads = lowered.reads
            self._readers = tuple(map(reader, lowered.reads))
        except Unsupported as error:
            self._reason = str(error)

    @property
    def reads(self) -> frozenset[Read]:
        """The places of a device that the outcome depends on; none where it cannot be told of any device."""
        return frozenset(self._reads)

    def evaluate(self, driver: str, device: Device) -> Outcome:
        """The outcome for a device that `driver` publishes. Computed once for each distinct set of the values it reads."""
        key = tuple([read(driver, device) for read in self._readers])
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._computed(driver, device)
            if len(self._outcomes) >= _MAX_OUTCOMES:
                self._outcomes.clear()
            self._outcomes[key] = outcome
        return outcome

    def value(self, driver: str, device: Device) -> object:
        """What the expression comes to for a device, whatever its type. Raises EvaluationError where it fails, and Unclear where
        what Kubernetes would say is not known."""
        if self._evaluation is None:
            raise Unclear(_short(self._reason))
        return unwire(self._evaluation.run(driver, device))

    def _computed(self, driver: str, device: Device) -> Outcome:
        if self._evaluation is None:
            return CannotTell(_short(self._reason))
        try:
            result = self._evaluation.run(driver, device)
        except EvaluationError as error:
            return RuntimeFailure(_short(str(error)))
        except Unclear as unclear:
            return CannotTell(_short(str(unclear)))
        if isinstance(result, bool):
            return _MATCHES if result else _DOES_NOT_MATCH
        return RuntimeFailure("the expression gives no bool")


@functools.lru_cache(maxsize=256)
def compile_selector(expression: str) -> Selector:
    """The selector of an expression, whatever it holds: one that cannot be judged answers CannotTell for every device.

    The first call loads the CEL library; nothing is loaded before that.
    """
    return Selector(expression)


def match_all(expressions: Iterable[str], driver: str, device: Device) -> Outcome:
    """All selectors of a class or request, in order: the first that does not match decides, as in the scheduler."""
    for expression in expressions:
        outcome = compile_selector(expression).evaluate(driver, device)
        if outcome is not _MATCHES:
            return outcome
    return _MATCHES


def _short(reason: str) -> str:
    """One line; names and keys in it come from the expression, which may have thousands of characters."""
    line = " ".join(reason.split())
    return line if len(line) <= _MAX_REASON else f"{line[: _MAX_REASON - 1]}…"

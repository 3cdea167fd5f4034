"""Runs a lowered expression in the CEL library, with what the device holds behind numbered calls."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ktui.cel.arguments import Function
from ktui.cel.library import compiled, context
from ktui.cel.lowering import Fold, Lowered
from ktui.cel.quantities import Unclear
from ktui.cel.reading import value
from ktui.cel.values import NO_OVERLOAD, Aborted, EvaluationError, Optional, unwire, wire
from ktui.model.resourceslice import Device

if TYPE_CHECKING:
    from cel import Context

_MAX_STEPS: Final = 20_000  # calls, and items of the lists they give, in one evaluation; a fraction of a second
_ERRORS: Final[dict[type[Exception], str]] = {
    KeyError: "no such key",
    IndexError: "index out of bounds",
    OverflowError: "integer overflow",
    TypeError: NO_OVERLOAD,
    ZeroDivisionError: "division by zero",
}
_RAISED: Final = tuple(_ERRORS)


class Evaluation:
    """One lowered expression, for one device at a time."""

    def __init__(self, lowered: Lowered) -> None:
        """Raises Unsupported where the library does not take the expression after all."""
        self._lock = threading.Lock()
        self._reads = lowered.reads
        self._value: Callable[[int], Optional] = lambda _place: Optional()
        self._error = ""
        self._aborted = ""
        self._unclear = ""
        self._steps = 0
        functions = {name: self._boxed(_on_values(function)) for name, function in lowered.functions.items()}
        functions |= {
            "at": self._boxed(self._at),
            "present": self._boxed(self._present),
            "maybe": self._boxed(self._maybe),
        }
        for number, fold in enumerate(lowered.folds):
            # The folds inside of this one have lower numbers.
            functions[f"fold{number}"] = self._boxed(self._fold(fold, context(functions)))
        self._program = compiled(lowered.text)
        self._context = context(functions)

    def run(self, driver: str, device: Device) -> object:
        """What the expression evaluates to. Raises EvaluationError, or Unclear where Kubernetes' answer is not known."""
        reads = self._reads
        with self._lock:
            self._value = functools.cache(lambda place: value(reads[place], driver, device))
            self._error = self._aborted = self._unclear = ""
            self._steps = 0
            try:
                result = self._program.execute(self._context)
            except _RAISED as error:
                if self._unclear:
                    raise Unclear(self._unclear) from None
                raise EvaluationError(self._aborted or self._error or _message(error)) from None
            except RuntimeError:
                # Its words run over several lines and repeat the expression.
                raise Unclear("the CEL library gives up on it") from None
            if self._aborted:
                raise EvaluationError(self._aborted)
            return result

    def _at(self, place: int) -> object:
        found = self._value(place)
        if not found.present:
            raise EvaluationError(f"no such key: {self._reads[place].name}")
        return wire(found.value)

    def _present(self, place: int) -> object:
        return self._value(place).present

    def _maybe(self, place: int) -> object:
        return wire(self._value(place))

    def _fold(self, fold: Fold, scope: Context) -> Function:
        program = compiled(fold.text)

        def over(items: list[object], *around: object) -> bool:
            error = ""
            for item in items:
                if self._steps > _MAX_STEPS:
                    break
                for name, given in zip(fold.variables, (*around, item), strict=True):
                    scope.add_variable(name, given)
                try:
                    found = program.execute(scope)
                except _RAISED as raised:
                    error = error or self._error or _message(raised)
                    continue
                if found is fold.decides:
                    return bool(found)
                if not isinstance(found, bool):
                    error = error or NO_OVERLOAD
            if error:
                raise EvaluationError(error)
            return not fold.decides

        return over

    def _boxed(self, function: Function) -> Function:
        """A function whose errors the library can absorb: an empty map in place of one that holds the result."""

        def call(*arguments: object) -> dict[str, object]:
            self._steps += 1
            if self._steps > _MAX_STEPS:
                self._unclear = self._unclear or "too much work"
                return {}
            try:
                found = function(*arguments)
            except Aborted as error:
                self._aborted = str(error)
                return {}
            except EvaluationError as error:
                self._error = self._error or str(error)
                return {}
            except Unclear as error:
                self._unclear = self._unclear or str(error)
                return {}
            self._steps += len(found) if isinstance(found, list) else 0
            return {"v": found}

        return call


def _on_values(function: Function) -> Function:
    return lambda *arguments: wire(function(*map(unwire, arguments)))


def _message(error: Exception) -> str:
    return next(text for kind, text in _ERRORS.items() if isinstance(error, kind))

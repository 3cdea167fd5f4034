"""What functions do with their arguments first: the type that they take, or Kubernetes' error; and limits of size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from ktui.cel.quantities import Unclear
from ktui.cel.values import NO_OVERLOAD, EvaluationError

Function = Callable[..., object]
"""Takes and gives the values of `values`; raises EvaluationError where Kubernetes has an error, Unclear where it is not known."""

_T = TypeVar("_T")
_INT64: Final = range(-(2**63), 2**63)
MAX_TEXT: Final = 64 * 1024  # an attribute has 64 characters
MAX_ITEMS: Final = 2048  # an attribute has 64 values
MAX_COMPARISONS: Final = 20_000  # of each item of a list with each of another


def want(value: object, kind: type[_T]) -> _T:
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise EvaluationError(NO_OVERLOAD)
    return value


def want_list(value: object) -> list[object]:
    return want(value, list)


def want_strings(value: object) -> list[str]:
    return [want(item, str) for item in want_list(value)]


def bounded(size: int, most: int = MAX_TEXT) -> None:
    if size > most:
        raise Unclear("a value that grows without measure")


def within(index: int, length: int) -> int:
    if not 0 <= index <= length:
        raise EvaluationError(f"index out of range: {index}")
    return index


def to_integer(value: int) -> int:
    if value not in _INT64:
        raise EvaluationError("integer overflow")
    return value

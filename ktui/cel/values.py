"""Values of Kubernetes' CEL types, how they pass through the library, and when they are equal.

The library knows the types of the language. The others (quantity, semver, optional, type) travel through it as maps with one
key that no expression can write, and become the classes here again in every function. Operators that the library evaluates
itself refuse maps, as Kubernetes refuses these types.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from ktui.cel.quantities import Quantity, Unclear
from ktui.cel.semver import Semver, parse_semver

NO_OVERLOAD: Final = "no such overload"
_TAG: Final = "\0"


class EvaluationError(Exception):
    """What the language calls an error; `str()` is the message."""


class Aborted(EvaluationError):
    """An error that && and || do not absorb: Kubernetes' evaluator gives up as a whole."""


@dataclass(frozen=True, slots=True)
class Optional:
    """optional.of(value) where `present`, else optional.none()."""

    value: object = None
    present: bool = False


@dataclass(frozen=True, slots=True)
class Type:
    """A type as a value: what type(x) gives."""

    name: str


def wire(value: object) -> object:
    """`value` as the library takes it."""
    match value:
        case Semver():
            return {_TAG: "semver", "text": value.text}
        case Quantity():
            form = list(value.form) if value.form else None
            return {_TAG: "quantity", "amount": str(value.amount), "form": form, "computed": value.computed}
        case Optional():
            return {_TAG: "optional", "value": wire(value.value), "present": value.present}
        case Type():
            return {_TAG: "type", "name": value.name}
        case list():
            return [wire(item) for item in value]
        case dict():
            return {key: wire(item) for key, item in value.items()}
    return value


def unwire(value: object) -> object:
    """The reverse of `wire`."""
    if isinstance(value, list):
        return [unwire(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value.get(_TAG):
        case None:
            return {key: unwire(item) for key, item in value.items()}
        case "semver":
            return parse_semver(value["text"])
        case "quantity":
            form = value["form"]
            return Quantity(Decimal(value["amount"]), None if form is None else (form[0], form[1]), value["computed"])
        case "optional":
            return Optional(unwire(value["value"]), value["present"])
        case _:
            return Type(value["name"])


def is_number(value: object) -> bool:
    """An int or a double; a bool is neither."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def equal(a: object, b: object) -> bool:
    """The operator ==. Values of different types are unequal, but a semver or a quantity on the left refuses other types.

    Raises EvaluationError for that, and Unclear where it would happen inside of a list or a map.
    """
    if a is None or b is None:
        return a is b
    if isinstance(a, Semver | Quantity):
        if type(a) is not type(b) or (isinstance(b, Quantity) and b.computed):
            raise EvaluationError(NO_OVERLOAD)
        return a == b
    if is_number(a) or is_number(b):
        return is_number(a) and is_number(b) and a == b
    if isinstance(a, list | dict):
        return type(a) is type(b) and _equal_inside(a, b)
    if isinstance(a, Optional):
        return isinstance(b, Optional) and a.present == b.present and (not a.present or equal(a.value, b.value))
    return type(a) is type(b) and a == b


def _equal_inside(a: object, b: object) -> bool:
    pairs: list[tuple[object, object]]
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return False
        pairs = list(zip(a, b, strict=True))
    elif isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return False
        pairs = [(a[key], b[key]) for key in a]
    else:
        return False
    try:
        return all(equal(x, y) for x, y in pairs)
    except EvaluationError:
        raise Unclear("a comparison of lists or maps that hold different types") from None


def holds(items: list[object], wanted: object) -> bool:
    """Whether an item equals `wanted`; an item that cannot be compared with it does not."""
    return any(alike(item, wanted) for item in items)


def alike(a: object, b: object) -> bool:
    """`equal`, with an error taken as "no"."""
    try:
        return equal(a, b)
    except EvaluationError:
        return False

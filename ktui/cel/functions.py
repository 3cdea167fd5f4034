"""The functions that a device selector may call in Kubernetes 1.37, besides the operators and macros of the language.

`METHODS` are called on a value (`x.name(…)`), `GLOBALS` by name; both are keyed by name and number of arguments, the value
itself included. They take and give Kubernetes' values (`values`), raise EvaluationError where Kubernetes has an error, and
Unclear where its answer is not known. The scheduler's environment is that of apiserver/pkg/cel/environment for stored
expressions: strings 2, lists 3, Kubernetes' lists 1, sets, optional types, quantity, semver 1. Of it, `format`, `find`,
`findAll`, `strings.quote`, `sortBy`, url, ip, cidr, times and durations are not here, and what calls them cannot be judged.
"""

from __future__ import annotations

from typing import Final

from ktui.cel.arguments import Function, to_integer, want, want_list
from ktui.cel.lists import (
    contains_all,
    distinct,
    extreme,
    flatten,
    includes,
    intersect,
    number_range,
    slice_of,
    sort,
    total,
)
from ktui.cel.quantities import Quantity, Unclear, to_quantity, whole
from ktui.cel.semver import Semver, normalised, parse_semver
from ktui.cel.texts import char_at, index_of, join, last_index_of, lower, replace, split, substring, trim, upper
from ktui.cel.values import NO_OVERLOAD, EvaluationError, Optional, Type

# Language: sizes, conversions, types.


def size(value: object) -> int:
    if isinstance(value, str | list | dict):
        return len(value)
    raise EvaluationError(NO_OVERLOAD)


def type_of(value: object) -> Type:
    names = {
        bool: "bool",
        int: "int",
        float: "double",
        str: "string",
        list: "list",
        dict: "map",
        type(None): "null_type",
    }
    names |= {Type: "type", Semver: "kubernetes.Semver", Quantity: "kubernetes.Quantity", Optional: "optional_type"}
    return Type(names[type(value)])


def to_int(value: object) -> int:
    if isinstance(value, str):
        digits = value.removeprefix("-") if value.startswith("-") else value.removeprefix("+")
        if not (digits.isascii() and digits.isdigit() and len(digits) < 40):
            raise EvaluationError(f"type conversion error from 'string' to 'int' for {value[:40]!r}")
        return to_integer(int(value))
    if isinstance(value, float):
        raise Unclear("int() of a double")
    return want(value, int)


def to_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        raise Unclear("string() of a double")
    if isinstance(value, int | str):
        return str(value)
    raise EvaluationError(NO_OVERLOAD)


def to_bool(value: object) -> bool:
    if isinstance(value, str):
        known = {"1": True, "t": True, "true": True, "TRUE": True, "True": True}
        known |= {"0": False, "f": False, "false": False, "FALSE": False, "False": False}
        if value not in known:
            raise EvaluationError("type conversion error from 'string' to 'bool'")
        return known[value]
    return want(value, bool)


def same(value: object) -> object:
    """dyn(value)."""
    return value


# Quantity, semver.


def quantity(text: object) -> Quantity:
    found = to_quantity(want(text, str))
    if found is None:
        raise EvaluationError("quantities must match the regular expression of Kubernetes quantities")
    return found


def is_quantity(text: object) -> bool:
    return to_quantity(want(text, str)) is not None


def as_integer(value: object) -> int:
    integer = want(value, Quantity).integer
    if integer is None:
        raise EvaluationError("cannot convert value to integer")
    return integer


def sign(value: object) -> int:
    amount = want(value, Quantity).amount
    return (amount > 0) - (amount < 0)


def _added(a: object, b: object, factor: int) -> Quantity:
    other = whole(b) if isinstance(b, int) and not isinstance(b, bool) else want(b, Quantity)
    return want(a, Quantity).plus(other, factor)


def semver(text: object, normalise: object = False) -> Semver:
    found = _semver(text, normalise)
    if found is None:
        raise EvaluationError("not a semantic version")
    return found


def is_semver(text: object, normalise: object = False) -> bool:
    return _semver(text, normalise) is not None


def _semver(text: object, normalise: object) -> Semver | None:
    given = normalised(want(text, str)) if want(normalise, bool) else want(text, str)
    return None if given is None else parse_semver(given)


def _signed(number: int) -> int:
    """The numbers of a version have 64 bits without a sign, CEL's have one."""
    return number - 2**64 if number >= 2**63 else number


def compare_to(a: object, b: object) -> int:
    if isinstance(a, Quantity) and isinstance(b, Quantity):
        return (a > b) - (a < b)
    if isinstance(a, Semver) and isinstance(b, Semver):
        return (a > b) - (a < b)
    raise EvaluationError(NO_OVERLOAD)


# Optional values.


def optional_value(value: object) -> object:
    found = want(value, Optional)
    if not found.present:
        raise EvaluationError("optional.none() dereference")
    return found.value


def non_zero(value: object) -> Optional:
    if isinstance(value, Semver | Quantity | Type | Optional):
        raise Unclear("optional.ofNonZeroValue() of a Kubernetes type")
    return Optional(value, present=True) if value else Optional()


METHODS: Final[dict[tuple[str, int], Function]] = {
    ("size", 1): size,
    ("startsWith", 2): lambda text, part: want(text, str).startswith(want(part, str)),
    ("endsWith", 2): lambda text, part: want(text, str).endswith(want(part, str)),
    ("contains", 2): lambda text, part: want(part, str) in want(text, str),
    ("isGreaterThan", 2): lambda a, b: compare_to(a, b) > 0,
    ("isLessThan", 2): lambda a, b: compare_to(a, b) < 0,
    ("compareTo", 2): compare_to,
    ("asInteger", 1): as_integer,
    ("isInteger", 1): lambda value: want(value, Quantity).integer is not None,
    ("asApproximateFloat", 1): lambda value: want(value, Quantity).as_float(),
    ("add", 2): lambda a, b: _added(a, b, 1),
    ("sub", 2): lambda a, b: _added(a, b, -1),
    ("major", 1): lambda value: _signed(want(value, Semver).major),
    ("minor", 1): lambda value: _signed(want(value, Semver).minor),
    ("patch", 1): lambda value: _signed(want(value, Semver).patch),
    ("charAt", 2): char_at,
    ("indexOf", 2): index_of,
    ("indexOf", 3): index_of,
    ("lastIndexOf", 2): last_index_of,
    ("lastIndexOf", 3): last_index_of,
    ("lowerAscii", 1): lower,
    ("upperAscii", 1): upper,
    ("replace", 3): replace,
    ("replace", 4): replace,
    ("split", 2): split,
    ("split", 3): split,
    ("join", 1): join,
    ("join", 2): join,
    ("substring", 2): substring,
    ("substring", 3): substring,
    ("trim", 1): trim,
    ("includes", 2): includes,
    ("isSorted", 1): lambda values: sort(values) == want_list(values),
    ("sum", 1): total,
    ("min", 1): lambda values: extreme(values, min, "min"),  # type: ignore[arg-type]
    ("max", 1): lambda values: extreme(values, max, "max"),  # type: ignore[arg-type]
    ("distinct", 1): distinct,
    ("flatten", 1): flatten,
    ("flatten", 2): flatten,
    ("reverse", 1): lambda values: want_list(values)[::-1],
    ("slice", 3): slice_of,
    ("sort", 1): sort,
    ("hasValue", 1): lambda value: want(value, Optional).present,
    ("value", 1): optional_value,
}

GLOBALS: Final[dict[tuple[str, int], Function]] = {
    ("size", 1): size,
    ("dyn", 1): same,
    ("type", 1): type_of,
    ("int", 1): to_int,
    ("string", 1): to_text,
    ("bool", 1): to_bool,
    ("quantity", 1): quantity,
    ("isQuantity", 1): is_quantity,
    ("sign", 1): sign,
    ("semver", 1): semver,
    ("semver", 2): semver,
    ("isSemver", 1): is_semver,
    ("isSemver", 2): is_semver,
    ("sets.contains", 2): contains_all,
    ("sets.equivalent", 2): lambda a, b: contains_all(a, b) and contains_all(b, a),
    ("sets.intersects", 2): intersect,
    ("lists.range", 1): number_range,
    ("optional.of", 1): lambda value: Optional(value, present=True),
    ("optional.none", 0): Optional,
    ("optional.ofNonZeroValue", 1): non_zero,
}

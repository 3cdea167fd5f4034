"""The functions that a device selector may call in Kubernetes 1.37, besides the operators and macros of the language.

`METHODS` are called on a value (`x.name(…)`), `GLOBALS` by name; both are keyed by name and number of arguments, the value
itself included. They take and give Kubernetes' values (`values`), raise EvaluationError where Kubernetes has an error, and
Unclear where its answer is not known. The scheduler's environment is that of apiserver/pkg/cel/environment for stored
expressions: strings 2, lists 3, Kubernetes' lists 1, sets, optional types, quantity, semver 1. Of it, `format`, `find`,
`findAll`, `strings.quote`, `sortBy`, url, ip, cidr, times and durations are not here, and what calls them cannot be judged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeVar

from ktui.cel.quantities import Quantity, Unclear, to_quantity, whole
from ktui.cel.semver import Semver, normalised, parse_semver
from ktui.cel.values import NO_OVERLOAD, Aborted, EvaluationError, Optional, Type, alike, equal, holds, is_number

Function = Callable[..., object]

_T = TypeVar("_T")
_INT64: Final = range(-(2**63), 2**63)
_MAX_TEXT: Final = 64 * 1024  # an attribute has 64 characters
_MAX_ITEMS: Final = 2048  # an attribute has 64 values
_MAX_COMPARISONS: Final = 20_000  # of each item of a list with each of another


def _want(value: object, kind: type[_T]) -> _T:
    if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
        raise EvaluationError(NO_OVERLOAD)
    return value


def _list(value: object) -> list[object]:
    return _want(value, list)


def _strings(value: object) -> list[str]:
    return [_want(item, str) for item in _list(value)]


def _bounded(size: int, most: int = _MAX_TEXT) -> None:
    if size > most:
        raise Unclear("a value that grows without measure")


def _within(index: int, length: int) -> int:
    if not 0 <= index <= length:
        raise EvaluationError(f"index out of range: {index}")
    return index


# Selection, and the operators that meet Kubernetes' types.


def select(value: object, key: object) -> object:
    """value.key or value[key]; of an optional, the optional of what is inside of its value."""
    if isinstance(value, Optional):
        return optional_select(value, key)
    found = optional_select(value, key)
    if not found.present:
        raise EvaluationError(f"{'index out of bounds' if isinstance(value, list) else 'no such key'}: {key}")
    return found.value


def optional_select(value: object, key: object) -> Optional:
    """value.?key or value[?key]."""
    if isinstance(value, Optional):
        return optional_select(value.value, key) if value.present else value
    if isinstance(value, list):
        if not is_number(key) or int(key) != key:  # type: ignore[call-overload]
            raise EvaluationError(NO_OVERLOAD)
        at = int(key)  # type: ignore[call-overload]
        return Optional(value[at], present=True) if 0 <= at < len(value) else Optional()
    return _entry(value, key) if isinstance(value, dict) else Optional()


def domain(domains: object, name: object) -> object:
    """device.attributes[name] or device.capacity[name]: a domain that nobody published is an empty map."""
    return _want(domains, dict).get(_want(name, str), {})


def _entry(entries: dict[object, object], key: object) -> Optional:
    for own, value in entries.items():
        if alike(own, key):
            return Optional(value, present=True)
    return Optional()


def has_field(value: object, key: str) -> bool:
    """has(value.key)."""
    return optional_select(value, key).present


def is_in_constants(item: object, container: object) -> bool:
    """item in ["a", "b"]: Kubernetes looks into a prepared set, which fails for a semver."""
    if isinstance(item, Semver):
        raise Aborted("hash of unhashable type cel.Semver")
    return is_in(item, container)


def is_in(item: object, container: object) -> bool:
    """item in container."""
    if isinstance(container, list):
        return any(alike(item, other) for other in container)
    return _entry(_want(container, dict), item).present


def plus(a: object, b: object) -> object:
    """a + b: numbers of one type, strings, lists."""
    if isinstance(a, str) and isinstance(b, str):
        _bounded(len(a) + len(b))
        return a + b
    if isinstance(a, list) and isinstance(b, list):
        _bounded(len(a) + len(b), _MAX_ITEMS)
        return a + b
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    return _integer(_want(a, int) + _want(b, int))


def negative(value: object) -> object:
    """-value."""
    return -value if isinstance(value, float) else _integer(-_want(value, int))


def _integer(value: int) -> int:
    if value not in _INT64:
        raise EvaluationError("integer overflow")
    return value


def items(value: object) -> list[object]:
    """What a macro goes through: a list's items, a map's keys."""
    if isinstance(value, dict):
        return list(value)
    return _list(value)


def pairs(value: object) -> list[object]:
    """What a macro of two variables goes through: index and item of a list, key and value of a map."""
    if isinstance(value, dict):
        return [[key, item] for key, item in value.items()]
    return [[at, item] for at, item in enumerate(_list(value))]


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
        return _integer(int(value))
    if isinstance(value, float):
        raise Unclear("int() of a double")
    return _want(value, int)


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
    return _want(value, bool)


def same(value: object) -> object:
    """dyn(value)."""
    return value


# Quantity, semver.


def quantity(text: object) -> Quantity:
    found = to_quantity(_want(text, str))
    if found is None:
        raise EvaluationError("quantities must match the regular expression of Kubernetes quantities")
    return found


def is_quantity(text: object) -> bool:
    return to_quantity(_want(text, str)) is not None


def as_integer(value: object) -> int:
    integer = _want(value, Quantity).integer
    if integer is None:
        raise EvaluationError("cannot convert value to integer")
    return integer


def sign(value: object) -> int:
    amount = _want(value, Quantity).amount
    return (amount > 0) - (amount < 0)


def _added(a: object, b: object, factor: int) -> Quantity:
    other = whole(b) if isinstance(b, int) and not isinstance(b, bool) else _want(b, Quantity)
    return _want(a, Quantity).plus(other, factor)


def semver(text: object, normalise: object = False) -> Semver:
    found = _semver(text, normalise)
    if found is None:
        raise EvaluationError("not a semantic version")
    return found


def is_semver(text: object, normalise: object = False) -> bool:
    return _semver(text, normalise) is not None


def _semver(text: object, normalise: object) -> Semver | None:
    given = normalised(_want(text, str)) if _want(normalise, bool) else _want(text, str)
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


# Strings.


def index_of(where: object, what: object, offset: object = None) -> int:
    """Of a string in a string, or of an item in a list."""
    if isinstance(where, list) and offset is None:
        return next((at for at, item in enumerate(where) if alike(item, what)), -1)
    text, part, start = _want(where, str), _want(what, str), 0 if offset is None else _want(offset, int)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def last_index_of(where: object, what: object, offset: object = None) -> int:
    if isinstance(where, list) and offset is None:
        return max((at for at, item in enumerate(where) if alike(item, what)), default=-1)
    text, part = _want(where, str), _want(what, str)
    if offset is None:
        return text.rfind(part)
    start = _want(offset, int)
    if start < 0:
        raise EvaluationError(f"index out of range: {start}")
    if not part:
        return min(start, len(text))
    return text.rfind(part, 0, start + len(part)) if start < len(text) else -1


def char_at(text: object, index: object) -> str:
    return _want(text, str)[_within(_want(index, int), len(_want(text, str))) :][:1]


def substring(text: object, start: object, end: object = None) -> str:
    whole_text, first = _want(text, str), _want(start, int)
    last = len(whole_text) if end is None else _want(end, int)
    if end is not None and first > last:
        raise EvaluationError(f"invalid substring range. start: {first}, end: {last}")
    return whole_text[_within(first, len(whole_text)) : _within(last, len(whole_text))]


def replace(text: object, old: object, new: object, limit: object = -1) -> str:
    subject, before, after = _want(text, str), _want(old, str), _want(new, str)
    _bounded(len(subject) + (subject.count(before) + 1) * len(after))
    return subject.replace(before, after, _want(limit, int))


def split(text: object, separator: object, limit: object = -1) -> list[object]:
    subject, between, most = _want(text, str), _want(separator, str), _want(limit, int)
    _bounded(len(subject) if not between else subject.count(between), _MAX_ITEMS)
    if most == 0:
        return []
    if not between:
        characters = list(subject)
        return [*characters] if most < 0 or most >= len(characters) else [*characters[: most - 1], subject[most - 1 :]]
    return [*subject.split(between, most - 1 if most > 0 else -1)]


def join(parts: object, separator: object = "") -> str:
    texts, between = _strings(parts), _want(separator, str)
    _bounded(sum(map(len, texts)) + len(texts) * len(between))
    return between.join(texts)


_WHITE_SPACE: Final = "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {lower: upper for upper, lower in _LOWER.items()}


def plain_text(value: object) -> str:
    """What `matches` may be asked about: the library's classes and Go's agree on printable ASCII only."""
    text = _want(value, str)
    if not (text.isascii() and text.isprintable()):
        raise Unclear("a regular expression on text beyond printable ASCII")
    return text


# Lists and sets.


def includes(value: object, wanted: object) -> bool:
    return holds(value, wanted) if isinstance(value, list) else alike(value, wanted)


def _ordered(values: object) -> list[object]:
    found = _list(values)
    kinds = {type(item) for item in found}
    if len(kinds) > 1 or not kinds <= {int, float, bool, str}:
        raise Unclear("an order of mixed or unordered values")
    return found


def _extreme(values: object, choose: Callable[[Iterable[object]], object], name: str) -> object:
    found = _ordered(values)
    if not found:
        raise EvaluationError(f"{name} called on empty list")
    return choose(found)


def _sorted(values: object) -> list[object]:
    return sorted(_ordered(values))  # type: ignore[type-var]


def total(values: object) -> object:
    found = _ordered(values)
    if not found or not is_number(found[0]):
        raise Unclear("sum() of what are no numbers")
    if isinstance(found[0], float):
        return sum(_want(item, float) for item in found)
    return _integer(sum(_want(item, int) for item in found))


def distinct(values: object) -> list[object]:
    found: list[object] = []
    _bounded(len(_list(values)) ** 2, _MAX_COMPARISONS)
    for item in _list(values):
        if not any(alike(item, other) for other in found):
            found.append(item)
    return found


def flatten(values: object, depth: object = 1) -> list[object]:
    levels, found = _want(depth, int), _list(values)
    if levels < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[object] = []
    for item in found:
        flat.extend(flatten(item, levels - 1) if isinstance(item, list) and levels else [item])
    return flat


def slice_of(values: object, start: object, end: object) -> list[object]:
    found, first, last = _list(values), _want(start, int), _want(end, int)
    if not 0 <= first <= last <= len(found):
        raise EvaluationError(f"cannot slice({first}, {last})")
    return found[first:last]


def number_range(count: object) -> list[object]:
    wanted = _want(count, int)
    if wanted < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {wanted}")
    _bounded(wanted, _MAX_ITEMS)
    return [*range(wanted)]


def contains_all(a: object, b: object) -> bool:
    _bounded(len(_list(a)) * len(_list(b)), _MAX_COMPARISONS)
    return all(is_in(item, a) for item in _list(b))


def intersect(a: object, b: object) -> bool:
    _bounded(len(_list(a)) * len(_list(b)), _MAX_COMPARISONS)
    return any(is_in(item, b) for item in _list(a))


# Optional values.


def optional_value(value: object) -> object:
    found = _want(value, Optional)
    if not found.present:
        raise EvaluationError("optional.none() dereference")
    return found.value


def non_zero(value: object) -> Optional:
    if isinstance(value, Semver | Quantity | Type | Optional):
        raise Unclear("optional.ofNonZeroValue() of a Kubernetes type")
    return Optional(value, present=True) if value else Optional()


METHODS: Final[dict[tuple[str, int], Function]] = {
    ("size", 1): size,
    ("startsWith", 2): lambda text, part: _want(text, str).startswith(_want(part, str)),
    ("endsWith", 2): lambda text, part: _want(text, str).endswith(_want(part, str)),
    ("contains", 2): lambda text, part: _want(part, str) in _want(text, str),
    ("isGreaterThan", 2): lambda a, b: compare_to(a, b) > 0,
    ("isLessThan", 2): lambda a, b: compare_to(a, b) < 0,
    ("compareTo", 2): compare_to,
    ("asInteger", 1): as_integer,
    ("isInteger", 1): lambda value: _want(value, Quantity).integer is not None,
    ("asApproximateFloat", 1): lambda value: _want(value, Quantity).as_float(),
    ("add", 2): lambda a, b: _added(a, b, 1),
    ("sub", 2): lambda a, b: _added(a, b, -1),
    ("major", 1): lambda value: _signed(_want(value, Semver).major),
    ("minor", 1): lambda value: _signed(_want(value, Semver).minor),
    ("patch", 1): lambda value: _signed(_want(value, Semver).patch),
    ("charAt", 2): char_at,
    ("indexOf", 2): index_of,
    ("indexOf", 3): index_of,
    ("lastIndexOf", 2): last_index_of,
    ("lastIndexOf", 3): last_index_of,
    ("lowerAscii", 1): lambda text: _want(text, str).translate(_LOWER),
    ("upperAscii", 1): lambda text: _want(text, str).translate(_UPPER),
    ("replace", 3): replace,
    ("replace", 4): replace,
    ("split", 2): split,
    ("split", 3): split,
    ("join", 1): join,
    ("join", 2): join,
    ("substring", 2): substring,
    ("substring", 3): substring,
    ("trim", 1): lambda text: _want(text, str).strip(_WHITE_SPACE),
    ("includes", 2): includes,
    ("isSorted", 1): lambda values: _sorted(values) == _list(values),
    ("sum", 1): total,
    ("min", 1): lambda values: _extreme(values, min, "min"),  # type: ignore[arg-type]
    ("max", 1): lambda values: _extreme(values, max, "max"),  # type: ignore[arg-type]
    ("distinct", 1): distinct,
    ("flatten", 1): flatten,
    ("flatten", 2): flatten,
    ("reverse", 1): lambda values: _list(values)[::-1],
    ("slice", 3): slice_of,
    ("sort", 1): _sorted,
    ("hasValue", 1): lambda value: _want(value, Optional).present,
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

INTERNAL: Final[dict[str, Function]] = {
    "equal": equal,
    "unequal": lambda a, b: not alike(a, b),
    "in": is_in,
    "inConstants": is_in_constants,
    "domain": domain,
    "plus": plus,
    "negative": negative,
    "select": select,
    "optionalSelect": optional_select,
    "hasField": has_field,
    "items": items,
    "pairs": pairs,
    "plainText": plain_text,
    "type": Type,
}
"""Operators and macros of the language whose meaning for Kubernetes' types the library does not know."""

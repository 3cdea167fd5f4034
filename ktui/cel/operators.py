"""Operators and macros of the language whose meaning for Kubernetes' types the library does not know."""

from __future__ import annotations

from typing import Final

from ktui.cel.arguments import MAX_ITEMS, Function, bounded, to_integer, want, want_list
from ktui.cel.quantities import Unclear
from ktui.cel.semver import Semver
from ktui.cel.values import NO_OVERLOAD, Aborted, EvaluationError, Optional, Type, alike, equal


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
        if isinstance(key, float) and not key.is_integer():
            raise EvaluationError(NO_OVERLOAD)
        at = int(key) if isinstance(key, float) else want(key, int)
        return Optional(value[at], present=True) if 0 <= at < len(value) else Optional()
    return _entry(value, key) if isinstance(value, dict) else Optional()


def domain(domains: object, name: object) -> object:
    """device.attributes[name] or device.capacity[name]: a domain that nobody published is an empty map."""
    return want(domains, dict).get(want(name, str), {})


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
    return _entry(want(container, dict), item).present


def plus(a: object, b: object) -> object:
    """a + b: numbers of one type, strings, lists."""
    if isinstance(a, str) and isinstance(b, str):
        bounded(len(a) + len(b))
        return a + b
    if isinstance(a, list) and isinstance(b, list):
        bounded(len(a) + len(b), MAX_ITEMS)
        return a + b
    if isinstance(a, float) and isinstance(b, float):
        return a + b
    return to_integer(want(a, int) + want(b, int))


def negative(value: object) -> object:
    """-value."""
    return -value if isinstance(value, float) else to_integer(-want(value, int))


def items(value: object) -> list[object]:
    """What a macro goes through: a list's items, a map's keys."""
    if isinstance(value, dict):
        return list(value)
    return want_list(value)


def pairs(value: object) -> list[object]:
    """What a macro of two variables goes through: index and item of a list, key and value of a map."""
    if isinstance(value, dict):
        return [[key, item] for key, item in value.items()]
    return [[at, item] for at, item in enumerate(want_list(value))]


def plain_text(value: object) -> str:
    """What `matches` may be asked about: the library's classes and Go's agree on printable ASCII only."""
    text = want(value, str)
    if not (text.isascii() and text.isprintable()):
        raise Unclear("a regular expression on text beyond printable ASCII")
    return text


OPERATORS: Final[dict[str, Function]] = {
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

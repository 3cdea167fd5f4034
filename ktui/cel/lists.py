"""Functions of lists and sets (cel-go, ext/lists.go and ext/sets.go; Kubernetes, apiserver/pkg/cel/library/lists.go)."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ktui.cel.arguments import MAX_COMPARISONS, MAX_ITEMS, bounded, to_integer, want, want_list
from ktui.cel.operators import is_in
from ktui.cel.quantities import Unclear
from ktui.cel.values import EvaluationError, alike, holds, is_number


def includes(value: object, wanted: object) -> bool:
    return holds(value, wanted) if isinstance(value, list) else alike(value, wanted)


def _ordered(values: object) -> list[object]:
    found = want_list(values)
    kinds = {type(item) for item in found}
    if len(kinds) > 1 or not kinds <= {int, float, bool, str}:
        raise Unclear("an order of mixed or unordered values")
    return found


def extreme(values: object, choose: Callable[[Iterable[object]], object], name: str) -> object:
    found = _ordered(values)
    if not found:
        raise EvaluationError(f"{name} called on empty list")
    return choose(found)


def sort(values: object) -> list[object]:
    return sorted(_ordered(values))  # type: ignore[type-var]


def total(values: object) -> object:
    found = _ordered(values)
    if not found or not is_number(found[0]):
        raise Unclear("sum() of what are no numbers")
    if isinstance(found[0], float):
        return sum(want(item, float) for item in found)
    return to_integer(sum(want(item, int) for item in found))


def distinct(values: object) -> list[object]:
    found: list[object] = []
    bounded(len(want_list(values)) ** 2, MAX_COMPARISONS)
    for item in want_list(values):
        if not any(alike(item, other) for other in found):
            found.append(item)
    return found


def flatten(values: object, depth: object = 1) -> list[object]:
    levels, found = want(depth, int), want_list(values)
    if levels < 0:
        raise EvaluationError("level must be non-negative")
    flat: list[object] = []
    for item in found:
        flat.extend(flatten(item, levels - 1) if isinstance(item, list) and levels else [item])
    return flat


def slice_of(values: object, start: object, end: object) -> list[object]:
    found, first, last = want_list(values), want(start, int), want(end, int)
    if not 0 <= first <= last <= len(found):
        raise EvaluationError(f"cannot slice({first}, {last})")
    return found[first:last]


def number_range(count: object) -> list[object]:
    wanted = want(count, int)
    if wanted < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {wanted}")
    bounded(wanted, MAX_ITEMS)
    return [*range(wanted)]


def contains_all(a: object, b: object) -> bool:
    bounded(len(want_list(a)) * len(want_list(b)), MAX_COMPARISONS)
    return all(is_in(item, a) for item in want_list(b))


def intersect(a: object, b: object) -> bool:
    bounded(len(want_list(a)) * len(want_list(b)), MAX_COMPARISONS)
    return any(is_in(item, b) for item in want_list(a))

"""Derived attributes (gate DRADerivedAttributes, alpha in 1.37): what their expressions make of a device."""

from __future__ import annotations

from ktui.cel.quantities import Unclear
from ktui.cel.selector import compile_selector
from ktui.cel.semver import Semver
from ktui.cel.values import EvaluationError
from ktui.model.resourceslice import Attribute, Device


def derived_attribute(expression: str, driver: str, device: Device) -> Attribute | None:
    """The attribute that an expression gives a device of `driver`; None where it fails, which is an error to the scheduler, and
    where it cannot be told."""
    try:
        value = compile_selector(expression).value(driver, device)
    except (EvaluationError, Unclear):
        return None
    return _list(value) if isinstance(value, list) else _single(value)


def _single(value: object) -> Attribute | None:
    match value:
        case bool():
            return Attribute(boolean=value)
        case int():
            return Attribute(integer=value)
        case str():
            return Attribute(string=value)
        case Semver():
            return Attribute(version=value.text)
        case _:
            return None


def _list(values: list[object]) -> Attribute | None:
    """Lists have members of one type; an empty one has none of any."""
    if not values:
        return Attribute(strings=())
    if len({type(value) for value in values}) > 1:
        return None
    match values[0]:
        case bool():
            return Attribute(booleans=tuple(value for value in values if isinstance(value, bool)))
        case int():
            return Attribute(integers=tuple(value for value in values if isinstance(value, int)))
        case str():
            return Attribute(strings=tuple(value for value in values if isinstance(value, str)))
        case Semver():
            return Attribute(versions=tuple(value.text for value in values if isinstance(value, Semver)))
        case _:
            return None

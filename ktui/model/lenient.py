"""Convert plain data to a struct, dropping only what does not fit.

Used when the strict decoder refused a document. A field of a wrong type becomes its default; a wrong element of a list or a
mapping is left out; numbers where texts belong are kept as their text. Nothing is guessed beyond that.
"""

from __future__ import annotations

import functools
from typing import Any

import msgspec
from msgspec import UNSET, Struct, inspect, structs

_MAX_DEPTH = 64  # deeper than any modelled field; guards against documents that nest without end


def convert(value: object, target: type[Struct]) -> Struct:
    """`value` as `target`. A value that is not a mapping gives a struct of defaults."""
    return _struct(value if isinstance(value, dict) else {}, target, 0)


class _UnfitError(Exception):
    """The value does not fit the type at all."""


@functools.cache
def _fields(target: type[Struct]) -> tuple[tuple[str, str, inspect.Type], ...]:
    info = inspect.type_info(target)
    assert isinstance(info, inspect.StructType)  # noqa: S101 - `target` is a struct by its type
    return tuple((f.name, f.encode_name, f.type) for f in info.fields)


def _struct(value: dict[Any, Any], target: type[Struct], depth: int) -> Struct:
    if depth > _MAX_DEPTH:
        raise _UnfitError
    kept: dict[str, Any] = {}
    for name, encoded, kind in _fields(target):
        if (raw := value.get(encoded, UNSET)) is UNSET or raw is None:
            continue
        try:
            kept[name] = _value(raw, kind, depth + 1)
        except _UnfitError:
            continue
    missing = [f.name for f in structs.fields(target) if f.required and f.name not in kept]
    if missing:
        raise _UnfitError
    return target(**kept)


def _whole(value: dict[Any, Any], target: type[Struct], depth: int) -> Struct:
    """As it is where nothing is wrong with it, which is nearly everywhere, and much faster than a look at every field."""
    try:
        return msgspec.convert(value, target)
    except (msgspec.ValidationError, RecursionError):
        return _struct(value, target, depth)


def _value(value: Any, kind: inspect.Type, depth: int) -> Any:
    match kind:
        case inspect.UnionType(types=types):
            return _first(value, types, depth)
        case inspect.StructType(cls=cls):
            if not isinstance(value, dict):
                raise _UnfitError
            return _whole(value, cls, depth)
        case inspect.VarTupleType(item_type=item):
            if not isinstance(value, list | tuple):
                raise _UnfitError
            return tuple(_kept(value, item, depth))
        case inspect.DictType(value_type=item):
            if not isinstance(value, dict):
                raise _UnfitError
            return _mapping(value, item, depth)
        case _:
            return _scalar(value, kind)


def _first(value: Any, types: tuple[inspect.Type, ...], depth: int) -> Any:
    for kind in types:
        if isinstance(kind, inspect.NoneType):
            continue
        try:
            return _value(value, kind, depth)
        except _UnfitError:
            continue
    raise _UnfitError


def _kept(values: list[Any] | tuple[Any, ...], kind: inspect.Type, depth: int) -> list[Any]:
    kept = []
    for value in values:
        try:
            kept.append(_value(value, kind, depth + 1))
        except _UnfitError:
            continue
    return kept


def _mapping(values: dict[Any, Any], kind: inspect.Type, depth: int) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for key, value in values.items():
        try:
            kept[str(key)] = _value(value, kind, depth + 1)
        except _UnfitError:
            continue
    return kept


def _scalar(value: Any, kind: inspect.Type) -> Any:
    match kind:
        case inspect.StrType():
            if isinstance(value, str):
                return value
            if isinstance(value, int | float) and not isinstance(value, bool):
                return msgspec.json.encode(value).decode()
        case inspect.BoolType():
            if isinstance(value, bool):
                return value
        case inspect.IntType():
            if isinstance(value, int) and not isinstance(value, bool):
                return value
            if isinstance(value, float) and value.is_integer() and abs(value) < 2**63:
                return int(value)
        case inspect.FloatType():
            if isinstance(value, int | float) and not isinstance(value, bool):
                return float(value)
    raise _UnfitError

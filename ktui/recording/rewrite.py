"""Change texts inside a typed value; what is left as it was stays the same Python object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

from msgspec import Struct
from msgspec.structs import replace

T = TypeVar("T")

Change: TypeAlias = Callable[[str, str], str]
"""(name of the struct's field that the text is in, text) → text."""


def rewrite(value: T, change: Change, keys: Change | None = None, field: str = "") -> T:
    """`value` with `change` applied to every text in it, however deep, and `keys` (None: `change`) to keys of mappings."""
    return cast("T", _rewrite(value, change, keys or change, field))


def _rewrite(value: Any, change: Change, keys: Change, field: str) -> Any:
    if isinstance(value, str):
        return change(field, value)
    if isinstance(value, tuple):
        changed = tuple(_rewrite(item, change, keys, field) for item in value)
        return value if all(new is old for new, old in zip(changed, value, strict=True)) else changed
    if isinstance(value, dict):
        return {keys(field, key): _rewrite(item, change, keys, field) for key, item in value.items()}
    if isinstance(value, Struct):
        changes = {}
        for name in value.__struct_fields__:
            old = getattr(value, name)
            if (new := _rewrite(old, change, keys, name)) is not old:
                changes[name] = new
        return replace(value, **changes) if changes else value
    return value

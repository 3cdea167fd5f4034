"""Merge patch (RFC 7396) and JSON patch (RFC 6902) on plain JSON values. The originals are left alone."""

from __future__ import annotations

import copy
from typing import Any

from ktui.demo import status


def merge_patch(target: Any, patch: Any) -> Any:
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def json_patch(document: Any, operations: Any) -> Any:
    """Raises Refused: 400 for what is not a patch, 422 for a test that fails, a path that is not there, or no operation."""
    if not isinstance(operations, list) or not all(isinstance(each, dict) for each in operations):
        raise status.bad_request("a JSON patch is a list of operations")
    holder = {"": copy.deepcopy(document)}
    for operation in operations:
        _apply(holder, operation)
    if "" not in holder:  # all of it was removed
        raise status.unprocessable()
    return holder[""]


def _apply(holder: dict[str, Any], operation: dict[str, Any]) -> None:
    kind, path = operation.get("op"), operation.get("path")
    if not isinstance(path, str):
        raise status.bad_request("an operation of a JSON patch needs a path")
    if kind in ("add", "replace", "test"):
        value = copy.deepcopy(operation.get("value"))
    elif kind in ("move", "copy"):
        source = operation.get("from")
        if not isinstance(source, str):
            raise status.bad_request("a move or copy of a JSON patch needs a from")
        value = copy.deepcopy(_read(holder, source))
        if kind == "move":
            _remove(holder, source)
    elif kind != "remove":
        raise status.unprocessable()
    if kind == "test":
        if _read_or_null(holder, path) != value:
            raise status.unprocessable()
    elif kind == "remove":
        _remove(holder, path)
    else:
        _write(holder, path, value, replace=kind == "replace")


def _read(holder: dict[str, Any], path: str) -> Any:
    parent, last = _parent(holder, path)
    return parent[_index(parent, last)]


def _read_or_null(holder: dict[str, Any], path: str) -> Any:
    """As a server's library does: a member that is not there is null for a test, though its parent must be there."""
    parent, last = _parent(holder, path)
    return parent.get(last) if isinstance(parent, dict) else parent[_index(parent, last)]


def _remove(holder: dict[str, Any], path: str) -> None:
    parent, last = _parent(holder, path)
    del parent[_index(parent, last)]


def _write(holder: dict[str, Any], path: str, value: Any, *, replace: bool) -> None:
    parent, last = _parent(holder, path)
    if replace:
        parent[_index(parent, last)] = value
    elif isinstance(parent, list):
        parent.insert(len(parent) if last == "-" else _number(last, len(parent)), value)
    else:
        parent[last] = value


def _parent(holder: dict[str, Any], path: str) -> tuple[Any, str]:
    if path and not path.startswith("/"):
        raise status.unprocessable()
    *steps, last = [part.replace("~1", "/").replace("~0", "~") for part in path.split("/")]
    value: Any = holder
    for step in steps:
        value = value[_index(value, step)]
    if not isinstance(value, (dict, list)):
        raise status.unprocessable()
    return value, last


def _index(container: Any, step: str) -> Any:
    """The key or position of something that exists."""
    if isinstance(container, list):
        return _number(step, len(container) - 1)
    if not isinstance(container, dict) or step not in container:
        raise status.unprocessable()
    return step


def _number(step: str, highest: int) -> int:
    if not (step.isascii() and step.isdigit() and int(step) <= highest):
        raise status.unprocessable()
    return int(step)

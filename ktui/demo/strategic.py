"""Strategic merge patch, the API's own: like a merge patch, but some lists are merged by a key of their items.

Which lists, and by which key, stands in the API's types (patchStrategy and patchMergeKey); the names here are those of the kinds
that the server has. A patch may carry directives: `$patch` (replace or delete), `$deleteFromPrimitiveList/FIELD`,
`$setElementOrder/FIELD` and `$retainKeys`.
"""

from __future__ import annotations

from typing import Any, Final

from ktui.demo import status
from ktui.demo.mvcc import JSON

_KEYS: Final = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "ports": "containerPort",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_SETS: Final = frozenset({"finalizers"})
"""Lists of plain values that are sets."""

_DELETE_FROM: Final = "$deleteFromPrimitiveList/"
_ORDER: Final = "$setElementOrder/"


def strategic_merge_patch(target: Any, patch: Any) -> Any:
    """The target is left alone. Raises Refused (400, 422) for a patch that is none."""
    if not isinstance(patch, dict):
        raise status.bad_request("error decoding patch: a strategic merge patch is an object")
    return _merged(target if isinstance(target, dict) else {}, patch)


def _merged(target: JSON, patch: JSON) -> JSON:
    match patch.get("$patch"):
        case "replace":
            return {name: value for name, value in patch.items() if name != "$patch"}
        case "delete":
            return {}
    retained = patch.get("$retainKeys")
    merged = {name: value for name, value in target.items() if retained is None or name in retained}
    for name in dict.fromkeys(map(_field, patch)):
        if name.startswith("$"):
            continue
        old, value = merged.get(name), patch.get(name)
        if name in patch and value is None:
            merged.pop(name, None)
        elif isinstance(value, dict):
            merged[name] = _merged(old if isinstance(old, dict) else {}, value)
        elif name in _SETS or name in _KEYS:
            merged[name] = _merged_list(name, old or [], patch)
        else:
            merged[name] = value
    return merged


def _field(name: str) -> str:
    """The field that a member of a patch is about: a directive about a list carries the list's name."""
    return name.removeprefix(_DELETE_FROM).removeprefix(_ORDER)


def _merged_list(name: str, old: list[Any], patch: JSON) -> list[Any]:
    key = _KEYS.get(name)
    changes: list[Any] = patch.get(name, [])
    removed: list[Any] = patch.get(_DELETE_FROM + name, [])
    if key is None:
        items = [each for each in dict.fromkeys([*old, *changes]) if each not in removed]
    elif any(each.get("$patch") == "replace" for each in changes):
        return [each for each in changes if "$patch" not in each]
    else:
        items = _by_key(key, old, changes)
    order = [_identity(each, key) for each in patch.get(_ORDER + name, changes)]
    return _in_order(items, key, order, [_identity(each, key) for each in old])


def _by_key(key: str, old: list[JSON], changes: list[JSON]) -> list[JSON]:
    items = {each.get(key): each for each in old}
    for change in changes:
        if key not in change:
            raise status.unprocessable()
        if change.get("$patch") == "delete":
            items.pop(change[key], None)
        else:
            items[change[key]] = _merged(items.get(change[key], {}), change)
    return list(items.values())


def _in_order(items: list[Any], key: str | None, order: list[Any], server: list[Any]) -> list[Any]:
    """The patch's order for what it names; between two that the server had, its own; what is new comes as early as it can."""
    named = {each: rank for rank, each in reversed(list(enumerate(order)))}
    patched = sorted((i for i in items if _identity(i, key) in named), key=lambda i: named[_identity(i, key)])
    others = [each for each in items if _identity(each, key) not in named]
    ranks = {each: rank for rank, each in enumerate(server)}
    merged: list[Any] = []
    while patched and others:
        mine, theirs = ranks.get(_identity(patched[0], key)), ranks[_identity(others[0], key)]
        merged.append(others.pop(0) if mine is not None and theirs < mine else patched.pop(0))
    return [*merged, *others, *patched]


def _identity(item: Any, key: str | None) -> Any:
    return item if key is None else item.get(key)

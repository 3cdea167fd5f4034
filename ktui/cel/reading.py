"""What an expression reads of a device, and its values as the environment of Kubernetes 1.37 shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ktui.cel.quantities import Unclear, to_quantity
from ktui.cel.semver import parse_semver
from ktui.cel.values import EvaluationError, Optional
from ktui.model.resourceslice import Attribute, Capacity, Device, attribute_value


@dataclass(frozen=True, slots=True)
class Read:
    """One place: `device.driver` is ("driver"), `device.attributes["a.io"].model` is ("attributes", "a.io", "model").

    Without a name it is the whole domain, without a domain all of them.
    """

    kind: str
    domain: str | None = None
    name: str | None = None


def raw_value(read: Read, driver: str, device: Device) -> object:
    """What decides the value, hashable, and compared quicker than the value is made."""
    if read.kind == "driver":
        return driver
    if read.kind == "allowMultipleAllocations":
        return bool(device.allow_multiple_allocations)
    if read.name is not None:
        return _written(_entry(read, driver, device))
    entries = _entries(read.kind, device)
    return (driver, *sorted((name, _written(entry)) for name, entry in entries.items())) if entries else driver


def value(read: Read, driver: str, device: Device) -> Optional:
    """The value; none where an entry is missing, which only a place with a name can be.

    Raises EvaluationError where Kubernetes cannot take the value, Unclear where it has a type that is not known here.
    """
    if read.kind in ("driver", "allowMultipleAllocations"):
        return Optional(raw_value(read, driver, device), present=True)
    if read.name is not None:
        entry = _entry(read, driver, device)
        return Optional() if entry is None else Optional(_decoded(entry), present=True)
    domains: dict[str, dict[str, object]] = {}
    for key, entry in _entries(read.kind, device).items():
        domain, name = _qualified(key, driver)
        domains.setdefault(domain, {})[name] = _decoded(entry)
    # A domain that nobody published is an empty map, not a missing key.
    return Optional(domains if read.domain is None else domains.get(read.domain, {}), present=True)


def _entries(kind: str, device: Device) -> Mapping[str, Attribute | Capacity]:
    return (device.attributes if kind == "attributes" else device.capacity) or {}


def _entry(read: Read, driver: str, device: Device) -> Attribute | Capacity | None:
    entries = _entries(read.kind, device)
    found = entries.get(f"{read.domain}/{read.name}")
    return entries.get(str(read.name)) if found is None and read.domain == driver else found


def _qualified(key: str, driver: str) -> tuple[str, str]:
    domain, slash, name = key.partition("/")
    return (domain, name) if slash else (driver, key)


def _written(entry: Attribute | Capacity | None) -> object:
    return entry.value if isinstance(entry, Capacity) else entry


def _decoded(entry: Attribute | Capacity) -> object:
    if isinstance(entry, Capacity):
        amount = to_quantity(str(entry.value))
        if amount is None:
            raise EvaluationError("a capacity that is no quantity")
        return amount
    if entry.version is not None:
        return _version(entry.version)
    if entry.versions is not None:
        return [_version(text) for text in entry.versions]
    found = attribute_value(entry)
    if found is None:
        raise Unclear("an attribute of an unknown type")
    return list(found) if isinstance(found, tuple) else found


def _version(text: str) -> object:
    version = parse_semver(text)
    if version is None:
        raise EvaluationError("parse semantic version")
    return version

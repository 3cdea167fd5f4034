"""What an expression reads of a device, and its values as the environment of Kubernetes 1.37 shows them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from ktui.cel.quantities import Unclear, to_quantity
from ktui.cel.semver import parse_semver
from ktui.cel.values import EvaluationError, Optional
from ktui.model.resourceslice import Attribute, Capacity, Device, attribute_value


@dataclass(frozen=True, slots=True)
class Read:
    """One place: `device.driver` is ("driver"), `device.attributes["a.io"].model` is ("attributes", "a.io", "model").

    Without a name it is the whole domain, without a domain all of them. Where only `presence` is asked, the value, which
    may be another for each device, decides nothing.
    """

    kind: str
    domain: str | None = None
    name: str | None = None
    presence: bool = False


Reader = Callable[[str, Device], Hashable]


def reader(read: Read) -> Reader:
    """How to get, from a driver and its device, what decides the value of a place: much quicker than the value itself."""
    if read.kind == "driver":
        return lambda driver, _device: driver
    if read.kind == "allowMultipleAllocations":
        return lambda _driver, device: bool(device.allow_multiple_allocations)
    if read.name is None and read.presence:
        return lambda driver, device: bool(_of_domain(read, driver, device))
    if read.name is None:
        return lambda driver, device: (
            driver,
            *sorted((key, _written(e)) for key, e in _of_domain(read, driver, device)),
        )
    entry = _finder(read)
    if read.presence:
        return lambda driver, device: entry(driver, device) is not None
    return entry if read.kind == "attributes" else lambda driver, device: _written(entry(driver, device))


def value(read: Read, driver: str, device: Device) -> Optional:
    """The value; none where an entry is missing, which only a place with a name can be.

    Raises EvaluationError where Kubernetes cannot take the value, Unclear where it has a type that is not known here.
    """
    if read.kind == "driver":
        return Optional(driver, present=True)
    if read.kind == "allowMultipleAllocations":
        return Optional(bool(device.allow_multiple_allocations), present=True)
    if read.name is not None:
        entry = _finder(read)(driver, device)
        if entry is None:
            return Optional()
        return Optional(None if read.presence else _decoded(entry), present=True)
    entries = _of_domain(read, driver, device)
    if read.presence:
        return Optional(present=bool(entries))
    domains: dict[str, dict[str, object]] = {}
    for key, entry in entries:
        domain, name = _qualified(key, driver)
        domains.setdefault(domain, {})[name] = _decoded(entry)
    # A domain that nobody published is an empty map, not a missing key.
    return Optional(domains if read.domain is None else domains.get(read.domain, {}), present=True)


def _entries(kind: str, device: Device) -> Mapping[str, Attribute | Capacity] | None:
    return device.attributes if kind == "attributes" else device.capacity


def _of_domain(read: Read, driver: str, device: Device) -> list[tuple[str, Attribute | Capacity]]:
    """The entries of a domain, or of all."""
    entries = (_entries(read.kind, device) or {}).items()
    return [(key, entry) for key, entry in entries if read.domain in (None, _qualified(key, driver)[0])]


def _finder(read: Read) -> Callable[[str, Device], Attribute | Capacity | None]:
    kind, domain, name, qualified = read.kind, read.domain, str(read.name), f"{read.domain}/{read.name}"

    def find(driver: str, device: Device) -> Attribute | Capacity | None:
        entries = _entries(kind, device)
        if not entries:
            return None
        found = entries.get(qualified)
        # A name without a domain belongs to the driver's.
        return entries.get(name) if found is None and domain == driver else found

    return find


def _qualified(key: str, driver: str) -> tuple[str, str]:
    domain, slash, name = key.partition("/")
    return (domain, name) if slash else (driver, key)


def _written(entry: Attribute | Capacity | None) -> Hashable:
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

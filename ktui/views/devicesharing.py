"""What devices share: counters of a pool (a whole GPU and its MIG partitions), and the capacity of one device that several claims
take shares of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Final

from ktui.cluster.counters import CounterUse, capacity_left, compatibility_groups, counter_uses
from ktui.cluster.devices import DeviceInfo
from ktui.cluster.state import Cluster
from ktui.views.base import Cell, Document, Line

_GATE: Final = "with the gate DRADeviceCompatibilityGroups off, the scheduler ignores the slice and its pool"
_UNITS: Final = tuple((suffix, 1024**power) for power, suffix in ((4, "Ti"), (3, "Gi"), (2, "Mi"), (1, "Ki")))


def counter_lines(cluster: Cluster, info: DeviceInfo) -> Iterable[Line]:
    """Each counter that the device draws on: how much, what is left of it, and the devices that have the rest."""
    for use in _counters(cluster, info):
        short = not _is_taken(info) and use.draws > use.left
        others = [name for name in use.drawn_by if name != info.id[2]]
        yield (
            Cell(f"{use.counter_set}/{use.counter}  ", "accent"),
            Cell(f"draws {_text(use.draws)}, left {_text(use.left)} of {_text(use.total)}", "warn" if short else ""),
        )
        if others:
            yield (Cell("  drawn on by ", "dim"), Cell(", ".join(others)))
    for counter_set, groups in _groups(info).items():
        yield (Cell(f"{counter_set}  ", "accent"), Cell(f"compatibility groups {', '.join(groups)}"))
        yield (Cell(f"  {_GATE}", "dim"),)


def share_lines(cluster: Cluster, info: DeviceInfo) -> Iterable[Line]:
    """Of a device that may be in several claims at once: what each took, and what is left of each capacity."""
    if not _shares(info):
        return
    for claim, result in info.holders:
        took = ", ".join(f"{amount} {name}" for name, amount in sorted((result.consumed_capacity or {}).items()))
        yield (
            Cell(f"{claim.namespace}/{claim.name}  "),
            Cell(took or "no amount"),
            Cell(f"  share {result.share_id}" if result.share_id else "", "dim"),
        )
    for name, left in _left(cluster, info):
        yield (Cell(f"{name}  ", "accent"), Cell(f"left {_text(left)}", "" if left > 0 else "warn"))


def sharing_document(cluster: Cluster, info: DeviceInfo) -> Document:
    """The same, as keys of the device's JSON. Amounts are quantities."""
    return {
        "counters": [
            {
                "counterSet": use.counter_set,
                "counter": use.counter,
                "draws": _text(use.draws),
                "total": _text(use.total),
                "left": _text(use.left),
                "drawnBy": list(use.drawn_by),
            }
            for use in _counters(cluster, info)
        ],
        "compatibilityGroups": {name: list(groups) for name, groups in _groups(info).items()},
        "multipleAllocations": _shares(info),
        "capacityLeft": {name: _text(left) for name, left in _left(cluster, info)},
    }


def _counters(cluster: Cluster, info: DeviceInfo) -> Iterator[CounterUse]:
    if info.pool is not None and info.published is not None:
        yield from counter_uses(cluster, info.pool, info.published.device)


def _groups(info: DeviceInfo) -> dict[str, tuple[str, ...]]:
    return compatibility_groups(info.published.device) if info.published else {}


def _shares(info: DeviceInfo) -> bool:
    return info.published is not None and info.published.device.allow_multiple_allocations is True


def _left(cluster: Cluster, info: DeviceInfo) -> Iterator[tuple[str, Decimal]]:
    if info.published is not None and _shares(info):
        for name in sorted(info.published.device.capacity or {}):
            if (left := capacity_left(cluster, info.id, name)) is not None:
                yield name, left


def _is_taken(info: DeviceInfo) -> bool:
    return any(not result.admin_access for _, result in info.holders)


def _text(amount: Decimal) -> str:
    """As a quantity, in the largest binary unit that takes it whole; a plain number otherwise."""
    whole = int(amount)
    if whole != amount:
        return f"{amount:f}"
    return next((f"{whole // size}{suffix}" for suffix, size in _UNITS if whole and whole % size == 0), str(whole))

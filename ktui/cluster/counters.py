"""Counters that devices of a pool share (resource.k8s.io ResourceSlice.spec.sharedCounters; on since 1.36).

A whole GPU and its partitions draw on one set of counters. What is allocated uses them up, so a device that nobody holds
cannot be allocated when too little is left for it. Access for administration uses nothing up.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from ktui.cluster.allocation import holders
from ktui.cluster.pools import Pool
from ktui.cluster.state import Cluster
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import Device, DeviceId


class CounterUse(NamedTuple):
    """One counter that a device draws on. `draws`: what it takes when it is allocated; `left` is what nobody has taken, less
    than nothing where what a driver publishes contradicts what is allocated. `drawn_by`: the allocated devices that have it."""

    counter_set: str
    counter: str
    draws: Decimal
    total: Decimal
    left: Decimal
    drawn_by: tuple[str, ...]


def counter_uses(cluster: Cluster, pool: Pool, device: Device) -> Iterator[CounterUse]:
    """Every counter of every set that the device draws on."""
    for consumption in device.consumes_counters or ():
        name = consumption.counter_set
        taking = [d for d in pool.drawing.get(name, ()) if _is_allocated(cluster, (*pool.id, d))]
        for counter, needed in (consumption.counters or {}).items():
            drawn_by = tuple(d for d in taking if any(_draws(pool.devices[d].device, name, counter)))
            total = _total(pool, name, counter)
            left = total - _used(cluster, pool, name, counter)
            yield CounterUse(name, counter, _amount(needed.value), total, left, drawn_by)


def compatibility_groups(device: Device) -> dict[str, tuple[str, ...]]:
    """By counter set, the groups of which the device must share one with all others that draw on it at the same time (gate
    DRADeviceCompatibilityGroups, 1.37, alpha). With the gate off the scheduler ignores the slice, so its pool is incomplete."""
    return {c.counter_set: c.compatibility_groups for c in device.consumes_counters or () if c.compatibility_groups}


def capacity_left(cluster: Cluster, device: DeviceId, name: str) -> Decimal | None:
    """What is left of a capacity of a device that several claims share; None where it is published as no amount."""
    published = cluster.device(device)
    capacity = (published.device.capacity or {}).get(name) if published else None
    total = parse_quantity(capacity.value) if capacity else None
    if total is None:
        return None
    taken = (r.consumed_capacity or {} for _, r in holders(cluster, device) if not r.admin_access)
    return total - sum((_amount(amounts.get(name)) for amounts in taken), Decimal(0))


def used_up(cluster: Cluster, pool: Pool, device: Device) -> str:
    """The counter, as SET/COUNTER, of which too little is left for the device; "" when there is enough of all."""
    for consumption in device.consumes_counters or ():
        name = consumption.counter_set
        for counter, needed in (consumption.counters or {}).items():
            if _amount(needed.value) > _total(pool, name, counter) - _used(cluster, pool, name, counter):
                return f"{name}/{counter}"
    return ""


def _total(pool: Pool, counter_set: str, counter: str) -> Decimal:
    published = pool.counters.get(counter_set, {}).get(counter)
    return _amount(published.value if published else None)


def _used(cluster: Cluster, pool: Pool, counter_set: str, counter: str) -> Decimal:
    """What the allocated devices draw on the counter, each once however many share it."""
    allocated = (name for name in pool.drawing.get(counter_set, ()) if _is_allocated(cluster, (*pool.id, name)))
    return sum((d for name in allocated for d in _draws(pool.devices[name].device, counter_set, counter)), Decimal(0))


def _draws(device: Device, counter_set: str, counter: str) -> Iterator[Decimal]:
    for consumption in device.consumes_counters or ():
        if consumption.counter_set == counter_set and (drawn := (consumption.counters or {}).get(counter)) is not None:
            yield _amount(drawn.value)


def _is_allocated(cluster: Cluster, device: DeviceId) -> bool:
    return any(not result.admin_access for _, result in holders(cluster, device))


def _amount(value: str | float | None) -> Decimal:
    return parse_quantity(value) or Decimal(0)

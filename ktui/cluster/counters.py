"""Counters that devices of a pool share (resource.k8s.io ResourceSlice.spec.sharedCounters; on since 1.36).

A whole GPU and its partitions draw on one set of counters. What is allocated uses them up, so a device that nobody holds
cannot be allocated when too little is left for it. Access for administration uses nothing up.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from ktui.cluster.allocation import holders
from ktui.cluster.pools import Pool
from ktui.cluster.state import Cluster
from ktui.model.quantity import parse_quantity
from ktui.model.resourceslice import Device, DeviceId


def used_up(cluster: Cluster, pool: Pool, device: Device) -> str:
    """The counter, as SET/COUNTER, of which too little is left for the device; "" when there is enough of all."""
    for consumption in device.consumes_counters or ():
        name = consumption.counter_set
        for counter, needed in (consumption.counters or {}).items():
            total = pool.counters.get(name, {}).get(counter)
            left = _amount(total.value if total else None) - _used(cluster, pool, name, counter)
            if _amount(needed.value) > left:
                return f"{name}/{counter}"
    return ""


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

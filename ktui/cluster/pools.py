"""Pools of devices, put together from their ResourceSlices.

Only slices of the highest generation count; a pool is complete when there are as many of those as they themselves say
(resource.k8s.io ResourceSlice.spec.pool). From an incomplete or invalid pool the scheduler of 1.37 allocates nothing.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable
from typing import Literal, NamedTuple

from msgspec import Struct

from ktui.model.node import NodeSelector
from ktui.model.resourceslice import Counter, Device, PoolId, ResourceSlice

PoolStatus = Literal["ok", "incomplete", "invalid"]


class PublishedDevice(Struct, frozen=True, gc=False):
    device: Device
    slice_name: str
    node: str  # "" when it is usable from several nodes
    selector: NodeSelector | None
    all_nodes: bool


class Pool(NamedTuple):
    id: PoolId
    generation: int
    slices: int
    expected: int
    status: PoolStatus
    problem: str  # "" when ok: what is wrong, in a few words
    devices: dict[str, PublishedDevice]  # by device name
    node: str  # the node of all its slices, "" when they differ or have none
    slice_names: tuple[str, ...]
    counters: dict[str, dict[str, Counter]]  # what devices share, by counter set and counter
    drawing: dict[str, tuple[str, ...]]  # names of the devices that draw on a counter set


def assemble(pool_id: PoolId, slices: Iterable[ResourceSlice]) -> Pool | None:
    """The pool as its slices tell it, None without any slice."""
    every = list(slices)
    if not every:
        return None
    generation = max(s.spec.pool.generation for s in every)
    current = sorted((s for s in every if s.spec.pool.generation == generation), key=lambda s: s.name)
    expected = current[0].spec.pool.resource_slice_count
    devices: dict[str, PublishedDevice] = {}
    duplicates: list[str] = []
    for piece in current:
        for device in piece.spec.devices or ():
            if device.name in devices:
                duplicates.append(device.name)
            else:
                devices[device.name] = _published(piece, device)
    nodes = {piece.spec.node_name or "" for piece in current}
    status, problem = _status(current, expected, generation, duplicates)
    return Pool(
        pool_id,
        generation,
        len(current),
        expected,
        status,
        problem,
        devices,
        nodes.pop() if len(nodes) == 1 else "",
        tuple(piece.name for piece in current),
        {c.name: c.counters or {} for piece in current for c in piece.spec.shared_counters or ()},
        _drawing(devices),
    )


def _drawing(devices: dict[str, PublishedDevice]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for name, published in devices.items():
        for counter_set in {c.counter_set for c in published.device.consumes_counters or ()}:
            found.setdefault(counter_set, []).append(name)
    return {counter_set: tuple(names) for counter_set, names in found.items()}


def _published(piece: ResourceSlice, device: Device) -> PublishedDevice:
    spec = piece.spec
    if spec.per_device_node_selection:
        return PublishedDevice(
            device, piece.name, device.node_name or "", device.node_selector, device.all_nodes is True
        )
    return PublishedDevice(device, piece.name, spec.node_name or "", spec.node_selector, spec.all_nodes is True)


def _status(
    current: list[ResourceSlice], expected: int, generation: int, duplicates: list[str]
) -> tuple[PoolStatus, str]:
    if len(current) < expected:
        return "incomplete", f"{len(current)} of {expected} slices, generation {generation}"
    if duplicates:
        return "invalid", f"device {duplicates[0]} is published twice"
    if twice := _duplicate_counter_set(current):
        return "invalid", f"counter set {twice} is defined twice"
    if unknown := _unknown_counter(current):
        return "invalid", f"a device draws on {unknown}, which no slice defines"
    if len(current) > expected:
        return "invalid", f"{len(current)} slices where {expected} are announced, generation {generation}"
    return "ok", ""


def _duplicate_counter_set(current: list[ResourceSlice]) -> str:
    counted = Tally(c.name for piece in current for c in piece.spec.shared_counters or ())
    return next((name for name, times in counted.items() if times > 1), "")


def _unknown_counter(current: list[ResourceSlice]) -> str:
    """The first counter (or counter set) that a device consumes and no slice of the pool defines."""
    defined = {c.name: frozenset(c.counters or ()) for piece in current for c in piece.spec.shared_counters or ()}
    for piece in current:
        for device in piece.spec.devices or ():
            for consumption in device.consumes_counters or ():
                known = defined.get(consumption.counter_set)
                if known is None:
                    return f"counter set {consumption.counter_set}"
                if missing := frozenset(consumption.counters or ()) - known:
                    return f"counter {min(missing)} of set {consumption.counter_set}"
    return ""

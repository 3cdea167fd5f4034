"""Attributes of devices, as sets of values: drivers publish where a device sits as one value, or as a list of all it is near to.

numaNode is a list where a driver runs in list form (gate DRAListTypeAttributes): its own node first, then those beside it. A
device that is near no node in particular has no such attribute at all.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from ktui.cluster.state import Cluster
from ktui.model.resourceslice import NUMA_NODE, DeviceId, attribute, attribute_value

PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
PLACES: Final = {"numaNode": NUMA_NODE, "pcieRoot": PCIE_ROOT}
"""Standard attributes that say where a device sits, by the short name that people know them by."""

AttributeItem: TypeAlias = bool | int | str


def values_of(cluster: Cluster, device: DeviceId, name: str) -> tuple[AttributeItem, ...]:
    """The values of a published device's attribute, one where it is no list; () where it is not published."""
    published = cluster.device(device)
    if published is None:
        return ()
    plain = attribute_value(attribute(published.device, device[0], name))
    if isinstance(plain, tuple):
        return tuple(dict.fromkeys(plain))
    return (plain,) if isinstance(plain, bool | int | str) else ()

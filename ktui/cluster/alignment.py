"""Whether all devices of a pod sit together: near one NUMA node, below one PCI root.

The test is that of a claim's matchAttribute: every device has the attribute, and one value is common to all of them. A GPU and
a NIC of two drivers are compared like two of one, since the attributes' names are standard.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal, NamedTuple

from ktui.cluster.attributes import AttributeItem, values_of
from ktui.cluster.state import Cluster
from ktui.model.resourceslice import DeviceId

Verdict = Literal[
    "aligned",  # one value is common to all
    "apart",  # none is
    "unknown",  # those that publish the attribute agree, and others do not publish it
]


class Alignment(NamedTuple):
    """`common`: the values that all devices have which publish the attribute. `apart`: pairs without a common value; none where
    each two agree and all together do not, which lists of values can do."""

    verdict: Verdict
    common: tuple[AttributeItem, ...]
    values: tuple[tuple[DeviceId, tuple[AttributeItem, ...]], ...]
    apart: tuple[tuple[DeviceId, DeviceId], ...]


def alignment(cluster: Cluster, devices: Sequence[DeviceId], attribute: str) -> Alignment:
    """Whether devices agree in an attribute, given by its full name. A single device agrees with itself."""
    values = tuple((device, values_of(cluster, device, attribute)) for device in devices)
    said = [(device, frozenset(found)) for device, found in values if found]
    common = frozenset.intersection(*(found for _, found in said)) if said else frozenset()
    apart = () if common else tuple((a, b) for (a, one), (b, two) in combinations(said, 2) if not one & two)
    nearest_first = next((found for _, found in values if found), ())
    return Alignment(
        _verdict(len(values), len(said), agree=bool(common)),
        tuple(item for item in nearest_first if item in common),
        values,
        apart,
    )


def _verdict(devices: int, saying: int, *, agree: bool) -> Verdict:
    if saying and not agree:
        return "apart"
    return "aligned" if saying and saying == devices else "unknown"

"""Effective taints of devices: what the driver publishes in the slice, and every rule that selects the device.

They add up: no de-duplication, no override, and a rule cannot take a driver's taint away (resource.k8s.io/v1, KEP-5055).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, NamedTuple

from ktui.cluster.state import Cluster
from ktui.model.claim import DeviceToleration
from ktui.model.resourceslice import DeviceId, DeviceTaint
from ktui.model.taintrule import DeviceSelector

TaintKey = tuple[str, ...]
"""("rule", NAME), or ("slice", driver, pool, device, key, value, effect) for a taint that the driver published."""

EFFECTS = ("None", "NoSchedule", "NoExecute")


class EffectiveTaint(NamedTuple):
    taint: DeviceTaint
    source: Literal["slice", "rule"]
    rule: str = ""  # name of the DeviceTaintRule

    @property
    def effect(self) -> str:
        """The effect as it acts: an unknown one counts as None."""
        return self.taint.effect if self.taint.effect in EFFECTS else "None"

    @property
    def text(self) -> str:
        """As kubectl writes taints: key=value:effect."""
        value = f"={self.taint.value}" if self.taint.value else ""
        return f"{self.taint.key}{value}:{self.taint.effect}"


def taints_of(cluster: Cluster, device: DeviceId) -> tuple[EffectiveTaint, ...]:
    """All taints of a device, the driver's first. Rules also hit allocated devices that are published no longer."""
    published = cluster.device(device)
    own = (published.device.taints or ()) if published else ()
    return (
        *(EffectiveTaint(taint, "slice") for taint in own),
        *(EffectiveTaint(rule.spec.taint, "rule", rule.name) for rule in cluster.rules_of(device)),
    )


def worst(taints: Iterable[EffectiveTaint]) -> EffectiveTaint | None:
    """The taint that does most: NoExecute before NoSchedule before None."""
    return max(taints, key=lambda t: EFFECTS.index(t.effect), default=None)


def tolerates(toleration: DeviceToleration, taint: DeviceTaint, *, evicting: bool = False) -> bool:
    """Whether a toleration matches a taint.

    The eviction controller (`evicting`) only honours tolerations whose effect is literally NoExecute; the allocator takes an
    empty effect for every effect (1.37.2).
    """
    if evicting and toleration.effect != "NoExecute":
        return False
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if not toleration.key:
        return toleration.operator == "Exists"
    if toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in (None, "", "Equal") and (toleration.value or "") == (taint.value or "")


def scope(selector: DeviceSelector | None) -> str:
    """What a rule with the selector selects, in words."""
    if selector is None:
        return "nothing"
    match (selector.driver, selector.pool, selector.device):
        case (None, None, None):
            return "EVERY device of EVERY driver"
        case (driver, pool, device) if driver and pool and device:
            return f"{driver}/{pool}/{device}"
        case (driver, pool, None) if driver and pool:
            return f"all of pool {driver}/{pool}"
        case (driver, None, None):
            return f"all of driver {driver}"
        case (None, pool, None):
            return f"pool {pool} of every driver"
        case (None, None, device):
            return f"device {device} in EVERY pool"
        case (driver, pool, device):
            return f"driver {driver or 'any'}, pool {pool or 'any'}, device {device or 'any'}"


def slice_taints(cluster: Cluster) -> Iterable[TaintKey]:
    """Keys of all taints that drivers published, each once: a driver may repeat a taint on a device."""
    for pool in cluster.pools():
        for name, published in pool.devices.items():
            taints = dict.fromkeys((t.key, t.value or "", t.effect) for t in published.device.taints or ())
            yield from (("slice", *pool.id, name, *taint) for taint in taints)

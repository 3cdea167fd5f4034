"""What would be if: a device untainted, a gang gone, more nodes like one that is there. Nothing is changed by asking.

The answer is which of the pending gangs could then be placed, each by itself: two that want the same device both count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ktui.cluster.allocation import reserved_for
from ktui.cluster.joins import pod_claims
from ktui.cluster.state import Cluster
from ktui.diagnose.catalog import Edits
from ktui.diagnose.demand import GangDemand
from ktui.diagnose.room import NOTHING
from ktui.diagnose.supply import Supply
from ktui.diagnose.trial import placeable
from ktui.model.claim import ResourceClaim
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint


class Change(NamedTuple):
    """What is imagined, all of it together. `nodes`: (name of a node, how many more like it, with nothing in use and no device
    tainted). `taints`: devices with all the taints that they have then, their driver's included."""

    untainted: frozenset[DeviceId] = frozenset()
    gone: frozenset[Key] = frozenset()
    nodes: tuple[tuple[str, int], ...] = ()
    taints: tuple[tuple[DeviceId, tuple[DeviceTaint, ...]], ...] = ()

    @property
    def text(self) -> str:
        """In words, as after "if"."""
        parts = [f"{'/'.join(device)} were untainted" for device in sorted(self.untainted)]
        parts += [f"gang {'/'.join(key)} were gone" for key in sorted(self.gone)]
        parts += [f"{'/'.join(device)} had {_named(taints)}" for device, taints in self.taints]
        parts += [
            f"there were {count} more empty node{'s' if count != 1 else ''} like {name}" for name, count in self.nodes
        ]
        return " and ".join(parts)


def imagined(supply: Supply, change: Change) -> Supply:
    """The supply as it would be after the change. The one that is given stays as it is."""
    cluster = supply.cluster
    gone = [pod for key in change.gone for pod in cluster.members(key) if not pod.finished]
    released = frozenset(claim.key for claim in _held_only_by(cluster, gone))
    edits = Edits(change.untainted, released, frozenset(pod.key for pod in gone), dict(change.taints))
    return supply.edited(edits, change.nodes)


def placed_by(supply: Supply, change: Change, gangs: Iterable[tuple[Key, GangDemand]]) -> tuple[Key, ...]:
    """The gangs that have no place now and would have one."""
    after = imagined(supply, change)
    return tuple(
        key
        for key, demand in gangs
        if key not in change.gone
        and placeable(supply, demand, NOTHING) is False
        and placeable(after, demand, NOTHING) is True
    )


def _held_only_by(cluster: Cluster, pods: Iterable[Pod]) -> Iterable[ResourceClaim]:
    """Claims that are given back when the pods go: nobody else holds them."""
    going = {pod.key: pod for pod in pods}
    for key in {claim for pod in going.values() for claim in pod_claims(pod)}:
        claim = cluster.claim(key)
        if claim is None:
            continue
        users = [pod for other in cluster.pods_by_claim[key] if (pod := cluster.pod(other)) is not None]
        if all(pod.key in going for pod in users if reserved_for(pod, claim)):
            yield claim


def _named(taints: Iterable[DeviceTaint]) -> str:
    return "the taints " + ", ".join(f"{t.key}:{t.effect}" for t in taints) if taints else "no taint"

"""Which devices would do and cannot be had: what the steps of the funnel take away, by name.

The funnel counts kinds of devices and is kept in step with the cluster; this looks at every device that is lost, so it is
found out for one gang when somebody asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from ktui.cluster.allocation import users
from ktui.cluster.gangs import display_name
from ktui.cluster.pools import PoolStatus
from ktui.cluster.state import Cluster
from ktui.cluster.taints import EffectiveTaint, taints_of
from ktui.diagnose.catalog import Catalog
from ktui.diagnose.demand import Want
from ktui.diagnose.room import Counts, Room, count_room, tolerated
from ktui.model.meta import Key
from ktui.model.pod import Pod
from ktui.model.resourceslice import DeviceId, DeviceTaint, PoolId

Step = Literal["poolComplete", "untainted", "free"]


class Holder(NamedTuple):
    """Who has devices: a gang ("PodGroup"), a pod outside gangs, or a claim that no pod uses. `shown` is its name as people say
    it, with the namespace."""

    kind: Literal["PodGroup", "Pod", "ResourceClaim"]
    key: Key
    shown: str


class Taint(NamedTuple):
    """A taint as it is placed: by a rule, or by the driver (`rule` is "")."""

    text: str
    rule: str


class BrokenPool(NamedTuple):
    """A pool from which nothing is allocated; `problem` in a few words."""

    id: PoolId
    status: PoolStatus
    problem: str


class Losses(NamedTuple):
    """What is lost at each step, most first. `others`: devices that are not free although nobody has them, because what they
    share with devices in use is used up."""

    pools: tuple[tuple[BrokenPool, int], ...] = ()
    taints: tuple[tuple[Taint, tuple[DeviceId, ...]], ...] = ()
    holders: tuple[tuple[Holder, int], ...] = ()
    others: int = 0


def losses(cluster: Cluster, want: Want, catalog: Catalog) -> Losses:
    """What is lost to a request, of all devices that match it."""
    pools: Counter[BrokenPool] = Counter()
    taints: dict[Taint, list[DeviceId]] = {}
    holders: Counter[Holder] = Counter()
    others = 0
    for device, step in _lost(cluster, want, catalog):
        if step == "poolComplete":
            pools[_broken(cluster, device[:2])] += 1
        elif step == "untainted":
            taints.setdefault(_taint(cluster, want, device), []).append(device)
        elif holder := _holder(cluster, device):
            holders[holder] += 1
        else:
            others += 1
    return Losses(
        tuple(sorted(pools.items(), key=lambda item: (-item[1], item[0]))),
        tuple((t, tuple(sorted(taints[t]))) for t in sorted(taints, key=lambda t: (-len(taints[t]), t))),
        tuple(sorted(holders.items(), key=lambda item: (-item[1], item[0]))),
        others,
    )


def _lost(cluster: Cluster, want: Want, catalog: Catalog) -> Iterator[tuple[DeviceId, Step]]:
    """Equal rooms lose the same, so each is looked at once."""
    seen: dict[int, tuple[tuple[int, int, Step], ...]] = {}
    for node, number in catalog.on_node.items():
        if number not in seen:
            seen[number] = tuple(_in_room(want, catalog.room(number), catalog))
        if seen[number]:
            yield from _named(cluster, catalog.pool_order(node), seen[number])
    for pool_id, (pool, _) in catalog.floating.items():
        yield from _named(cluster, [pool_id], tuple(_in_room(want, (pool,), catalog)))


def _in_room(want: Want, room: Room, catalog: Catalog) -> Iterator[tuple[int, int, Step]]:
    """(number of the pool, number of the device in it, the step at which it is lost)."""
    for p, pool in enumerate(room):
        known: dict[object, Counts] = {}
        for u, unit in enumerate(pool.units):
            if unit not in known:
                known[unit] = count_room(want, (pool._replace(units=(unit,)),), catalog.kinds)
            counts = known[unit]
            if counts.matching > counts.free:
                yield (
                    p,
                    u,
                    "untainted"
                    if counts.complete > counts.untainted
                    else ("free" if counts.untainted else "poolComplete"),
                )


def _named(
    cluster: Cluster, pools: list[PoolId], lost: Iterable[tuple[int, int, Step]]
) -> Iterator[tuple[DeviceId, Step]]:
    names: dict[int, list[str]] = {}
    for p, u, step in lost:
        if p not in names:
            pool = cluster.pool(pools[p])
            names[p] = list(pool.devices) if pool else []
        yield (*pools[p], names[p][u]), step


def _broken(cluster: Cluster, pool_id: PoolId) -> BrokenPool:
    pool = cluster.pool(pool_id)
    return BrokenPool(pool_id, pool.status, pool.problem) if pool else BrokenPool(pool_id, "incomplete", "is gone")


def _taint(cluster: Cluster, want: Want, device: DeviceId) -> Taint:
    """The first one that keeps the device from being allocated."""
    found = next(t for t in taints_of(cluster, device) if _blocks(want, t))
    return Taint(found.text, found.rule)


def _blocks(want: Want, taint: EffectiveTaint) -> bool:
    plain = DeviceTaint(taint.taint.key, taint.taint.value, taint.taint.effect)
    return taint.effect in ("NoSchedule", "NoExecute") and not tolerated(want, (plain,))


def _holder(cluster: Cluster, device: DeviceId) -> Holder | None:
    """Who uses the claim that has the device, None when no claim has it."""
    for key in sorted(cluster.claims_by_device[device]):
        claim = cluster.claim(key)
        if claim is not None and any(r.id == device and not r.admin_access for r in claim.results):
            pods = users(cluster, key)
            return holder_of(cluster, pods[0]) if pods else Holder("ResourceClaim", key, "/".join(key))
    return None


def holder_of(cluster: Cluster, pod: Pod) -> Holder:
    """The pod's gang, or the pod itself where it has none."""
    if not pod.group:
        return Holder("Pod", pod.key, "/".join(pod.key))
    key = (pod.namespace, pod.group)
    return Holder("PodGroup", key, f"{pod.namespace}/{display_name(cluster, key)}")

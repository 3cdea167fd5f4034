"""Which devices would do and cannot be had: what the steps of the funnel take away, by name.

The funnel counts kinds of devices and is kept in step with the cluster; this looks at every device that is lost, so it is
found out for one gang when somebody asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

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
HolderKind = Literal["PodGroup", "Pod", "ResourceClaim"]


class Holder(NamedTuple):
    """Who has devices: a gang ("PodGroup"), a pod outside gangs, or a claim that no pod uses. `shown` is its name as people say
    it, with the namespace."""

    kind: HolderKind
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
    claims: Counter[Key] = Counter()
    others = 0
    for device, step in _lost(cluster, want, catalog):
        if step == "poolComplete":
            pools[_broken(cluster, device[:2])] += 1
        elif step == "untainted":
            taints.setdefault(_taint(cluster, want, device), []).append(device)
        elif claim := _claim(cluster, device):
            claims[claim] += 1
        else:
            others += 1
    return Losses(
        tuple(sorted(pools.items(), key=lambda item: (-item[1], item[0]))),
        tuple((t, tuple(sorted(taints[t]))) for t in sorted(taints, key=lambda t: (-len(taints[t]), t))),
        _holders(cluster, claims),
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


def _claim(cluster: Cluster, device: DeviceId) -> Key | None:
    """The first claim that has the device, administrators apart; None when none has."""
    for key in sorted(cluster.claims_by_device[device]):
        claim = cluster.claim(key)
        if claim is not None and any(r.id == device and not r.admin_access for r in claim.results):
            return key
    return None


def _holders(cluster: Cluster, claims: Counter[Key]) -> tuple[tuple[Holder, int], ...]:
    """Who uses these claims, with how many devices, most first; a name is looked up once."""
    counts: Counter[tuple[HolderKind, Key]] = Counter()
    for key, count in claims.items():
        counts[_user(cluster, key)] += count
    named = ((Holder(kind, key, _shown(cluster, kind, key)), count) for (kind, key), count in counts.items())
    return tuple(sorted(named, key=lambda item: (-item[1], item[0])))


def _user(cluster: Cluster, key: Key) -> tuple[HolderKind, Key]:
    """For whom the claim is reserved: the gang of the first pod that is there, or that pod; the claim itself when there is
    nobody."""
    claim = cluster.claim(key)
    for consumer in (claim.status.reserved_for or ()) if claim is not None else ():
        if consumer.resource == "podgroups":
            return "PodGroup", (key[0], consumer.name)
        pod = cluster.pod((key[0], consumer.name))
        if pod is not None and pod.metadata.uid == consumer.uid:
            return ("PodGroup", (pod.namespace, pod.group)) if pod.group else ("Pod", pod.key)
    return "ResourceClaim", key


def _shown(cluster: Cluster, kind: HolderKind, key: Key) -> str:
    return f"{key[0]}/{display_name(cluster, key) if kind == 'PodGroup' else key[1]}"


def holder_of(cluster: Cluster, pod: Pod) -> Holder:
    """The pod's gang, or the pod itself where it has none."""
    kind: HolderKind = "PodGroup" if pod.group else "Pod"
    key = (pod.namespace, pod.group or pod.name)
    return Holder(kind, key, _shown(cluster, kind, key))

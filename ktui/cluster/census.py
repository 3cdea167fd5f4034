"""How many gangs and devices there are: counted once, and from then on only where something changed."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from ktui.cluster.gangs import exists, gang_keys
from ktui.cluster.state import Cluster
from ktui.model.meta import Key
from ktui.model.resourceslice import PoolId

_KEPT: WeakKeyDictionary[Cluster, Census] = WeakKeyDictionary()


def census_of(cluster: Cluster) -> Census:
    """The census that is kept for a cluster."""
    found = _KEPT.get(cluster)
    if found is None:
        found = _KEPT[cluster] = Census(cluster)
    return found


class Census:
    """Not thread-safe, like the cluster it is about."""

    def __init__(self, cluster: Cluster) -> None:
        self._gang_journal, self._pool_journal = cluster.gang_journal, cluster.pool_journal
        self._gangs: set[Key] = set()
        self._pools: dict[PoolId, int] = {}
        self._devices = 0
        self._seen_gangs = self._seen_pools = 0
        self._count_all(cluster)

    def gangs(self, cluster: Cluster) -> int:
        """How many gangs there are."""
        self._seen_gangs, changed = self._gang_journal.since(self._seen_gangs)
        if changed is None:
            self._gangs = gang_keys(cluster)
        else:
            for key in changed:
                (self._gangs.add if exists(cluster, key) else self._gangs.discard)(key)
        return len(self._gangs)

    def devices(self, cluster: Cluster) -> int:
        """How many devices are published in the current generations of all pools."""
        self._seen_pools, changed = self._pool_journal.since(self._seen_pools)
        for pool_id in (*self._pools, *cluster.slices_by_pool.values()) if changed is None else changed:
            self._count_pool(cluster, pool_id)
        return self._devices

    def _count_all(self, cluster: Cluster) -> None:
        self._seen_gangs, self._seen_pools = self._gang_journal.position, self._pool_journal.position
        self._gangs = gang_keys(cluster)
        for pool_id in cluster.slices_by_pool.values():
            self._count_pool(cluster, pool_id)

    def _count_pool(self, cluster: Cluster, pool_id: PoolId) -> None:
        pool = cluster.pool(pool_id)
        now = len(pool.devices) if pool is not None else 0
        self._devices += now - self._pools.pop(pool_id, 0)
        if now:
            self._pools[pool_id] = now

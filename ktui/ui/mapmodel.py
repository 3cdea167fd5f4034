"""The fleet as a map shows it: pools in order, lines computed when they are seen. Knows nothing of Textual."""

from __future__ import annotations

from collections.abc import Iterable

from ktui.cluster.state import Cluster
from ktui.cluster.usage import offers
from ktui.model.resourceslice import DeviceId, PoolId
from ktui.views import devicemap
from ktui.views.base import Cell
from ktui.views.devicemap import MapLine


class MapModel:
    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.pools: list[PoolId] = []
        self._positions: dict[PoolId, int] = {}
        self._lines: dict[PoolId, MapLine | None] = {}
        self._cursor: PoolId | None = None
        self.rebase(cluster)

    def rebase(self, cluster: Cluster) -> None:
        """Take everything from another state."""
        self._cluster = cluster
        self._lines.clear()
        self._list_pools()

    def invalidate(self, devices: Iterable[DeviceId]) -> None:
        """These devices may have changed, appeared or gone. Pools are listed again only when one is new or gone."""
        pools = {device[:2] for device in devices}
        for pool in pools:
            self._lines.pop(pool, None)
        if any((pool in self._positions) != (self._cluster.pool(pool) is not None) for pool in pools):
            self._list_pools()

    def line(self, position: int) -> MapLine | None:
        """The line of a pool; the same object until it changes."""
        pool = self.pools[position]
        if pool not in self._lines:
            self._lines[pool] = devicemap.line(self._cluster, pool)
        return self._lines[pool]

    @property
    def measured(self) -> bool:
        """Whether there are figures of any pool: then all lines leave room for them."""
        return offers(self._cluster, "gpus")

    def figures(self, position: int) -> tuple[Cell, ...]:
        """What is used of a pool, now."""
        return devicemap.figures(self._cluster, self.pools[position])

    def locate_cursor(self) -> int:
        return self._positions.get(self._cursor, 0) if self._cursor is not None else 0

    def move_to(self, position: int) -> None:
        if self.pools:
            self._cursor = self.pools[max(0, min(position, len(self.pools) - 1))]

    @property
    def cursor(self) -> PoolId | None:
        return self.pools[self.locate_cursor()] if self.pools else None

    def _list_pools(self) -> None:
        self.pools = devicemap.pool_ids(self._cluster)
        self._positions = {pool: position for position, pool in enumerate(self.pools)}

"""The fleet as a map: one line a pool, one cell a device, grouped by NUMA node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from ktui.cluster.devices import DeviceInfo, DeviceState, device_info
from ktui.cluster.pools import Pool
from ktui.cluster.state import Cluster
from ktui.model.resourceslice import DeviceId, PoolId
from ktui.views.base import Cell
from ktui.views.devices import STYLES, numa_of
from ktui.views.shared import gang_or_pod
from ktui.views.usage import fleet_cells


class MapCell(Struct, frozen=True):
    device: DeviceId
    state: DeviceState


class MapLine(Struct, frozen=True):
    """`groups` are the NUMA nodes in order; devices without one come last. `used` of `total` devices are allocated."""

    pool: PoolId
    label: str
    groups: tuple[tuple[MapCell, ...], ...]
    used: int
    total: int
    summary: tuple[Cell, ...]  # who has them, what is wrong


def pool_ids(cluster: Cluster) -> list[PoolId]:
    return sorted(pool.id for pool in cluster.pools())


def line(cluster: Cluster, pool_id: PoolId) -> MapLine | None:
    """The line of one pool, None when it is gone."""
    pool = cluster.pool(pool_id)
    if pool is None:
        return None
    infos = [info for name in pool.devices if (info := device_info(cluster, (*pool_id, name))) is not None]
    groups: dict[tuple[int, str], list[MapCell]] = {}
    for info in infos:
        numa = numa_of(info.published.device, pool_id[0]) if info.published else ""
        rank = (int(numa), "") if numa.isascii() and numa.isdigit() else (2**31, numa)
        groups.setdefault(rank, []).append(MapCell(info.id, info.state))
    return MapLine(
        pool=pool_id,
        label=pool.node or pool_id[1],
        groups=tuple(tuple(groups[rank]) for rank in sorted(groups)),
        used=sum(1 for info in infos if info.holders),
        total=len(infos),
        summary=tuple(_summary(cluster, pool, infos)),
    )


def figures(cluster: Cluster, pool_id: PoolId) -> tuple[Cell, ...]:
    """What the pool's devices use, as far as an exporter tells, as `fleet_cells`; made for lines that are on the screen."""
    pool = cluster.pool(pool_id)
    if pool is None or not pool.node or cluster.usage.gpus(pool.node) is None:
        return ()
    return fleet_cells(cluster, pool.node, ((*pool_id, name) for name in pool.devices))


def _summary(cluster: Cluster, pool: Pool, infos: list[DeviceInfo]) -> Iterable[Cell]:
    if pool.status != "ok":
        yield Cell(f"pool {pool.status}: {pool.problem}", "warn")
    for info in infos:
        if info.state == "tainted":
            yield Cell(f"{info.id[2]} {' '.join(t.text for t in info.taints)}", STYLES["tainted"])
        elif info.state == "unhealthy":
            yield Cell(f"{info.id[2]} Unhealthy, not tainted", STYLES["unhealthy"])
    gangs = Counter(gang_or_pod(cluster, pod) for info in infos for pod in info.pods)
    for name, count in sorted(gangs.items()):
        yield Cell(f"{name} {count}")

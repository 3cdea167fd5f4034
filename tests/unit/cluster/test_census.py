"""The census: always what counting everything from scratch gives."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from ktui.cluster.census import census_of
from ktui.cluster.gangs import gang, gang_keys
from ktui.cluster.state import Cluster
from ktui.model.kinds import KINDS
from tests.unit import builders as b
from tests.unit.cluster import worlds


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(24))
def test_it_follows_every_change(course: list[worlds.Step]) -> None:
    cluster = Cluster()
    for kind in KINDS:
        cluster.apply(b.listed(kind, version="1"))
    census = census_of(cluster)
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
        assert census.gangs(cluster) == sum(gang(cluster, key) is not None for key in gang_keys(cluster))
        assert census.devices(cluster) == sum(len(pool.devices) for pool in cluster.pools())


def test_what_was_there_before_is_counted() -> None:
    cluster = b.cluster_of(b.group("g", 1), b.pod("p", group="h"), b.piece("s", ["gpu-0", "gpu-1"]))
    census = census_of(cluster)
    assert (census.gangs(cluster), census.devices(cluster)) == (2, 2)
    assert census_of(cluster) is census

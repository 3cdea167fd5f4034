"""The place of a row, told without the row, is where the row would stand."""

from __future__ import annotations

import pytest

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.model.meta import Key
from ktui.model.usage import ContainerUsage, GpusReport, GpuUsage, MetricsServed, PodsReport, PodUsage, UsageMeta
from ktui.views.base import Large
from ktui.views.registry import VIEWS
from tests.ui import world
from tests.unit.cluster.test_usage import NOW, device, state

LARGE = {name: view for name, view in VIEWS.items() if isinstance(view, Large)}
MOMENTS = [("xid79", 40.0), ("xid79", 0.0), ("pending", 60.0), ("shared-claims", 60.0), ("extended-resources", 60.0)]


def _usage(key: Key, number: int) -> PodUsage:
    used: dict[str, str | int | float] = {"cpu": f"{number}m", "memory": f"{number * 3}Mi"}
    meta = UsageMeta(name=key[1], namespace=key[0])
    return PodUsage(metadata=meta, containers=(ContainerUsage(name="main", usage=used),))


def test_these_views_may_be_large() -> None:
    assert {"pods", "devices", "claims", "gangs"} <= set(LARGE)
    assert all(view.order in view.places for name, view in LARGE.items() if name != "autoscalers")


@pytest.mark.parametrize("name", LARGE)
@pytest.mark.parametrize("moment", MOMENTS, ids=str)
def test_a_place_is_that_of_the_row(name: Entity, moment: tuple[str, float]) -> None:
    view, cluster = LARGE[name], Cluster()
    for frame in world.recorded(*moment).frames:
        cluster.apply(frame)
    used = {key: _usage(key, n) for n, key in enumerate(cluster.stores["Pod"].objects)}
    cluster.measure(MetricsServed("v1"))
    cluster.measure(PodsReport(used))
    ids = [column.id for column in view.columns]
    keys = list(view.keys(cluster))
    assert set(view.keys_unsorted(cluster)) >= set(keys)
    for key in keys:
        row = view.row(cluster, key)
        assert row is not None
        for column in view.places:
            place = view.place(cluster, key, column)
            assert place is not None
            assert (place.value, place.uid, place.namespace) == (row.sort[ids.index(column)], row.uid, row.namespace)


@pytest.mark.parametrize("name", LARGE)
def test_what_is_gone_has_no_place(name: Entity) -> None:
    view, cluster = LARGE[name], Cluster()
    for frame in world.everything_live():
        cluster.apply(frame)
    key = ("gpu.example.com", "node-1", "gpu-9") if name == "devices" else ("research", "gone")
    assert view.row(cluster, key) is None
    assert all(view.place(cluster, key, column) is None for column in view.places)


def test_a_devices_place_follows_its_figures() -> None:
    view, cluster = LARGE["devices"], state(device("gpu-0", uuid="GPU-a"), device("gpu-1"))
    cluster.measure(
        GpusReport("node-1", NOW, (GpuUsage("GPU-a", utilization=5.0, memory_used=7, temperature=40.0, last_xid=79),))
    )
    ids = [column.id for column in view.columns]
    for key in view.keys(cluster):
        row = view.row(cluster, key)
        assert row is not None
        for column in ("util", "used", "temperature", "xid"):
            place = view.place(cluster, key, column)
            assert place is not None
            assert place.value == row.sort[ids.index(column)]

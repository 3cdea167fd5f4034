"""Indexes stay what they would be when built anew; order does not matter; an event's work does not grow with the cluster."""

from __future__ import annotations

import cProfile
import gc
import pstats
import random
import weakref
from collections import Counter
from collections.abc import Hashable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ktui.cluster.dirty import Dirty
from ktui.cluster.index import Index
from ktui.cluster.inventory import Sight
from ktui.cluster.moment import Moment
from ktui.cluster.state import Cluster
from ktui.model.frame import Changed, Listed, Mark, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.views.registry import VIEWS
from tests.recordings import PATHS, cluster_at
from tests.unit import builders as b
from tests.unit.cluster import worlds

INDEXES = tuple(name for name, value in vars(Cluster()).items() if isinstance(value, Index))


def contents(cluster: Cluster) -> dict[str, dict[Hashable, frozenset[object]]]:
    found = {}
    for name in INDEXES:
        index = getattr(cluster, name)
        found[name] = {value: frozenset(index[value]) for value in index.values()}
        assert all(index.count(value) == len(found[name][value]) for value in found[name])
    return found


def objects_of(cluster: Cluster) -> list[Object]:
    return [obj for store in cluster.stores.values() for obj in store.objects.values()]


def rebuilt(cluster: Cluster, seed: int = 0) -> Cluster:
    """The same streams and objects, given one by one in another order."""
    found = Cluster()
    objects = objects_of(cluster)
    random.Random(seed).shuffle(objects)
    for stream in cluster.streams.values():
        if stream.synced:
            found.apply(Listed(stream.source, "1", ()))
        found.apply(StreamState(stream.source, stream.phase, stream.message))
    for obj in objects:
        found.apply(b.added(obj))
    return found


@settings(max_examples=60)
@given(worlds.steps(20), st.integers(0, 1000))
def test_any_course_ends_as_if_its_objects_came_at_once_in_any_order(course: list[worlds.Step], seed: int) -> None:
    """W51 and the indexes in one: every index, every row and every document."""
    cluster = b.cluster_of()
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
    other = rebuilt(cluster, seed)
    assert contents(cluster) == contents(other)
    for view in VIEWS.values():
        keys = list(view.keys(cluster))
        assert Counter(keys) == Counter(view.keys(other))  # tables have an order of their own
        for key in keys:
            assert view.row(cluster, key) == view.row(other, key)
            assert view.item(cluster, key) == view.item(other, key)
            assert view.detail(cluster, key, 2e9) == view.detail(other, key, 2e9)


@pytest.mark.parametrize("name", PATHS)
def test_W51_recordings_end_the_same_in_any_order(name: str) -> None:
    cluster, now = cluster_at(name)
    other = rebuilt(cluster)
    assert contents(cluster) == contents(other)
    for view in VIEWS.values():
        for key in view.keys(cluster):
            assert view.row(cluster, key) == view.row(other, key)
            assert view.detail(cluster, key, now) == view.detail(other, key, now)


def test_emptied_indexes_are_empty() -> None:
    cluster, _ = cluster_at("xid79")
    for kind in KINDS:
        cluster.apply(Listed(next(s.source for s in cluster.streams_of((kind,))), "999999", ()))
    assert objects_of(cluster) == []
    assert all(not found for found in contents(cluster).values())


# --- streams ---


def test_a_list_makes_a_source_live_and_synced() -> None:
    cluster = Cluster()
    assert not cluster.synced("Pod")
    dirty = cluster.apply(b.listed("Pod"))
    assert dirty.streams
    assert cluster.synced("Pod")
    assert cluster.readable("Pod")


@pytest.mark.parametrize(
    ("phase", "readable"),
    [
        ("watching", True),
        ("quiet", True),
        ("polling", True),
        ("waiting", False),
        ("listing", False),
    ],
)
def test_a_source_in_trouble_stays_synced_but_is_not_readable(phase: StreamPhase, readable: bool) -> None:
    cluster = b.cluster_of()
    cluster.apply(b.phase("Pod", phase, "why"))
    assert cluster.synced("Pod")
    assert cluster.readable("Pod") is readable


def test_a_kind_the_cluster_lacks_counts_as_synced_not_as_readable() -> None:
    cluster = Cluster()
    cluster.apply(b.phase("PodGroup", "absent"))
    assert cluster.synced("PodGroup")
    assert not cluster.readable("PodGroup")


def test_with_one_source_a_namespace_all_of_them_have_to_be_there() -> None:
    cluster = Cluster()
    cluster.apply(b.listed("Pod", namespace="ml"))
    cluster.apply(StreamState(b.source("Pod", "lab"), "listing"))
    assert not cluster.synced("Pod")
    cluster.apply(b.listed("Pod", namespace="lab"))
    assert cluster.synced("Pod")


def test_a_source_that_was_stopped_no_longer_counts() -> None:
    cluster = Cluster()
    cluster.apply(b.listed("Pod", namespace="ml"))
    cluster.apply(StreamState(b.source("Pod", "lab"), "stopped"))
    assert cluster.readable("Pod")


def test_all_claims_are_seen_only_through_a_source_of_all_namespaces() -> None:
    cluster = Cluster()
    cluster.apply(b.phase("ResourceClaim", "no-access"))
    cluster.apply(b.listed("ResourceClaim", namespace="ml"))
    assert cluster.readable("ResourceClaim")
    assert not cluster.sees_all("ResourceClaim")
    cluster.apply(b.listed("ResourceClaim"))
    cluster.apply(b.phase("ResourceClaim", "watching"))
    assert cluster.sees_all("ResourceClaim")


def test_a_source_keeps_its_state_when_its_version_changes() -> None:
    cluster = b.cluster_of()
    newer = Source("PodGroup", "/apis/scheduling.k8s.io/v1/podgroups")
    cluster.apply(StreamState(newer, "watching"))
    assert [s.source.path for s in cluster.streams_of(("PodGroup",))] == [newer.path]
    assert cluster.synced("PodGroup")


_SOURCES = (b.source("Pod"), b.source("Pod", "ml"), b.source("Pod", "lab"), b.source("PodGroup"))
_PHASES: tuple[StreamPhase, ...] = ("absent", "no-access", "listing", "watching", "quiet", "waiting", "stopped")


@given(st.lists(st.tuples(st.sampled_from(_SOURCES), st.none() | st.sampled_from(_PHASES)), max_size=12))
def test_what_can_be_seen_is_never_that_of_an_earlier_moment(steps: list[tuple[Source, StreamPhase | None]]) -> None:
    def as_told(cluster: Cluster) -> list[Sight]:
        return [Sight(cluster.synced(k), cluster.readable(k), cluster.sees_all(k)) for k in ("Pod", "PodGroup")]

    def as_it_is(cluster: Cluster) -> list[Sight]:
        return [Sight.of(cluster.streams_of((k,))) for k in ("Pod", "PodGroup")]

    cluster, halfway = Cluster(), Moment()
    for number, (source, phase) in enumerate(steps):
        frame = Listed(source, "1", ()) if phase is None else StreamState(source, phase)
        if number < len(steps) // 2:
            halfway.take(frame)
        cluster.apply(frame)
        assert as_told(cluster) == as_it_is(cluster)
    for _ in cluster.become(halfway):
        assert as_told(cluster) == as_it_is(cluster)


def test_a_mark_touches_nothing() -> None:
    assert not Cluster().apply(Mark("here"))


def test_dirty_rows_add_up() -> None:
    dirty = Dirty(gangs={("ml", "a")})
    dirty.merge(Dirty(gangs={("ml", "b")}, pods={("ml", "p")}, streams=True))
    assert dirty == Dirty(gangs={("ml", "a"), ("ml", "b")}, pods={("ml", "p")}, streams=True)


# --- work ---


def fleet(nodes: int) -> Cluster:
    """Nodes of four devices, a gang of two pods with two claims on each, a rule a device for the first device of each."""
    objects: list[Object] = []
    for n in range(nodes):
        pool, gang = f"node-{n}", f"gang-{n}"
        objects.append(b.piece(f"slice-{n}", [f"gpu-{i}" for i in range(4)], pool=pool, nodeName=pool))
        objects.append(b.rule(f"rule-{n}", {"driver": b.DRIVER, "pool": pool, "device": "gpu-0"}))
        objects.append(b.workload(f"w-{n}"))
        objects.append(b.group(gang, 2, spec={"workloadRef": {"workloadName": f"w-{n}"}}))
        for i in range(2):
            name = f"{gang}-{i}"
            objects.append(b.claim(f"{name}-c", [b.result(f"gpu-{i}", pool=pool)], reserved=[b.pod_consumer(name)]))
            objects.append(b.pod(name, group=gang, node=pool, spec=_uses(f"{name}-c")))
    return b.cluster_of(*objects)


def _uses(claim: str) -> b.Document:
    return {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": claim}],
        "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
    }


def newer(obj: Object, version: str = "1000") -> Changed:
    document = b.meta(obj.name, obj.namespace, resourceVersion=version, annotations={"written": version})
    return b.changed("MODIFIED", b.make(type(obj), {**_plain(obj), "metadata": document}))


def _plain(obj: Object) -> b.Document:
    import msgspec

    found = msgspec.to_builtins(obj)
    assert isinstance(found, dict)
    return found


def work_of(cluster: Cluster, frame: Changed) -> tuple[int, int]:
    """(calls, rows touched) of applying the frame and computing the rows it touches."""
    profile = cProfile.Profile()
    profile.enable()
    dirty = cluster.apply(frame)
    touched = [(name, key) for name in VIEWS for key in getattr(dirty, name)]
    for name, key in touched:
        VIEWS[name].row(cluster, key)
    profile.disable()
    return int(pstats.Stats(profile).total_calls), len(touched)  # type: ignore[attr-defined]  # missing in the stubs


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Pod", "gang-3-0"),
        ("ResourceClaim", "gang-3-0-c"),
        ("ResourceSlice", "slice-3"),
        ("DeviceTaintRule", "rule-3"),
        ("PodGroup", "gang-3"),
        ("Workload", "w-3"),
    ],
)
def test_an_event_costs_the_same_in_a_cluster_ten_times_as_large(kind: str, name: str) -> None:
    found = []
    for size in (8, 80):
        cluster = fleet(size)
        obj = next(o for o in cluster.stores[kind].objects.values() if o.name == name)
        work_of(cluster, newer(obj, "1000"))  # fills the caches
        found.append(work_of(cluster, newer(obj, "1001")))
    (small_calls, small_rows), (large_calls, large_rows) = found
    assert large_rows == small_rows > 0
    assert large_calls <= small_calls * 1.1


def test_a_closed_cluster_is_freed_without_the_collector() -> None:
    """It looks at what is old hardly ever, and at what is frozen never."""
    cluster, _ = cluster_at("pending")
    there = weakref.ref(cluster)
    gc.collect()
    gc.disable()
    try:
        cluster.close()
        del cluster
        assert there() is None
    finally:
        gc.enable()

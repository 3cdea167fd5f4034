"""Diagnoses that are kept are those that would be made anew, whatever happened in between."""

from __future__ import annotations

import gc
import weakref

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ktui.cluster.gangs import gang_keys
from ktui.cluster.state import Cluster
from ktui.diagnose import supply
from ktui.diagnose.diagnoses import Diagnoses, diagnoses_of
from ktui.diagnose.diagnosis import Diagnosis
from ktui.model.kinds import KINDS
from ktui.model.meta import Key
from ktui.model.resourceslice import ResourceSlice
from tests.recordings import cluster_at
from tests.unit import builders as b
from tests.unit.cluster import worlds


@settings(max_examples=60, phases=(Phase.generate,), suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(14))
def test_what_is_kept_is_what_would_be_found_anew(course: list[worlds.Step]) -> None:
    cluster = Cluster()
    for kind in KINDS:
        cluster.apply(b.listed(kind, version="1"))
    kept = Diagnoses(cluster)
    told = {key: kept.of(key) for key in gang_keys(cluster)}
    for version, step in enumerate(course, start=2):
        dirty = cluster.apply(worlds.frame(step, version))
        stale = kept.take_stale() | dirty.gangs
        anew = Diagnoses(cluster)
        for key in gang_keys(cluster):
            now = kept.of(key)
            assert now == anew.of(key), f"step {version}: {step}"
            assert key in stale or now == told.get(key), f"step {version}: nobody was told of {key}: {step}"
            told[key] = now


def test_a_node_known_by_its_devices_alone_goes_with_the_last_of_them() -> None:
    """Of Nodes none is there, or may be read: those that devices are published for are all that is known."""
    words = b.condition("PodGroupScheduled", "False", "Unschedulable", "minCount (1) cannot be satisfied")
    group = b.group("g", 1, status={"conditions": [words]})
    gone = b.piece("s", nodeName="node-1")
    pod = b.pod("p", spec={"schedulingGroup": {"podGroupName": "g"}})
    cluster = b.cluster_of(group, pod, gone)
    kept, key = Diagnoses(cluster), ("ml", "g")
    before = kept.of(key)
    cluster.apply(b.deleted(gone))
    assert kept.of(key) == Diagnoses(cluster).of(key) != before


def test_a_gang_that_is_gone_has_no_diagnosis() -> None:
    cluster = b.cluster_of(b.group("g", 1))
    diagnoses = diagnoses_of(cluster)
    assert diagnoses.of(("ml", "g")) is not None
    cluster.apply(b.deleted(b.group("g", 1)))
    assert diagnoses.of(("ml", "g")) is None
    assert diagnoses.take_stale() == {("ml", "g")}
    assert diagnoses is diagnoses_of(cluster)


def test_diagnoses_end_with_their_cluster() -> None:
    """Who goes to another context does not keep the one before in memory."""
    cluster = b.cluster_of(b.group("g", 1))
    diagnoses_of(cluster).at(("ml", "g"))
    gone = weakref.ref(cluster)
    del cluster
    gc.collect()
    assert gone() is None


@settings(max_examples=60, phases=(Phase.generate,), suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(14), st.sets(st.integers(2, 16)))
def test_with_patience_it_is_right_after_each_look(course: list[worlds.Step], looks: set[int]) -> None:
    """In between nothing fails, whatever is gone by now that was there at the last look."""
    cluster = Cluster()
    for kind in KINDS:
        cluster.apply(b.listed(kind, version="1"))
    kept = Diagnoses(cluster)
    kept.patient = True
    told: dict[Key, Diagnosis | None] = {}
    changed: set[Key] = set()
    for version, step in enumerate(course, start=2):
        changed |= cluster.apply(worlds.frame(step, version)).gangs
        seen = {key: kept.of(key) for key in changed}
        told |= seen
        list(kept.asking())
        if version not in looks:
            continue
        changed |= kept.take_stale()
        anew = Diagnoses(cluster)
        for key in gang_keys(cluster):
            assert kept.of(key) == anew.of(key), f"step {version}: {step}"
            assert key in changed or told.get(key) == anew.of(key), f"step {version}: nobody was told of {key}: {step}"
            told[key] = kept.of(key)
        changed.clear()


def test_with_patience_nodes_and_devices_are_looked_at_when_asked_to() -> None:
    cluster, _ = cluster_at("causes")
    diagnoses, key = Diagnoses(cluster), ("research", "tainted")
    diagnoses.patient = True
    before = diagnoses.at(key)
    pieces = list(cluster.all(ResourceSlice))
    for piece in pieces:
        cluster.apply(b.deleted(piece))
    assert diagnoses.at(key) == before
    assert key in diagnoses.take_stale()
    assert diagnoses.at(key) != before
    for piece in pieces:
        cluster.apply(b.added(structs.replace(piece, metadata=structs.replace(piece.metadata, uid=f"{piece.name}-2"))))
    assert diagnoses.up_to_date().at(key) == before


def test_with_patience_what_can_no_longer_be_read_is_heeded_at_once() -> None:
    cluster, _ = cluster_at("causes")
    diagnoses, key = Diagnoses(cluster), ("research", "orphan")
    diagnoses.patient = True
    before = diagnoses.at(key)
    cluster.apply(b.phase("PodGroup", "waiting", "503"))
    assert diagnoses.at(key) != before


@settings(max_examples=60, phases=(Phase.generate,), suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(14), st.integers(1, 4))
def test_what_is_prepared_a_little_at_a_time_is_right_in_the_end(course: list[worlds.Step], turns: int) -> None:
    """Whatever changes meanwhile; and who is in a hurry is not told that something is still looked at."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(supply, "_LARGE", 0)
        cluster = Cluster()
        for kind in KINDS:
            cluster.apply(b.listed(kind, version="1"))
        kept, told = Diagnoses(cluster), dict[Key, Diagnosis | None]()
        kept.patient = True
        preparing = kept.prepare()
        for version, step in enumerate(course, start=2):
            for key in cluster.apply(worlds.frame(step, version)).gangs | kept.take_stale():
                told[key] = kept.of(key)
            if next(preparing, "through") is not None:
                preparing = kept.prepare()
            for _ in range(turns):
                next(preparing, None)
        for _ in range(3):
            for _ in kept.prepare():
                pass
            told |= {key: kept.of(key) for key in kept.take_stale()}
        anew = Diagnoses(cluster)
        assert {key: told[key] for key in gang_keys(cluster)} == {key: anew.of(key) for key in gang_keys(cluster)}


def test_of_a_large_cluster_it_is_said_what_is_being_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster, _ = cluster_at("causes")
    wanted = {key: Diagnoses(cluster).of(key) for key in gang_keys(cluster)}
    monkeypatch.setattr(supply, "_LARGE", 0)
    kept = Diagnoses(cluster)
    kept.patient = True
    first = kept.of(("research", "tainted"))
    assert first is not None
    assert (first.state, first.cause, first.message) == ("Pending", None, "looking at the devices")
    assert len(list(kept.prepare())) > 10  # turns for others
    assert not kept.unprepared
    assert kept.take_stale() == {("research", "tainted")}
    with monkeypatch.context() as patch:
        patch.setattr(supply.Supply, "_may_run", _never_asked)  # of no node, however many there are
        assert kept.of(("research", "tainted")) == wanted["research", "tainted"]
    hurried = Diagnoses(cluster)
    hurried.patient = True
    hurried.of(("research", "tainted"))
    assert {key: hurried.up_to_date().of(key) for key in gang_keys(cluster)} == wanted


def _never_asked(*_: object) -> bool:
    raise AssertionError("a node was looked at again")

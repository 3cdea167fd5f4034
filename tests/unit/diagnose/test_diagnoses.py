"""Diagnoses that are kept are those that would be made anew, whatever happened in between."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, given, settings

from ktui.cluster.gangs import gang_keys
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnoses import Diagnoses, diagnoses_of
from ktui.model.kinds import KINDS
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


def test_a_gang_that_is_gone_has_no_diagnosis() -> None:
    cluster = b.cluster_of(b.group("g", 1))
    diagnoses = diagnoses_of(cluster)
    assert diagnoses.of(("ml", "g")) is not None
    cluster.apply(b.deleted(b.group("g", 1)))
    assert diagnoses.of(("ml", "g")) is None
    assert diagnoses.take_stale() == {("ml", "g")}
    assert diagnoses is diagnoses_of(cluster)

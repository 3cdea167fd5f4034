"""Whose a Workload is: references that are followed, and those that lead nowhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from ktui.cluster.forest import exists, stems, stems_of
from ktui.cluster.lineage import Lineage, TreeKey
from ktui.cluster.state import Cluster
from ktui.cluster.stems import PLAIN
from ktui.cluster.store import Delta
from ktui.model.job import Job
from ktui.model.meta import Object
from ktui.model.pod import Pod
from tests.unit import builders as b
from tests.unit.cluster import worlds

TRAINER = b.TRAINER.name
W = ("ml", "Workload", "w")
BY_TRAINER = {"controllerRef": {"apiGroup": "example.com", "kind": "Trainer", "name": "t"}}
BY_JOB = {"controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "j"}}


def trainer_owns(name: str = "t", **more: Any) -> b.Document:
    return b.owner("Trainer", name, api_version="example.com/v1", **more)


def job(name: str = "j", above: b.Document | None = None) -> Job:
    return b.make(Job, {"metadata": b.meta(name, ownerReferences=[above] if above else [])})


def above(*objects: Object) -> list[tuple[str, str]]:
    cluster = b.cluster_of(*objects)
    return [reference.step[1:] for reference in cluster.lineage.owners(W)]


def roots(cluster: Cluster) -> set[TreeKey]:
    return {cluster.lineage.root(stem) for stem in stems(cluster)}


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ([b.workload("w")], []),
        ([b.workload("w", spec=BY_JOB)], [("Job", "j")]),
        ([b.workload("w", spec=BY_JOB), job(above=trainer_owns())], [(TRAINER, "t"), ("Job", "j")]),
        ([b.workload("w", meta_={"ownerReferences": [trainer_owns()]})], [(TRAINER, "t")]),
        (
            [b.workload("w", spec=BY_TRAINER), b.trainer("t", trainer_owns("u")), b.trainer("u", trainer_owns("v"))],
            [(TRAINER, "v"), (TRAINER, "u"), (TRAINER, "t")],
        ),
        ([b.workload("w", spec=BY_TRAINER), b.trainer("t", trainer_owns("t"))], [(TRAINER, "t")]),
        (
            [b.workload("w", spec=BY_TRAINER), b.trainer("t", trainer_owns("u")), b.trainer("u", trainer_owns("t"))],
            [(TRAINER, "t")],
        ),
        ([b.workload("w", spec={"controllerRef": {"kind": "", "name": "x"}})], []),
        (
            [
                b.workload(
                    "w", meta_={"ownerReferences": [b.owner("Workload", "x", api_version="scheduling.k8s.io/v1")]}
                )
            ],
            [],
        ),
    ],
    ids=["none", "by name", "two steps", "by reference", "three", "itself", "a circle", "empty", "another Workload"],
)
def test_the_owners_above(objects: list[Object], expected: list[tuple[str, str]]) -> None:
    assert above(*objects) == expected


def test_an_object_made_anew_under_the_name_of_an_owner_is_not_the_owner() -> None:
    """A reference has a uid: what is above the new object is not above the Workload."""
    workload = b.workload("w", meta_={"ownerReferences": [trainer_owns("t", uid="the first")]})
    cluster = b.cluster_of(workload, b.trainer("t", trainer_owns("u")))
    (reference,) = cluster.lineage.owners(W)
    assert reference.step == ("ml", TRAINER, "t")
    assert cluster.lineage.object(reference) is None


def test_an_owner_without_a_namespace_is_found() -> None:
    wide = b.trainer("t", trainer_owns("u"), namespace="")
    assert above(b.workload("w", spec=BY_TRAINER), wide) == [(TRAINER, "u"), (TRAINER, "t")]


def test_a_change_above_tells_of_the_tree_that_was_and_of_the_one_that_is() -> None:
    cluster = b.cluster_of(b.workload("w", spec=BY_TRAINER), b.trainer("t"))
    dirty = cluster.apply(b.changed("MODIFIED", b.trainer("t", trainer_owns("u"), resourceVersion="2")))
    assert dirty.workloads == {(("ml", TRAINER, "t"),), (("ml", TRAINER, "u"),)}
    assert roots(cluster) == {(("ml", TRAINER, "u"),)}
    dirty = cluster.apply(b.deleted(b.workload("w", spec=BY_TRAINER)))
    assert (("ml", TRAINER, "u"),) in dirty.workloads
    assert roots(cluster) == set()


def test_a_circle_that_is_opened_tells_of_both_trees() -> None:
    """Of the owners in a circle only those up to one of them are above the Workload; the others still decide which."""
    cluster = b.cluster_of(
        b.workload("w", spec=BY_TRAINER), b.trainer("t", trainer_owns("u")), b.trainer("u", trainer_owns("t"))
    )
    dirty = cluster.apply(b.changed("MODIFIED", b.trainer("u", resourceVersion="2")))
    assert dirty.workloads == {(("ml", TRAINER, "t"),), (("ml", TRAINER, "u"),)}
    assert cluster.lineage.root(W) == (("ml", TRAINER, "u"),)


@settings(max_examples=60)
@given(worlds.steps(20))
def test_it_is_what_it_would_be_when_built_anew(course: list[worlds.Step]) -> None:
    cluster = Cluster()
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
    fresh = Lineage(cluster.stores, cluster.pods_by_stem)
    for kind in ("Pod", "PodGroup", "Workload"):
        for key, obj in cluster.stores[kind].objects.items():
            fresh.update(Delta(kind, key, None, obj))
    for stem in stems(cluster):
        assert cluster.lineage.owners(stem) == fresh.owners(stem)
        for depth, reference in enumerate(fresh.owners(stem), 1):
            way = tuple(each.step for each in fresh.owners(stem)[:depth])
            assert stem in fresh.inside(way)
            assert cluster.lineage.inside(way) == fresh.inside(way)
            assert cluster.lineage.root(stem) in set(
                cluster.lineage.roots_of(reference.step[1], (stem[0], reference.step[2]))
            )


@settings(max_examples=60)
@given(worlds.steps(20))
def test_every_pod_of_a_group_and_of_a_controller_with_devices_hangs_from_a_stem_that_exists(
    course: list[worlds.Step],
) -> None:
    cluster = Cluster()
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
    every = stems(cluster)
    assert all(exists(cluster, stem) for stem in every)
    hanging = {stem for pod in cluster.all(Pod) for stem in stems_of(cluster, pod)}
    assert hanging <= every
    assert {stem for stem in every if stem[1] == PLAIN} <= hanging

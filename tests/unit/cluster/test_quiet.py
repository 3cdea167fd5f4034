"""Changes of a pod that few can see leave all alike that others follow from, and name every row that looks different."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.cluster import joins
from ktui.cluster.dirty import Dirty
from ktui.cluster.gangs import gang
from ktui.cluster.quiet import FIELDS, Reach, reach
from ktui.cluster.state import Cluster
from ktui.cluster.store import Delta
from ktui.model import meta, pod
from ktui.model.pod import Pod
from ktui.model.sharing import share
from tests.unit import builders as b
from tests.unit.cluster.test_dirty import rows_of

STATES: tuple[b.Document | None, ...] = (
    None,
    {},
    {"waiting": {"reason": "CrashLoopBackOff"}},
    {"waiting": {"reason": "ContainerCreating"}},
    {"waiting": {}},
    {"terminated": {"reason": "Error", "exitCode": 1}},
    {"terminated": {"reason": "Completed", "exitCode": 0}},
)
Ready = tuple[tuple[str, str], tuple[str, str]]
CALM: Ready = (("True", "1"), ("True", "1"))
HEALTH = [{"name": "claim:gpu", "resources": [{"resourceID": "cdi=0", "health": "Unhealthy"}]}]

container_status = st.fixed_dictionaries(
    {
        "state": st.sampled_from(STATES),
        "ready": st.sampled_from((None, True, False)),
        "restartCount": st.sampled_from((None, 0, 1, 7)),
    }
)


readiness = st.tuples(*(st.sampled_from([("True", "1"), ("False", "2"), ("False", "3")]) for _ in range(2)))


def told(init: b.Document, main: b.Document, version: int, phase: str = "Running", ready: Ready = CALM) -> Pod:
    """A pod of the gang with a device, what its two containers do, and how far the kubelet is with it."""
    spec = {
        "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}],
        "initContainers": [{"name": "init"}],
        "containers": [{"name": "main", "resources": {"claims": [{"name": "gpu"}]}}],
    }
    conditions = [
        b.condition(type_, status, since=f"2026-11-30T05:54:0{second}Z")
        for type_, (status, second) in zip(("PodScheduled", "ContainersReady", "Ready"), (CALM[0], *ready), strict=True)
    ]
    status = {
        "conditions": conditions,
        "initContainerStatuses": [{"name": "init", **init}],
        "containerStatuses": [{"name": "main", "allocatedResourcesStatus": HEALTH, **main}],
    }
    metadata = {"resourceVersion": str(version)}
    return b.pod("p", group="g", node="node-1", meta_=metadata, spec=spec, status=status, phase=phase)


def fleet(known: Pod) -> Cluster:
    return b.cluster_of(
        known,
        b.pod("q", group="g", node="node-1"),
        b.group("g", 2, spec={"workloadRef": {"workloadName": "w", "templateName": "t"}}),
        b.workload("w"),
        b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")]),
        b.piece("s", ["gpu-0", "gpu-1"], nodeName="node-1"),
        b.rule("r", {"driver": b.DRIVER}),
    )


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_the_fields_are_there(field: str) -> None:
    struct, _, name = field.partition(".")
    found: Any = next(
        each
        for module in (meta, pod)
        for at, each in inspect.getmembers(module, inspect.isclass)
        if at == struct and each.__module__ == module.__name__
    )
    assert name in found.__struct_fields__


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(container_status, container_status, readiness), min_size=2, max_size=6))
def test_what_containers_do_is_quiet_and_named(course: list[tuple[b.Document, b.Document, Ready]]) -> None:
    def at(version: int) -> Pod:
        init, main, ready = course[version - 1]
        return told(init, main, version, ready=ready)

    old = at(1)
    cluster = fleet(old)
    before, position = rows_of(cluster), cluster.journal.position
    for version in range(2, len(course) + 1):
        new = at(version)
        delta = Delta("Pod", new.key, old, new, share(at(version), old))
        assert reach(delta) is not Reach.ANYBODY
        assert joins.alike(old, new)
        assert old.takes_like(new)
        assert old.health == new.health
        state = gang(cluster, ("ml", "g"))
        dirty = cluster.apply(b.changed("MODIFIED", new))
        after, counted = rows_of(cluster), gang(cluster, ("ml", "g"))
        assert (state and state.state) == (counted and counted.state)
        changed = {at for at in before if before[at] != after.get(at)}
        assert not {at for at in changed if at[1] not in getattr(dirty, at[0])}
        old, before = new, after
    assert cluster.journal.position == position, "nothing is taken, nothing set free"


def test_a_restart_alone_touches_nothing_but_the_pod() -> None:
    calm: b.Document = {"state": {}, "ready": True, "restartCount": 0}
    cluster = fleet(told(calm, calm, 1))
    dirty = cluster.apply(b.changed("MODIFIED", told(calm, {**calm, "restartCount": 1, "ready": False}, 2)))
    assert dirty == Dirty(pods={("ml", "p")})
    crash = {**calm, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}
    dirty = cluster.apply(b.changed("MODIFIED", told(calm, crash, 3)))
    assert (dirty.pods, dirty.gangs, dirty.claims) == ({("ml", "p")}, {("ml", "g")}, set())
    dirty = cluster.apply(b.changed("MODIFIED", told(calm, crash, 4, phase="Failed")))
    assert (dirty.pods, dirty.claims) == ({("ml", "p")}, {("ml", "c")})


def test_readiness_is_told_of_the_whole_and_other_conditions_of_anybody() -> None:
    def after(old: Pod, new: Pod) -> Reach:
        return reach(Delta("Pod", new.key, old, new, share(new, old)))

    def said(type_: str, status: str) -> Pod:
        conditions = [b.condition("PodScheduled", "True"), b.condition(type_, status)]
        return b.pod("p", node="n", conditions=conditions)

    for readiness_ in ("Initialized", "PodReadyToStartContainers", "ContainersReady", "Ready"):
        assert after(said(readiness_, "False"), said(readiness_, "True")) is Reach.WHOLE
    for other in ("DisruptionTarget", "PodResizePending", "PodResizeInProgress", "example.com/gate"):
        assert after(said(other, "False"), said(other, "True")) is Reach.ANYBODY
    assert after(said("Ready", "True"), b.pod("p", node="n", conditions=[])) is Reach.ANYBODY
    assert after(said("Ready", "True"), said("DisruptionTarget", "True")) is Reach.ANYBODY


def test_another_version_alone_touches_no_row() -> None:
    cluster = fleet(told({}, {}, 1))
    assert not cluster.apply(b.changed("MODIFIED", told({}, {}, 2)))
    newer = {"resourceVersion": "2"}
    assert not cluster.apply(b.changed("MODIFIED", b.rule("r", {"driver": b.DRIVER}, meta_=newer)))

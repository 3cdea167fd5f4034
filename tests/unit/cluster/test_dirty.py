"""The property that keeps the screen right: whatever a frame does to a row, `apply` names that row.

Screens recompute the rows that `Dirty` names, gangs whose diagnosis became another one, and all rows of a view when a kind it
shows or joins becomes readable or stops being so; nothing else.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnoses import diagnoses_of
from ktui.model.frame import Frame
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.views.base import Branch, Row, Tree
from ktui.views.registry import VIEWS
from tests.unit import builders as b
from tests.unit.cluster import worlds

TREES = {name: view for name, view in VIEWS.items() if isinstance(view, Tree)}
Rows = dict[tuple[str, Hashable], tuple[Row, tuple[Row, ...]]]


def rows_of(cluster: Cluster) -> Rows:
    """Of a tree, all rows under the key of its root: a change in it is told of that one."""
    return {
        (name, key): (row, below_of(cluster, TREES[name], key) if name in TREES else ())
        for name, view in VIEWS.items()
        for key in view.keys(cluster)
        if (row := view.row(cluster, key)) is not None
    }


def below_of(cluster: Cluster, view: Tree, root: Hashable) -> tuple[Row, ...]:
    def flat(branch: Branch) -> Iterator[Row]:
        for each in branch.below():
            yield each.row
            yield from flat(each)

    found = view.branch(cluster, root)
    return tuple(flat(found)) if found is not None else ()


def sources_of(cluster: Cluster) -> dict[str, tuple[bool, ...]]:
    kinds = (*KINDS, b.TRAINER.name)
    return {kind: (cluster.readable(kind), cluster.synced(kind), cluster.sees_all(kind)) for kind in kinds}


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(24))
def test_every_row_that_changes_is_named(course: list[worlds.Step]) -> None:
    cluster = Cluster()
    for kind in KINDS:
        cluster.apply(b.listed(kind, version="1"))
    before, sources = rows_of(cluster), sources_of(cluster)
    for version, step in enumerate(course, start=2):
        dirty = cluster.apply(worlds.frame(step, version))
        dirty.gangs |= diagnoses_of(cluster).take_stale()  # what nodes and devices say of them
        after, sources_now = rows_of(cluster), sources_of(cluster)
        turned = frozenset(kind for kind in sources if sources[kind] != sources_now[kind])
        recomputed = {name for name, view in VIEWS.items() if turned.intersection((*view.kinds, *view.joins))}
        recomputed |= {name for name, view in TREES.items() if view.reads(turned)}
        assert dirty.streams or not turned
        changed = {at for at in before.keys() | after.keys() if before.get(at) != after.get(at)}
        missed = sorted(str(at) for at in changed if at[0] not in recomputed and at[1] not in getattr(dirty, at[0]))
        assert not missed, f"step {version}: {step}"
        before, sources = after, sources_now


VOLCANO = {"schedulerName": "volcano"}
TRIED = [b.condition("PodScheduled", "False", "Unschedulable", "no room")]
AWAITING = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]}
REPLICA = {"workloadRef": {"name": "w", "podGroup": "workers", "podGroupReplicaKey": "0"}}
JOB = {"ownerReferences": [b.owner("Job", "train")]}
OF_W = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
HELD = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")])
COUNTERS = [{"name": "gpu", "counters": {"memory": {"value": "80Gi"}}}]
DRAWING = {"consumesCounters": [{"counterSet": "gpu", "counters": {"memory": {"value": "80Gi"}}}]}
USER = b.pod("p", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]})


@pytest.mark.parametrize(
    ("known", "frame", "entity", "key"),
    [
        pytest.param(
            (b.group("g", 1), b.pod("p", group="g", spec=VOLCANO)),
            b.added(b.pod("other", spec=VOLCANO, conditions=TRIED)),
            "gangs",
            ("ml", "g"),
            id="a scheduler thought missing has refused another gang's pod",
        ),
        pytest.param(
            (b.group("g", 1), b.pod("p", group="g", spec=AWAITING)),
            b.added(b.template("one-gpu")),
            "gangs",
            ("ml", "g"),
            id="the template that a claim waits for was made",
        ),
        pytest.param(
            (b.group("g", 1, meta_=JOB, spec=OF_W), b.workload("w")),
            b.added(b.group("second", 1, meta_=JOB, spec=OF_W)),
            "gangs",
            ("ml", "g"),
            id="a sibling makes the owner's name ambiguous",
        ),
        pytest.param(
            (b.pod("p", spec=REPLICA),),
            b.added(b.workload("w", groups={"workers": 2})),
            "gangs",
            ("ml", "w/workers/0"),
            id="1.35: the Workload of a replica says its minCount",
        ),
        pytest.param(
            (b.piece("s", ["gpu-0"]), HELD, b.rule("r", {"driver": b.DRIVER})),
            b.added(USER),
            "taints",
            ("rule", "r"),
            id="a rule counts the pods it hits",
        ),
        pytest.param(
            (b.piece("s", ["gpu-0"]), b.rule("r", {"driver": b.DRIVER})),
            b.added(b.piece("s2", ["gpu-1"], pool="node-2")),
            "taints",
            ("rule", "r"),
            id="a rule counts the devices it hits",
        ),
        pytest.param(
            (b.piece("old", [{"name": "gpu-0", "taints": [b.taint()]}]), b.piece("new", ["gpu-1"], generation=2), HELD),
            b.deleted(b.piece("new", ["gpu-1"], generation=2)),
            "claims",
            ("ml", "c"),
            id="the older generation counts again, with its taints",
        ),
        pytest.param(
            (b.piece("s", [DRAWING | {"name": name} for name in ("whole", "part")], sharedCounters=COUNTERS),),
            b.added(b.claim("c", [b.result("whole")])),
            "devices",
            b.one_device("part"),
            id="a device of the same counters was allocated",
        ),
    ],
)
def test_what_a_frame_does_far_away_is_named(
    known: tuple[Object, ...], frame: Frame, entity: Entity, key: Hashable
) -> None:
    cluster = b.cluster_of(*known)
    view = VIEWS[entity]
    before = view.row(cluster, key)
    dirty = cluster.apply(frame)
    assert view.row(cluster, key) != before
    assert key in getattr(dirty, entity)


def test_the_eviction_controllers_words_on_a_rule_for_every_device_touch_the_rule_alone() -> None:
    """It writes the status again for every few pods; no event may cost time in proportion to the cluster."""
    rule = {"driver": b.DRIVER}
    cluster = b.cluster_of(b.piece("s", ["gpu-0"]), HELD, USER, b.rule("r", rule))
    evicting = {"conditions": [b.condition("EvictionInProgress", "True", "PodsPendingEviction")]}
    newer = {"resourceVersion": "2"}
    dirty = cluster.apply(b.changed("MODIFIED", b.rule("r", rule, meta_=newer, status=evicting)))
    assert (dirty.taints, dirty.devices, dirty.pods) == ({("rule", "r")}, set(), set())
    newest = {"resourceVersion": "3"}
    dirty = cluster.apply(b.changed("MODIFIED", b.rule("r", rule, b.taint(effect="NoSchedule"), meta_=newest)))
    assert dirty.devices == {b.one_device("gpu-0")}

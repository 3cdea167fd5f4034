"""The triage: what has a row, in which order, and what it says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from ktui.cluster.devices import device_ids, device_info, may_be_in_trouble
from ktui.cluster.dirty import TriageKey
from ktui.cluster.state import Cluster
from ktui.model.meta import Object
from ktui.views.base import Parted
from ktui.views.triage import VIEW
from tests.recordings import cluster_at
from tests.unit import builders as b
from tests.unit.cluster import worlds

NOW = 1796018100.0
COLUMNS = [column.id for column in VIEW.columns]


def told(cluster: Cluster, *columns: str) -> list[tuple[str, ...]]:
    """The rows as the screen orders them, of each the part and some columns."""
    rows = [row for key in VIEW.keys(cluster) if (row := VIEW.row(cluster, key)) is not None]
    rows.sort(key=lambda row: (row.part, row.sort[0]))
    return [(VIEW.parts[row.part].noun, *(row.cells[COLUMNS.index(name)].text for name in columns)) for row in rows]


def only(*objects: Object) -> dict[str, str]:
    """The cells of the one row that these objects make."""
    cluster = b.cluster_of(*objects)
    ((part, *cells),) = told(cluster, *COLUMNS)
    return {"part": part, **dict(zip(COLUMNS, cells, strict=True))}


def test_it_is_a_view_in_parts() -> None:
    assert isinstance(VIEW, Parted)


def test_a_recorded_incident_the_worst_first() -> None:
    cluster, _ = cluster_at("xid79", 40)
    assert told(cluster, "name", "state", "count") == [
        ("gangs", "llm-train", "Degraded", "7 of 8"),
        ("gangs", "llm-big", "Pending", "0 of 12"),
        ("devices", "gpu-0", "NoExecute", "unused"),
        ("autoscalers", "chat", "no metric", "1 of 0-5"),
    ]
    assert VIEW.totals(cluster) == (3, 16, 1)


def test_who_waits_by_somebodys_will_comes_last() -> None:
    cluster, _ = cluster_at("pending", 18)
    marks = [mark for part, mark in told(cluster, "mark") if part == "gangs"]
    assert marks == ["●"] * 12 + ["○"] * 2


def test_of_equals_the_newest_is_first() -> None:
    def made(at: str) -> b.Document:
        return {"creationTimestamp": f"2026-11-30T05:{at}:00Z"}

    groups = [b.group(name, 1, meta_=made(at)) for name, at in (("old", "10"), ("new", "40"), ("middle", "20"))]
    assert [name for _, name in told(b.cluster_of(*groups), "name")] == ["new", "middle", "old"]


def test_what_is_well_has_no_row() -> None:
    run = [b.pod(f"p{n}", group="g", node="node-1") for n in range(2)]
    calm = b.autoscaler("a", {"maxReplicas": 3}, {"conditions": [b.condition("ScalingActive", "True", "ValidMetric")]})
    cluster = b.cluster_of(b.group("g", 2), *run, b.piece("s", ["gpu-0"]), calm)
    assert told(cluster) == []
    assert VIEW.totals(cluster) == (1, 1, 1)


def test_a_taint_names_its_rule_and_who_uses_the_device() -> None:
    user = b.pod("p", node="node-1", spec={"resourceClaims": [{"name": "g", "resourceClaimName": "c"}]})
    held = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")])
    selector = dict(zip(("driver", "pool", "device"), b.one_device("gpu-0"), strict=True))
    row = only(b.piece("s", ["gpu-0"]), held, user, b.rule("sick", selector))
    assert (row["namespace"], row["name"], row["state"], row["count"]) == ("node-1", "gpu-0", "NoExecute", "1 pod")
    assert row["why"] == "example.com/xid=79 · rule sick · used by p"


def test_a_rule_for_many_devices_is_one_row() -> None:
    row = only(
        b.piece("s", [f"gpu-{n}" for n in range(8)]),
        b.rule("upgrade", {"pool": "node-1"}, b.taint(effect="NoSchedule")),
    )
    assert (row["name"], row["state"], row["count"]) == ("upgrade", "NoSchedule", "8 devices")
    assert "pool node-1 of every driver" in row["why"]


def test_a_device_with_a_taint_of_its_own_beside_the_rule_for_many_has_its_row() -> None:
    devices: list[str | b.Document] = [{"name": "gpu-0", "taints": [b.taint("sick", None)]}, "gpu-1"]
    cluster = b.cluster_of(b.piece("s", devices), b.rule("all", {"driver": b.DRIVER}))
    assert set(told(cluster, "name")) == {("devices", "gpu-0"), ("devices", "all")}


@pytest.mark.parametrize(
    "rule",
    [
        b.rule("r", {"driver": b.DRIVER}, b.taint(effect="None")),
        b.rule("r", {"driver": "of.another"}),
        b.rule("r", None),
    ],
    ids=["only looks", "selects nothing there is", "selects nothing"],
)
def test_a_rule_that_keeps_nobody_away_has_no_row(rule: Object) -> None:
    assert told(b.cluster_of(b.piece("s", ["gpu-0"]), rule)) == []


def test_an_incomplete_pool_is_one_row_with_a_detail_of_its_own() -> None:
    piece = b.piece("s", ["gpu-0", "gpu-1"], count=2)
    row = only(piece)
    assert (row["namespace"], row["name"], row["state"], row["count"]) == ("node-1", "*", "incomplete", "2 devices")
    assert row["why"].startswith("1 of 2 slices")
    key = ("pools", (b.DRIVER, "node-1"))
    titles = [section.title for section in VIEW.detail(b.cluster_of(piece), key, NOW)]
    assert titles == [f"Pool {b.DRIVER}/node-1", "ResourceSlices (1)", "Devices (2)"]
    assert VIEW.detail(b.cluster_of(), key, NOW) == ()


def test_a_device_that_two_claims_hold_is_a_conflict() -> None:
    claims = [b.claim(f"c{n}", [b.result("gpu-0")]) for n in range(2)]
    row = only(b.piece("s", ["gpu-0"]), *claims)
    assert (row["state"], row["why"]) == ("conflict", "held by ml/c0, ml/c1 at once")


def test_while_slices_are_not_read_no_device_is_called_gone() -> None:
    held = b.claim("c", [b.result("gpu-0")])
    assert told(b.cluster_of(held), "state") == [("devices", "gone")]
    assert told(b.cluster_of(held, without=["ResourceSlice"])) == []


def test_a_gang_of_which_nothing_is_known_has_no_row() -> None:
    assert told(b.cluster_of(b.group("g", 1), without=["Pod"])) == []


BROKEN = {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}


def test_a_gang_whose_containers_do_not_run_has_a_row_though_it_runs() -> None:
    ready = [b.condition("Ready", "False", since="2026-11-30T05:40:00Z")]
    cluster = b.cluster_of(b.group("g", 1), b.pod("p", group="g", node="node-1", status=dict(BROKEN), conditions=ready))
    ((_, state, why),) = told(cluster, "state", "why")
    assert (state, why) == ("Running", "1 of 1 run, 1 in CrashLoopBackOff")
    row = VIEW.row(cluster, ("gangs", ("ml", "g")))
    assert row is not None
    assert row.since == 1796017200.0


@pytest.mark.parametrize(
    ("conditions", "status", "state", "why"),
    [
        ([("AbleToScale", "False", "FailedGetScale", "no scale")], {}, "cannot scale", "no scale"),
        ([("ScalingActive", "False", "FailedGetExternalMetric", "no m")], {}, "no metric", "cannot wake: no m"),
        (
            [("ScalingActive", "False", "FailedGetExternalMetric", "no m")],
            {"currentReplicas": 2},
            "no metric",
            "cannot sleep: no m",
        ),
        (
            [
                ("ScaledToZero", "True", "ScaledToZero", ""),
                ("ScalingActive", "False", "FailedGetExternalMetric", "no m"),
            ],
            {},
            "no metric",
            "cannot wake: no m",
        ),
        (
            [("ScalingActive", "False", "ScalingDisabled", "off")],
            {},
            "paused",
            "its target was scaled to 0 by hand: nothing wakes it",
        ),
        (
            [("ScalingActive", "True", "ValidMetricFound", ""), ("ScalingLimited", "True", "TooManyReplicas", "")],
            {"currentReplicas": 4},
            "at limit",
            "wants more replicas than its maximum, 4",
        ),
    ],
    ids=["cannot scale", "cannot wake", "cannot sleep", "asleep and cannot wake", "paused by hand", "at its limit"],
)
def test_autoscalers_that_need_a_look(
    conditions: list[tuple[str, str, str, str]], status: b.Document, state: str, why: str
) -> None:
    status = {**status, "conditions": [b.condition(*c) for c in conditions]}
    row = only(b.autoscaler("a", {"minReplicas": 0, "maxReplicas": 4}, status))
    assert (row["part"], row["state"], row["why"]) == ("autoscalers", state, why)


def test_an_autoscaler_that_sleeps_or_is_at_its_minimum_needs_nobody() -> None:
    for name, reason in (("ScaledToZero", "ScaledToZero"), ("ScalingLimited", "TooFewReplicas")):
        assert told(b.cluster_of(b.autoscaler("a", {}, {"conditions": [b.condition(name, "True", reason)]}))) == []


def test_json_holds_the_item_of_the_view_that_the_row_is_of() -> None:
    cluster, _ = cluster_at("xid79", 40)
    keys: list[TriageKey] = [key for key in VIEW.keys(cluster) if VIEW.row(cluster, key) is not None]
    items: list[Any] = [VIEW.item(cluster, key) for key in keys]
    degraded = next(item for item in items if item["state"] == "Degraded")
    assert (degraded["view"], degraded["item"]["minCount"]) == ("gangs", 8)
    device = next(item for item in items if item["view"] == "devices")
    assert device["name"] == "gpu.example.com/node-1/gpu-0"
    assert device["since"] == "2026-11-30T05:54:36Z"


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(24))
def test_the_cheap_look_misses_no_device(course: list[worlds.Step]) -> None:
    cluster = b.cluster_of()
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
    for device in device_ids(cluster):
        info = device_info(cluster, device)
        assert info is not None
        if info.conflict or info.state in ("tainted", "unhealthy", "gone"):
            assert may_be_in_trouble(cluster, device)

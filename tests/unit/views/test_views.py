"""Every view, over every recording, over random worlds, and over odd objects (D01, D02, D06, D10, D12, D16)."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given, settings

from ktui.cluster.devices import DeviceState
from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.model.podstatus import status_word
from ktui.views import devicemap
from ktui.views.autoscalers import autoscaler_state
from ktui.views.base import Row, View, pairs, search_text
from ktui.views.claims import claim_state
from ktui.views.devices import STYLES
from ktui.views.registry import VIEWS
from tests.recordings import PATHS, cluster_at
from tests.unit import builders as b
from tests.unit.cluster import worlds

NOW = 1796018100.0  # 2026-11-30T05:55:00Z


def check(view: View, cluster: Cluster, now: float = NOW) -> list[Row]:
    """Every row, item, detail and name of a view: nothing raises and everything fits together."""
    rows = []
    for key in view.keys(cluster):
        row = view.row(cluster, key)
        if row is None:
            continue
        assert row.key == key
        assert len(row.cells) == len(view.columns) == len(row.sort)
        assert all(isinstance(cell.text, str) for cell in row.cells)
        assert hash(row.key) is not None
        item = view.item(cluster, key)
        assert json.loads(json.dumps(item)) == item
        sections = view.detail(cluster, key, now)
        assert all(section.lines for section in sections)
        assert all(isinstance(cell.text, str) for section in sections for line in section.lines for cell in line)
        assert view.names(cluster, key)
        assert all(isinstance(label, str) for label in view.labels(cluster, key).values())
        assert row.cells[0].text.lower() in search_text(row)
        rows.append(row)
    for i in range(len(view.columns)):
        sorted(row.sort[i] for row in rows)  # values of one column compare
    assert len({row.key for row in rows}) == len(rows)
    return rows


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
@pytest.mark.parametrize("at", [0.0, 20.0, None])
@pytest.mark.parametrize("name", PATHS)
def test_recordings(name: str, at: float | None, view: View) -> None:
    cluster, now = cluster_at(name, at)
    check(view, cluster, now)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_view_describes_itself(view: View) -> None:
    assert VIEWS[view.id] is view
    assert len({column.id for column in view.columns}) == len(view.columns)
    assert {*view.kinds, *view.joins} <= KINDS.keys()
    assert not set(view.kinds) & set(view.joins)


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_an_unknown_key_has_no_row(view: View) -> None:
    cluster = b.cluster_of()
    odd = {"devices": ("d", "p", "n"), "taints": ("rule", "r"), "timeline": 7, "workloads": (("ml", "Workload", "x"),)}
    key: Any = odd.get(view.id, ("ml", "x"))
    assert list(view.keys(cluster)) == []
    assert view.row(cluster, key) is None
    assert view.item(cluster, key) is None
    assert view.detail(cluster, key, NOW) == ()
    assert view.labels(cluster, key) == {}


@settings(max_examples=40)
@given(worlds.steps(12))
def test_random_worlds(course: list[worlds.Step]) -> None:
    cluster = b.cluster_of()
    for version, step in enumerate(course, start=2):
        cluster.apply(worlds.frame(step, version))
    for view in VIEWS.values():
        check(view, cluster)
    for pool_id in devicemap.pool_ids(cluster):
        line = devicemap.line(cluster, pool_id)
        assert line is not None
        assert sum(len(group) for group in line.groups) == line.total


# --- odd objects ---

ODD: tuple[Any, ...] = (None, {}, [], "x", 3, True)


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_D01_objects_without_parts(kind: Any, odd: object) -> None:
    for document in (
        {"metadata": odd},
        {
            "metadata": {"name": "x", "namespace": "ml", "labels": odd, "ownerReferences": odd},
            "spec": odd,
            "status": odd,
        },
        {"metadata": {"name": "x"}, "spec": {"devices": odd, "pool": odd, "taint": odd, "schedulingPolicy": odd}},
        {"metadata": {"uid": "u"}, "status": {"conditions": odd, "allocation": odd, "containerStatuses": odd}},
    ):
        cluster = b.cluster_of(b.make(kind.type, document))
        for view in VIEWS.values():
            check(view, cluster)


def only(entity: Entity, *objects: Object) -> tuple[Row, dict[str, Any]]:
    cluster = b.cluster_of(*objects)
    view = VIEWS[entity]
    (row,) = check(view, cluster)
    item = view.item(cluster, row.key)
    assert item is not None
    return row, item


def cell(entity: Entity, row: Row, column: str) -> str:
    index = [c.id for c in VIEWS[entity].columns].index(column)
    return row.cells[index].text


def test_D02_words_that_nobody_knows_are_shown_as_they_are() -> None:
    conditions = [b.condition("PodScheduled", "Maybe", "Mood", "who knows")]
    row, item = only("pods", b.pod("p", phase="Dreaming", conditions=conditions))
    assert cell("pods", row, "status") == item["phase"] == "Dreaming"
    row, item = only("taints", b.rule("r", {"device": "d"}, b.taint(effect="Sulk")))
    assert cell("taints", row, "effect") == item["effect"] == "Sulk"
    assert not row.problem


def test_D06_a_pod_that_has_been_going_for_long() -> None:
    pod = b.pod("p", node="n", meta_={"deletionTimestamp": "2025-10-26T00:00:00Z", "finalizers": ["x"]})
    row, item = only("pods", pod)
    assert cell("pods", row, "status") == item["status"] == status_word(pod) == "Terminating"


def test_D06_no_time_of_creation_is_no_age() -> None:
    row, _ = only("pods", b.pod("p"))
    assert row.since is None


@pytest.mark.parametrize(
    ("status", "meta", "word"),
    [
        ({}, {}, "pending"),
        ({"allocation": None}, {}, "pending"),
        ({"allocation": {"devices": {"results": None}}}, {}, "allocated"),
        ({"allocation": {}, "reservedFor": [b.pod_consumer("p")]}, {}, "allocated,reserved"),
        ({"allocation": {}}, {"deletionTimestamp": "2026-11-30T05:54:09Z"}, "deleted"),
    ],
)
def test_D10_words_for_claims(status: b.Document, meta: b.Document, word: str) -> None:
    claim = b.claim("c", status=status, meta_=meta)
    assert claim_state(claim) == word
    check(VIEWS["claims"], b.cluster_of(claim))


def test_D10_a_device_in_no_slice_and_in_two_claims() -> None:
    claims = (b.claim("a", [b.result("gpu-0")]), b.claim("b", [b.result("gpu-0")]))
    row, item = only("devices", *claims)
    assert item["state"] == "gone"
    assert [held["claim"] for held in item["allocatedTo"]] == ["a", "b"]
    assert row.problem


EXTERNAL = {"type": "External", "external": {"metric": {"name": "q"}, "target": {"averageValue": "100m"}}}


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        ({}, {}),
        ({"metrics": None}, {"currentMetrics": None, "desiredReplicas": None}),
        ({"minReplicas": 9, "maxReplicas": 1}, {"currentReplicas": 4}),
        ({"metrics": [EXTERNAL]}, {"currentMetrics": [{"type": ""}]}),
        ({"metrics": [{"type": "External", "external": {"target": {"value": 0}}}]}, {}),
        ({"metrics": [{"type": "Resource"}, {"type": "New"}]}, {}),
    ],
)
def test_D12_odd_autoscalers(spec: b.Document, status: b.Document) -> None:
    row, item = only("autoscalers", b.autoscaler("h", spec, status))
    assert item["minReplicas"] == spec.get("minReplicas", 1)
    assert cell("autoscalers", row, "state")


def hpa_condition(type_: str, status: str, reason: str = "") -> b.Document:
    return b.condition(type_, status, reason, "why")


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({}, "new"),
        ({"conditions": [hpa_condition("ScalingActive", "True")], "currentReplicas": 2}, "active"),
        ({"conditions": [hpa_condition("ScalingActive", "False", "ScalingDisabled")]}, "paused"),
        ({"conditions": [hpa_condition("ScalingActive", "False", "FailedGetExternalMetric")]}, "no metric"),
        ({"conditions": [hpa_condition("AbleToScale", "False")], "currentReplicas": 1}, "cannot scale"),
        ({"conditions": [hpa_condition("ScaledToZero", "True")]}, "asleep"),
        ({"conditions": [hpa_condition("ScaledToZero", "True")], "desiredReplicas": 2}, "waking"),
        (
            {"conditions": [hpa_condition("ScaledToZero", "True")], "currentReplicas": 2, "desiredReplicas": 0},
            "going to 0",
        ),
        (
            {
                "conditions": [hpa_condition("ScaledToZero", "True"), hpa_condition("ScalingActive", "True")],
                "currentReplicas": 2,
                "desiredReplicas": 2,
            },
            "active",
        ),
    ],
)
def test_states_of_autoscalers(status: b.Document, word: str) -> None:
    assert autoscaler_state(b.autoscaler("h", {}, status))[0] == word


def events_of(*events: Object) -> list[str]:
    pod = b.pod("p")
    cluster = b.cluster_of(pod, *events)
    sections = VIEWS["pods"].detail(cluster, pod.key, NOW)
    lines = next((s.lines for s in sections if s.title == "Events"), ())
    return ["".join(cell.text for cell in line).strip() for line in lines]


def test_D16_events_newest_first_by_the_latest_time_they_tell() -> None:
    about = b.uid_of("p")
    assert events_of(
        b.event("old", about, reason="Old", lastTimestamp="2026-11-30T05:50:00Z"),
        b.event("new", about, reason="New", eventTime="2026-11-30T05:54:00.000000Z", lastTimestamp=None),
        b.event(
            "series",
            about,
            reason="Series",
            eventTime="2026-11-30T05:40:00.000000Z",
            series={"count": 7, "lastObservedTime": "2026-11-30T05:52:00.000000Z"},
        ),
        b.event("none", about, reason="None", count=None),
        b.event("other", "another", reason="Other"),
    ) == ["60s  New", "3m x7  Series", "5m  Old", "-  None"]


def test_D16_many_events_are_capped() -> None:
    about = b.uid_of("p")
    assert len(events_of(*(b.event(f"e{i}", about, reason="R") for i in range(500)))) <= 20


def test_D16_an_event_about_nothing() -> None:
    assert events_of(b.event("e", "", reason="R\x1b[2J", message="a\nb")) == []


# --- shapes of the JSON ---


def items(name: str, entity: Entity) -> dict[str, dict[str, Any]]:
    cluster, _ = cluster_at(name)
    view = VIEWS[entity]
    found = {}
    for key in view.keys(cluster):
        item = view.item(cluster, key)
        assert item is not None
        found[view.names(cluster, key)[0]] = item
    return found


SHAPES: dict[Entity, set[str]] = {
    "gangs": {"namespace", "name", "state", "cause", "message", "minCount", "pods", "devices"},
    "pods": {"namespace", "name", "containers"},
    "devices": {
        "driver",
        "pool",
        "device",
        "node",
        "state",
        "allocatedTo",
        "taints",
        "attributes",
        "capacity",
    },
}


@pytest.mark.parametrize("entity", SHAPES)
@pytest.mark.parametrize("name", PATHS)
def test_documented_keys(name: str, entity: Entity) -> None:
    found = items(name, entity)
    assert found or (name == "kueue" and entity not in ("gangs", "pods"))  # only jobs that ask for CPUs were recorded
    assert all(SHAPES[entity] <= item.keys() for item in found.values())


def test_json_of_a_gang() -> None:
    gang = items("causes", "gangs")["short"]
    assert (gang["state"], gang["cause"], gang["minCount"]) == ("Pending", "WaitingForPods", 4)
    assert (gang["pods"]["total"], gang["pods"]["scheduled"], gang["pods"]["running"]) == (3, 0, 0)


def test_json_of_a_pods_containers() -> None:
    pod = next(p for p in items("xid79", "pods").values() if p["name"].startswith("llm-train-0"))
    (container,) = pod["containers"]
    assert (container["name"], container["kind"]) == ("train", "app")
    (device,) = container["devices"]
    assert {"driver", "pool", "device", "request", "claim", "health", "taints"} <= device.keys()
    assert (device["driver"], device["claim"], device["request"]) == ("gpu.example.com", "gpu", "gpu")


def test_json_of_a_tainted_device() -> None:
    cluster, _ = cluster_at("xid79", 40.0)
    item = VIEWS["devices"].item(cluster, ("gpu.example.com", "node-1", "gpu-0"))
    assert item is not None
    (taint,) = item["taints"]
    assert (item["state"], item["node"]) == ("tainted", "node-1")
    assert {"key", "value", "effect", "source"} <= taint.keys()
    assert (taint["key"], taint["value"], taint["effect"], taint["source"]) == (
        "example.com/xid",
        "79",
        "NoExecute",
        "rule/xid79",
    )


def test_json_of_a_rule_names_whom_it_hits() -> None:
    user = b.pod("p", node="n", spec={"resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]})
    claim = b.claim("c", [b.result("gpu-0")], reserved=[b.pod_consumer("p")])
    row, item = only("taints", b.piece("s", ["gpu-0", "gpu-1"]), claim, user, b.rule("r", {"pool": "node-1"}))
    assert [d["device"] for d in item["devices"]] == ["gpu-0", "gpu-1"]
    eviction = {"what": "goes", "afterSeconds": 0}
    assert item["pods"] == [{"namespace": "ml", "name": "p", "eviction": eviction}]
    assert (cell("taints", row, "count"), cell("taints", row, "pods")) == ("2", "1")


def test_a_rule_for_a_device_that_nobody_published_taints_nothing() -> None:
    """A slip of the pen in a device's name must not read as one device tainted."""
    rule = b.rule("r", {"driver": b.DRIVER, "pool": "node-1", "device": "gpu-O"})
    cluster = b.cluster_of(b.piece("s", ["gpu-0"]), rule)
    row = VIEWS["taints"].row(cluster, ("rule", "r"))
    assert row is not None
    assert cell("taints", row, "count") == "0"
    said = [c.text for section in VIEWS["taints"].detail(cluster, row.key, NOW) for line in section.lines for c in line]
    assert "no device that is published" in said


def test_a_gang_is_called_after_its_owner_while_it_is_the_only_one() -> None:
    spec = {"workloadRef": {"workloadName": "w", "templateName": "t"}}
    owned = {"ownerReferences": [b.owner("Job", "train")]}
    first, second = (b.group(f"w-{n}-5d7", 1, meta_=owned, spec=spec) for n in "ab")
    row, _ = only("gangs", first)
    assert cell("gangs", row, "gang") == "train"
    names = {cell("gangs", r, "gang") for r in check(VIEWS["gangs"], b.cluster_of(first, second))}
    assert names == {"w-a-5d7", "w-b-5d7"}


def test_1_35_a_workload_shows_the_replicas_of_its_groups() -> None:
    reference = {"name": "w", "podGroup": "workers", "podGroupReplicaKey": "0"}
    _, item = only(
        "workloads", b.workload("w", groups={"workers": 1}), b.pod("p", node="n", spec={"workloadRef": reference})
    )
    assert [(g["name"], g["state"]) for g in item["gangs"]] == [("w/workers/0", "Running")]


# --- the map ---


def test_the_map_groups_devices_by_numa_node_in_order() -> None:
    numa: dict[str, int | None] = {"d0": 10, "d1": 2, "d2": None, "d3": 2}
    devices: list[str | b.Document] = [
        {"name": name, "attributes": {"resource.kubernetes.io/numaNode": {"int": node}} if node is not None else {}}
        for name, node in numa.items()
    ]
    claim = b.claim("c", [b.result("d1")])
    cluster = b.cluster_of(b.piece("s", devices, nodeName="n7"), claim, b.rule("r", {"device": "d3"}))
    line = devicemap.line(cluster, (b.DRIVER, "node-1"))
    assert line is not None
    assert [[cell.device[2] for cell in group] for group in line.groups] == [["d1", "d3"], ["d0"], ["d2"]]
    assert (line.label, line.used, line.total) == ("n7", 1, 4)
    assert any("d3 example.com/xid=79:NoExecute" in cell.text for cell in line.summary)


def test_the_map_says_what_is_wrong_with_a_pool() -> None:
    line = devicemap.line(b.cluster_of(b.piece("s", ["d0"], count=2)), (b.DRIVER, "node-1"))
    assert line is not None
    assert line.summary[0].text == "pool incomplete: 1 of 2 slices, generation 1"
    assert devicemap.line(b.cluster_of(), (b.DRIVER, "node-1")) is None


def test_pairs_leave_out_what_has_no_value() -> None:
    lines = pairs(("a", None), ("b", ""), ("c", 0), ("d", "x", "bad"))
    assert [(line[0].text.strip(), line[1].text, line[1].style) for line in lines] == [
        ("c", "0", ""),
        ("d", "x", "bad"),
    ]


def test_every_state_of_a_device_has_a_style() -> None:
    assert set(STYLES) == set(get_args(DeviceState))


def test_a_gang_that_runs_in_name_only_is_a_problem() -> None:
    """A pod whose container crashes is Running by its phase."""
    crashing = {"containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}
    cluster = b.cluster_of(
        b.group("g", 2),
        b.pod("a", group="g", node="n1"),
        b.pod("b", group="g", node="n1", status=crashing),
        b.pod("c", group="g", node="n2"),
    )
    row = VIEWS["gangs"].row(cluster, ("ml", "g"))
    assert row is not None
    assert row.problem
    texts = [cell.text for cell in row.cells]
    assert "Running" in texts
    assert "3 of 3" in texts
    assert any("1 in CrashLoopBackOff" in text for text in texts)


def test_a_rule_for_a_whole_fleet_costs_a_row_no_more_than_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row is computed anew each time any pod under it changes."""
    from ktui.views import taints

    monkeypatch.setattr(taints, "_COUNTED", 8)
    looked = 0
    whole = b.cluster_of(
        *(b.piece(f"s{n}", [f"gpu-{i}" for i in range(8)], pool=f"node-{n}") for n in range(50)), b.rule("all", {})
    )
    asked = whole.device

    def count(device: tuple[str, str, str]) -> object:
        nonlocal looked
        looked += 1
        return asked(device)

    monkeypatch.setattr(whole, "device", count)
    row = VIEWS["taints"].row(whole, ("rule", "all"))
    assert row is not None
    assert "8+" in [cell.text for cell in row.cells]
    assert looked <= 9
    item = VIEWS["taints"].item(whole, ("rule", "all"))
    assert item is not None
    assert len(item["devices"]) == 400


def test_an_average_over_no_replicas_is_no_number() -> None:
    """The controller writes -9223372036854775808m there (1.37.2)."""
    texts = [
        cell.text
        for at in range(0, 200, 10)
        for cluster in (cluster_at("scale-to-zero", at)[0],)
        for key in VIEWS["autoscalers"].keys(cluster)
        if (row := VIEWS["autoscalers"].row(cluster, key)) is not None
        for cell in row.cells
    ]
    assert not any("9223372036854775808" in text for text in texts)
    assert any("-/" in text for text in texts)

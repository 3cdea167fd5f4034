"""What changed: found once, with its time, from the state before and after; what was there from the start is no change."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster import changes as module
from ktui.cluster.changes import Chronicler, chronicle
from ktui.cluster.gangs import Gang, gang
from ktui.cluster.state import Cluster
from ktui.cluster.timeline import Change, Timeline
from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.event import Event
from ktui.model.frame import ActionResult, ActionTaken, ActionVerb, Frame, Mark
from ktui.model.meta import Key, Object
from ktui.recording.reader import Recording
from ktui.views.timeline import text
from tests.recordings import PATHS
from tests.unit import builders as b

EVICTED = [b.condition("DisruptionTarget", "True", "DeletionByDeviceTaintManager", "tainted")]
GPU_0 = f"{b.DRIVER}/node-1/gpu-0"
ALL = {"driver": b.DRIVER}


def shown(timeline: Timeline) -> list[Change]:
    return [change for number in timeline.numbers() if (change := timeline.get(number)) is not None]


def changes(*frames: Frame, known: tuple[Object, ...] = ()) -> list[Change]:
    """What frames change, one a second from 10 on, in a state that holds `known`."""
    cluster = Cluster()
    kinds = b.cluster_of().streams
    first = [b.listed(kind, *(o for o in known if type(o).__name__ == kind)) for kind, _, _ in kinds]
    chronicle(cluster, cluster.timeline, [(0.0, frame) for frame in first] + list(enumerate(frames, 10)))
    return shown(cluster.timeline)


def newer(version: int = 2) -> dict[str, Any]:
    return {"resourceVersion": str(version)}


def modified(obj: Object) -> Frame:
    return b.changed("MODIFIED", obj)


def slice_with(*taints: Any, version: int = 1) -> Object:
    document = {
        "metadata": b.meta("s", "", **newer(version)),
        "spec": {
            "driver": b.DRIVER,
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0", "taints": list(taints)}],
        },
    }
    return b.make(type(b.piece("s")), document)


def autoscaler(least: int, now: int, version: int) -> Object:
    document = {
        "metadata": b.meta("chat", **newer(version)),
        "spec": {"minReplicas": least},
        "status": {"currentReplicas": now},
    }
    return b.make(HorizontalPodAutoscaler, document)


@pytest.mark.parametrize(
    ("known", "frame", "expected"),
    [
        (b.pod("p"), modified(b.pod("p", node="n1", meta_=newer())), ("PodBound", ("ml", "p"), "", "n1")),
        (
            b.pod("p", node="n1"),
            modified(b.pod("p", node="n1", conditions=EVICTED, meta_=newer())),
            ("PodEvicted", ("ml", "p"), "", "tainted"),
        ),
        (b.pod("p", node="n1"), b.deleted(b.pod("p", meta_=newer())), ("PodDeleted", ("ml", "p"), "n1", "")),
        (
            b.claim("c"),
            modified(b.claim("c", [b.result("gpu-0")], meta_=newer())),
            ("ClaimAllocated", ("ml", "c"), "", GPU_0),
        ),
        (
            b.claim("c", [b.result("gpu-0")]),
            b.deleted(b.claim("c", meta_=newer())),
            ("ClaimReleased", ("ml", "c"), GPU_0, ""),
        ),
        (
            b.pod("other"),
            b.added(b.rule("r", ALL, b.taint("xid", None))),
            ("TaintAdded", ("rule", "r"), "", "xid:NoExecute"),
        ),
        (
            b.rule("r", ALL, b.taint("xid", "79", "None")),
            modified(b.rule("r", ALL, b.taint("xid", "79"), meta_=newer())),
            ("TaintChanged", ("rule", "r"), "xid=79:None", "xid=79:NoExecute"),
        ),
        (
            b.rule("r", ALL, b.taint("xid", None)),
            b.deleted(b.rule("r", ALL, meta_=newer())),
            ("TaintRemoved", ("rule", "r"), "xid:NoExecute", ""),
        ),
        (
            slice_with(),
            modified(slice_with(b.taint("sick", None, "NoSchedule"), version=2)),
            ("TaintAdded", ("slice", b.DRIVER, "node-1", "gpu-0", "sick", "", "NoSchedule"), "", "sick:NoSchedule"),
        ),
        (autoscaler(1, 1, 1), modified(autoscaler(0, 1, 2)), ("MinReplicasChanged", ("ml", "chat"), "1", "0")),
        (autoscaler(0, 1, 1), modified(autoscaler(0, 0, 2)), ("Scaled", ("ml", "chat"), "1", "0")),
        (b.pod("other"), Mark("looked here"), ("Mark", (), "", "looked here")),
        (b.pod("other"), b.phase("Pod", "waiting", "refused"), ("SourceLost", ("Pod",), "", "refused")),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_one_change(known: Object, frame: Frame, expected: tuple[Any, ...]) -> None:
    (change,) = changes(frame, known=(known,))
    assert (change.what, change.key, change.before, change.after) == expected
    assert change.at == 10
    assert changes(known=(known,)) == []


PREEMPTED = [b.condition("DisruptionTarget", "True", "PreemptionByScheduler", "preempting")]


def preemption(victim: str, uid: str = "") -> Event:
    about = {"kind": "Pod", "namespace": "ml", "name": victim, "uid": uid or b.uid_of(victim)}
    by = {"kind": "PodGroup", "namespace": "ml", "name": "urgent", "uid": "u"}
    document = {"metadata": b.meta(f"{victim}.1"), "involvedObject": about, "related": by, "reason": "Preempted"}
    return b.make(Event, document)


def told_of(*frames: Frame, known: tuple[Object, ...]) -> list[tuple[str, str]]:
    return [(change.what, change.after) for change in changes(*frames, known=known)]


def test_whom_a_victim_of_preemption_makes_room_for() -> None:
    """The event is written after the victim was told to go, and may come before that; it counts for one that is gone, too."""
    pod, target = b.pod("p", node="n1"), b.pod("p", node="n1", conditions=PREEMPTED, meta_=newer())
    story = [("PodEvicted", "preempting"), ("PodPreempted", "PodGroup ml/urgent")]
    assert told_of(modified(target), b.added(preemption("p")), known=(pod,)) == story
    assert told_of(b.added(preemption("p")), modified(target), known=(pod,)) == story
    assert told_of(b.added(preemption("gone")), known=(pod,)) == story[1:]


def test_an_event_alone_preempts_nobody() -> None:
    """Anyone who may create events can write one about a pod that was never told to go."""
    pod = b.pod("p", node="n1")
    assert told_of(b.added(preemption("p")), known=(pod,)) == []
    earlier = preemption("p", "of-an-earlier-pod")
    assert told_of(b.added(earlier), known=(pod,)) == [("PodPreempted", "PodGroup ml/urgent")]
    assert told_of(b.listed("Event", preemption("gone"), version="9"), known=(pod,)) == [
        ("PodPreempted", "PodGroup ml/urgent")
    ]


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        ({"driver": "d", "pool": "p", "device": "gpu-0"}, "d/p/gpu-0"),
        ({"driver": "d", "pool": "p"}, "all of pool d/p"),
        ({}, "EVERY device of EVERY driver"),
    ],
)
def test_what_a_rule_selected_is_told_after_it_is_gone(selector: dict[str, str], words: str) -> None:
    rule = b.rule("r", selector, b.taint("xid", None))
    gone = b.rule("r", selector, b.taint("xid", None), meta_=newer())
    texts = [text(change) for change in changes(b.added(rule), b.deleted(gone))]
    assert texts == [f"tainted xid:NoExecute on {words}", f"taint xid:NoExecute on {words} removed"]


def test_what_did_not_change_is_no_change() -> None:
    pod = b.pod("p", node="n1", conditions=EVICTED)
    again = b.pod("p", node="n1", conditions=EVICTED, meta_=newer())
    assert changes(modified(again), b.listed("Pod", again, version="9"), known=(pod,)) == []


def test_a_gang_from_pending_to_degraded_and_back() -> None:
    def pods(*running: int, version: int) -> list[Frame]:
        node = {n: "n1" if n in running else None for n in (0, 1)}
        return [modified(b.pod(f"p{n}", group="g", node=node[n], meta_=newer(version))) for n in (0, 1)]

    placed = {"conditions": [b.condition("PodGroupInitiallyScheduled", "True", since="2026-11-30T05:54:15Z")]}
    moments: list[list[Frame]] = [
        [b.added(b.group("g", 2))],
        pods(version=3),
        pods(0, 1, version=4),
        [modified(b.group("g", 2, status=placed, meta_=newer(5)))],
        pods(0, version=6),
        pods(0, 1, version=7),
        [b.deleted(b.group("g", 2, meta_=newer(8)))],
    ]
    cluster = b.cluster_of()
    chronicler = Chronicler(cluster, cluster.timeline)
    chronicler.settle()
    for t, frames in enumerate(moments, 10):
        for frame in frames:
            for _ in chronicler.steps(frame, t):
                pass
    chronicler.settle()
    gangs = [change for change in shown(cluster.timeline) if change.view == "gangs"]
    assert [change.what for change in gangs] == ["GangPending", "GangRunning", "GangDegraded", "GangRunning"]
    assert [change.before for change in gangs][1:] == ["Pending", "Running", "Degraded"]
    assert gangs[2].after == "1 of 2"


def test_a_source_that_comes_back() -> None:
    found = changes(b.phase("Pod", "waiting"), b.phase("Pod", "no-access"), b.phase("Pod", "watching"))
    assert [(change.what, change.at) for change in found] == [("SourceLost", 10), ("SourceBack", 12)]


def test_a_gang_is_counted_ten_times_a_second_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = b.cluster_of(b.group("g", 1))
    chronicler = Chronicler(cluster, cluster.timeline)
    chronicler.settle()
    counted: list[object] = []
    monkeypatch.setattr("ktui.cluster.changes.gang", lambda _, key: counted.append(key))
    for n in range(1_000):
        for _ in chronicler.steps(modified(b.pod("p", group="g", meta_=newer(n + 1))), 10 + n / 1_000):
            pass
    assert 1 <= len(counted) <= 11


def test_the_story_of_a_recorded_incident() -> None:
    recording = Recording(PATHS["xid79"])
    timeline = Timeline(most=None)
    start = recording.header.start
    chronicle(Cluster(), timeline, ((start + t, frame) for t, frame in recording.frames()))
    found = shown(timeline)
    assert [change.at for change in found] == sorted(change.at for change in found)
    story = [c.what for c in found if c.at >= start + 25]
    expected = [
        "TaintAdded",
        "PodEvicted",
        "GangDegraded",
        "PodDeleted",
        "ClaimReleased",
        "TaintRemoved",
        "GangRunning",
    ]
    assert [what for what in story if what in expected] == expected
    assert len({c.key for c in found if c.view == "gangs"}) == 3


@pytest.mark.parametrize(
    ("verb", "thing", "result", "what", "row"),
    [
        ("taint", "d/a/b/gpu-0", "applied", "DeviceTainted", ("devices", ("d", "a/b", "gpu-0"))),
        ("untaint", "d/p/gpu-0", "applied", "DeviceUntainted", ("devices", ("d", "p", "gpu-0"))),
        ("min-replicas", "ml/chat", "applied", "MinReplicasSet", ("autoscalers", ("ml", "chat"))),
        ("taint", "d/p/gpu-0", "refused", "ActionRefused", ("devices", ("d", "p", "gpu-0"))),
        ("taint", "d/p/gpu-0", "conflict", "ActionRefused", ("devices", ("d", "p", "gpu-0"))),
        ("min-replicas", "ml/chat", "unknown", "ActionUnclear", ("autoscalers", ("ml", "chat"))),
        ("taint", "d/gpu-0", "applied", "DeviceTainted", ("", ())),
        ("min-replicas", "", "applied", "MinReplicasSet", ("", ())),
    ],
)
def test_what_a_person_did(
    verb: ActionVerb, thing: str, result: ActionResult, what: str, row: tuple[str, tuple[str, ...]]
) -> None:
    (found,) = changes(ActionTaken(verb, thing, "before", "after", result, "said", "oncall"))
    assert (found.what, (found.view, found.key)) == (what, row)
    assert (found.at, found.before, found.after, found.who) == (10.0, "before", "after", "oncall")


def numbered(timeline: Timeline, count: int) -> None:
    for n in range(count):
        timeline.add(Change(float(n), "Mark", "", (), after=str(n)))


def test_a_timeline_keeps_the_latest() -> None:
    timeline = Timeline(most=3)
    numbered(timeline, 5)
    assert [change.after for change in shown(timeline)] == ["2", "3", "4"]
    assert timeline.take_fresh() == {0, 1, 2, 3, 4}
    assert timeline.take_fresh() == set()
    assert timeline.get(1) is None


def test_a_timeline_of_a_recording_shows_what_has_happened_so_far() -> None:
    timeline = Timeline(most=None)
    numbered(timeline, 5)
    timeline.show_until(2.5)
    timeline.take_fresh()
    assert [change.after for change in shown(timeline)] == ["0", "1", "2"]
    assert timeline.get(3) is None
    timeline.show_until(0.0)
    assert timeline.take_fresh() == {1, 2}
    timeline.show_until(1e9)
    assert timeline.take_fresh() == {1, 2, 3, 4}
    timeline.show_until(-1.0)
    assert shown(timeline) == []


def test_what_nobody_waits_for_any_longer_ends_inside_a_long_list() -> None:
    cluster, asked = Cluster(), iter([False, True])
    pods = b.listed("Pod", *(b.pod(f"p{n}") for n in range(1_000)))
    chronicle(cluster, cluster.timeline, [(0.0, pods)], lambda: next(asked))
    assert 0 < len(cluster.stores["Pod"].objects) < 1_000


STATUSES: list[Any] = [
    {"phase": "Pending"},
    {"phase": "Pending", "conditions": [b.condition("PodScheduled", "False", "Unschedulable")]},
    {"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 1}]},
    {"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 2}]},
    {"phase": "Succeeded"},
    {"phase": "Failed"},
]
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(STATUSES), st.booleans(), st.sampled_from(["g", "h"])), max_size=12
)


@given(STEPS)
def test_gangs_that_are_not_counted_again_are_in_the_state_they_were_in(
    steps: list[tuple[int, Any, bool, str]],
) -> None:
    groups = (b.group("g", 2), b.group("h", 2))
    pods = tuple(b.pod(f"p-{n}", group="g") for n in range(4))
    frames = [
        modified(
            b.pod(
                f"p-{n}",
                group=group,
                node="n1" if bound else "",
                phase=status["phase"],
                status=status,
                meta_=newer(version),
            )
        )
        for version, (n, status, bound, group) in enumerate(steps, 2)
    ]
    found = changes(*frames, known=(*groups, *pods))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_leaves_its_gang", lambda delta: False)
        assert changes(*frames, known=(*groups, *pods)) == found


def test_what_a_pod_does_by_itself_counts_no_gang(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def counting(cluster: Cluster, key: Key) -> Gang | None:
        counted.append(key)
        return gang(cluster, key)

    monkeypatch.setattr(module, "gang", counting)
    running = [b.pod(f"p-{n}", group="g", node="n1", phase="Running", status=STATUSES[2]) for n in range(50)]
    restarts = [
        modified(b.pod(f"p-{n}", group="g", node="n1", phase="Running", status=STATUSES[3], meta_=newer()))
        for n in range(50)
    ]
    changes(*restarts, known=(b.group("g", 50), *running))
    assert counted == [("ml", "g")]
    changes(
        modified(b.pod("p-0", group="g", node="n1", phase="Failed", status=STATUSES[5], meta_=newer())),
        known=(*running,),
    )
    assert len(counted) > 1

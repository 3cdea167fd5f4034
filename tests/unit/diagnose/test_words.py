"""The scheduler's texts of three releases, taken apart, and who of a gang says most."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.gangs import Gang, gang
from ktui.cluster.state import Cluster
from ktui.diagnose.words import Arithmetic, Said, parse, said
from ktui.model.meta import Object
from tests.recordings import cluster_at
from tests.unit import builders as b


@pytest.mark.parametrize(
    ("text", "kind", "detail"),
    [
        ("Insufficient cpu", "insufficient", "cpu"),
        ("Insufficient nvidia.com/gpu", "insufficient", "nvidia.com/gpu"),
        ("Too many pods", "too_many_pods", ""),
        ("cannot allocate all claims", "claims", ""),
        ("resourceclaim not available on the node", "claim_elsewhere", ""),
        ("resourceclaim in use", "claim_busy", ""),
        ("resource claim ml/c is in the process of being allocated", "claim_busy", ""),
        ('resourceclaim "c" is being deleted', "claim_busy", ""),
        ('pod "ml/p": ResourceClaim not created yet', "claim_missing", ""),
        ("request gpu: device class gpu-premium does not exist", "class_missing", "gpu-premium"),
        (
            "claim ml/c, request gpu: could not retrieve device class big: not found",
            "class_missing",
            "big",
        ),
        (
            "claim ml/c, request gpu: asks for all devices, but resource pool d.example.com/n1 is currently being updated",
            "pool_updating",
            "d.example.com/n1",
        ),
        (
            "claim ml/c, request gpu: asks for all devices, but resource pool d.example.com/n1 is currently invalid",
            "pool_invalid",
            "d.example.com/n1",
        ),
        ("invalid resource pools were encountered", "pool_invalid", ""),
        (
            "claim ml/c: selector #0 on device d/n1/gpu-0: CEL runtime error: no such key: model",
            "selector_error",
            "",
        ),
        ("class gpu: selector #1: CEL compile error: undeclared reference", "selector_error", ""),
        ("cannot schedule extended resource claim", "extended_claim", ""),
        ("node(s) didn't match the requested node name", "name", ""),
        ("node(s) didn't match Pod's node affinity/selector", "affinity", ""),
        ("node(s) didn't match scheduler-enforced node affinity", "affinity", ""),
        ("node(s) had untolerated taint(s)", "taint", ""),
        ("node(s) had untolerated taint {example.com/maintenance: yes}", "taint", "example.com/maintenance: yes"),
        ("node(s) had taints that the pod didn't tolerate", "taint", ""),
        ("node(s) were unschedulable", "unschedulable", ""),
        ("node(s) didn't match Pod's required features", "features", ""),
        ("node(s) didn't match pod affinity rules", "pod_affinity", ""),
        ("node(s) didn't match pod anti-affinity rules", "anti_affinity", ""),
        ("node(s) didn't satisfy existing pods anti-affinity rules", "anti_affinity", ""),
        ("node(s) didn't match pod topology spread constraints (missing required label)", "spread", ""),
        ("node(s) didn't have free ports for the requested pod ports", "ports", ""),
        ("node(s) didn't find available persistent volumes to bind", "volume", ""),
        ("node(s) had volume node affinity conflict", "volume", ""),
        ("node(s) had no available volume zone", "volume", ""),
        ("node(s) exceed max volume count", "volume", ""),
        ("node(s) didn't match PersistentVolume's node affinity", "volume", ""),
        ("pod has unbound immediate PersistentVolumeClaims", "volume", ""),
        ('persistentvolumeclaim "data" not found', "volume", ""),
        ("no feasible placements found", "topology", ""),
        ("waiting for minCount pods from a gang to be scheduled", "gang", ""),
        ('profile not found for scheduler name "volcano"', "group_invalid", ""),
        ("Scheduling is blocked due to non-empty scheduling gates", "gated", ""),
        ("rejected due to timeout after waiting 5m0s at plugin GangScheduling", "timeout", "GangScheduling"),
        ("pod rejected due to timeout after waiting 5m0s at plugin GangScheduling", "timeout", "GangScheduling"),
        ("node n1: timed out trying to allocate devices", "timeout", ""),
        ("claim ml/c got allocated elsewhere in the meantime", "claim_busy", ""),
        ("node(s) were painted green", "other", ""),
    ],
)
def test_a_reason_is_known_by_its_kind(text: str, kind: str, detail: str) -> None:
    (counted,) = parse(f"0/5 nodes are available: 3 {text}.").reasons
    assert (counted.kind, counted.detail, counted.count, counted.text) == (kind, detail, 3, text)
    (found_before,) = parse(f"0/5 nodes are available: {text}.").reasons
    assert (found_before.kind, found_before.count) == (kind, 5)
    (alone,) = parse(text).reasons
    assert (alone.kind, alone.count) == (kind, 0)


def test_counts_by_reason() -> None:
    words = parse(
        "0/9 nodes are available: 1 node(s) had untolerated taint {a: b}, 2 claim ml/c, request gpu: asks for all devices,"
        " but resource pool d/n is currently invalid, 3 Insufficient cpu, 3 node(s) were painted green, twice."
        " preemption: 0/9 nodes are available: 6 Preemption is not helpful for scheduling,"
        " 3 No preemption victims found for incoming pod."
    )
    assert words.nodes == 9
    assert [(r.kind, r.count) for r in words.reasons] == [
        ("taint", 1),
        ("pool_invalid", 2),
        ("insufficient", 3),
        ("other", 3),
    ]
    assert words.reasons[-1].text == "node(s) were painted green, twice"
    assert words.preemption is not None
    assert words.preemption.outcome == "none"
    assert words.own


@pytest.mark.parametrize(
    ("text", "outcome", "victims"),
    [
        ("pod group preemption: found a placement for podgroup, preempting 3 victims", "victims", 3),
        ("preemption: found a potential placement for pod on node n1, preempting 1 victims", "victims", 1),
        ("pod group preemption: ongoing preemption on nominated nodes", "ongoing", 0),
        ("preemption: not eligible due to a terminating pod on the nominated node.", "ongoing", 0),
        ("pod group preemption: No preemption victims found for incoming preemptor", "none", 0),
        ("pod group preemption: not eligible due to preemptionPolicy=Never.", "never", 0),
        ("pod group preemption: minCount (2) cannot be satisfied: 0 scheduled, 1 remaining", "unfit", 0),
        (
            "still not schedulable, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.",
            "unhelpful",
            0,
        ),
    ],
)
def test_what_preemption_would_bring(text: str, outcome: str, victims: int) -> None:
    words = parse(f"minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, {text}")
    assert words.gang == Arithmetic(2, 0, 1, hopeless=True)
    assert words.preemption is not None
    assert (words.preemption.outcome, words.preemption.victims) == (outcome, victims)
    assert not words.own


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "pod group is unschedulable, ",
        "pod group is unschedulable, pod group is unschedulable, ",
        "0/4 placements are available, first placement status: ",
        "pod group is unschedulable, 0/4 placements are available, first placement status: ",
    ],
)
def test_prefixes_may_stand_before_it(prefix: str) -> None:
    words = parse(f"{prefix}minCount (4) is not yet satisfied: 2 scheduled, 2 remaining")
    assert words.gang == Arithmetic(4, 2, 2, hopeless=False)
    assert words.placements == (4 if "placements" in prefix else None)
    assert (words.reasons, words.own) == ((), False)


def test_the_preemption_part_may_be_empty() -> None:
    words = parse("pod group is unschedulable, minCount (2) cannot be satisfied: 0 scheduled, 1 remaining, ")
    assert (words.preemption, words.reasons) == (None, ())
    assert parse("pod group preemption: ").preemption is None
    assert parse("") == parse("")
    assert (parse("").own, parse("pod group is unschedulable").own) == (False, False)


pieces = st.sampled_from(
    (
        "pod group is unschedulable, ",
        "0/9 nodes are available: ",
        "0/4 placements are available, first placement status: ",
        "minCount (2) cannot be satisfied: 0 scheduled, 1 remaining",
        "minCount (",
        "3 Insufficient cpu",
        ", ",
        ". ",
        "preemption: ",
        "claim a, request b: ",
        "CEL runtime error",
        "99999999999999999999 x",
        "{",
        "}",
        "\n",
    )
)


@given(st.lists(pieces | st.text(max_size=8), max_size=12).map("".join))
def test_any_text_is_taken(text: str) -> None:
    words = parse(text)
    assert words.text == text
    assert all(reason.text in text for reason in words.reasons)


@pytest.mark.parametrize(
    "text",
    [
        "pod group is unschedulable, " * 40_000,
        "0/9 nodes are available: 1 x" + ", 1 x" * 200_000,
        "0/9 nodes are available: 1 " + "node(s) had untolerated taint {" * 30_000,
        "minCount (" * 100_000,
        "claim a, request b: " * 50_000,
        "9" * 1_000_000,
        "preemption: " * 90_000,
    ],
)
def test_a_megabyte_of_malice_is_taken_as_well(text: str) -> None:
    """In time that grows with its length only: the suite's time limit is what fails otherwise."""
    words = parse(text)
    assert len(words.reasons) <= 500
    assert words.text == text


def test_what_is_counted_beyond_measure_stays_in_the_text() -> None:
    words = parse("0/9 nodes are available: " + ", ".join(f"1 reason-{n}" for n in range(600)) + ".")
    assert len(words.reasons) == 500
    assert words.reasons[-1].text.endswith("reason-599")


# --- of a gang ---

REPEATED = "pod group is unschedulable, minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"
REASON = "0/2 nodes are available: 2 Insufficient cpu."
GROUP = "minCount (3) cannot be satisfied: 1 scheduled, 1 remaining"


def refused(name: str, message: str, since: str = "2026-11-30T05:54:10Z", **more: Any) -> Object:
    return b.pod(
        name, group="g", conditions=[b.condition("PodScheduled", "False", "Unschedulable", message, since)], **more
    )


def a_gang(*objects: Object) -> tuple[Cluster, Gang]:
    status = {"conditions": [b.condition("PodGroupInitiallyScheduled", "False", "Unschedulable", GROUP)]}
    cluster = b.cluster_of(b.group("g", 3, status=status), *objects)
    found = gang(cluster, ("ml", "g"))
    assert found is not None
    return cluster, found


def told(found: tuple[Said, ...]) -> list[tuple[str, str, int]]:
    return [(s.name, s.words.text, s.members) for s in found]


def test_the_member_with_a_reason_of_its_own_is_found_among_those_that_repeat() -> None:
    members = [refused("a", REPEATED), refused("b", REASON), refused("c", REPEATED)]
    cluster, found = a_gang(*members)
    assert told(said(cluster, found)) == [("b", REASON, 1), ("a", REPEATED, 2), ("g", GROUP, 0)]


def test_of_several_reasons_the_newest_comes_first() -> None:
    older = "0/2 nodes are available: 2 Too many pods."
    cluster, found = a_gang(refused("a", older, "2026-11-30T05:54:00Z"), refused("b", REASON))
    assert [s.name for s in said(cluster, found)] == ["b", "a", "g"]


def test_who_has_a_node_or_has_ended_no_longer_waits_for_reasons() -> None:
    cluster, found = a_gang(refused("a", REASON, node="n1"), refused("b", REASON, phase="Failed"))
    assert [s.name for s in said(cluster, found)] == ["g"]


def event(name: str, about: str, message: str, last: str) -> Object:
    return b.event(name, b.uid_of(about), reason="FailedScheduling", message=message, lastTimestamp=last)


def test_an_event_says_when_a_text_was_told_last() -> None:
    cluster, found = a_gang(refused("a", REASON), event("e", "a", REASON, "2026-11-30T05:55:10Z"))
    condition_alone = said(*a_gang(refused("a", REASON)))[0]
    (first, *_) = said(cluster, found)
    assert (first.words.text, first.members) == (REASON, 1)
    assert first.at is not None
    assert condition_alone.at == first.at - 60


def test_an_event_that_was_cut_is_the_conditions_text() -> None:
    long = "0/9 nodes are available: " + ", ".join(f"1 reason number {n}" for n in range(90)) + "."
    cut = long[:1020] + " ..."
    cluster, found = a_gang(refused("a", long), event("e", "a", cut, "2026-11-30T05:55:10Z"))
    assert [s.words.text for s in said(cluster, found) if s.kind == "Pod"] == [long]
    cluster, found = a_gang(b.pod("a", group="g"), event("e", "a", cut, "2026-11-30T05:55:10Z"))
    assert [s.words.text for s in said(cluster, found) if s.kind == "Pod"] == [cut]


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("too-big", [("claims", 6)]),
        ("no-class", [("class_missing", 6)]),
        ("cpu-hog", [("insufficient", 6)]),
        ("wrong-zone", [("affinity", 6)]),
        ("mixed-priority", [("group_invalid", 0)]),
    ],
)
def test_the_recorded_truth_stands_first(name: str, reasons: list[tuple[str, int]]) -> None:
    cluster, _ = cluster_at("causes")
    found = gang(cluster, ("research", name))
    assert found is not None
    first = said(cluster, found)[0]
    assert [(r.kind, r.count) for r in first.words.reasons] == reasons

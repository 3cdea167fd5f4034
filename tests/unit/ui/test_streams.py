"""What is said about sources: every phase in words, and "empty" only when synced."""

from __future__ import annotations

import pytest

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.model.frame import NOT_RECORDED, ActionTaken, Frame, Mark, Source, StreamPhase, StreamState
from ktui.model.kinds import KINDS
from ktui.ui.glyphs import UNICODE
from ktui.ui.streams import emptiness, summary, view_state
from ktui.views.base import Line
from ktui.views.registry import VIEWS
from tests.ui.world import NOW, everything_live, listed, phase, pod

PODS = VIEWS["pods"]


def cluster(*frames: Frame) -> Cluster:
    made = Cluster()
    for frame in frames:
        made.apply(frame)
    return made


def without(kind: str) -> list[Frame]:
    return [f for f in everything_live() if not isinstance(f, Mark | ActionTaken) and f.source.kind != kind]


def words(lines: tuple[Line, ...]) -> list[str]:
    return ["".join(cell.text for cell in line) for line in lines]


@pytest.mark.parametrize(
    ("now", "message", "until", "shown", "style"),
    [
        ("watching", "", None, "live", "ok"),
        ("quiet", "no byte for 75s", None, "quiet: no byte for 75s", "ok"),
        ("polling", "", None, "pods polled, watch is refused", "warn"),
        ("waiting", "429", NOW + 7, "waiting 7s for pods: 429", "warn"),
        ("waiting", "429", NOW - 7, "waiting 0s for pods: 429", "warn"),
        ("no-access", "forbidden", None, "no access to pods: your user needs get, list, watch", "bad"),
        ("needs-login", "token expired", None, "log in again, then ctrl+r: token expired", "bad"),
    ],
)
def test_phases(now: StreamPhase, message: str, until: float | None, shown: str, style: str) -> None:
    cell = view_state(PODS, cluster(listed("Pod"), phase("Pod", now, message, until)), NOW)
    assert (cell.text, cell.style) == (shown, style)


def test_a_first_list_and_a_relist_are_told_apart() -> None:
    assert view_state(PODS, cluster(phase("Pod", "listing")), NOW).text == "loading pods"
    again = cluster(listed("Pod"), phase("Pod", "listing"))
    assert view_state(PODS, again, NOW).text == "resyncing pods, rows may be old"


def test_a_kind_that_is_only_joined_is_named_when_it_has_trouble() -> None:
    state = cluster(*everything_live(), phase("ResourceClaim", "no-access"))
    assert "no access to resourceclaims" in view_state(PODS, state, NOW).text


def test_empty_is_said_only_when_synced() -> None:
    assert words(emptiness(PODS, cluster(), 0, 0, NOW)) == ["connecting"]
    assert words(emptiness(PODS, cluster(phase("Pod", "listing")), 0, 0, NOW)) == ["loading pods"]
    assert words(emptiness(PODS, cluster(phase("Pod", "waiting", "503")), 0, 0, NOW)) == ["waiting for pods: 503"]
    assert words(emptiness(PODS, cluster(*everything_live()), 0, 0, NOW)) == ["No pods."]
    assert words(emptiness(PODS, cluster(*everything_live()), 0, 5, NOW)) == ["preparing 5 pods"]


@pytest.mark.parametrize(("now", "said"), [("listing", "loading podgroups"), ("no-access", "no access to podgroups")])
def test_no_gangs_is_said_only_when_groups_without_pods_would_be_seen(now: StreamPhase, said: str) -> None:
    shown = words(emptiness(VIEWS["gangs"], cluster(*without("PodGroup"), phase("PodGroup", now)), 0, 0, NOW))
    assert shown[0] == "No gangs seen."
    assert shown[1].startswith(said)


@pytest.mark.parametrize(
    ("view", "kind", "said"),
    [
        ("workloads", "CompositePodGroup", ["No workloads."]),
        ("workloads", "PodGroup", ["No workloads seen.", "podgroups are not in this recording"]),
        ("workloads", "Workload", ["workloads are not in this recording"]),
        ("pods", "ResourceClaim", ["No pods."]),
    ],
)
def test_what_an_old_recording_leaves_out_is_said_where_it_may_be_missed(
    view: Entity, kind: str, said: list[str]
) -> None:
    """Whether it was installed nobody knows."""
    state = cluster(*without(kind), phase(kind, "absent", NOT_RECORDED))
    assert words(emptiness(VIEWS[view], state, 0, 0, NOW)) == said


def test_what_is_not_installed_says_what_to_do() -> None:
    gangs = VIEWS["gangs"]
    state = cluster(*everything_live(), phase("PodGroup", "absent"))
    said = " ".join(words(emptiness(gangs, state, 0, 0, NOW)))
    assert "podgroups not installed" in said
    assert "feature-gates" in said


def test_programs_that_are_not_installed_are_not_mentioned() -> None:
    kinds = [name for name, kind in KINDS.items() if kind.program]
    without = cluster(*everything_live(), *(phase(kind, "absent") for kind in kinds))
    assert words(emptiness(VIEWS["gangs"], without, 0, 0, NOW)) == ["No gangs."]
    assert view_state(VIEWS["gangs"], without, NOW).text == "live"


def test_kinds_of_programs_are_told_from_those_of_the_same_name() -> None:
    state = cluster(*everything_live(), phase("KueueWorkload", "no-access"))
    assert "no access to workloads of Kueue" in view_state(VIEWS["gangs"], state, NOW).text


def test_rows_that_are_filtered_out_are_not_called_empty() -> None:
    said = words(emptiness(PODS, cluster(*everything_live(Pod=[pod("a")])), 1, 0, NOW))
    assert said[0] == "None of 1 pods passes the filter."
    said = words(emptiness(PODS, cluster(*everything_live(Pod=[pod("a")])), 3, 2, NOW))
    assert said == ["None of 3 pods passes the filter so far.", "2 are still to be looked at."]


def test_the_summary_counts_live_sources() -> None:
    assert words((summary(cluster(), UNICODE),)) == ["○ connecting"]
    assert words((summary(cluster(phase("Pod", "watching"), phase("Node", "watching")), UNICODE),)) == ["● live 2 of 2"]
    assert words((summary(cluster(phase("Pod", "watching"), phase("Node", "listing")), UNICODE),)) == ["○ live 1 of 2"]
    assert words((summary(cluster(phase("Pod", "watching"), phase("Node", "waiting")), UNICODE),)) == ["▲ live 1 of 2"]
    assert words((summary(cluster(phase("Pod", "watching"), phase("Node", "absent")), UNICODE),)) == ["● live 1 of 1"]


def test_what_is_watched_in_single_namespaces_instead_does_not_count_as_trouble() -> None:
    """A tenant's header is not red for ever because not all namespaces may be read."""
    single = StreamState(Source("Pod", "/api/v1/namespaces/ml/pods", "ml"), "watching")
    state = cluster(phase("Pod", "no-access"), single, phase("Node", "watching"))
    assert words((summary(state, UNICODE),)) == ["● live 2 of 2"]

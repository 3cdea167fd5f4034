"""All checks together, whatever is known and whatever is not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.state import Cluster
from ktui.doctor.checkup import CHECKS, examine, unreachable
from ktui.doctor.facts import Facts, Unknown
from ktui.doctor.finding import STATUSES, Finding, Status, some, worst
from ktui.doctor.recorded import recorded_facts
from ktui.doctor.report import document, lines
from ktui.model.kinds import KINDS
from ktui.recording.player import replay_to
from ktui.recording.reader import Recording
from tests.recordings import PATHS
from tests.unit.builders import cluster_of, phase

from .facts import CONNECTION, facts

FACTS = [name for name in Facts.__struct_fields__ if name not in ("cluster", "recorded")]


def text(findings: tuple[Finding, ...]) -> list[str]:
    return ["".join(cell.text for cell in line) for line in lines(findings)]


def recorded(name: str) -> Facts:
    """At the end of the recording."""
    recording, cluster = Recording(PATHS[name]), Cluster()
    replay_to(recording, None, cluster.apply)
    return recorded_facts(cluster, recording.header.server.git_version)


def test_a_healthy_cluster_has_nothing_wrong_with_it() -> None:
    assert {f.check for f in examine(facts()) if f.status in ("warn", "fail")} == set()


@given(st.sets(st.sampled_from(FACTS)), st.sets(st.sampled_from(sorted(KINDS))), st.booleans())
def test_whatever_is_not_known_is_skipped_and_said(missing: set[str], unread: set[str], refused: bool) -> None:
    cluster = cluster_of(without=unread)
    for kind in unread if refused else ():
        cluster.apply(phase(kind, "no-access", "403"))
    found = facts(cluster, **{name: Unknown(f"no {name}") for name in missing})
    for check in CHECKS:
        for finding in check(found):
            assert finding.text
            assert finding.status in STATUSES
    assert not [f for f in examine(found) if f.status == "fail"]


@pytest.mark.parametrize("name", PATHS)
def test_every_recording_can_be_looked_at(name: str) -> None:
    findings = examine(recorded(name))
    by_check = {finding.check: finding for finding in findings}
    assert by_check["credentials"].status == "skipped"
    assert by_check["server-version"].status == "ok"
    assert all(line.count("\n") == 0 for line in text(findings))


@pytest.mark.parametrize("name", ["v1.35", "v1.36"])
def test_recordings_of_older_versions_have_objects_that_block_an_upgrade(name: str) -> None:
    found = next(f for f in examine(recorded(name)) if f.check == "upgrade")
    assert (found.status, len(found.objects)) == ("warn", 3)


def test_the_incomplete_pool_of_a_recording() -> None:
    found = next(f for f in examine(recorded("causes")) if f.check == "pools")
    assert (found.status, found.objects) == ("fail", ("gpu.example.com/gpu-node-9",))


def test_without_an_answer_there_is_one_failure() -> None:
    found = unreachable(CONNECTION, (), "10.0.0.1:6443 cannot be reached")
    assert [(f.check, f.status) for f in found if f.status != "ok"] == [("server", "fail")]


def test_what_is_skipped_for_one_reason_is_one_line() -> None:
    found = (Finding("a", "skipped", "why"), Finding("b", "ok", "fine"), Finding("c", "skipped", "why"))
    assert text(found) == ["skip  a, c: why", "ok    b: fine", "", "1 ok, 2 skipped"]
    assert len(text((*found, Finding("d", "skipped", "why", "do this")))) == 6


def test_a_finding_and_what_to_do() -> None:
    assert text((Finding("a", "fail", "bad", "mend it"),)) == ["FAIL  a: bad", "      -> mend it", "", "1 fail"]


@pytest.mark.parametrize(
    ("statuses", "expected"), [([], "skipped"), (["skipped", "ok"], "ok"), (["fail", "warn", "ok"], "fail")]
)
def test_the_worst(statuses: list[Status], expected: Status) -> None:
    assert worst(Finding("a", status, "") for status in statuses) == expected


def test_the_json_is_explained() -> None:
    explained = (Path(__file__).parents[3] / "docs/json.md").read_text(encoding="utf-8")
    part = explained[explained.index("# JSON of `ktui doctor") :]
    found: dict[str, Any] = document(examine(facts()))
    json.dumps(found)
    for key in (*found, *found["findings"][0], *get_args(Status)):
        assert key in part, key


def test_every_check_is_explained() -> None:
    explained = (Path(__file__).parents[3] / "docs/doctor.md").read_text(encoding="utf-8")
    every = [*unreachable(CONNECTION, (), ""), *examine(recorded("causes"))]
    for finding in every:
        assert f"| `{finding.check}` |" in explained, finding.check


def test_names_are_cut_not_dropped() -> None:
    assert (some("ab"), some("abcde")) == ("a, b", "a, b, c and 2 more")

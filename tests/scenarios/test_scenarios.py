"""ktui's answers on every scenario, without a cluster: all are right. `report` prints them beside the scheduler's words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest

from ktui.cluster.gangs import GangState
from ktui.diagnose.diagnosis import Cause, Diagnosis
from ktui.recording.reader import Recording
from tests.scenarios import files, report
from tests.scenarios.definitions import SCENARIOS
from tests.scenarios.outcome import Outcome, judge, outcomes

NAMES = files.names()
DOCUMENT = Path(__file__).parents[2] / "docs" / "scenarios.md"


@pytest.mark.parametrize("name", NAMES)
def test_no_answer_is_wrong(name: str) -> None:
    assert [str(outcome) for outcome in outcomes(name) if outcome.verdict == "wrong"] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_gang_is_decided(name: str) -> None:
    """Apart from the test above: to be undecided is a lack, to be wrong is a fault."""
    assert [str(outcome) for outcome in outcomes(name) if outcome.verdict == "undecided"] == []


def test_the_document_says_what_ktui_says() -> None:
    """Its sentences may be older; `python -m tests.scenarios.report > docs/scenarios.md` makes them new."""
    document = DOCUMENT.read_text(encoding="utf-8")
    found = [outcome for name in NAMES for outcome in outcomes(name)]
    assert [line for outcome in found for line in report.claims(outcome) if line not in document] == []
    assert report.total(found) in document


def said(outcome: Outcome) -> tuple[object, ...]:
    answer = outcome.answer
    return (outcome.gang, answer.state, answer.cause, answer.facts, answer.message)


@pytest.mark.parametrize("name", NAMES)
def test_the_order_in_which_objects_arrive_does_not_matter(name: str) -> None:
    forwards, backwards = (list(map(said, outcomes(name, backwards=turned))) for turned in (False, True))
    assert forwards == backwards


def test_every_scenario_is_recorded_and_every_recording_has_its_scenario() -> None:
    assert sorted(SCENARIOS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_is_what_the_scenario_says(name: str) -> None:
    """The truth beside a recording is not edited by hand."""
    scenario, kept = SCENARIOS[name], files.truth_of(name)
    for truths, recorded in ((scenario.gangs, kept["gangs"]), (scenario.pods, kept["pods"])):
        assert [(t["state"], t["cause"], t["facts"], t["orElse"]) for t in recorded.values()] == [
            (t.state, t.cause, dict(t.facts), list(t.or_else)) for t in sorted_as_kept(truths, recorded)
        ]
    assert (kept["why"], kept["fix"]) == (scenario.why, [step.text for step in scenario.fix])


def sorted_as_kept(truths: Any, recorded: Any) -> list[Any]:
    """The truths in the order of the recorded names, of which those of a Job's group end in letters of their own."""
    return [truths[next(n for n in truths if key.partition("/")[2].startswith(n))] for key in recorded]


UNPROVEN = ("no-scheduler", "no-scheduler-and-no-devices", "volume-that-is-not-there")
"""Where the trouble is that something does not run here at all, it cannot be taken away."""


def test_the_scheduler_has_proven_every_other_truth() -> None:
    waiting = [s for s in SCENARIOS.values() if s.waiting and s.name not in UNPROVEN]
    assert len(waiting) > 90
    assert [s.name for s in waiting if not s.fix] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_recording_is_read_without_a_loss(name: str) -> None:
    recording = Recording(files.recording_of(name))
    assert list(recording.frames())
    assert not [note for note in recording.notes if "does not show" not in note]


def test_the_states_are_ktuis() -> None:
    states = {truth.state for s in SCENARIOS.values() for truth in (*s.gangs.values(), *s.pods.values())}
    assert states <= set(get_args(GangState))


_OF_OTHERS = ("QueueUnavailable",)  # of Kueue and Volcano, which these clusters do not have


@pytest.mark.parametrize("cause", [cause for cause in get_args(Cause) if cause not in _OF_OTHERS])
def test_every_cause_is_there_twice(cause: str) -> None:
    count = Counter(t.cause for s in SCENARIOS.values() for t in (*s.gangs.values(), *s.pods.values()))
    assert count[cause] >= 2


@pytest.mark.parametrize(
    ("state", "cause", "facts", "verdict"),
    [
        ("Pending", "NotEnoughDevices", {"need": 4, "free": 1, "more": 0}, "right"),
        ("Pending", "WaitingForPods", {}, "undecided"),
        ("Pending", "Unexplained", {}, "undecided"),
        ("Pending", "NotEnoughDevices", {"need": 4}, "undecided"),
        ("Pending", "NotEnoughDevices", {"need": 4, "free": 2}, "wrong"),
        ("Pending", "Queued", {}, "wrong"),
        ("Pending", None, {}, "wrong"),
        ("Degraded", "NotEnoughDevices", {"need": 4, "free": 1}, "wrong"),
    ],
)
def test_what_counts_as_wrong(state: Any, cause: Any, facts: dict[str, object], verdict: str) -> None:
    truth = {
        "state": "Pending",
        "cause": "NotEnoughDevices",
        "facts": {"need": 4, "free": 1},
        "orElse": ["WaitingForPods"],
    }
    assert judge(truth, Diagnosis(state, cause, "", facts)) == verdict

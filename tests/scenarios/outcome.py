"""What ktui says of each gang of a scenario, beside what is true: right, not decided, or wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ktui.cluster.gangs import gang
from ktui.cluster.state import Cluster
from ktui.diagnose.diagnosis import Diagnosis
from ktui.diagnose.gang import diagnose
from ktui.diagnose.pods import diagnose_pod
from ktui.diagnose.supply import Supply
from ktui.model.frame import Frame, Listed
from ktui.recording.reader import Recording
from tests.scenarios import files

Json = dict[str, Any]
Verdict = Literal["right", "undecided", "wrong"]


class Outcome(NamedTuple):
    """One gang, or pod outside gangs, of one scenario. `truth` has state, cause, facts, orElse and words."""

    scenario: str
    gang: str
    truth: Json
    answer: Diagnosis
    kind: Literal["gang", "pod"] = "gang"

    @property
    def verdict(self) -> Verdict:
        return judge(self.truth, self.answer)

    def __str__(self) -> str:
        true = f"{self.truth['state']} {self.truth['cause']} {self.truth['facts']}"
        said = f"{self.answer.state} {self.answer.cause} {self.answer.facts}: {self.answer.message}"
        return f"{self.scenario} {self.gang} is {self.verdict}\n  true: {true}\n  ktui: {said}\n  scheduler: " + (
            " | ".join(self.truth["words"]) or "nothing"
        )


def judge(truth: Json, answer: Diagnosis) -> Verdict:
    """A wrong state, cause or fact is wrong. Undecided is no cause where there is one, a fact that is not there, or a cause that
    is true and says less."""
    if answer.state != truth["state"]:
        return "wrong"
    if answer.cause != truth["cause"]:
        return "undecided" if answer.cause in ("Unexplained", *truth["orElse"]) else "wrong"
    facts = [answer.facts.get(key) == value for key, value in truth["facts"].items() if key in answer.facts]
    if not all(facts):
        return "wrong"
    return "right" if len(facts) == len(truth["facts"]) else "undecided"


def cluster_of(scenario: str, where: Path = files.DIRECTORY, *, backwards: bool = False) -> Cluster:
    """The state that a scenario's recording holds; `backwards` gives it the lists, and what is in them, in the other order."""
    frames = [timed.frame for timed in Recording(files.recording_of(scenario, where)).frames()]
    if backwards:
        frames = [_turned(frame) for frame in reversed(frames)]
    cluster = Cluster()
    for frame in frames:
        cluster.apply(frame)
    return cluster


def _turned(frame: Frame) -> Frame:
    if isinstance(frame, Listed):
        return Listed(frame.source, frame.resource_version, frame.items[::-1], frame.epoch)
    return frame


def outcomes(scenario: str, where: Path = files.DIRECTORY, *, backwards: bool = False) -> Iterator[Outcome]:
    """One for each gang, and each pod outside gangs, whose truth is known."""
    cluster = cluster_of(scenario, where, backwards=backwards)
    truths = files.truth_of(scenario, where)
    for name, truth in truths["gangs"].items():
        namespace, _, own = name.partition("/")
        found = gang(cluster, (namespace, own))
        assert found is not None, f"{scenario}: {name} is not in the recording"
        yield Outcome(scenario, name, truth, diagnose(cluster, found))
    for name, truth in truths["pods"].items():
        namespace, _, own = name.partition("/")
        pod = cluster.pod((namespace, own))
        assert pod is not None, f"{scenario}: {name} is not in the recording"
        yield Outcome(scenario, name, truth, diagnose_pod(Supply(cluster), pod), "pod")

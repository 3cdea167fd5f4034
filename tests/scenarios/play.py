"""Play a scenario on a control plane: make it, record it, and prove that what is said of it is true."""

from __future__ import annotations

from functools import partial
from typing import Any, Final, NamedTuple

from tests.cluster.controlplane.cluster import ControlPlane
from tests.scenarios import files
from tests.scenarios.scenario import Scenario, Truth
from tests.scenarios.stage import Stage

Json = dict[str, Any]

_NEVER_TRIED: Final = frozenset(
    {"WaitingForPods", "GroupMissing", "Gated", "ClaimNotCreated", "NoScheduler", "Queued", "QuotaExceeded"}
)
_AGAIN: Final = "again-"


class Played(NamedTuple):
    """The recording, unpacked, and the truth as it goes beside it."""

    recording: bytes
    truth: Json


def play(plane: ControlPlane, scenario: Scenario) -> Played:
    """Plays it to its end and clears up. Raises AssertionError when the cluster does not do what the scenario says."""
    stage = Stage(plane, scenario.namespace)
    try:
        return _play(stage, scenario)
    finally:
        stage.clear()


def _play(stage: Stage, scenario: Scenario) -> Played:
    stage.prepare()
    stage.create(scenario.world)
    stage.until_nodes_are_ready()
    stage.create(scenario.occupants)
    stage.until_all_run(scenario.occupants)
    if scenario.frozen:
        stage.stop_scheduler()
    stage.create(scenario.subjects)
    _settle(stage, scenario)
    if scenario.later:
        scenario.later(stage)
    truth = _truth(stage, scenario)
    recording = files.snapshot(stage.api, scenario.name)
    _prove(stage, scenario)
    return Played(recording, truth)


def _settle(stage: Stage, scenario: Scenario) -> None:
    """Until the scheduler has said what it has to say of everything whose trouble is known."""
    stage.until_heard()
    if stage.stopped:
        return
    for name, truth in (*scenario.gangs.items(), *scenario.pods.items()):
        if truth.cause is None or truth.state == "Degraded":
            stage.until(partial(stage.runs, name), f"{name} to run")
        elif truth.cause not in _NEVER_TRIED:
            stage.until(partial(stage.refused, name), f"{name} to be refused")


def _prove(stage: Stage, scenario: Scenario) -> None:
    for step in scenario.herrings:
        step.act(stage)
        _still_waits(stage, scenario)
    if not scenario.fix:
        return
    if stage.stopped:
        stage.continue_scheduler()
    for step in scenario.fix:
        step.act(stage)
    for name in scenario.waiting:
        stage.until(partial(stage.runs, name), f"{name} to run after: {scenario.fix[-1].text}", limit=90)


def _still_waits(stage: Stage, scenario: Scenario) -> None:
    """A new copy of each gang, which the scheduler tries at once, fares no better than the gang itself."""
    for name, truth in scenario.gangs.items():
        if truth.cause is None:
            continue
        copies = [_renamed(item, name) for item in scenario.subjects if _belongs(item, name)]
        stage.create(copies)
        stage.until_heard()
        if truth.cause not in _NEVER_TRIED:
            stage.until(partial(stage.refused, _AGAIN + name), f"the copy of {name} to be refused")
        assert not stage.runs(_AGAIN + name), f"the copy of {name} runs, though only a look-alike was taken away"
        assert not stage.runs(name), f"{name} runs, though only a look-alike was taken away"
        for item in copies:
            stage.delete(item["apiVersion"], item["kind"], item["metadata"]["name"])


def _belongs(item: Json, gang: str) -> bool:
    if item["kind"] == "PodGroup":
        return bool(item["metadata"]["name"] == gang)
    return item["kind"] == "Pod" and bool(item["spec"].get("schedulingGroup", {}).get("podGroupName") == gang)


def _renamed(item: Json, gang: str) -> Json:
    made = item | {"metadata": item["metadata"] | {"name": _AGAIN + item["metadata"]["name"]}}
    if item["kind"] == "Pod":
        made["spec"] = item["spec"] | {"schedulingGroup": {"podGroupName": _AGAIN + gang}}
    return made


def _truth(stage: Stage, scenario: Scenario) -> Json:
    def of(names: Any) -> Json:
        return {f"{stage.namespace}/{_known_as(stage, name)}": _as_json(stage, name, t) for name, t in names.items()}

    return {
        "why": scenario.why,
        "gangs": of(scenario.gangs),
        "pods": of(scenario.pods),
        "herrings": [step.text for step in scenario.herrings],
        "fix": [step.text for step in scenario.fix],
    }


def _known_as(stage: Stage, name: str) -> str:
    found = stage.group(name)
    return str(found["metadata"]["name"]) if found else name


def _as_json(stage: Stage, name: str, truth: Truth) -> Json:
    return {
        "state": truth.state,
        "cause": truth.cause,
        "facts": dict(truth.facts),
        "orElse": list(truth.or_else),
        "words": sorted(set(stage.words(name))),
    }

"""Before a taint is removed, ktui names the gangs that the real scheduler then placed, and nobody whom it did not help."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from ktui.cluster.gangs import gang
from ktui.cluster.state import Cluster
from ktui.diagnose.blast import gangs_helped
from ktui.model.taintrule import DeviceTaintRule
from tests.scenarios.definitions import SCENARIOS
from tests.scenarios.outcome import cluster_of
from tests.scenarios.scenario import Step

_UNTAINT = re.compile(r"the rule (\S+) is deleted\Z")


def _untainted(steps: tuple[Step, ...]) -> Iterator[str]:
    """The rules that the steps take away."""
    return (found[1] for step in steps if (found := _UNTAINT.match(step.text)))


def _helped(cluster: Cluster, name: str) -> set[str]:
    """By name, the gangs that are helped when the rule goes from a device of which it is the rule."""
    rule = cluster.stores["DeviceTaintRule"].get(("", name))
    assert isinstance(rule, DeviceTaintRule)
    return {key[1] for device in cluster.devices_of_rule(rule) for key in gangs_helped(cluster, device, name)}


def _one_device(scenario: str, name: str) -> bool:
    rule = cluster_of(scenario).stores["DeviceTaintRule"].get(("", name))
    return isinstance(rule, DeviceTaintRule) and rule.exact is not None


HELPFUL = [
    (name, rule)
    for name, scenario in SCENARIOS.items()
    if len(scenario.fix) == 1
    for rule in _untainted(scenario.fix)
    if _one_device(name, rule)
]
USELESS = [(name, rule) for name, scenario in SCENARIOS.items() for rule in _untainted(scenario.herrings[:1])]


@pytest.mark.parametrize(("scenario", "rule"), HELPFUL)
def test_the_gangs_that_were_then_placed_are_named(scenario: str, rule: str) -> None:
    cluster = cluster_of(scenario)
    gangs = {name for name in SCENARIOS[scenario].waiting if gang(cluster, (SCENARIOS[scenario].namespace, name))}
    assert _helped(cluster, rule) >= gangs


@pytest.mark.parametrize(("scenario", "rule"), USELESS)
def test_nobody_is_named_whom_it_did_not_help(scenario: str, rule: str) -> None:
    assert not _helped(cluster_of(scenario), rule) & set(SCENARIOS[scenario].gangs)


def test_there_are_some_of_both() -> None:
    assert HELPFUL
    assert len(USELESS) >= 5

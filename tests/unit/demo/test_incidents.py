"""Guided incidents: every hint fits the narrowest screen, and the guide goes forward as the state does."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.demo.incidents import INCIDENTS, Guide, Incident, Step


@pytest.mark.parametrize("name", INCIDENTS)
def test_hints_fit_eighty_columns(name: str) -> None:
    incident = INCIDENTS[name]
    steps = len(incident.steps)
    lines = [f"{number}/{steps} {step.hint}" for number, step in enumerate(incident.steps, 1)]
    assert [line for line in [*lines, incident.end] if len(line) > 78] == []


@pytest.mark.parametrize("name", INCIDENTS)
def test_it_begins_with_the_first_step_whatever_has_been_read(name: str) -> None:
    assert Guide(INCIDENTS[name]).hint(Cluster(), "", False).startswith("1/")


def test_the_guide_passes_what_is_done_and_never_goes_back() -> None:
    steps = (Step("open it", lambda scene: scene.opened), Step("pods", lambda scene: scene.view == "pods"))
    guide = Guide(Incident(steps, "done"))
    cluster = Cluster()
    assert guide.hint(cluster, "pods", False) == "1/2 open it"
    assert guide.hint(cluster, "gangs", True) == "2/2 pods"
    assert guide.hint(cluster, "gangs", False) == "2/2 pods"
    assert guide.hint(cluster, "pods", False) == "done"
    assert guide.hint(cluster, "gangs", False) == "done"

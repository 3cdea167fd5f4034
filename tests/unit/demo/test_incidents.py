"""Guided incidents: every hint fits the narrowest screen, and the guide goes forward as the state does."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.demo.incidents import INCIDENTS, Guide, Incident, Step
from ktui.ui.commands import VIEW_NUMBERS


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


def test_who_is_elsewhere_is_told_the_way() -> None:
    step = Step("T: taint it", lambda scene: False, ("devices",))
    guide = Guide(Incident((step,), "done"))
    cluster = Cluster()
    assert guide.hint(cluster, "devices", False) == "1/1 T: taint it"
    assert guide.hint(cluster, "gangs", False) == "1/1 3: to the devices"
    assert guide.hint(cluster, "gangs", True) == "1/1 esc, 3: to the devices"


@pytest.mark.parametrize(
    "view", {view for incident in INCIDENTS.values() for step in incident.steps for view in step.views}
)
def test_the_way_is_the_key_of_the_view(view: str) -> None:
    guide = Guide(Incident((Step("there", lambda scene: False, (view,)),), "done"))
    assert guide.hint(Cluster(), "elsewhere", False).startswith(f"1/1 {VIEW_NUMBERS[view]}: ")

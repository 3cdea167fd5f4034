"""A few scenarios, played anew: the real scheduler and the real eviction controller still do what is kept of them, and ktui
reads the cluster as it is now rightly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.controlplane.cluster import ControlPlane
from tests.scenarios import eviction, files, outcome, play
from tests.scenarios.definitions import EVICTIONS, SCENARIOS
from tests.scenarios.test_evictions import foretold


@pytest.fixture(scope="module")
def plane(control_plane_binaries: Path) -> Iterator[ControlPlane]:
    """Without the usual nodes and devices, on which gangs that should wait would find a place."""
    with ControlPlane(control_plane_binaries) as running:
        yield running


@pytest.mark.parametrize(
    "name",
    [
        "gated-and-too-few-devices",
        "queued-scheduler-stands-still",
        "selectors-that-match-some",
        "taint-and-the-rest-is-taken",
        "pool-in-the-middle-of-an-upgrade",
        "cpu-and-a-small-tainted-node",
    ],
)
def test_ktui_is_right_about_the_real_cluster(name: str, plane: ControlPlane, tmp_path: Path) -> None:
    played = play.play(plane, SCENARIOS[name])
    files.write(name, played.recording, played.truth, tmp_path)
    found = list(outcome.outcomes(name, tmp_path))
    assert found
    assert not [str(one) for one in found if one.verdict != "right"]


@pytest.mark.parametrize("name", ["tolerated-for-a-while", "claim-of-a-gang"])
def test_ktui_names_the_pods_that_are_then_evicted(name: str, plane: ControlPlane, tmp_path: Path) -> None:
    played = eviction.play(plane, EVICTIONS[name])
    files.write(name, played.recording, played.truth, tmp_path)
    cluster = outcome.cluster_of(name, tmp_path)
    blast = foretold(cluster, played.truth["device"], played.truth["taint"])
    assert {"/".join(hit.key): hit.after for hit in blast.deleted} == played.truth["evicted"]

"""Before a taint, ktui names the pods that the real eviction controller then deleted, and how long each of them has."""

from __future__ import annotations

import pytest

from ktui.cluster.state import Cluster
from ktui.diagnose.blast import Blast, blast_of_taint
from ktui.model.resourceslice import DeviceTaint
from tests.scenarios import files
from tests.scenarios.definitions import EVICTIONS
from tests.scenarios.outcome import cluster_of

NAMES = files.names(files.EVICTIONS)


def foretold(cluster: Cluster, device: list[str], taint: dict[str, str]) -> Blast:
    driver, pool, name = device
    return blast_of_taint(cluster, (driver, pool, name), DeviceTaint(**taint))


@pytest.mark.parametrize("name", NAMES)
def test_exactly_those_pods_are_named(name: str) -> None:
    truth = files.truth_of(name, files.EVICTIONS)
    cluster = cluster_of(name, files.EVICTIONS)
    blast = foretold(cluster, truth["device"], truth["taint"])
    named = {"/".join(hit.key): hit.after for hit in blast.deleted}
    assert named == truth["evicted"], truth["why"]


def test_every_eviction_is_recorded_and_every_recording_has_its_eviction() -> None:
    assert sorted(EVICTIONS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_is_recorded_is_what_the_eviction_says(name: str) -> None:
    eviction, kept = EVICTIONS[name], files.truth_of(name, files.EVICTIONS)
    evicted = {f"{eviction.namespace}/{pod}": after for pod, after in eviction.evicted.items()}
    assert (kept["why"], kept["taint"], kept["evicted"]) == (eviction.why, eviction.taint, evicted)


@pytest.mark.parametrize("name", ["tolerated-for-ever", "no-schedule"])
def test_nobody_goes_and_somebody_had_the_device(name: str) -> None:
    """So that an empty list is not empty because nobody was looked at."""
    truth = files.truth_of(name, files.EVICTIONS)
    harder = {"key": "fault.example.com/fire", "effect": "NoExecute"}
    assert foretold(cluster_of(name, files.EVICTIONS), truth["device"], harder).deleted

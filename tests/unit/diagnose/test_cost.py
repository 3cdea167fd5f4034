"""What a change costs does not depend on how large the cluster is: calls are counted, not time."""

from __future__ import annotations

import cProfile
import pstats

import pytest

from ktui.cluster.gangs import gang_keys
from ktui.diagnose.diagnoses import Diagnoses
from ktui.model.frame import Frame
from tests.bench.diagnosis import DRIVER, fleet
from tests.unit import builders as b

TAINT = b.rule("sick", {"driver": DRIVER, "pool": "n3", "device": "d7"})
CLAIM = b.claim("late", [b.result("d7", pool="n3")], namespace="busy")


def calls_for(nodes: int, *frames: Frame) -> list[int]:
    """Calls that each change costs until all diagnoses are right again."""
    cluster = fleet(nodes, pending=8)
    diagnoses = Diagnoses(cluster)
    for key in gang_keys(cluster):
        diagnoses.of(key)
    found = []
    for frame in frames:
        profile = cProfile.Profile()
        profile.enable()
        cluster.apply(frame)
        for key in diagnoses.take_stale():
            diagnoses.of(key)
        profile.disable()
        found.append(int(pstats.Stats(profile).total_calls))  # type: ignore[attr-defined]  # missing in the stubs
    return found


@pytest.mark.parametrize(
    "change",
    [
        pytest.param((b.added(TAINT), b.deleted(TAINT)), id="a taint"),
        pytest.param((b.added(CLAIM), b.deleted(CLAIM)), id="a claim"),
    ],
)
def test_a_change_costs_the_same_in_a_fleet_ten_times_as_large(change: tuple[Frame, Frame]) -> None:
    small = calls_for(100, *change, *change)
    large = calls_for(1000, *change, *change)
    # The first round makes rooms that were not there before.
    for few, many in zip(small[2:], large[2:], strict=True):
        assert many <= few * 1.2 + 50

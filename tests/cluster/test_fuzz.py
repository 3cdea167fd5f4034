"""Two random worlds: what ktui says of every gang's place is what the scheduler does. `python -m tests.fuzz` plays many."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.controlplane.cluster import ControlPlane
from tests.fuzz.play import Player
from tests.fuzz.worlds import world


def test_ktui_and_the_scheduler_agree(control_plane_binaries: Path, tmp_path: Path) -> None:
    with ControlPlane(control_plane_binaries) as plane:
        found = [compared for seed in (205, 208) for compared in Player(plane, world(seed), tmp_path).play()]
    assert len(found) > 15
    assert any(compared.runs for compared in found)
    assert not all(compared.runs for compared in found)
    assert [str(compared) for compared in found if not compared.agrees] == []

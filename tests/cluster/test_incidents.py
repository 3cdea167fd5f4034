"""The script of the shipped recordings still works: each incident can be played again, and happens in the same order."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ktui.model.frame import Mark
from ktui.recording.reader import Recording
from recordings import incidents, make
from tests.recordings import PATHS


def happened(path: Path) -> list[str]:
    """The marks, without the names of nodes and devices, which the scheduler chooses anew."""
    texts = [timed.frame.text for timed in Recording(path).frames() if isinstance(timed.frame, Mark)]
    return [re.sub(r"node-\d(/gpu-\d)?", "NODE", text) for text in texts]


@pytest.mark.parametrize("name", incidents.INCIDENTS)
def test_it_can_be_recorded_again(
    name: str, control_plane_binaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(incidents, "LOOK", 0.0)
    made = make.make(name, incidents.INCIDENTS[name], control_plane_binaries, tmp_path)
    assert happened(made) == happened(PATHS[name])
    assert not Recording(made).notes

"""What is done about programs that do not work: it is told of, and the others have their turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.comparison import Comparison, Place
from tests.bench.gateway import Counts, Gateway, Server
from tests.bench.lives import Pace
from tests.bench.programs import Cluster


class Nobody(Gateway):
    """A gateway to nothing."""

    def __init__(self) -> None:
        pass

    def counts(self) -> Counts:
        return Counts()


def test_what_cannot_be_measured_is_one_line_each_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "kubectl"
    broken.write_text("#!/bin/sh\necho cannot\nexit 3\n")
    broken.chmod(0o755)
    cluster = Cluster(tmp_path / "none", Server("https://127.0.0.1:1", "c", "k", str(tmp_path / "none"), "token"), 8)
    told: list[str] = []
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    comparison = Comparison(
        tmp_path / "no-ktui", tmp_path, Place(cluster, cluster, Nobody(), 1.0), Pace(), told.append, peers=True
    )
    comparison.run()
    assert [failure.partition(":")[0] for failure in comparison.failures] == [line.replace(": ", ", ") for line in told]
    assert {"ktui, quiet", "floor, quiet", "kubectl, quiet", "kubectl, get"} <= {
        failure.partition(":")[0] for failure in comparison.failures
    }
    assert not any("\n" in failure for failure in comparison.failures)
    assert any("ended with status 3" in failure for failure in comparison.failures)
    assert not any(comparison.results.values())

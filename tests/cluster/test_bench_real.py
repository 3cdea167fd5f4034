"""The benchmark as a whole, in miniature: a small fleet on the real API server, one short turn of ktui and the floor."""

from __future__ import annotations

from pathlib import Path

from tests.bench import subject, table
from tests.bench.comparison import Comparison, filled
from tests.bench.lives import Pace
from tests.cluster.controlplane.cluster import ControlPlane

_OF_KTUI_ALONE = {"first gangs", "idle bytes", "get pods", "version"}


def test_every_line_of_the_table_has_its_figures(control_plane_binaries: Path, tmp_path: Path) -> None:
    pace = Pace(settle=0.5, idle=1.0, storm=0.3, keys=3, rates=(200,))
    with ControlPlane(control_plane_binaries) as plane, filled(plane, 50, tmp_path) as place:
        assert place.direct.pods == 56
        assert len(plane.api().list("/api/v1/pods")) == 56
        comparison = Comparison(subject.checkout(), tmp_path, place, pace, lambda _: None, peers=False)
        comparison.run()
    assert comparison.failures == []
    assert list(comparison.results) == ["ktui", "floor"]
    keys = {line.key for line in table.lines(pace.rates)}
    ktui, floor = comparison.results["ktui"], comparison.results["floor"]
    assert set(ktui) == keys
    assert set(floor) == keys - _OF_KTUI_ALONE
    for samples in (ktui, floor):
        assert len(samples["keys"]) == len(samples["keys at 200"]) == 2 * pace.keys
        assert samples["events at 200"][0] > 0
        assert 0 < samples["first byte"][0] <= samples["first frame"][0] <= samples["first rows"][0]
        assert samples["first rows"][0] <= samples["all pods"][0] <= samples["joined"][0]
        assert 0 < samples["settled"][0] < samples["peak"][0]
    assert floor["asked bytes"][0] * 2**20 > 56 * 1_000  # a pod is more than a kilobyte
    assert 0 < ktui["asked bytes"][0] < floor["asked bytes"][0] / 2  # its lists come compressed
    assert 4 <= floor["requests"][0] <= 5  # four lists, and the watch if it had begun
    assert ktui["requests"][0] > 5

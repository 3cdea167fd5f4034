"""Events of everything behind a row."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.model.event import Event
from ktui.model.meta import Object
from ktui.views.events import events_behind
from ktui.views.registry import VIEWS
from tests.recordings import cluster_at
from tests.unit import builders as b

NOW = 1796018049.0


def event(name: str, about: Object, when: str, **more: Any) -> Event:
    document = {
        "metadata": {"name": name, "namespace": "ml", "uid": f"uid-{name}"},
        "involvedObject": {"uid": about.metadata.uid, "kind": type(about).__name__, "name": about.name},
        "lastTimestamp": when,
        **more,
    }
    return b.make(Event, document)


def texts(cluster: Cluster, view: Any, key: Any) -> list[str]:
    return ["".join(cell.text for cell in line) for line in events_behind(cluster, view, key, NOW)]


def test_a_gangs_events_are_its_pods_newest_first() -> None:
    first, second = b.pod("a", group="g"), b.pod("b", group="g")
    other = b.pod("c")
    cluster = b.cluster_of(
        b.group("g", 2),
        first,
        second,
        other,
        event("e1", first, "2026-11-30T05:54:00Z", reason="Scheduled", message="on n1"),
        event("e2", second, "2026-11-30T05:54:05Z", reason="FailedScheduling", type="Warning", count=3),
        event("e3", other, "2026-11-30T05:54:06Z", reason="Elsewhere"),
    )
    newest, oldest = texts(cluster, "gangs", ("ml", "g"))
    assert "FailedScheduling" in newest
    assert "x3" in newest
    assert "Pod b" in newest
    assert "Scheduled  on n1  Pod a" in oldest


@pytest.mark.parametrize("view", VIEWS)
def test_every_row_of_a_recording_has_an_answer(view: Any) -> None:
    cluster, now = cluster_at("xid79", 40)
    for key in VIEWS[view].keys(cluster):
        events_behind(cluster, view, key, now)


def test_a_recorded_gang_tells_where_its_pods_went() -> None:
    cluster, _ = cluster_at("xid79", 30)
    gang = next(key for key in VIEWS["gangs"].keys(cluster) if key[1].startswith("llm-train"))  # type: ignore[index]
    assert any("Scheduled" in line and "node-" in line for line in texts(cluster, "gangs", gang))

"""QoS classes, as the API server sorts pods."""

from __future__ import annotations

from typing import Any

import pytest

from ktui.model.podqos import qos_class
from tests.unit import builders as b

FULL = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "1000m", "memory": "1024Mi"}}
SOME = {"requests": {"cpu": "1"}}
GPU = {"requests": {"example.com/gpu": "1"}, "limits": {"example.com/gpu": "1"}}


def sorted_as(*resources: Any, init: tuple[Any, ...] = (), **more: Any) -> str:
    spec = {
        "containers": [{"name": f"c{i}", "resources": each} for i, each in enumerate(resources)],
        "initContainers": [{"name": f"i{i}", "resources": each} for i, each in enumerate(init)],
        **more.get("spec", {}),
    }
    return qos_class(b.pod("p", spec=spec, status=more.get("status")))


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        pytest.param([None], "BestEffort", id="nothing"),
        pytest.param([{}], "BestEffort", id="empty"),
        pytest.param([{"requests": None, "limits": None}], "BestEffort", id="nulls"),
        pytest.param([GPU], "BestEffort", id="extended resources do not count"),
        pytest.param([{"requests": {"cpu": "0"}}], "BestEffort", id="zero is nothing"),
        pytest.param([FULL], "Guaranteed", id="equal amounts, written in two ways"),
        pytest.param([FULL, FULL], "Guaranteed", id="all of them"),
        pytest.param([SOME], "Burstable", id="no limit"),
        pytest.param([{"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}], "Burstable", id="no memory"),
        pytest.param([FULL, None], "Burstable", id="one without"),
    ],
)
def test_classes_of_containers(resources: list[Any], expected: str) -> None:
    assert sorted_as(*resources) == expected


def test_init_containers_count() -> None:
    assert sorted_as(FULL, init=(SOME,)) == "Burstable"
    assert sorted_as(FULL, init=(FULL,)) == "Guaranteed"


def test_what_the_pod_asks_for_as_a_whole_decides_alone() -> None:
    assert sorted_as(None, spec={"resources": FULL}) == "Guaranteed"
    assert sorted_as(FULL, spec={"resources": SOME}) == "Burstable"
    assert sorted_as(FULL, spec={"resources": {}}) == "Guaranteed"


def test_what_the_api_server_noted_comes_first() -> None:
    assert sorted_as(FULL, status={"qosClass": "Burstable"}) == "Burstable"
    assert sorted_as(FULL, status={"qosClass": "Novel"}) == "Novel"

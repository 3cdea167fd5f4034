"""An autoscaler on the real control plane, up, held up, asleep, awake, and paused by hand: `ktui get` says each."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Final

import pytest

from ktui.cli import main
from ktui.model.time import parse_time
from tests.cluster import objects
from tests.cluster.controlplane.api import Json, wait_for
from tests.cluster.controlplane.cluster import ControlPlane
from tests.cluster.externalmetrics import ExternalMetrics

WINDOW: Final = 600


def test_from_work_to_sleep_and_back(
    real_cluster: ControlPlane, fresh_namespace: str, capsys: pytest.CaptureFixture[str]
) -> None:
    api = real_cluster.api()
    scalers = f"/apis/autoscaling/v2/namespaces/{fresh_namespace}/horizontalpodautoscalers"

    def look() -> Json:
        where = ["-n", fresh_namespace, "--kubeconfig", str(real_cluster.kubeconfig)]
        assert main(["get", "autoscalers", "chat", "-o", "json", *where]) == 0
        (item,) = json.loads(capsys.readouterr().out)["items"]
        assert isinstance(item, dict)
        return item

    def until(is_so: Callable[[Json], bool], what: str) -> Json:
        wait_for(lambda: is_so(look()), what, limit=120)
        return look()

    def behave(**rules: Any) -> None:
        api.patch(f"{scalers}/chat", {"spec": {"behavior": {"scaleDown": rules}}})

    with ExternalMetrics(api, real_cluster.access.serving) as metrics:
        metrics.value = 15
        api.create(objects.deployment(fresh_namespace, "chat", 1))
        api.create(objects.autoscaler(fresh_namespace, "chat", min_replicas=0, external=True, calm=WINDOW))

        up = until(lambda item: bool(item["sleepsNotBefore"]), "the time before which it cannot sleep")
        assert (up["currentReplicas"], up["state"], up["sleepObstacle"]) == (2, "active", None)
        assert parse_time(up["sleepsNotBefore"]) == (parse_time(up["lastScaleTime"]) or 0) + WINDOW
        assert up["behavior"]["scaleDown"]["stabilizationWindowSeconds"] == WINDOW
        assert up["behavior"]["scaleDown"]["policies"] == [{"type": "Percent", "value": 100, "periodSeconds": 15}]
        (metric,) = up["metrics"]
        assert (metric["current"]["averageValue"], metric["target"]["averageValue"]) == ("7500m", "10")

        metrics.value = 0
        held = until(lambda item: bool(item["heldBack"]), "the window to hold it up")
        assert held["heldBack"]["reason"] == "ScaleDownStabilized"
        assert held["currentReplicas"] == 2

        behave(selectPolicy="Disabled", stabilizationWindowSeconds=0)
        assert look()["sleepObstacle"] == "disabled"
        behave(selectPolicy="Max", stabilizationWindowSeconds=0)
        asleep = until(lambda item: item["state"] == "asleep", "it to fall asleep")
        assert (asleep["currentReplicas"], asleep["sleepObstacle"], asleep["sleepsNotBefore"]) == (0, None, None)

        metrics.value = 5
        until(lambda item: item["state"] == "active" and item["currentReplicas"] == 1, "it to wake")

        deployment = f"/apis/apps/v1/namespaces/{fresh_namespace}/deployments/chat"
        api.patch(deployment, {"spec": {"replicas": 0}})
        paused = until(lambda item: item["state"] == "paused", "the controller to leave it at 0")
        assert paused["sleepObstacle"] == "paused"

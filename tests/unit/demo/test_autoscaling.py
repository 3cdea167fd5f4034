"""The demo's autoscaler: every External metric counts, and one that cannot be read never lets it scale down."""

from __future__ import annotations

import pytest

from ktui.demo import objects
from ktui.demo.controllers.autoscaling import AutoscalerController, proposal
from ktui.demo.mvcc import JSON
from tests.unit.demo.world import NOW, World, until


def external(name: str, **target: str) -> JSON:
    return {"metric": {"name": name}, "target": target}


@pytest.mark.parametrize(
    ("target", "queue", "current", "ready", "replicas"),
    [
        ({"averageValue": "10"}, 24, 1, 1, 3),
        ({"averageValue": "10"}, 0, 2, 2, 0),
        ({"averageValue": "500m"}, 2, 1, 1, 4),
        ({"value": "10"}, 20, 3, 3, 6),
        ({"value": "10"}, 20, 0, 0, 2),
        ({"value": "1k"}, 500, 4, 4, 2),
    ],
)
def test_what_one_metric_calls_for(target: JSON, queue: int, current: int, ready: int, replicas: int) -> None:
    assert proposal(external("queue", **target), queue, current, ready).replicas == replicas


def condition(world: World, type_: str) -> JSON:
    conditions = ((world.get("HorizontalPodAutoscaler", "serve") or {}).get("status") or {}).get("conditions") or ()
    found: JSON = next((each for each in conditions if each["type"] == type_), {})
    return found


def scaled(*metrics: JSON, replicas: int, calm: int = 0) -> World:
    world = World()
    deployment = objects.deployment("ml", "serve", NOW, replicas=replicas, spec=objects.pod_spec("serve"))
    world.database.put("Deployment", ("ml", "serve"), deployment)
    hpa = objects.autoscaler("ml", "serve", NOW, lowest=1, highest=9, per_replica=1, calm=calm)
    listed = [{"type": "External", "external": each} for each in metrics]
    world.database.put("HorizontalPodAutoscaler", ("ml", "serve"), {**hpa, "spec": {**hpa["spec"], "metrics": listed}})
    return world


def replicas(world: World) -> int:
    return int((world.get("Deployment", "serve") or {})["spec"]["replicas"])


async def test_the_metric_that_calls_for_most_decides() -> None:
    metrics = external("small", averageValue="10"), external("large", averageValue="10")
    world = scaled(*metrics, replicas=1)
    async with world.working(AutoscalerController(world.plane, {"small": (11,), "large": (45,)})):
        await until(lambda: replicas(world) == 5)
        await until(lambda: condition(world, "ScalingActive").get("message", "").endswith("metric large(nil)"))
    status = (world.get("HorizontalPodAutoscaler", "serve") or {})["status"]
    assert [each["external"]["metric"]["name"] for each in status["currentMetrics"]] == ["small", "large"]


async def test_with_a_metric_that_cannot_be_read_it_scales_up_but_not_down() -> None:
    metrics = external("unknown", averageValue="10"), external("queue", averageValue="10")
    down, up = scaled(*metrics, replicas=4), scaled(*metrics, replicas=1)
    async with down.working(AutoscalerController(down.plane, {"queue": (20,)})):
        await until(lambda: condition(down, "ScalingActive").get("reason") == "FailedGetExternalMetric")
    assert replicas(down) == 4
    async with up.working(AutoscalerController(up.plane, {"queue": (20,)})):
        await until(lambda: replicas(up) == 2)


async def test_metrics_take_their_values_in_turn() -> None:
    world = scaled(external("queue", averageValue="10"), replicas=1)
    async with world.working(AutoscalerController(world.plane, {"queue": (10, 30, 70)})):
        await until(lambda: replicas(world) == 3)
        await until(lambda: replicas(world) == 7)
        await until(lambda: replicas(world) == 1)


async def test_what_its_window_holds_up_is_said_and_comes_later() -> None:
    world = scaled(external("queue", averageValue="10"), replicas=4, calm=300)
    async with world.working(AutoscalerController(world.plane, {"queue": (10,)})):
        await until(lambda: condition(world, "AbleToScale").get("reason") == "ScaleDownStabilized")
        assert replicas(world) == 4
        assert "applying the highest recent recommendation" in condition(world, "AbleToScale")["message"]
        await until(lambda: replicas(world) == 1)
    assert "New size: 1; reason: All metrics below target" in world.said()


async def test_what_a_policy_or_a_limit_holds_up_is_said() -> None:
    world = scaled(external("queue", averageValue="10"), replicas=1)
    async with world.working(AutoscalerController(world.plane, {"queue": (200,)})):
        await until(lambda: condition(world, "ScalingLimited").get("reason") == "ScaleUpLimit")
        await until(lambda: replicas(world) == 9)
        await until(lambda: condition(world, "ScalingLimited").get("reason") == "TooManyReplicas")
    assert condition(world, "ScalingLimited")["status"] == "True"


@pytest.mark.parametrize("gate", [True, False])
async def test_sleep_is_told_of_where_there_is_any(gate: bool) -> None:
    world = scaled(external("queue", averageValue="10"), replicas=1)
    async with world.working(AutoscalerController(world.plane, {"queue": (30,)}, scale_to_zero=gate)):
        await until(lambda: replicas(world) == 3)
        await until(lambda: condition(world, "AbleToScale").get("reason") == "ReadyForNewScale")
    assert condition(world, "ScaledToZero").get("reason") == ("NotScaledToZero" if gate else None)


async def test_replicas_beyond_the_limits_are_brought_back_whatever_is_measured() -> None:
    world = scaled(external("unknown", averageValue="10"), replicas=30)
    async with world.working(AutoscalerController(world.plane, {})):
        await until(lambda: replicas(world) == 9)
    assert "New size: 9; reason: Current number of replicas above Spec.MaxReplicas" in world.said()

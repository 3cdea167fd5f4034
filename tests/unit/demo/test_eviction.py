"""The demo's evictions follow the rules of devices' taints (API reference, effective taints), one test a rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from ktui.demo import objects
from ktui.demo.controllers.eviction import EvictionController, due_time
from ktui.demo.controllers.kubelet import Kubelet
from ktui.demo.mvcc import JSON
from ktui.demo.plane import Plane
from tests.unit.demo.world import NODE, NOW, World, settled, until

GPU_0: JSON = {"driver": objects.DRIVER, "pool": NODE, "device": "gpu-0"}
SICK: JSON = {"key": "example.com/sick", "effect": "NoExecute", "timeAdded": NOW}
FOREVER: JSON = {"operator": "Exists", "effect": "NoExecute"}


def gone(world: World, name: str) -> bool:
    return world.get("Pod", name) is None


async def test_a_pod_that_uses_the_device_is_marked_deleted_and_gone() -> None:
    world = World()
    pod, other = world.pod("trainer", 0), world.pod("other", 1)
    seen: list[JSON] = []
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        start = world.database.revision
        world.rule("NoExecute", GPU_0)
        await until(lambda: gone(world, "trainer"))
        await until(lambda: world.rule_says()[1] == "Completed")
        seen = [change.object for change in world.database.changes("Pod", start) if change.key[1] == "trainer"]
    marked, terminating, last = seen
    (condition,) = [each for each in marked["status"]["conditions"] if each["type"] == "DisruptionTarget"]
    assert (condition["status"], condition["reason"]) == ("True", "DeletionByDeviceTaintManager")
    assert "deletionTimestamp" not in marked["metadata"]
    assert terminating["metadata"]["deletionGracePeriodSeconds"] == 30
    assert last["metadata"]["uid"] == pod["metadata"]["uid"]
    assert world.said() == ["Marking for deletion"]
    assert world.get("Pod", "other") == other


async def test_the_rule_says_what_is_to_come_and_what_was_done() -> None:
    world = World()
    world.pod("trainer", 0)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        start = world.database.revision
        world.rule("NoExecute", GPU_0)
        await until(lambda: world.rule_says()[1] == "Completed")
        said = [
            (each["status"], each["reason"], each["message"])
            for change in world.database.changes("DeviceTaintRule", start)
            for each in (change.object.get("status") or {}).get("conditions") or ()
        ]
    assert said == [
        ("True", "PodsPendingEviction", "1 pod needs to be evicted in 1 namespace."),
        ("False", "Completed", "1 pod evicted since starting the controller."),
    ]


async def test_a_taint_that_the_driver_publishes_evicts_too() -> None:
    world = World()
    world.pod("trainer", 0)
    other = world.pod("other", 1)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.slice(8, {0: SICK})
        await until(lambda: gone(world, "trainer"))
    assert world.get("Pod", "other") == other


async def test_a_taint_of_an_incomplete_pool_evicts() -> None:
    world = World()
    world.pod("trainer", 0)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.slice(8, {0: SICK}, slices=2)
        await until(lambda: gone(world, "trainer"))


async def test_a_rule_evicts_from_a_device_that_is_published_no_longer() -> None:
    world = World()
    world.pod("trainer", 7)
    world.slice(4)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.rule("NoExecute", {**GPU_0, "device": "gpu-7"})
        await until(lambda: gone(world, "trainer"))


@pytest.mark.parametrize(
    ("selector", "evicted"),
    [
        (None, set()),
        ({}, {"zero", "one"}),
        ({"device": "gpu-1"}, {"one"}),
        ({"pool": NODE}, {"zero", "one"}),
        ({"driver": objects.DRIVER, "pool": "elsewhere"}, set()),
        ({"driver": "other.example.com", "device": "gpu-0"}, set()),
    ],
)
async def test_all_fields_of_the_selector_count_and_an_absent_one_selects_nothing(
    selector: JSON | None, evicted: set[str]
) -> None:
    world = World()
    world.pod("zero", 0)
    world.pod("one", 1)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.rule("NoExecute", selector)
        await until(lambda: world.rule_says()[1] == ("Completed" if evicted else "NotStarted"))
        await until(lambda: world.names("Pod") == {"zero", "one"} - evicted)


@pytest.mark.parametrize(("effect", "reason"), [("NoSchedule", "OtherEffect"), ("None", "NoEffect")])
async def test_other_effects_evict_nobody(effect: str, reason: str) -> None:
    world = World()
    pod = world.pod("trainer", 0)
    world.pod("other", 1)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.rule(effect, GPU_0)
        await until(lambda: world.rule_says()[1] == reason)
        await settled(world)
    assert world.get("Pod", "trainer") == pod
    assert world.rule_says()[0] == "False"
    if effect == "None":
        assert world.rule_says()[2].startswith(
            "1 published device selected. 1 allocated device selected."
            " 1 pod would be evicted in 1 namespace if the effect was NoExecute."
        )


@pytest.mark.parametrize(
    ("tolerations", "stays"),
    [
        ([FOREVER], True),
        ([{"key": "example.com/sick", "operator": "Equal", "effect": "NoExecute"}], True),
        ([{"key": "example.com/other", "operator": "Exists", "effect": "NoExecute"}], False),
        ([{"operator": "Exists"}], False),  # an empty effect counts for allocations alone
        ([{"operator": "Exists", "effect": "NoSchedule"}], False),
        ([{**FOREVER, "tolerationSeconds": 0}], False),
    ],
)
async def test_only_tolerations_of_no_execute_keep_a_pod(tolerations: Sequence[JSON], stays: bool) -> None:
    world = World()
    world.pod("trainer", 0, tolerations=tolerations)
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.rule("NoExecute", GPU_0)
        if stays:
            await until(lambda: world.rule_says()[1] == "NotStarted")
            await settled(world)
        else:
            await until(lambda: gone(world, "trainer"))
    assert gone(world, "trainer") is not stays


async def test_toleration_seconds_are_waited_for_and_a_taint_lifted_in_time_evicts_nobody() -> None:
    world = World()
    pod = world.pod("trainer", 0, tolerations=[{**FOREVER, "tolerationSeconds": 3600}])
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.rule("NoExecute", GPU_0, since=now)
        await until(lambda: world.rule_says()[1] == "PodsPendingEviction")
        await settled(world)
        assert world.get("Pod", "trainer") == pod
        world.database.remove("DeviceTaintRule", ("", "rule"))
        await until(lambda: world.said() == ["Cancelling deletion"])
        world.rule("NoExecute", GPU_0, since=now)
        earlier = datetime.now(UTC) - timedelta(hours=2)
        world.rule("NoExecute", GPU_0, since=earlier.strftime("%Y-%m-%dT%H:%M:%SZ"))
        await until(lambda: gone(world, "trainer"))


async def test_the_earliest_of_several_times_counts() -> None:
    world = World()
    tolerations = [
        {"key": "example.com/sick", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 100},
        {"key": "example.com/hot", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 10},
    ]
    pod = world.pod("trainer", 0, tolerations=tolerations)
    world.rule("NoExecute", GPU_0)
    world.slice(8, {0: {**SICK, "key": "example.com/hot"}})
    eviction = EvictionController(Plane(world.database)).eviction(pod)
    since = due_time(SICK, ())
    assert eviction is not None
    assert since is not None
    assert eviction.due == since + 10
    assert len(eviction.rules) == 1


@pytest.mark.parametrize(("seconds", "late"), [(-5, 0), (0, 0), (7, 7)])
def test_negative_toleration_seconds_are_none(seconds: int, late: int) -> None:
    since = due_time(SICK, ())
    assert since is not None
    assert due_time(SICK, [{**FOREVER, "tolerationSeconds": seconds}]) == since + late


async def test_a_pod_without_a_node_and_one_that_the_claim_is_not_reserved_for_stay() -> None:
    world = World()
    world.pod("waiting", 0, node="")
    pod = world.pod("stranger", 0)
    claim = world.get("ResourceClaim", "stranger") or {}
    user = {"resource": "pods", "name": "stranger", "uid": "another"}
    world.database.put(
        "ResourceClaim", ("ml", "stranger"), {**claim, "status": {**claim["status"], "reservedFor": [user]}}
    )
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        world.rule("NoExecute", GPU_0)
        await until(lambda: world.rule_says()[1] == "NotStarted")
        await settled(world)
    assert world.get("Pod", "stranger") == pod
    assert not gone(world, "waiting")


async def test_a_claim_reserved_for_a_group_makes_its_pods_go() -> None:
    world = World()
    pod = world.pod("worker", 0)
    claim = world.get("ResourceClaim", "worker") or {}
    group = {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "gang", "uid": "g"}
    world.database.put(
        "ResourceClaim", ("ml", "worker"), {**claim, "status": {**claim["status"], "reservedFor": [group]}}
    )
    async with world.working(EvictionController(world.plane), Kubelet(world.plane)):
        grouped = {**pod, "spec": {**pod["spec"], "schedulingGroup": {"podGroupName": "gang"}}}
        world.database.put("Pod", ("ml", "worker"), grouped)
        world.rule("NoExecute", GPU_0)
        await until(lambda: gone(world, "worker"))

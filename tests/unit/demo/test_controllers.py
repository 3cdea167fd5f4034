"""Claims, owners and their garbage, terminating pods: what a change in the demo leads to."""

from __future__ import annotations

import pytest

from ktui.demo import gangs, objects
from ktui.demo.controllers.claims import ClaimController
from ktui.demo.controllers.garbage import GarbageCollector
from ktui.demo.controllers.kubelet import Kubelet
from ktui.demo.controllers.scheduler import Scheduler
from ktui.demo.controllers.workloads import DeploymentController, JobController
from ktui.demo.ledger import results
from ktui.demo.mvcc import JSON
from ktui.demo.registry import Registry
from ktui.demo.releases import RELEASES, Release
from ktui.model.kinds import KINDS
from tests.unit.demo.world import NODE, NOW, World, settled, until


def template(name: str) -> JSON:
    return objects.claim_template("ml", name, NOW, count=1)


async def test_a_claim_is_made_when_its_template_appears() -> None:
    world = World()
    spec = objects.pod_spec("train", template="gpus")
    world.database.put("Pod", ("ml", "early"), objects.pod(objects.made("early", NOW, "ml"), spec))
    async with world.working(ClaimController(world.plane)):
        await until(lambda: any('"gpus" not found' in message for message in world.said()))
        assert not world.names("ResourceClaim")
        world.database.put("ResourceClaimTemplate", ("ml", "other"), template("other"))
        world.database.put("ResourceClaimTemplate", ("ml", "gpus"), template("gpus"))
        await until(lambda: world.names("ResourceClaim"))
        pod = world.get("Pod", "early") or {}
        assert {pod["status"]["resourceClaimStatuses"][0]["resourceClaimName"]} == world.names("ResourceClaim")


@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
async def test_what_a_deleted_job_owned_goes_after_it(release: Release) -> None:
    world = World()
    job = gangs.job(release, "ml", "train", NOW, pods=2, spec=objects.pod_spec("train", template="gpus"))
    world.database.put("ResourceClaimTemplate", ("ml", "gpus"), template("gpus"))
    world.database.put("Job", ("ml", "train"), job)
    for kind, obj in gangs.written(release, "ml", "train", NOW, min_count=2, job_=job):
        world.database.put(kind, ("ml", "train"), obj)
    world.pod("bystander", 3)
    plane = world.plane
    async with world.working(JobController(plane), ClaimController(plane), GarbageCollector(plane), Kubelet(plane)):
        await until(lambda: len(world.names("Pod")) == 3 and len(world.names("ResourceClaim")) == 3)
        world.database.remove("Job", ("ml", "train"))
        await until(lambda: world.names("Pod") == {"bystander"})
        await until(lambda: world.names("ResourceClaim") == {"bystander"})
        await until(lambda: not world.names("PodGroup") and not world.names("Workload"))
    assert world.names("ResourceClaimTemplate") == {"gpus"}


async def test_a_deployment_scaled_down_lets_its_pods_terminate() -> None:
    world = World()
    deployment = objects.deployment("ml", "serve", NOW, replicas=1, spec=objects.pod_spec("serve"))
    world.database.put("Deployment", ("ml", "serve"), deployment)
    pod = objects.deployment_pod(deployment, NOW)
    key = objects.key_of(pod)
    world.database.put("Pod", key, objects.running(objects.bound(pod, NODE, NOW), NOW))
    async with world.working(DeploymentController(world.plane)):
        await settled(world)
        scaled = world.get("Deployment", "serve") or {}
        world.database.put("Deployment", ("ml", "serve"), {**scaled, "spec": {**scaled["spec"], "replicas": 0}})
        await until(lambda: "deletionTimestamp" in (world.database.get("Pod", key) or {})["metadata"])
    async with world.working(Kubelet(world.plane)):
        await until(lambda: world.database.get("Pod", key) is None)


def test_only_a_pod_that_runs_somewhere_has_a_grace_period() -> None:
    waiting = objects.pod(objects.made("p", NOW, "ml"), objects.pod_spec("train"))
    running = objects.running(objects.bound(waiting, NODE, NOW), NOW)
    assert objects.grace_period(waiting) == 0
    assert objects.grace_period(running) == 30
    assert objects.grace_period(running, 5) == 5
    assert objects.grace_period({**running, "status": {**running["status"], "phase": "Succeeded"}}) == 0
    own = {**running, "spec": {**running["spec"], "terminationGracePeriodSeconds": 60}}
    assert objects.grace_period(own) == 60
    assert objects.grace_period(own, 0) == 0
    marked = objects.marked_for_deletion(running, NOW, 30)["metadata"]
    assert (marked["deletionTimestamp"], marked["deletionGracePeriodSeconds"]) == ("2026-11-30T10:00:30Z", 30)
    assert objects.marked_for_deletion({**running, "metadata": marked}, NOW, 60)["metadata"] == marked


async def test_a_pod_deleted_through_the_api_terminates_first_unless_told_to_go_at_once() -> None:
    world = World()
    registry = Registry(world.database, kubelets=True)
    world.pod("slow", 0)
    world.pod("fast", 1)
    registry.delete(KINDS["Pod"], ("ml", "fast"), grace=0)
    last = registry.delete(KINDS["Pod"], ("ml", "slow"))
    assert last["metadata"]["deletionGracePeriodSeconds"] == 30
    assert world.names("Pod") == {"slow"}
    async with world.working(Kubelet(world.plane)):
        await until(lambda: not world.names("Pod"))


def asking(name: str, request: JSON) -> tuple[JSON, JSON]:
    """A pod and its claim, not allocated yet."""
    spec = {**objects.pod_spec("train"), "resourceClaims": [{"name": "gpu", "resourceClaimName": name}]}
    claim: JSON = {
        "metadata": objects.made(name, NOW, "ml"),
        "spec": {"devices": {"requests": [request]}},
        "status": {},
    }
    return objects.pod(objects.made(name, NOW, "ml"), spec), claim


def results_of(world: World, name: str) -> list[JSON]:
    return results(world.get("ResourceClaim", name))


async def test_alternatives_and_all_devices_are_allocated_under_their_names() -> None:
    world = World()
    kind = {"deviceClassName": objects.DEVICE_CLASS}
    tolerations = [{"operator": "Exists"}]
    alternatives = [
        {"name": "ten", "count": 10, **kind},
        {"name": "two", "count": 2, "tolerations": tolerations, **kind},
    ]
    half = {"cel": {"expression": f"device.attributes['{objects.DRIVER}'].uuid in ['GPU-node-1-6', 'GPU-node-1-7']"}}
    every = {"name": "all", "exactly": {"allocationMode": "All", "selectors": [half], **kind}}
    for pod, claim in (asking("either", {"name": "gpu", "firstAvailable": alternatives}), asking("every", every)):
        for kind_, obj in (("ResourceClaim", claim), ("Pod", pod)):
            world.database.put(kind_, objects.key_of(obj), obj)
    async with world.working(Scheduler(world.plane)):
        await until(lambda: results_of(world, "either") and results_of(world, "every"))
    assert [each["request"] for each in results_of(world, "either")] == ["gpu/two", "gpu/two"]
    assert {tuple(each["tolerations"][0]) for each in results_of(world, "either")} == {("operator",)}
    assert {(each["request"], each["device"]) for each in results_of(world, "every")} == {
        ("all", "gpu-6"),
        ("all", "gpu-7"),
    }


async def test_who_asks_for_all_is_refused_everywhere_while_half_a_pool_is_missing() -> None:
    world = World()
    world.database.put("Node", ("", "node-2"), objects.node("node-2", NOW, zone="a"))
    half = objects.resource_slice("node-2", NOW, slices=2)
    world.database.put("ResourceSlice", objects.key_of(half), half)
    every = {"name": "gpu", "exactly": {"deviceClassName": objects.DEVICE_CLASS, "allocationMode": "All"}}
    pod, claim = asking("every", every)
    world.database.put("ResourceClaim", objects.key_of(claim), claim)
    world.database.put("Pod", objects.key_of(pod), pod)
    async with world.working(Scheduler(world.plane)):
        await until(lambda: any("is currently being updated" in message for message in world.said()))
        condition = (world.get("Pod", "every") or {})["status"]["conditions"][0]
        assert (condition["reason"], condition["status"]) == ("SchedulerError", "False")
        assert not results_of(world, "every")
        whole = objects.resource_slice("node-2", NOW)
        world.database.put("ResourceSlice", objects.key_of(whole), whole)
        await until(lambda: len(results_of(world, "every")) == 8)

"""Claims, owners and their garbage, terminating pods: what a change in the demo leads to."""

from __future__ import annotations

import pytest

from ktui.demo import gangs, objects
from ktui.demo.controllers.claims import ClaimController
from ktui.demo.controllers.garbage import GarbageCollector
from ktui.demo.controllers.kubelet import Kubelet
from ktui.demo.controllers.workloads import DeploymentController, JobController
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

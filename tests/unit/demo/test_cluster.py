"""The demo cluster answers back: to taints, to autoscalers, to a client of Kubernetes' own."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from kubernetes_asyncio import client, watch

from ktui.demo.access import DEMO_USER
from ktui.demo.cluster import DemoCluster
from ktui.demo.controllers.kubelet import Kubelet
from ktui.demo.incidents import SICK
from ktui.demo.ledger import device_of, results
from ktui.demo.mvcc import JSON
from ktui.model.kinds import KINDS

RULE: JSON = {
    "metadata": {"name": "xid"},
    "spec": {
        "deviceSelector": {"driver": SICK[0], "pool": SICK[1], "device": SICK[2]},
        "taint": {"key": "example.com/xid", "value": "79", "effect": "None"},
    },
}


@pytest.fixture
async def demo() -> AsyncIterator[DemoCluster]:
    async with DemoCluster(sick=SICK, haste=0.02) as cluster:
        yield cluster


async def until(done: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline, "it did not come about"
        await asyncio.sleep(0.01)


def pods(demo: DemoCluster, job: str) -> list[JSON]:
    found = demo.server.database.objects("Pod").items()
    return [pod for (_, name), pod in found if name.startswith(f"{job}-")]


def nodes(demo: DemoCluster, job: str) -> list[str]:
    return sorted(pod["spec"].get("nodeName", "") for pod in pods(demo, job))


def condition(obj: JSON, type_: str) -> JSON:
    conditions = (obj.get("status") or {}).get("conditions") or ()
    found: JSON = next((each for each in conditions if each["type"] == type_), {})
    return found


def rule_says(demo: DemoCluster) -> JSON:
    return condition(demo.server.registry.get(KINDS["DeviceTaintRule"], ("", "xid")), "EvictionInProgress")


def set_effect(demo: DemoCluster, effect: str) -> None:
    def change(rule: JSON) -> JSON:
        return {**rule, "spec": {**rule["spec"], "taint": {**rule["spec"]["taint"], "effect": effect}}}

    demo.server.registry.update(KINDS["DeviceTaintRule"], ("", "xid"), change)


async def test_a_gang_waits_whole_for_one_device(demo: DemoCluster) -> None:
    group = KINDS["PodGroup"]
    await until(
        lambda: condition(demo.server.registry.get(group, ("training", "llama-70b")), "PodGroupInitiallyScheduled")
    )
    said = condition(demo.server.registry.get(group, ("training", "llama-70b")), "PodGroupInitiallyScheduled")
    assert (said["status"], said["reason"]) == ("False", "Unschedulable")
    assert said["message"].startswith("minCount (4) cannot be satisfied: 3 scheduled, 0 remaining")
    assert nodes(demo, "llama-70b") == ["", "", "", ""]
    words = {condition(pod, "PodScheduled").get("message") for pod in pods(demo, "llama-70b")}
    assert "0/10 nodes are available: 10 cannot allocate all claims." in words


async def test_taint_eviction_replacement_untaint_recovery(demo: DemoCluster) -> None:
    (before,) = [pod["metadata"]["uid"] for pod in pods(demo, "embed-sweep") if pod["spec"]["nodeName"] == SICK[1]]
    demo.server.create("DeviceTaintRule", RULE)
    await until(lambda: rule_says(demo).get("reason") == "NoEffect")
    assert "1 pod would be evicted in 1 namespace" in rule_says(demo)["message"]
    set_effect(demo, "NoExecute")
    await until(lambda: rule_says(demo).get("reason") == "Completed")
    assert rule_says(demo)["observedGeneration"] == 2
    await until(lambda: "" not in nodes(demo, "embed-sweep") and len(pods(demo, "embed-sweep")) == 3)
    assert before not in {pod["metadata"]["uid"] for pod in pods(demo, "embed-sweep")}
    assert SICK[1] not in nodes(demo, "embed-sweep")
    assert nodes(demo, "llama-70b") == ["", "", "", ""]
    reasons = {event["reason"] for event in demo.server.database.objects("Event").values()}
    assert {"DeviceTaintManagerEviction", "SuccessfulCreate", "Scheduled"} <= reasons
    demo.server.registry.delete(KINDS["DeviceTaintRule"], ("", "xid"))
    await until(lambda: all(pod["status"]["phase"] == "Running" for pod in pods(demo, "llama-70b")))
    assert nodes(demo, "llama-70b") == [f"gpu-node-0{number}" for number in (1, 2, 3, 4)]


async def test_min_replicas_wakes_a_service_that_sleeps_and_lets_it_sleep_again(demo: DemoCluster) -> None:
    def lowest(number: int) -> Callable[[JSON], JSON]:
        return lambda hpa: {**hpa, "spec": {**hpa["spec"], "minReplicas": number}}

    hpas = KINDS["HorizontalPodAutoscaler"]
    key = ("serving", "rerank")
    demo.server.registry.update(hpas, key, lowest(2))
    await until(lambda: [pod["status"]["phase"] for pod in pods(demo, "rerank")] == ["Running", "Running"])
    await until(lambda: demo.server.registry.get(hpas, key)["status"].get("currentReplicas") == 2)
    demo.server.registry.update(hpas, key, lowest(0))
    await until(lambda: not pods(demo, "rerank"))
    assert condition(demo.server.registry.get(hpas, key), "ScaledToZero")["status"] == "True"


async def test_a_larger_fleet_runs_as_it_stands() -> None:
    async with DemoCluster(size=500) as demo:
        database = demo.server.database
        assert len(database.objects("Pod")) >= 500
        large = [pod for (namespace, _), pod in database.objects("Pod").items() if namespace.startswith("team-")]
        assert {pod["status"]["phase"] for pod in large} == {"Running"}


async def test_the_client_library_lists_watches_creates_and_patches(demo: DemoCluster) -> None:
    configuration = client.Configuration(host=demo.server.url, api_key={"BearerToken": f"Bearer {demo.token}"})
    async with client.ApiClient(configuration) as api:
        core = client.CoreV1Api(api)
        listed = await core.list_namespaced_pod("vision")
        assert {"sam-finetune"} <= {pod.metadata.labels["batch.kubernetes.io/job-name"] for pod in listed.items}
        custom = client.CustomObjectsApi(api)
        rules: dict[str, Any] = {"group": "resource.k8s.io", "version": "v1", "plural": "devicetaintrules"}
        body = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceTaintRule", **RULE}
        await custom.create_cluster_custom_object(**rules, body=body)
        stream = watch.Watch()
        version = listed.metadata.resource_version
        async with stream.stream(core.list_namespaced_pod, "research", resource_version=version) as events:
            patch = [{"op": "replace", "path": "/spec/taint/effect", "value": "NoExecute"}]
            await custom.patch_cluster_custom_object(**rules, name="xid", body=patch)
            async for event in events:
                if event["type"] == "DELETED":
                    assert event["object"].metadata.name.startswith("embed-sweep-")
                    break


async def test_a_controller_that_fails_does_so_loudly(demo: DemoCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(Kubelet, "affected", fails)
    pod = {"metadata": {"name": "p", "namespace": "ml"}, "spec": {"containers": []}}
    demo.server.create("Pod", pod)
    with pytest.raises(ZeroDivisionError):
        await asyncio.wait_for(demo.failed(), 30)


async def test_only_who_has_the_token_is_let_in(demo: DemoCluster) -> None:
    async with client.ApiClient(client.Configuration(host=demo.server.url)) as api:
        with pytest.raises(client.ApiException) as refused:
            await client.CoreV1Api(api).list_node()
    assert refused.value.status == 401
    assert demo.server.tokens[demo.token].name == DEMO_USER


async def test_what_rests_answers_like_everything_else() -> None:
    async with DemoCluster(size=300, haste=0.02) as demo:
        database, device = demo.server.database, ("gpu.example.com", "gpu-0000-2", "gpu-3")
        (victim,) = [
            claim["status"]["reservedFor"][0]["name"]
            for claim in database.objects("ResourceClaim").values()
            if any(device_of(result) == device for result in results(claim))
        ]
        selector = dict(zip(("driver", "pool", "device"), device, strict=True))
        taint = {**RULE["spec"]["taint"], "effect": "NoExecute"}
        demo.server.create("DeviceTaintRule", {**RULE, "spec": {"deviceSelector": selector, "taint": taint}})
        await until(lambda: ("team-00", victim) not in database.objects("Pod"))
        await until(lambda: len(pods(demo, "pretrain-0000")) == 64 and "" in nodes(demo, "pretrain-0000"))
        await until(lambda: rule_says(demo).get("reason") == "Completed")
        demo.server.registry.delete(KINDS["DeviceTaintRule"], ("", "xid"))
        await until(lambda: "" not in nodes(demo, "pretrain-0000"))
        await until(lambda: {pod["status"]["phase"] for pod in pods(demo, "pretrain-0000")} == {"Running"})
        untouched = [key for key in database.active("Pod") if key[1].startswith("pretrain-0001")]
        assert not untouched, "other gangs rest on"

"""kubernetes-asyncio, the client that Python programs use, does its work on both servers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from kubernetes_asyncio.client import (
    ApiClient,
    ApiException,
    AuthorizationV1Api,
    CoreV1Api,
    CustomObjectsApi,
    V1Container,
    V1ObjectMeta,
    V1Pod,
    V1PodSchedulingGate,
    V1PodSpec,
    V1ResourceAttributes,
    V1SelfSubjectAccessReview,
    V1SelfSubjectAccessReviewSpec,
    VersionApi,
)
from kubernetes_asyncio.watch import Watch

from tests.contract.client import Client, template


def _pod(name: str) -> V1Pod:
    """Gated, so that no scheduler and no kubelet touches it."""
    return V1Pod(
        metadata=V1ObjectMeta(name=name, labels={"made": "here"}),
        spec=V1PodSpec(
            containers=[V1Container(name="main", image="example.com/main")],
            scheduling_gates=[V1PodSchedulingGate(name="example.com/wait")],
        ),
    )


async def test_the_library_creates_reads_lists_and_deletes_pods(client: Client, library: ApiClient) -> None:
    """CoreV1Api: pods as the library's own models, created, read, listed by label and deleted."""
    core = CoreV1Api(library)
    made = await core.create_namespaced_pod(client.namespace, _pod("one"))
    assert (made.metadata.name, made.status.phase) == ("one", "Pending")
    read = await core.read_namespaced_pod("one", client.namespace)
    assert (read.metadata.uid, read.spec.containers[0].image) == (made.metadata.uid, "example.com/main")
    listed = await core.list_namespaced_pod(client.namespace, label_selector="made=here")
    assert [pod.metadata.name for pod in listed.items] == ["one"]
    await core.delete_namespaced_pod("one", client.namespace, grace_period_seconds=0)
    with pytest.raises(ApiException) as missing:
        await core.read_namespaced_pod("one", client.namespace)
    assert (missing.value.status, missing.value.reason) == (404, "Not Found")


async def test_the_library_patches_in_each_way(client: Client, library: ApiClient) -> None:
    """CoreV1Api patches: a mapping is sent as a strategic patch, a list as a JSON patch, a model as a whole."""
    core = CoreV1Api(library)
    made = await core.create_namespaced_pod(client.namespace, _pod("one"))
    change = {"metadata": {"labels": {"made": None, "mapped": "yes"}}}
    mapped = await core.patch_namespaced_pod("one", client.namespace, change)
    assert mapped.metadata.labels == {"mapped": "yes"}
    container = {"spec": {"containers": [{"name": "main", "image": "example.com/other"}]}}
    other = await core.patch_namespaced_pod("one", client.namespace, container)
    assert [each.image for each in other.spec.containers] == ["example.com/other"]
    operations = [{"op": "test", "path": "/metadata/uid", "value": made.metadata.uid}]
    operations.append({"op": "add", "path": "/metadata/labels/listed", "value": "yes"})
    listed = await core.patch_namespaced_pod("one", client.namespace, operations)
    assert listed.metadata.labels == {"mapped": "yes", "listed": "yes"}
    listed.metadata.labels = {"replaced": "yes"}
    replaced = await core.replace_namespaced_pod("one", client.namespace, listed)
    assert replaced.metadata.labels == {"replaced": "yes"}
    with pytest.raises(ApiException) as stale:
        await core.replace_namespaced_pod("one", client.namespace, listed)
    assert stale.value.status == 409


async def test_the_library_watches(client: Client, library: ApiClient) -> None:
    """watch.Watch: initial pods, then changes as they are made, as models."""
    core = CoreV1Api(library)
    await core.create_namespaced_pod(client.namespace, _pod("one"))
    seen: list[tuple[str, str]] = []
    async with asyncio.timeout(60), Watch().stream(core.list_namespaced_pod, client.namespace) as events:
        async for event in events:
            seen.append((event["type"], event["object"].metadata.name))
            if seen[-1] == ("ADDED", "one"):
                await core.patch_namespaced_pod("one", client.namespace, {"metadata": {"labels": {"x": "y"}}})
            elif event["type"] == "MODIFIED":
                assert event["object"].metadata.labels["x"] == "y"
                break
    assert seen == [("ADDED", "one"), ("MODIFIED", "one")]


async def test_the_library_lists_custom_objects_in_pages(client: Client, library: ApiClient) -> None:
    """CustomObjectsApi: any resource as plain mappings, created, listed page by page, patched and deleted."""
    custom = CustomObjectsApi(library)
    where: dict[str, Any] = {
        "group": "resource.k8s.io",
        "version": "v1",
        "namespace": client.namespace,
        "plural": "resourceclaimtemplates",
    }
    for name in "abc":
        await custom.create_namespaced_custom_object(**where, body=template(name))
    found, token = [], ""
    while True:
        page = await custom.list_namespaced_custom_object(**where, limit=2, _continue=token)
        found += [item["metadata"]["name"] for item in page["items"]]
        if not (token := page["metadata"].get("continue", "")):
            break
    assert found == list("abc")
    patch = [{"op": "add", "path": "/metadata/labels", "value": {"x": "y"}}]
    changed = await custom.patch_namespaced_custom_object(**where, name="a", body=patch)
    assert changed["metadata"]["labels"] == {"x": "y"}
    await custom.delete_namespaced_custom_object(**where, name="a")
    with pytest.raises(ApiException) as missing:
        await custom.get_namespaced_custom_object(**where, name="a")
    assert missing.value.status == 404


async def test_the_library_asks_what_it_may_do(library: ApiClient) -> None:
    """AuthorizationV1Api and VersionApi."""
    attributes = V1ResourceAttributes(verb="create", group="resource.k8s.io", resource="devicetaintrules")
    review = V1SelfSubjectAccessReview(spec=V1SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    answer = await AuthorizationV1Api(library).create_self_subject_access_review(review)
    assert answer.status.allowed is True
    assert (await VersionApi(library).get_code()).git_version.startswith("v1.37.")

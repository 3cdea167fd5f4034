"""Fills an API server with a synthetic fleet: nodes with eight devices, and on each a gang of eight pods, all running.

No scheduler and no kubelet takes part: pods are created bound, claims are created allocated, and statuses are written as
those two would write them. 8,000 pods are 35,000 writes.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import aiohttp

from tests.cluster import objects
from tests.cluster.controlplane.api import collection

Json = dict[str, Any]

NAMESPACE: Final = "fleet"
DEVICES: Final = 8
_CONCURRENCY: Final = 48
_ATTEMPTS: Final = 10
_SINCE: Final = "2026-11-30T05:30:00Z"
# A pod of an AI job is a few kilobytes of environment and arguments.
_ENVIRONMENT: Final = [{"name": f"SETTING_{index}", "value": "a value of the usual length"} for index in range(12)]


def rounded(pods: int) -> int:
    """How many pods a fleet has for which so many were asked: whole nodes."""
    return -(-pods // DEVICES) * DEVICES


def writes(pods: int) -> int:
    """Requests that filling takes: three for each node and its gang, four for each pod and its claim, and two."""
    return rounded(pods) // DEVICES * 3 + rounded(pods) * 4 + 2


def fill(url: str, token: str, tls: ssl.SSLContext, pods: int) -> None:
    """Creates a fleet with `pods` pods, rounded up to whole nodes, in namespace `fleet`. Objects must not exist yet."""
    asyncio.run(_fill(url, token, tls, rounded(pods) // DEVICES))


async def _fill(url: str, token: str, tls: ssl.SSLContext, nodes: int) -> None:
    async with _Writer.open(url, token, tls) as writer:
        await writer.create(objects.namespace(NAMESPACE))
        await writer.create(objects.device_class())
        remaining = iter(range(nodes))

        async def work() -> None:
            # All workers draw from one iterator, so no more than so many requests are ever under way.
            for index in remaining:
                await _node_with_gang(writer, index)

        async with asyncio.TaskGroup() as group:
            for _ in range(_CONCURRENCY):
                group.create_task(work())


async def _node_with_gang(writer: _Writer, index: int) -> None:
    node, gang = f"fleet-{index:05d}", f"gang-{index:05d}"
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": _SINCE}
    manifest = objects.node(node, f"z{index % 4}", cpu="192", memory="2Ti")
    manifest["status"]["conditions"] = [ready | {"lastTransitionTime": _SINCE}]
    await writer.create(manifest)
    await writer.create(objects.resource_slice(node, devices=DEVICES))
    await writer.create(objects.pod_group(NAMESPACE, gang, DEVICES))
    for device in range(DEVICES):
        await _pod_with_claim(writer, node, gang, device)


async def _pod_with_claim(writer: _Writer, node: str, gang: str, device: int) -> None:
    name = f"{gang}-{device}"
    claim = f"{name}-gpu"
    template = objects.claim_template(NAMESPACE, claim)
    await writer.create(template | {"kind": "ResourceClaim", "spec": template["spec"]["spec"]})
    pod = await writer.create(_pod(node, gang, name, claim, device))
    await writer.patch_status(
        f"/apis/resource.k8s.io/v1/namespaces/{NAMESPACE}/resourceclaims/{claim}",
        {
            "allocation": {
                "devices": {
                    "results": [{"request": "gpu", "driver": objects.DRIVER, "pool": node, "device": f"gpu-{device}"}]
                }
            },
            "reservedFor": [{"resource": "pods", "name": name, "uid": pod["metadata"]["uid"]}],
        },
    )
    await writer.patch_status(f"/api/v1/namespaces/{NAMESPACE}/pods/{name}", _running(node, device))


def _pod(node: str, gang: str, name: str, claim: str, device: int) -> Json:
    pod = objects.pod(NAMESPACE, name, claim, group=gang)
    pod["metadata"]["labels"] = {"app": gang, "batch.kubernetes.io/job-completion-index": str(device)}
    pod["spec"] |= {
        "nodeName": node,
        "tolerations": [{"operator": "Exists"}],
        "resourceClaims": [{"name": "gpu", "resourceClaimName": claim}],
    }
    pod["spec"]["containers"][0] |= {"env": _ENVIRONMENT, "args": ["--nodes=8", "--tensor-parallel=8"]}
    return pod


def _running(node: str, device: int) -> Json:
    health = {"resourceID": f"{objects.DRIVER}/{node}/gpu-{device}", "health": "Healthy"}
    container = {
        "name": "train",
        "image": objects.IMAGE,
        "imageID": "sha256:00",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": _SINCE}},
        "allocatedResourcesStatus": [{"name": "claim:gpu", "resources": [health]}],
    }
    conditions = [{"type": kind, "status": "True", "lastTransitionTime": _SINCE} for kind in ("PodScheduled", "Ready")]
    return {"phase": "Running", "startTime": _SINCE, "conditions": conditions, "containerStatuses": [container]}


class _Writer:
    """Writes objects, and waits when the server asks for it."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    @classmethod
    @asynccontextmanager
    async def open(cls, url: str, token: str, tls: ssl.SSLContext) -> AsyncIterator[_Writer]:
        connector = aiohttp.TCPConnector(limit=_CONCURRENCY, ssl=tls)
        headers = {"Authorization": f"Bearer {token}"}
        async with aiohttp.ClientSession(url, connector=connector, headers=headers) as session:
            yield cls(session)

    async def create(self, manifest: Mapping[str, Any]) -> Json:
        return await self._send("POST", collection(manifest), manifest, "application/json")

    async def patch_status(self, path: str, status: Json) -> Json:
        return await self._send("PATCH", f"{path}/status", {"status": status}, "application/merge-patch+json")

    async def _send(self, method: str, path: str, body: Mapping[str, Any], content_type: str) -> Json:
        for attempt in range(1, _ATTEMPTS + 1):
            async with self._session.request(method, path, json=body, headers={"Content-Type": content_type}) as answer:
                if answer.status in (429, 500, 503) and attempt < _ATTEMPTS:
                    await asyncio.sleep(1)
                    continue
                if not answer.ok:
                    raise RuntimeError(f"{method} {path}: {answer.status} {await answer.text()}")
                result: Json = await answer.json()
                return result
        raise AssertionError("unreachable: the last attempt returns or raises")

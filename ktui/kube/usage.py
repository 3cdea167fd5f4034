"""Single questions about what is used: metrics.k8s.io, and DCGM exporters through the API server's proxy.

An exporter is asked by its own pod, not by its Service: each pod knows the GPUs of its node only, and a Service would answer
with any of them. The proxy takes the first port that the pod declares, which is the exporter's only one. Nothing here waits
for, or is counted by, the gate of the connection: a metrics server that is down, or a page that a workload makes up, must not
hold up the streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final, TypeVar
from urllib.parse import quote

from ktui.errors import KtuiError
from ktui.kube.dcgm import parse_gpus
from ktui.kube.discovery import Served
from ktui.kube.failures import ApiError
from ktui.kube.transport import Transport
from ktui.model.meta import Key
from ktui.model.usage import (
    GROUP,
    VERSIONS,
    GpusReport,
    NodeReport,
    NodeUsage,
    PodsReport,
    PodUsage,
    decode_usage,
    decode_usages,
    metrics_path,
)

MAX_PAGE: Final = 8 * 1024 * 1024
"""Bytes of an exporter's page; with every field that DCGM has, eight GPUs fill a quarter of one MiB."""
_LIMIT: Final = 10.0
"""Seconds for one exporter."""
_MAX_LIST: Final = 128 * 1024 * 1024

T = TypeVar("T")


def metrics_version(served: Served | None, plural: str = "pods") -> str:
    """The version of metrics.k8s.io to use, "" when it is not served."""
    found = served.groups.get(GROUP, frozenset()) if served is not None else frozenset()
    return next((version for version in VERSIONS if (version, plural) in found), "")


async def ask_pods(transport: Transport, version: str, namespace: str) -> PodsReport:
    """All pods, of one namespace or of all. Raises KtuiError."""
    path = metrics_path(version, "pods", namespace)
    stall = transport.timers.page_stall
    answer = await transport.request("GET", path, headers=transport.compression, stall=stall, limit=_MAX_LIST)
    return PodsReport(await asyncio.to_thread(_by_key, answer.body), namespace)


async def ask_pod(transport: Transport, version: str, key: Key) -> PodsReport:
    """One pod. Raises KtuiError."""
    path = metrics_path(version, "pods", key[0], key[1])
    found = await _unless_missing(transport, path, lambda body: decode_usage(PodUsage, body))
    return PodsReport({key: found} if found is not None else {}, key[0], key)


async def ask_node(transport: Transport, version: str, node: str) -> NodeReport:
    """One node. Raises KtuiError."""
    path = metrics_path(version, "nodes", name=node)
    return NodeReport(node, await _unless_missing(transport, path, lambda body: decode_usage(NodeUsage, body)))


async def ask_exporter(transport: Transport, node: str, exporter: Key) -> GpusReport:
    """The GPUs of a node, from the exporter's pod on it. Raises KtuiError."""
    namespace, name = (quote(part, safe="") for part in exporter)
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/proxy/metrics"
    page = await transport.scrape(path, timeout=_LIMIT, limit=MAX_PAGE)
    gpus = await asyncio.to_thread(parse_gpus, page.decode("utf-8", "replace"))
    return GpusReport(node, transport.clock.wall(), gpus)


def metrics_trouble(error: KtuiError) -> str:
    """Why metrics.k8s.io gives no figures, with what to do."""
    if isinstance(error, ApiError) and error.status == 403:
        return f"no CPU and memory figures: your user needs get, list on pods and nodes in {GROUP}"
    return f"no CPU and memory figures: {GROUP} does not answer: {error}"


def exporter_trouble(error: KtuiError, exporter: Key) -> str:
    """Why an exporter gives no figures, with what to do."""
    # The API server's own refusal is a Status with this reason; a guard in the exporter's pod answers in its own words.
    if isinstance(error, ApiError) and error.status == 403 and error.reason == "Forbidden":
        return f"no GPU figures: your user needs get on pods/proxy in namespace {exporter[0]}"
    return f"no GPU figures from {exporter[0]}/{exporter[1]}: {error}"


async def _unless_missing(transport: Transport, path: str, decode: Callable[[bytes], T]) -> T | None:
    """None for 404: not measured yet, or gone."""
    try:
        answer = await transport.request("GET", path)
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    return decode(answer.body)


def _by_key(body: bytes) -> dict[Key, PodUsage]:
    return {usage.key: usage for usage in decode_usages(PodUsage, body)}

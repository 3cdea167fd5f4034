"""What a server tells of itself beyond its objects: version, time, feature gates, and the versions of what runs beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Final

from msgspec import Struct

from ktui.kube.answers import decoded
from ktui.kube.transport import Transport
from ktui.model.meta import Wire

MAX_METRICS: Final = 256 * 1024 * 1024
"""Bytes of /metrics: a few MiB on a small cluster, a hundred on the largest."""

_GATE: Final = re.compile(
    rb'^kubernetes_feature_enabled\{[^}\n]*?\bname="([A-Za-z0-9_]+)"[^}\n]*\} ([01])\b', re.MULTILINE
)
_IMAGE: Final = re.compile(r":(v?[0-9]+\.[0-9]+[0-9A-Za-z.+_-]*)(?:@|$)")
_STATIC_PODS: Final = {"labelSelector": "tier=control-plane", "limit": "200"}
"""kubeadm's label of the control plane's pods."""


class Presence(Struct, frozen=True):
    """`emulated` is "1.36" when the server plays an older version (KEP-4330). `ahead`: seconds that this machine's clock is
    ahead of the server's, None when the answer has no time on it."""

    git_version: str
    emulated: str
    ahead: float | None


class _Version(Wire, frozen=True):
    git_version: str
    major: str = ""
    minor: str = ""
    emulation_major: str = ""
    emulation_minor: str = ""


class _Container(Wire, frozen=True):
    image: str = ""


class _PodSpec(Wire, frozen=True):
    containers: tuple[_Container, ...] = ()


class _PodMeta(Wire, frozen=True):
    labels: dict[str, str] | None = None


class _Pod(Wire, frozen=True):
    metadata: _PodMeta = _PodMeta()
    spec: _PodSpec = _PodSpec()


class _Pods(Wire, frozen=True):
    items: tuple[_Pod, ...] | None = None


async def presence(transport: Transport) -> Presence:
    """The server's version and its clock, from one request to /version."""
    before = transport.clock.wall()
    answer = await transport.request("GET", "/version")
    after = transport.clock.wall()
    found = decoded(_Version, answer, transport.target.host)
    emulated = f"{found.emulation_major}.{found.emulation_minor}"
    differs = found.emulation_minor and emulated != f"{found.major}.{found.minor}"
    return Presence(found.git_version, emulated if differs else "", _ahead(answer.headers, before, after))


def _ahead(headers: Mapping[str, str], before: float, after: float) -> float | None:
    """The server wrote whole seconds between the two moments (RFC 9110, section 6.6.1): what lies within is no difference."""
    try:
        told = parsedate_to_datetime(headers.get("Date", "")).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None
    if before - 1.0 <= told <= after:
        return 0.0
    return before - 1.0 - told if told < before else after - told


async def feature_gates(transport: Transport) -> dict[str, bool]:
    """The gates of kube-apiserver and whether they are on, from its /metrics (`kubernetes_feature_enabled`, beta)."""
    headers = {"Accept": "text/plain", "Accept-Encoding": "gzip"}
    answer = await transport.request("GET", "/metrics", headers=headers, limit=MAX_METRICS)
    return {match[1].decode("ascii"): match[2] == b"1" for match in _GATE.finditer(answer.body)}


async def component_versions(transport: Transport) -> tuple[tuple[str, str], ...]:
    """(component, version) of the control plane, each once, as far as it runs in pods that kubeadm labels: from their images."""
    answer = await transport.request("GET", "/api/v1/namespaces/kube-system/pods", params=_STATIC_PODS)
    found = {
        (component, match[1])
        for pod in decoded(_Pods, answer, transport.target.host).items or ()
        if (component := (pod.metadata.labels or {}).get("component"))
        for container in pod.spec.containers
        if (match := _IMAGE.search(container.image))
    }
    return tuple(sorted(found))

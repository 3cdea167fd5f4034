"""A metrics server that measured one pod and every node: serves metrics.k8s.io to the real control plane."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from ktui.model.usage import GROUP
from tests.cluster.aggregated import Aggregated, Json
from tests.cluster.controlplane.api import Api
from tests.cluster.controlplane.pki import KeyPair

WINDOW: Final = "15.04s"


class UsageMetrics(Aggregated):
    """`pod` is (namespace, name); its container "train" uses 1.5 cores and 3 GiB, each node 9 cores."""

    group = GROUP
    service = "metrics-server"

    def __init__(self, api: Api, certificate: KeyPair, pod: tuple[str, str], versions: tuple[str, ...]) -> None:
        self.versions = versions
        super().__init__(api, certificate)
        self.asked: list[str] = []
        self._pod = pod

    def resources(self) -> list[Json]:
        return [
            {"name": "nodes", "singularName": "", "namespaced": False, "kind": "NodeMetrics", "verbs": ["get", "list"]},
            {"name": "pods", "singularName": "", "namespaced": True, "kind": "PodMetrics", "verbs": ["get", "list"]},
        ]

    def answer(self, path: str) -> Json | None:
        version, *rest = path.removeprefix(f"/apis/{GROUP}/").split("/")
        if version not in self.versions:
            return None
        self.asked.append(path)
        namespace, name = self._pod
        match rest:
            case ["pods"] | ["namespaces", _, "pods"]:
                items = [self._measured(version)] if rest == ["pods"] or rest[1] == namespace else []
                return {"kind": "PodMetricsList", "apiVersion": f"{GROUP}/{version}", "metadata": {}, "items": items}
            case ["namespaces", found, "pods", pod] if (found, pod) == (namespace, name):
                return self._measured(version)
            case ["nodes", node]:
                head = {"kind": "NodeMetrics", "apiVersion": f"{GROUP}/{version}", "metadata": {"name": node}}
                return {**head, "timestamp": _now(), "window": WINDOW, "usage": {"cpu": "9", "memory": "64Gi"}}
            case _:
                return None

    def _measured(self, version: str) -> Json:
        namespace, name = self._pod
        return {
            "kind": "PodMetrics",
            "apiVersion": f"{GROUP}/{version}",
            "metadata": {"name": name, "namespace": namespace, "creationTimestamp": _now()},
            "timestamp": _now(),
            "window": WINDOW,
            "containers": [{"name": "train", "usage": {"cpu": "1500000001n", "memory": "3145728Ki"}}],
        }


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

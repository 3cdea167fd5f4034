"""A metrics adapter of one number: serves external.metrics.k8s.io to the real control plane, as KEDA or an adapter would."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from tests.cluster.aggregated import Aggregated, Json
from tests.cluster.controlplane.api import Api
from tests.cluster.controlplane.pki import KeyPair

GROUP: Final = "external.metrics.k8s.io"
VERSION: Final = "v1beta1"


class ExternalMetrics(Aggregated):
    """Every external metric of every namespace has the value `value`; set it at any time."""

    group = GROUP
    versions = (VERSION,)
    service = "metrics-adapter"

    def __init__(self, api: Api, certificate: KeyPair) -> None:
        super().__init__(api, certificate)
        self.value = 0

    def resources(self) -> list[Json]:
        return [{"name": "*", "namespaced": True, "kind": "ExternalMetricValueList", "verbs": ["get"]}]

    def answer(self, path: str) -> Json | None:
        if not path.startswith(f"/apis/{GROUP}/{VERSION}/namespaces/"):
            return None
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        name = path.rpartition("/")[2]
        item = {"metricName": name, "metricLabels": {}, "timestamp": now, "value": str(self.value)}
        return {
            "kind": "ExternalMetricValueList",
            "apiVersion": f"{GROUP}/{VERSION}",
            "metadata": {},
            "items": [item],
        }

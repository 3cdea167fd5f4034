"""Read-only mode is kept by the transport: what is refused never becomes a socket (fault plan A19)."""

from __future__ import annotations

import pytest

from ktui.kube.failures import ReadOnlyRefused
from ktui.kube.readonly import check_read_only
from tests.unit.kube.harness import rig, transport_to

RULE = "/apis/resource.k8s.io/v1/devicetaintrules"
REVIEW = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", RULE),
        ("DELETE", f"{RULE}/x"),
        ("PATCH", "/apis/autoscaling/v2/namespaces/ml/horizontalpodautoscalers/h"),
        ("PUT", "/api/v1/namespaces/ml/pods/p/status"),
        ("POST", "/api/v1/namespaces/ml/pods/p/eviction"),
        ("OPTIONS", "/version"),
        ("get", "/version"),
        ("POST", f"{REVIEW}/../../../resource.k8s.io/v1/devicetaintrules"),
        ("POST", "/apis/authorization.k8s.io/v1/%2e%2e/%2e%2e/resource.k8s.io/v1/devicetaintrules"),
        ("POST", f"{REVIEW}?x=/selfsubjectaccessreviews"),
        ("POST", "/apis/authorization.k8s.io.example.com/v1/selfsubjectaccessreviews"),
        ("PUT", REVIEW),
        ("GET", "/api/v1/namespaces/ml/pods/p/exec"),
        ("GET", "/api/v1/namespaces/ml/pods/p/%65xec"),
        ("GET", "/api/v1/namespaces/ml/pods/p/attach"),
        ("GET", "/api/v1/namespaces/ml/pods/p/portforward"),
        ("GET", "/api/v1/namespaces/ml/services/s/proxy/delete-everything"),
        ("GET", "/api/v1/nodes/n/proxy/run/x"),
        ("GET", "/api/v1/nodes/n/proxy/metrics"),
        ("POST", "/api/v1/namespaces/ml/pods/p/proxy/metrics"),
        ("GET", "/api/v1/namespaces/ml/pods/p/proxy/metrics/reset"),
        ("GET", "/api/v1/namespaces/ml/pods/p/proxy/metrics/"),
        ("GET", "/api/v1/namespaces/ml/pods/p:8080/proxy/metrics"),
        ("GET", "/api/v1/namespaces/ml/pods/p/proxy/quit%2f..%2fmetrics"),
        ("GET", "/api/v1/namespaces/ml/services/s/proxy/metrics"),
    ],
)
async def test_a19_refused_before_a_socket_is_touched(method: str, path: str) -> None:
    async with rig() as r, transport_to(r.server.url, read_only=True) as transport:
        with pytest.raises(ReadOnlyRefused, match="read-only mode"):
            await transport.request(method, path, body=b"{}")
        assert not r.faults.journal
        assert transport.ledger.requests == 0
        assert transport._session is None


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", RULE),
        ("HEAD", "/version"),
        ("GET", "/api/v1/namespaces/ml/pods/exec"),
        ("GET", "/api/v1/namespaces/ml/pods/p/log"),
        ("GET", "/api/v1/namespaces/proxy/pods/p"),
        ("GET", "/api/v1/namespaces/ml/pods/exporter-x/proxy/metrics"),
        ("POST", REVIEW),
        ("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"),
        ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
    ],
)
def test_a19_allowed(method: str, path: str) -> None:
    check_read_only(method, path)


async def test_without_read_only_mode_writes_leave() -> None:
    async with rig() as r, transport_to(r.server.url) as transport:
        await transport.request("DELETE", "/api/v1/namespaces/ml/pods/p0")
        assert r.faults.asked("DELETE *")

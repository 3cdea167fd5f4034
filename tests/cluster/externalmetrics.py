"""A metrics adapter of one number: serves external.metrics.k8s.io to the real control plane, as KEDA or an adapter would.

The API server finds it the way it finds any aggregated API, by an APIService and its Service. No pod network leads from
that server to anywhere, so the Service is an ExternalName of this machine's own name for itself.
"""

from __future__ import annotations

import json
import ssl
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, Self

from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.pki import KeyPair

GROUP: Final = "external.metrics.k8s.io"
VERSION: Final = "v1beta1"
_ROOT: Final = f"/apis/{GROUP}/{VERSION}"
_SERVICE: Final = "metrics-adapter"
_API_SERVICES: Final = "/apis/apiregistration.k8s.io/v1/apiservices"

Json = dict[str, Any]


class ExternalMetrics:
    """Every external metric of every namespace has the value `value`; set it at any time. Use as a context manager."""

    def __init__(self, api: Api, certificate: KeyPair) -> None:
        self.value = 0
        self._api = api
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.public, certificate.private)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._api.request("POST", "/api/v1/namespaces/default/services", self._service())
        self._api.request("POST", _API_SERVICES, self._api_service())
        wait_for(lambda: self._api.get(_ROOT)["resources"], "the metrics adapter to be served", limit=120)
        return self

    def __exit__(self, *_: object) -> None:
        self._api.delete(f"{_API_SERVICES}/{VERSION}.{GROUP}")
        self._api.delete(f"/api/v1/namespaces/default/services/{_SERVICE}")
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _service(self) -> Json:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": _SERVICE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }

    def _api_service(self) -> Json:
        return {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{VERSION}.{GROUP}"},
            "spec": {
                "group": GROUP,
                "version": VERSION,
                "service": {"namespace": "default", "name": _SERVICE, "port": self._server.server_port},
                # Its certificate is for 127.0.0.1, the API server asks for the Service's name.
                "insecureSkipTLSVerify": True,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        }

    def _answer(self, path: str) -> Json | None:
        if path == _ROOT:
            resource = {"name": "*", "namespaced": True, "kind": "ExternalMetricValueList", "verbs": ["get"]}
            return {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": f"{GROUP}/{VERSION}",
                "resources": [resource],
            }
        if path.startswith(f"{_ROOT}/namespaces/"):
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            name = path.rpartition("/")[2]
            item = {"metricName": name, "metricLabels": {}, "timestamp": now, "value": str(self.value)}
            return {
                "kind": "ExternalMetricValueList",
                "apiVersion": f"{GROUP}/{VERSION}",
                "metadata": {},
                "items": [item],
            }
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        metrics = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer = metrics._answer(self.path.partition("?")[0])
                body = json.dumps(answer or {"kind": "Status", "apiVersion": "v1", "code": 404}).encode()
                self.send_response(200 if answer else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (the base class names it)
                """Every request of every sync would be a line."""

        return Handler

"""An API server of one group, beside the real control plane, which passes requests for that group on to it.

It is found the way any aggregated API is, by an APIService and its Service. No pod network leads from the real server to
anywhere, so the Service is an ExternalName of this machine's own name for itself.
"""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from tests.cluster.controlplane.api import Api, wait_for
from tests.cluster.controlplane.pki import KeyPair

_API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"

Json = dict[str, Any]


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """The real server hangs up now and then, which is not for a test's stderr."""


class Aggregated:
    """Use as a context manager. Subclasses say what there is: `resources` of each version, and the `answer` at a path, None for
    nothing there. While it is `down` it answers 503 to everything but discovery."""

    group: str
    versions: tuple[str, ...]
    service: str

    def __init__(self, api: Api, certificate: KeyPair) -> None:
        self.down = False
        self._api = api
        self._server = _Server(("127.0.0.1", 0), self._handler())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.public, certificate.private)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def resources(self) -> list[Json]:
        raise NotImplementedError

    def answer(self, path: str) -> Json | None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        self._thread.start()
        self._api.request("POST", "/api/v1/namespaces/default/services", self._service())
        for version in self.versions:
            self._api.request("POST", _API_SERVICES, self._api_service(version))
        for version in self.versions:
            root = f"/apis/{self.group}/{version}"
            wait_for(lambda root=root: self._api.get(root)["resources"], f"{root} to be served", limit=120)  # type: ignore[misc]
        return self

    def __exit__(self, *_: object) -> None:
        for version in self.versions:
            self._api.delete(f"{_API_SERVICES}/{version}.{self.group}")
        self._api.delete(f"/api/v1/namespaces/default/services/{self.service}")
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _service(self) -> Json:
        return {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": self.service},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }

    def _api_service(self, version: str) -> Json:
        return {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{version}.{self.group}"},
            "spec": {
                "group": self.group,
                "version": version,
                "service": {"namespace": "default", "name": self.service, "port": self._server.server_port},
                # Its certificate is for 127.0.0.1, the API server asks for the Service's name.
                "insecureSkipTLSVerify": True,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        }

    def _answer(self, path: str) -> tuple[int, Json]:
        for version in self.versions:
            if path == f"/apis/{self.group}/{version}":
                listed = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{self.group}/{version}"}
                return 200, {**listed, "resources": self.resources()}
        failure = {"kind": "Status", "apiVersion": "v1", "status": "Failure"}
        if self.down:
            return 503, {**failure, "code": 503, "reason": "ServiceUnavailable", "message": "not now"}
        found = self.answer(path)
        return (200, found) if found is not None else (404, {**failure, "code": 404, "reason": "NotFound"})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                code, answer = server._answer(self.path.partition("?")[0])
                body = json.dumps(answer).encode()
                self.send_response(code)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 (the base class names it)
                """Every request of every sync would be a line."""

        return Handler

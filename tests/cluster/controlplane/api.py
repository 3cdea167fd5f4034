"""The Kubernetes API as JSON over HTTPS, with the standard library only.

It is the tests' own view of the truth, so it shares no code with ktui. Calls block: from a coroutine, use
`asyncio.to_thread(api.get, ...)`.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TypeVar

Json = dict[str, Any]
T = TypeVar("T")

_PLURALS: Final = {
    "DeviceClass": "deviceclasses",
    "PriorityClass": "priorityclasses",
}
_CLUSTER_SCOPED: Final = frozenset(
    {
        "ClusterRole",
        "ClusterRoleBinding",
        "DeviceClass",
        "DeviceTaintRule",
        "Namespace",
        "Node",
        "PriorityClass",
        "ResourceSlice",
    }
)


class ApiError(Exception):
    """The API server refused: `status` is the HTTP status, `reason` and `message` are its Status object's."""

    def __init__(self, request: str, status: int, body: bytes) -> None:
        try:
            details = json.loads(body)
        except ValueError:
            details = {"message": body.decode(errors="replace")}
        self.status = status
        self.reason = str(details.get("reason", ""))
        self.message = str(details.get("message", ""))
        super().__init__(f"{request}: {status} {self.reason} {self.message}")


class Api:
    """The API server at `url` as one user sees it: the one of `token`, or of the client certificate in `tls`."""

    def __init__(self, url: str, tls: ssl.SSLContext, token: str = "") -> None:
        self._url = url
        self._headers = {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._opener = urllib.request.build_opener(
            # A proxy of the machine's environment has no business between a test and a server on loopback.
            urllib.request.ProxyHandler({}),
            urllib.request.HTTPSHandler(context=tls),
        )

    def get(self, path: str) -> Json:
        answer: Json = json.loads(self.request("GET", path))
        return answer

    def list(self, path: str, **selectors: str) -> list[Json]:
        """All items of a collection, e.g. `list("/api/v1/pods", labelSelector="app=chat")`."""
        query = urllib.parse.urlencode(selectors)
        items: list[Json] = self.get(f"{path}?{query}" if query else path)["items"]
        return items

    def create(self, manifest: Mapping[str, Any]) -> Json:
        """Creates an object; the collection is found from its kind. Returns what the server stored."""
        created: Json = json.loads(self.request("POST", collection(manifest), manifest))
        return created

    @contextmanager
    def created(self, manifest: Mapping[str, Any]) -> Iterator[Json]:
        """An object that lives as long as the block does."""
        made = self.create(manifest)
        try:
            yield made
        finally:
            self.delete(f"{collection(manifest)}/{made['metadata']['name']}")

    def patch(self, path: str, change: Mapping[str, Any]) -> Json:
        """Applies a JSON merge patch (RFC 7386), e.g. to `.../pods/NAME/status`. Returns the result."""
        changed: Json = json.loads(self.request("PATCH", path, change, "application/merge-patch+json"))
        return changed

    def delete(self, path: str, *, missing_ok: bool = True) -> None:
        """Deletes an object, or with a collection's path all its items; dependents go in the background."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        try:
            self.request("DELETE", path, options)
        except ApiError as error:
            if not (missing_ok and error.status == 404):
                raise

    def can(self, verb: str, group: str, resource: str, namespace: str = "") -> bool:
        """Whether the server lets this user do that, by its own word (SelfSubjectAccessReview)."""
        attributes = {"verb": verb, "group": group, "resource": resource, "namespace": namespace}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": attributes},
        }
        answer = json.loads(self.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review))
        return bool(answer["status"]["allowed"])

    def ready(self) -> bool:
        """Whether the server is up and all its checks pass; False also where nothing listens."""
        try:
            return self.request("GET", "/readyz") == b"ok"
        except (ApiError, OSError):
            return False

    def request(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, content_type: str = "application/json"
    ) -> bytes:
        """One request, one answer: its bytes. Raises ApiError for an HTTP error, OSError where there is no answer."""
        data = None if body is None else json.dumps(body).encode()
        headers = self._headers | ({"Content-Type": content_type} if data is not None else {})
        request = urllib.request.Request(self._url + path, data, headers, method=method)
        try:
            with self._opener.open(request, timeout=60) as response:
                answer: bytes = response.read()
        except urllib.error.HTTPError as error:
            with error:
                raise ApiError(f"{method} {path}", error.code, error.read()) from None
        return answer


def collection(manifest: Mapping[str, Any]) -> str:
    """The path that an object is created at, e.g. "/apis/batch/v1/namespaces/ml/jobs"."""
    kind, version = manifest["kind"], manifest["apiVersion"]
    plural = _PLURALS.get(kind, f"{kind.lower()}s")
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    return (
        f"{root}/{plural}"
        if kind in _CLUSTER_SCOPED
        else f"{root}/namespaces/{manifest['metadata']['namespace']}/{plural}"
    )


def wait_for(predicate: Callable[[], T], what: str, limit: float = 60.0) -> T:
    """Asks until the answer is true (not empty, not None) and returns it.

    Fails with what was waited for, and the last answer, after `limit` seconds. An ApiError or OSError counts as "not
    yet": a server that restarts refuses connections for a while.
    """
    deadline = time.monotonic() + limit
    answer: object = None
    while True:
        try:
            if answer := predicate():
                return answer
        except (ApiError, OSError) as error:
            answer = error
        if time.monotonic() > deadline:
            raise AssertionError(f"after {limit:g} s still waiting for {what}; last seen: {answer!r}")
        time.sleep(0.1)

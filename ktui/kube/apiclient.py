"""The requests of actions and access reviews, through kubernetes-asyncio's API client on ktui's own session.

The library that Python users of Kubernetes know writes; what it sends leaves through `Transport`, so read-only mode,
impersonation, credentials, time limits and the hardening hold for it as for everything else. Importing this module costs half
a second: it is imported in a thread when the first dialog opens.
"""

from __future__ import annotations

import re
from typing import Any, Final, Literal

import orjson
from kubernetes_asyncio.client import (
    ApiClient,
    AuthorizationV1Api,
    Configuration,
    CustomObjectsApi,
)
from kubernetes_asyncio.client.rest import RESTClientObject
from msgspec import Struct

from ktui.kube.failures import UnexpectedAnswer
from ktui.kube.transport import Response, Transport

FIELD_MANAGER = "ktui"
_WARNING: Final = re.compile(r'\d{3} \S+ "((?:[^"\\]|\\.)*)"')

Document = dict[str, Any]
Body = Document | list[Document]


class Answer(Struct, frozen=True):
    """What the server answered to a request that it accepted. `warnings` are the texts of its Warning headers."""

    document: Document
    audit_id: str
    warnings: tuple[str, ...] = ()


class Access(Struct, frozen=True):
    """Whether the user may do something; `reason` is the authorizer's own word, often empty."""

    allowed: bool
    reason: str = ""


class Api:
    """Reads and writes single objects. Every method raises the failures of `ktui.kube.failures`."""

    def __init__(self, transport: Transport) -> None:
        client = _Client(transport)
        self._objects = CustomObjectsApi(client)
        # Untyped: with _preload_content=False it takes a plain body and returns our own Response.
        self._review_access: Any = AuthorizationV1Api(client).create_self_subject_access_review

    async def get(self, group: str, version: str, plural: str, namespace: str, name: str) -> Answer:
        """One object, fresh from the server."""
        path, scope = _path(group, version, plural, namespace)
        call = getattr(self._objects, f"get_{scope}_custom_object")
        return _answer(await call(*path, name, _preload_content=False))

    async def list(self, group: str, version: str, plural: str, namespace: str) -> Answer:
        """All objects of a namespace; the document is a List."""
        path, scope = _path(group, version, plural, namespace)
        call = getattr(self._objects, f"list_{scope}_custom_object")
        return _answer(await call(*path, _preload_content=False))

    async def create(
        self, group: str, version: str, plural: str, namespace: str, body: Document, *, dry_run: bool
    ) -> Answer:
        path, scope = _path(group, version, plural, namespace)
        call = getattr(self._objects, f"create_{scope}_custom_object")
        return _answer(await call(*path, body, **_write(dry_run)))

    async def patch(
        self,
        group: str,
        version: str,
        plural: str,
        namespace: str,
        name: str,
        body: Body,
        *,
        content_type: Literal["application/json-patch+json", "application/merge-patch+json"],
        dry_run: bool,
    ) -> Answer:
        path, scope = _path(group, version, plural, namespace)
        call = getattr(self._objects, f"patch_{scope}_custom_object")
        return _answer(await call(*path, name, body, _content_type=content_type, **_write(dry_run)))

    async def delete(
        self, group: str, version: str, plural: str, namespace: str, name: str, options: Document, *, dry_run: bool
    ) -> Answer:
        """`options` is a meta/v1 DeleteOptions with preconditions. With a body the server ignores the query, so that a dry run
        asked for there would delete for real: it is asked for in the body."""
        path, scope = _path(group, version, plural, namespace)
        call = getattr(self._objects, f"delete_{scope}_custom_object")
        body = {**options, "dryRun": ["All"]} if dry_run else options
        return _answer(await call(*path, name, body=body, _preload_content=False))

    async def may(self, verb: str, group: str, plural: str, namespace: str = "", name: str = "") -> Access:
        """Ask the server whether the user may (SelfSubjectAccessReview; decide by `allowed` alone)."""
        attributes = {"verb": verb, "group": group, "resource": plural, "namespace": namespace, "name": name}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {k: v for k, v in attributes.items() if v}},
        }
        answer = _answer(await self._review_access(body, _preload_content=False))
        status = answer.document.get("status") or {}
        return Access(status.get("allowed") is True, str(status.get("reason") or status.get("evaluationError") or ""))


class _Client(ApiClient):
    """An API client whose requests leave through the transport. It opens nothing of its own."""

    def __init__(self, transport: Transport) -> None:
        configuration = Configuration(host="")  # paths stay relative: the transport knows the server
        configuration.client_side_validation = True
        self.configuration = configuration
        self.pool_threads = 1
        self.rest_client = _Rest(transport)
        self.default_headers = {}
        self.cookie = ""
        self.client_side_validation = True


class _Rest(RESTClientObject):
    """The library's own GET, POST, PATCH, … over one `request` of ours."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def close(self) -> None:
        """The transport belongs to the connection."""

    async def request(
        self,
        method: str,
        url: str,
        query_params: Any = None,  # (name, value) pairs, whatever the library's stub says
        headers: dict[str, Any] | None = None,
        body: object = None,
        post_params: object = None,  # noqa: ARG002 - forms are for other APIs
        _preload_content: bool = True,
        _request_timeout: Any = None,
    ) -> Response:
        kept = {k: v for k, v in (headers or {}).items() if k.lower() in ("accept", "content-type")}
        data = orjson.dumps(body) if body is not None else None
        params = dict(query_params or ())
        return await self._transport.request(
            method, url, params=params, body=data, headers=kept, timeout=_request_timeout
        )


def _path(group: str, version: str, plural: str, namespace: str) -> tuple[tuple[str, ...], str]:
    if namespace:
        return (group, version, namespace, plural), "namespaced"
    return (group, version, plural), "cluster"


def _write(dry_run: bool) -> dict[str, object]:
    options: dict[str, object] = {
        "field_manager": FIELD_MANAGER,
        "field_validation": "Strict",
        "_preload_content": False,
    }
    return {**options, "dry_run": "All"} if dry_run else options


def _answer(response: Response) -> Answer:
    try:
        document = orjson.loads(response.body)
    except orjson.JSONDecodeError:
        document = None
    if not isinstance(document, dict):
        raise UnexpectedAnswer("the server accepted the request but its answer is not a JSON object")
    headers: Any = response.headers
    warnings = tuple(text for header in headers.getall("Warning", ()) for text in _warnings(header))
    return Answer(document, headers.get("Audit-Id", ""), warnings)


def _warnings(header: str) -> list[str]:
    """The texts of `299 - "text"` (RFC 7234, section 5.5, as Kubernetes uses it); a proxy may have joined several."""
    found = _WARNING.findall(header)
    return [re.sub(r"\\(.)", r"\1", text) for text in found] or [header]

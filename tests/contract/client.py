"""A bare HTTP client: it shares no code with ktui, so that both sides of the protocol are checked by a third."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp

Json = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Json:
        parsed: Json = json.loads(self.body)
        return parsed


Step = Callable[[], Awaitable[None]]


class Client:
    """`tokens` has the users admin and viewer; `namespace` is the test's own.

    `restart` restarts the server; `forget` makes it forget all versions before the present one. `authority` is the
    certificate that the server's is signed with; without one the server speaks plain HTTP.
    """

    def __init__(
        self, url: str, tokens: Mapping[str, str], namespace: str, *, restart: Step, forget: Step, authority: str = ""
    ) -> None:
        self.url = url
        self.tokens = tokens
        self.namespace = namespace
        self.restart = restart
        self.forget = forget
        self.authority = authority
        self._tls = ssl.create_default_context(cafile=authority) if authority else None
        self._session = aiohttp.ClientSession(auto_decompress=False, timeout=aiohttp.ClientTimeout(total=60))

    async def close(self) -> None:
        await self._session.close()

    @property
    def templates(self) -> str:
        """The collection of a namespaced kind that no controller touches."""
        return f"/apis/resource.k8s.io/v1/namespaces/{self.namespace}/resourceclaimtemplates"

    @property
    def rules(self) -> str:
        """The collection of a kind of the whole cluster that has a status."""
        return "/apis/resource.k8s.io/v1/devicetaintrules"

    async def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        token: str = "",
        user: str = "admin",
        headers: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
    ) -> Answer:
        async with self._session.request(
            method,
            self.url + path,
            params=query,
            data=None if body is None else json.dumps(body),
            headers=self._headers(token or self.tokens[user], content_type, headers),
            ssl=self._tls if self._tls is not None else True,
            allow_redirects=False,
        ) as response:
            return Answer(response.status, response.headers, await response.read())

    async def watch(
        self,
        path: str,
        query: Mapping[str, str],
        *,
        stop_after: int = 0,
        seconds: float = 30.0,
        headers: Mapping[str, str] | None = None,
    ) -> list[Json]:
        """The events until the stream ends, or until there are `stop_after` of them. Raises TimeoutError."""
        events: list[Json] = []
        async with asyncio.timeout(seconds):
            async with self._session.get(
                self.url + path,
                params={"watch": "1", **query},
                headers=self._headers(self.tokens["admin"], "", headers),
                ssl=self._tls if self._tls is not None else True,
            ) as response:
                assert response.status == 200, await response.read()
                async for line in response.content:
                    events.append(json.loads(line))
                    if stop_after and len(events) >= stop_after:
                        break
        return events

    async def make(self, name: str, **metadata: Any) -> Json:
        """A claim template."""
        answer = await self.call("POST", self.templates, template(name, **metadata))
        assert answer.status == 201, answer.body
        return answer.json

    async def patch(
        self, path: str, change: Any, kind: str = "merge-patch", query: Mapping[str, str] | None = None
    ) -> Answer:
        return await self.call("PATCH", path, change, content_type=f"application/{kind}+json", query=query)

    @staticmethod
    def _headers(token: str, content_type: str, more: Mapping[str, str] | None) -> dict[str, str]:
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json", "Accept-Encoding": "identity"}
        return headers | ({"Content-Type": content_type} if content_type else {}) | dict(more or {})


def refused(answer: Answer, code: int, reason: str) -> Json:
    """The Status of a request that had to fail in this way."""
    document = answer.json
    assert (answer.status, document["kind"], document["code"], document["reason"]) == (code, "Status", code, reason)
    return document


def names(document: Json) -> list[str]:
    """Of a list's items, in order."""
    return [item["metadata"]["name"] for item in document["items"]]


def rule(name: str, **taint: Any) -> Json:
    """A rule for a device that does not exist."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": name},
        "spec": {
            "deviceSelector": {"driver": "gpu.example.com", "pool": "nowhere", "device": "gpu-0"},
            "taint": {"key": "example.com/test", "effect": "None", **taint},
        },
    }


def template(name: str, **metadata: Any) -> Json:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, **metadata},
        "spec": {"spec": {"devices": {"requests": requests}}},
    }

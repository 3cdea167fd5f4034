"""Requests that no client of ours sends: the embedded server refuses them as an API server does, and never trips over them."""

from __future__ import annotations

import logging

import aiohttp
import pytest

from ktui.demo.apiserver import ApiServer

PODS = "/api/v1/pods"
POD = "/api/v1/namespaces/ml/pods/a"
MERGE, JSON_PATCH = "application/merge-patch+json", "application/json-patch+json"


async def _ask(method: str, path: str, caplog: pytest.LogCaptureFixture, **options: str | dict[str, str]) -> int:
    """The status; the answer must be a Status of the API, and nothing may have been logged."""
    async with ApiServer() as server, aiohttp.ClientSession() as client:
        server.create("Pod", {"metadata": {"name": "a", "namespace": "ml"}})
        with caplog.at_level(logging.WARNING):
            async with client.request(method, server.url + path, **options) as answer:  # type: ignore[arg-type]
                assert (await answer.json())["kind"] == "Status"
        assert not caplog.records
        return answer.status


@pytest.mark.parametrize("number", ["²", "-", "+1", "1.5", "9" * 20, "9" * 5000, "x"])
@pytest.mark.parametrize("query", ["limit=", "resourceVersion=", "watch=1&timeoutSeconds=", "watch=1&resourceVersion="])
async def test_numbers_that_are_none(query: str, number: str, caplog: pytest.LogCaptureFixture) -> None:
    assert await _ask("GET", f"{PODS}?{query}{number.replace('+', '%2B')}", caplog) == 400


@pytest.mark.parametrize(
    ("content_type", "body"),
    [
        (MERGE, "[" * 100_000),
        (MERGE, '{"a":' * 100_000),
        (JSON_PATCH, "[" * 100_000),
        (JSON_PATCH, '[{"op":"replace","path":"","value":1}]'),
        (JSON_PATCH, '[{"op":"replace","path":"/metadata","value":1}]'),
    ],
    ids=["lists", "mappings", "lists in a JSON patch", "no object", "no metadata"],
)
async def test_bodies_that_are_none(content_type: str, body: str, caplog: pytest.LogCaptureFixture) -> None:
    headers = {"Content-Type": content_type}
    assert await _ask("PATCH", POD, caplog, data=body, headers=headers) in (400, 413, 422)

"""A dry run stores nothing, and where it must be asked for: a DELETE with a body ignores the query."""

from __future__ import annotations

import secrets
from typing import Any

import pytest

from tests.contract.client import Client, Json

RULES = "/apis/resource.k8s.io/v1/devicetaintrules"


def _rule(name: str) -> Json:
    selector = {"driver": "drv.example.com", "pool": name, "device": "d0"}
    taint = {"key": "example.com/test", "effect": "None"}
    return {"metadata": {"name": name}, "spec": {"deviceSelector": selector, "taint": taint}}


@pytest.mark.parametrize(
    ("query", "body", "stays"),
    [
        ({"dryRun": "All"}, None, True),
        ({"dryRun": "All"}, {"apiVersion": "v1", "kind": "DeleteOptions"}, False),
        ({"dryRun": "All"}, {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}, True),
        ({}, {"apiVersion": "v1", "kind": "DeleteOptions", "dryRun": ["All"]}, True),
        ({}, {"apiVersion": "v1", "kind": "DeleteOptions"}, False),
        ({}, None, False),
    ],
    ids=["query", "query, but a body", "both", "body", "body without", "neither"],
)
async def test_the_query_of_a_delete_counts_only_without_a_body(
    client: Client, query: dict[str, str], body: Any, stays: bool
) -> None:
    """A DELETE with a body ignores dryRun in the query: it must stand in the DeleteOptions."""
    name = f"dry-{secrets.token_hex(4)}"
    path = f"{RULES}/{name}"
    made = (await client.call("POST", RULES, _rule(name))).json
    assert (await client.call("DELETE", path, body, query=query)).status == 200
    answer = await client.call("GET", path)
    assert answer.status == (200 if stays else 404)
    if stays:
        # The resourceVersion may have grown: a controller reports on the rule.
        assert answer.json["metadata"]["uid"] == made["metadata"]["uid"]
        assert answer.json["spec"] == made["spec"]
        assert "deletionTimestamp" not in answer.json["metadata"]
        await client.call("DELETE", path)

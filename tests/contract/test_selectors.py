"""Which objects a list or a watch is about."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from typing import Final

import pytest

from tests.contract.client import Client, Json, names, refused

SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"


def _piece(name: str, pool: str, driver: str) -> Json:
    return {
        "metadata": {"name": name},
        "spec": {
            "driver": driver,
            "nodeName": pool,
            "pool": {"name": pool, "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "gpu-0"}],
        },
    }


@pytest.fixture
async def pieces(client: Client) -> AsyncIterator[str]:
    """The prefix of two ResourceSlices of two nodes, and of their driver."""
    prefix = f"contract-{secrets.token_hex(4)}"
    for node in ("a", "b"):
        body = _piece(f"{prefix}-{node}", f"{prefix}-node-{node}", f"{prefix}.example.com")
        assert (await client.call("POST", SLICES, body)).status == 201
    yield prefix
    for node in ("a", "b"):
        await client.call("DELETE", f"{SLICES}/{prefix}-{node}")


async def test_fields_of_slices(client: Client, pieces: str) -> None:
    """ResourceSlices can be selected by node, by driver and, from 1.37 on, by pool."""
    for field, value, expected in (
        ("spec.nodeName", f"{pieces}-node-a", [f"{pieces}-a"]),
        ("spec.pool.name", f"{pieces}-node-b", [f"{pieces}-b"]),
        ("spec.driver", f"{pieces}.example.com", [f"{pieces}-a", f"{pieces}-b"]),
        ("spec.driver", "nobody.example.com", []),
    ):
        answer = await client.call("GET", SLICES, query={"fieldSelector": f"{field}={value}"})
        assert names(answer.json) == expected, field


async def test_a_watch_of_the_slices_of_one_pool(client: Client, pieces: str) -> None:
    """A watch with a field selector is silent about all others."""
    query = {"fieldSelector": f"spec.pool.name={pieces}-node-b"}
    (event,) = await client.watch(SLICES, query, stop_after=1)
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", f"{pieces}-b")


async def test_terms_of_a_field_selector_are_joined_by_and(client: Client, pieces: str) -> None:
    """Several field terms must all hold, and != is the opposite of =."""
    terms = f"spec.driver={pieces}.example.com,spec.nodeName!={pieces}-node-a"
    assert names((await client.call("GET", SLICES, query={"fieldSelector": terms})).json) == [f"{pieces}-b"]


@pytest.mark.parametrize("query", [{}, {"watch": "1"}], ids=["list", "watch"])
async def test_a_field_that_cannot_be_selected(client: Client, query: dict[str, str]) -> None:
    """A field that the kind does not offer for selection is a 400 that names it."""
    for path in (client.templates, SLICES, "/api/v1/pods", "/apis/batch/v1/jobs"):
        answer = await client.call("GET", path, query={"fieldSelector": "spec.colour=red", **query})
        assert "spec.colour" in refused(answer, 400, "BadRequest")["message"], path


async def test_selectors_that_cannot_be_read(client: Client) -> None:
    """What is no selector is a 400."""
    for query in ({"labelSelector": "a in b"}, {"labelSelector": "a b"}, {"fieldSelector": "metadata.name"}):
        refused(await client.call("GET", client.templates, query=query), 400, "BadRequest")


async def test_a_page_of_what_is_selected_does_not_say_how_much_is_left(client: Client) -> None:
    """remainingItemCount is told only where nothing is selected."""
    for name in "abc":
        await client.make(name, labels={"x": "y"})
    page = (await client.call("GET", client.templates, query={"limit": "1", "labelSelector": "x=y"})).json
    assert page["metadata"]["continue"]
    assert "remainingItemCount" not in page["metadata"]

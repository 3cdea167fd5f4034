"""What a deletion answers, and what happens to an object while it is being deleted."""

from __future__ import annotations

import asyncio

import pytest

from tests.contract.client import Client, refused


async def test_a_deletion_says_what_is_gone(client: Client) -> None:
    """The answer to a deletion that is done names the object and its uid, or is the object."""
    made = await client.make("a")
    answer = (await client.call("DELETE", f"{client.templates}/a")).json
    assert made["metadata"]["uid"] in (answer.get("details", {}).get("uid"), answer.get("metadata", {}).get("uid"))


async def test_a_deletion_that_waits_answers_with_the_object(client: Client) -> None:
    """With finalizers the answer is the object, marked; deleting it again changes nothing."""
    await client.make("a", finalizers=["example.com/wait"])
    path = f"{client.templates}/a"
    first = (await client.call("DELETE", path)).json
    assert (first["kind"], first["metadata"]["finalizers"]) == ("ResourceClaimTemplate", ["example.com/wait"])
    assert first["metadata"]["deletionTimestamp"]
    assert first["metadata"]["deletionGracePeriodSeconds"] == 0
    again = (await client.call("DELETE", path)).json
    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
    await client.patch(path, {"metadata": {"finalizers": None}})


async def test_while_it_is_being_deleted(client: Client) -> None:
    """An object that is being deleted can be changed, but gets no new finalizer: 422."""
    await client.make("a", finalizers=["example.com/wait"])
    path = f"{client.templates}/a"
    await client.call("DELETE", path)
    assert (await client.patch(path, {"metadata": {"labels": {"x": "y"}}})).status == 200
    more = {"metadata": {"finalizers": ["example.com/wait", "example.com/more"]}}
    document = refused(await client.patch(path, more), 422, "Invalid")
    assert [cause["field"] for cause in document["details"]["causes"]] == ["metadata.finalizers"]
    last = (await client.patch(path, {"metadata": {"finalizers": None}})).json
    assert last["metadata"]["deletionTimestamp"]
    refused(await client.call("GET", path), 404, "NotFound")


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
async def test_propagation_policies(client: Client, policy: str) -> None:
    """Whatever becomes of its dependents, an object without any is gone soon."""
    await client.make("a")
    path = f"{client.templates}/a"
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
    assert (await client.call("DELETE", path, body)).status == 200
    async with asyncio.timeout(30):
        while (await client.call("GET", path)).status != 404:
            await asyncio.sleep(0.1)


async def test_a_policy_that_is_none(client: Client) -> None:
    """A propagation policy that does not exist is a 422 about DeleteOptions, and nothing is deleted."""
    await client.make("a")
    path = f"{client.templates}/a"
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Sideways"}
    document = refused(await client.call("DELETE", path, body), 422, "Invalid")
    assert document["details"]["kind"] == "DeleteOptions"
    assert (await client.call("GET", path)).status == 200

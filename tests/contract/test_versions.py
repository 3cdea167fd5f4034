"""Which moment a list shows, and what becomes of moments that the server has forgotten."""

from __future__ import annotations

import pytest

from tests.contract.client import Client, names, refused


async def test_a_list_of_exactly_one_version(client: Client) -> None:
    """resourceVersionMatch=Exact shows the state of that version, NotOlderThan that one or a later one."""
    await client.make("before")
    version = (await client.call("GET", client.templates)).json["metadata"]["resourceVersion"]
    await client.make("later")
    exactly = await client.call(
        "GET", client.templates, query={"resourceVersion": version, "resourceVersionMatch": "Exact"}
    )
    assert (names(exactly.json), exactly.json["metadata"]["resourceVersion"]) == (["before"], version)
    later = (await client.call("GET", client.templates)).json["metadata"]["resourceVersion"]
    fresh = await client.call(
        "GET", client.templates, query={"resourceVersion": later, "resourceVersionMatch": "NotOlderThan"}
    )
    assert names(fresh.json) == ["before", "later"]


async def test_w06_a_continue_token_that_died_comes_with_a_new_one(client: Client) -> None:
    """A page of a forgotten version is a 410 whose token leads on through the list as it is now."""
    for name in "ace":
        await client.make(name)
    first = (await client.call("GET", client.templates, query={"limit": "1"})).json
    for name in "bd":
        await client.make(name)
    await client.forget()
    answer = await client.call("GET", client.templates, query={"limit": "1", "continue": first["metadata"]["continue"]})
    token = refused(answer, 410, "Expired")["metadata"]["continue"]
    rest = (await client.call("GET", client.templates, query={"continue": token})).json
    assert names(rest) == list("bcde")


async def test_w09_a_list_of_a_forgotten_version(client: Client) -> None:
    """A list of exactly a forgotten version is a 410, and not within a stream."""
    await client.make("a")
    version = (await client.call("GET", client.templates)).json["metadata"]["resourceVersion"]
    await client.make("b")
    await client.forget()
    query = {"resourceVersion": version, "resourceVersionMatch": "Exact"}
    refused(await client.call("GET", client.templates, query=query), 410, "Expired")


@pytest.mark.parametrize(
    "query",
    [
        {"limit": "many"},
        {"resourceVersion": "now"},
        {"timeoutSeconds": "soon"},
        {"watch": "1", "timeoutSeconds": "soon"},
        {"limit": "1", "continue": "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MX0", "resourceVersion": "5"},
    ],
    ids=["limit", "version", "time", "time of a watch", "token with a version"],
)
async def test_numbers_that_are_none(client: Client, query: dict[str, str]) -> None:
    """A limit, a version or a time that is no number is a 400; so is a version beside a token."""
    refused(await client.call("GET", client.templates, query=query), 400, "BadRequest")


async def test_a_match_that_is_none(client: Client) -> None:
    """A resourceVersionMatch that does not exist is a 422 about ListOptions."""
    query = {"resourceVersion": "5", "resourceVersionMatch": "Roughly"}
    document = refused(await client.call("GET", client.templates, query=query), 422, "Invalid")
    assert [cause["field"] for cause in document["details"]["causes"]] == ["resourceVersionMatch"]

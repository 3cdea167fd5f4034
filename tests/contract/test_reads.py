"""List and watch."""

from __future__ import annotations

import asyncio
import gzip

import pytest

from tests.contract.client import Client, names, refused

INITIAL = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}


async def _version(client: Client) -> str:
    version: str = (await client.call("GET", client.templates)).json["metadata"]["resourceVersion"]
    return version


async def test_a_list(client: Client) -> None:
    """A list has its own kind and version, and its items have neither."""
    made = await client.make("one")
    document = (await client.call("GET", client.templates)).json
    assert (document["kind"], document["apiVersion"]) == ("ResourceClaimTemplateList", "resource.k8s.io/v1")
    assert int(document["metadata"]["resourceVersion"]) >= int(made["metadata"]["resourceVersion"])
    (item,) = document["items"]
    assert "kind" not in item
    assert item["metadata"] == made["metadata"]


async def test_an_empty_list_has_items(client: Client) -> None:
    """No objects are an empty list, not an absent one."""
    assert (await client.call("GET", client.templates)).json["items"] == []


async def test_pages_are_one_snapshot(client: Client) -> None:
    """All pages of a list show the moment of the first, whatever is written in between."""
    for name in "abcde":
        await client.make(name)
    first = (await client.call("GET", client.templates, query={"limit": "2"})).json
    assert first["metadata"]["remainingItemCount"] == 3
    await client.make("aa")
    await client.call("DELETE", f"{client.templates}/d")
    found, token = names(first), first["metadata"]["continue"]
    while token:
        page = (await client.call("GET", client.templates, query={"limit": "2", "continue": token})).json
        assert page["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        found += names(page)
        token = page["metadata"].get("continue")
    assert found == list("abcde")


async def test_version_zero_ignores_the_limit(client: Client) -> None:
    """A list at version 0 comes from memory, whole."""
    for name in "abc":
        await client.make(name)
    document = (await client.call("GET", client.templates, query={"limit": "1", "resourceVersion": "0"})).json
    assert len(document["items"]) == 3
    assert not document["metadata"].get("continue")


async def test_a_bad_continue_token(client: Client) -> None:
    """A token that no server made is a 400."""
    refused(await client.call("GET", client.templates, query={"limit": "1", "continue": "nonsense"}), 400, "BadRequest")


async def test_label_selectors(client: Client) -> None:
    """Equality, sets, presence and their negations select; terms are joined by and."""
    await client.make("red", labels={"color": "red"})
    await client.make("blue", labels={"color": "blue"})
    await client.make("plain")
    for selector, expected in (
        ("color=red", ["red"]),
        ("color!=red", ["blue", "plain"]),
        ("color in (red,blue)", ["blue", "red"]),
        ("color notin (red)", ["blue", "plain"]),
        ("color", ["blue", "red"]),
        ("!color", ["plain"]),
        ("color,color!=blue", ["red"]),
    ):
        assert (
            names((await client.call("GET", client.templates, query={"labelSelector": selector})).json) == expected
        ), selector


async def test_field_selectors(client: Client) -> None:
    """Every kind can be selected by name."""
    await client.make("a")
    await client.make("b")
    assert names((await client.call("GET", client.templates, query={"fieldSelector": "metadata.name=b"})).json) == ["b"]


@pytest.mark.parametrize(
    "query",
    [
        {"sendInitialEvents": "true"},
        {"resourceVersionMatch": "NotOlderThan"},
        {"watch": "1", "sendInitialEvents": "true"},
        {"watch": "1", "resourceVersion": "1", "resourceVersionMatch": "NotOlderThan"},
        {"resourceVersion": "0", "resourceVersionMatch": "Exact"},
    ],
    ids=["initial events of a list", "match alone", "initial events without match", "match of a watch", "exactly zero"],
)
async def test_w02_options_that_do_not_go_together(client: Client, query: dict[str, str]) -> None:
    """Options of lists and watches that exclude each other are a 422 about ListOptions."""
    document = refused(await client.call("GET", client.templates, query=query), 422, "Invalid")
    assert document["details"]["kind"] == "ListOptions"


async def test_metadata_only(client: Client) -> None:
    """A list can be of metadata alone."""
    made = await client.make("one")
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
    document = (await client.call("GET", client.templates, headers={"Accept": accept}, query={"limit": "1"})).json
    assert (document["kind"], document["apiVersion"]) == ("PartialObjectMetadataList", "meta.k8s.io/v1")
    (item,) = document["items"]
    assert item["metadata"]["uid"] == made["metadata"]["uid"]
    assert "spec" not in item


async def test_w01_a_streaming_list_ends_with_its_bookmark(client: Client) -> None:
    """A streaming list sends each object once, then a bookmark that says so and is no older than any of them."""
    for name in "abc":
        await client.make(name)
    *added, bookmark = await client.watch(client.templates, INITIAL, stop_after=4)
    assert {event["type"] for event in added} == {"ADDED"}
    assert {event["object"]["metadata"]["name"] for event in added} == set("abc")
    assert {event["object"]["kind"] for event in added} == {"ResourceClaimTemplate"}
    assert bookmark["type"] == "BOOKMARK"
    metadata = bookmark["object"]["metadata"]
    assert metadata["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert int(metadata["resourceVersion"]) >= max(
        int(event["object"]["metadata"]["resourceVersion"]) for event in added
    )


async def test_a_plain_watch_without_version_sends_initial_events(client: Client) -> None:
    """A watch from nowhere first sends what is there."""
    await client.make("a")
    (event,) = await client.watch(client.templates, {}, stop_after=1)
    assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")


async def test_a_watch_from_a_version_sends_what_came_later_in_order(client: Client) -> None:
    """A watch from a version sends each later change once, in order."""
    await client.make("before")
    version = await _version(client)
    await client.make("a")
    await client.patch(f"{client.templates}/a", {"metadata": {"labels": {"x": "y"}}})
    await client.call("DELETE", f"{client.templates}/a")
    events = await client.watch(client.templates, {"resourceVersion": version}, stop_after=3)
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    versions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert versions == sorted(set(versions))
    assert versions[0] > int(version)


async def test_w32_leaving_a_selector_is_a_deletion_and_entering_an_addition(client: Client) -> None:
    """A watch with a selector sends DELETED for an object that no longer matches, ADDED for one that now does."""
    await client.make("a", labels={"in": "yes"})
    version = await _version(client)
    path = f"{client.templates}/a"
    await client.patch(path, {"metadata": {"labels": {"in": "no"}}})
    await client.patch(path, {"metadata": {"labels": {"in": "yes"}}})
    events = await client.watch(client.templates, {"resourceVersion": version, "labelSelector": "in=yes"}, stop_after=2)
    assert [event["type"] for event in events] == ["DELETED", "ADDED"]


async def test_w09_w17_a_restarted_server_refuses_the_newest_version_it_gave_out(client: Client) -> None:
    """After a restart a watch from a version of before is a 410 within the stream, with status 200."""
    version = await _version(client)
    await client.restart()
    (event,) = await client.watch(client.templates, {"resourceVersion": version})
    assert event["type"] == "ERROR"
    assert (event["object"]["kind"], event["object"]["code"], event["object"]["reason"]) == ("Status", 410, "Expired")


async def test_w14_a_watch_from_the_future_is_silent(client: Client) -> None:
    """A watch from a version that is not there yet waits and says nothing."""
    future = str(int(await _version(client)) + 1_000_000)
    assert await client.watch(client.templates, {"resourceVersion": future, "timeoutSeconds": "1"}) == []


async def test_w12_a_list_from_the_future(client: Client) -> None:
    """A list from a version that is not there yet is a 504 with a cause and Retry-After."""
    future = str(int(await _version(client)) + 1_000_000)
    answer = await client.call("GET", client.templates, query={"resourceVersion": future})
    document = refused(answer, 504, "Timeout")
    assert "Too large resource version" in document["message"]
    assert [cause["reason"] for cause in document["details"]["causes"]] == ["ResourceVersionTooLarge"]
    assert answer.headers["Retry-After"] == "1"


async def test_w12_a_streaming_list_from_the_future(client: Client) -> None:
    """A streaming list from a version that is not there yet is a 504 within the stream."""
    future = str(int(await _version(client)) + 1_000_000)
    (event,) = await client.watch(client.templates, {"resourceVersion": future, **INITIAL})
    assert (event["type"], event["object"]["code"]) == ("ERROR", 504)
    assert [cause["reason"] for cause in event["object"]["details"]["causes"]] == ["ResourceVersionTooLarge"]


async def test_w07_a_watch_ends_cleanly_when_its_time_is_up(client: Client) -> None:
    """A watch ends without an error after timeoutSeconds."""
    version = await _version(client)
    assert await client.watch(client.templates, {"resourceVersion": version, "timeoutSeconds": "1"}) == []


async def test_a_watch_sees_changes_while_it_is_open(client: Client) -> None:
    """A watch sends changes as they are made."""
    version = await _version(client)
    watching = asyncio.create_task(client.watch(client.templates, {"resourceVersion": version}, stop_after=2))
    await client.make("a")
    await client.make("b")
    assert [event["object"]["metadata"]["name"] for event in await watching] == ["a", "b"]


async def test_gzip_only_for_large_lists_and_only_when_asked(client: Client) -> None:
    """Lists of more than 128 KiB are compressed for who asks for it, nothing else is."""
    for number in range(10):
        await client.make(f"big{number}", annotations={"filling": "x" * 20_000})
    asked = {"Accept-Encoding": "gzip"}
    large = await client.call("GET", client.templates, headers=asked)
    assert large.headers["Content-Encoding"] == "gzip"
    assert len(gzip.decompress(large.body)) > 200_000
    assert "Content-Encoding" not in (await client.call("GET", client.templates)).headers
    assert (
        "Content-Encoding"
        not in (await client.call("GET", client.templates, headers=asked, query={"limit": "1"})).headers
    )


async def test_w31_one_name_in_two_namespaces(client: Client) -> None:
    """A list of all namespaces says in which namespace each object is."""
    await client.make("same")
    path = "/apis/resource.k8s.io/v1/resourceclaimtemplates"
    everywhere = (await client.call("GET", path)).json["items"]
    assert client.namespace in {item["metadata"]["namespace"] for item in everywhere}
    assert (await client.call("GET", f"{client.templates}/same")).json["kind"] == "ResourceClaimTemplate"


async def test_a_missing_object(client: Client) -> None:
    """A name that is not there is a 404 that says which."""
    document = refused(await client.call("GET", f"{client.templates}/nobody"), 404, "NotFound")
    assert document["message"] == 'resourceclaimtemplates.resource.k8s.io "nobody" not found'
    assert document["details"] == {"name": "nobody", "group": "resource.k8s.io", "kind": "resourceclaimtemplates"}

"""Changes: patches of each type, whole replacements, and the border between an object and its status."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.client import Client, Json, names, refused, rule, template


async def test_a_merge_patch_removes_with_null_and_replaces_lists(client: Client) -> None:
    """Null takes a field away; a list is replaced, not merged."""
    await client.make("a", labels={"x": "1", "y": "2"}, finalizers=["example.com/one", "example.com/two"])
    path = f"{client.templates}/a"
    change = {"metadata": {"labels": {"x": None}, "finalizers": ["example.com/two"]}}
    metadata = (await client.patch(path, change)).json["metadata"]
    assert (metadata["labels"], metadata["finalizers"]) == ({"y": "2"}, ["example.com/two"])
    await client.patch(path, {"metadata": {"finalizers": None}})


async def test_a_strategic_patch_merges_lists_by_their_keys(client: Client) -> None:
    """In a strategic patch finalizers are a set, in which new ones come first, and $patch and the like say what goes."""
    await client.make("a", labels={"x": "1", "y": "2"}, finalizers=["example.com/one"])
    path = f"{client.templates}/a"
    change: Json = {"metadata": {"labels": {"x": None, "z": "3"}, "finalizers": ["example.com/two"]}}
    metadata = (await client.patch(path, change, "strategic-merge-patch")).json["metadata"]
    assert metadata["labels"] == {"y": "2", "z": "3"}
    assert metadata["finalizers"] == ["example.com/two", "example.com/one"]
    gone: Json = {
        "metadata": {
            "labels": {"$patch": "replace", "k": "4"},
            "$deleteFromPrimitiveList/finalizers": ["example.com/one"],
        }
    }
    metadata = (await client.patch(path, gone, "strategic-merge-patch")).json["metadata"]
    assert (metadata["labels"], metadata["finalizers"]) == ({"k": "4"}, ["example.com/two"])
    await client.patch(path, {"metadata": {"finalizers": None}})


async def test_a_strategic_patch_finds_conditions_by_their_type(client: Client, rule_name: str) -> None:
    """A condition in a strategic patch replaces the one of its type and leaves the others."""
    await client.call("POST", client.rules, rule(rule_name))
    path = f"{client.rules}/{rule_name}/status"
    for conditions in ([_condition("A", "True"), _condition("B", "True")], [_condition("A", "False")]):
        answer = await client.patch(path, {"status": {"conditions": conditions}}, "strategic-merge-patch")
        assert answer.status == 200, answer.body
    found = {each["type"]: each["status"] for each in answer.json["status"]["conditions"]}
    # A controller may have added its own.
    assert {"A": "False", "B": "True"}.items() <= found.items()
    taken = {"status": {"conditions": [{"type": "B", "$patch": "delete"}]}}
    answer = await client.patch(path, taken, "strategic-merge-patch")
    assert "B" not in {each["type"] for each in answer.json["status"]["conditions"]}


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "remove", "path": "/metadata/labels/none"}],
        [{"op": "replace", "path": "/metadata/none/x", "value": 1}],
        [{"op": "add", "path": "/metadata/annotations/x", "value": "y"}],
        [{"op": "test", "path": "/metadata/none", "value": 1}],
        [{"op": "fly", "path": "/metadata"}],
    ],
    ids=lambda operations: f"{operations[0]['op']} {operations[0]['path']}",
)
async def test_a_json_patch_that_does_not_fit(client: Client, operations: list[Json]) -> None:
    """A path that is not there, or an operation that does not exist, is a 422 without a reason."""
    await client.make("a", labels={"x": "y"})
    document = refused(await client.patch(f"{client.templates}/a", operations, "json-patch"), 422, "Invalid")
    assert document["message"] == "the server rejected our request due to an error in our request"


async def test_a_json_patch_moves_copies_and_knows_what_is_absent(client: Client) -> None:
    """move, copy, and a test for null, which holds where there is nothing."""
    await client.make("a", labels={"n": "1"})
    operations: list[Json] = [
        {"op": "test", "path": "/metadata/annotations", "value": None},
        {"op": "move", "from": "/metadata/labels/n", "path": "/metadata/labels/m"},
        {"op": "copy", "from": "/metadata/labels/m", "path": "/metadata/labels/k"},
    ]
    answer = await client.patch(f"{client.templates}/a", operations, "json-patch")
    assert answer.json["metadata"]["labels"] == {"m": "1", "k": "1"}


@pytest.mark.parametrize(("body", "kind"), [([], "merge-patch"), ({}, "json-patch"), ([], "strategic-merge-patch")])
async def test_a_patch_that_does_not_have_the_shape_of_its_type(client: Client, body: Any, kind: str) -> None:
    """A list for a merge patch, or an object for a JSON patch, is a 400."""
    await client.make("a")
    refused(await client.patch(f"{client.templates}/a", body, kind), 400, "BadRequest")


async def test_what_is_not_there_cannot_be_changed(client: Client) -> None:
    """A patch or a replacement of a missing object is a 404."""
    path = f"{client.templates}/nobody"
    refused(await client.patch(path, {}), 404, "NotFound")
    refused(await client.call("PUT", path, template("nobody")), 404, "NotFound")


async def test_a_replacement(client: Client) -> None:
    """PUT replaces everything but the object's identity, and refuses another version or name."""
    made = await client.make("a", labels={"x": "y"})
    path = f"{client.templates}/a"
    new = (await client.call("PUT", path, template("a", annotations={"k": "v"}))).json
    assert (new["metadata"]["uid"], new["metadata"].get("labels")) == (made["metadata"]["uid"], None)
    assert new["metadata"]["annotations"] == {"k": "v"}
    refused(await client.call("PUT", path, made), 409, "Conflict")
    refused(await client.call("PUT", path, template("b")), 400, "BadRequest")
    assert names((await client.call("GET", client.templates)).json) == ["a"]


async def test_the_generation_counts_changes_of_the_spec(client: Client, rule_name: str) -> None:
    """metadata.generation grows with the spec, not with labels."""
    path = f"{client.rules}/{rule_name}"
    assert (await client.call("POST", client.rules, rule(rule_name))).json["metadata"]["generation"] == 1
    assert (await client.patch(path, {"metadata": {"labels": {"a": "b"}}})).json["metadata"]["generation"] == 1
    assert (await client.patch(path, {"spec": {"taint": {"value": "x"}}})).json["metadata"]["generation"] == 2


async def test_the_status_is_a_world_of_its_own(client: Client, rule_name: str) -> None:
    """A write to the object leaves the status alone, and one to /status leaves the spec alone."""
    body = rule(rule_name) | {"status": {"conditions": [_condition("Mine", "True")]}}
    made = (await client.call("POST", client.rules, body)).json
    assert not made.get("status", {}).get("conditions")
    path = f"{client.rules}/{rule_name}"
    both: Json = {"spec": {"taint": {"value": "new"}}, "status": {"conditions": [_condition("Mine", "True")]}}
    changed = (await client.patch(path, both)).json
    assert changed["spec"]["taint"]["value"] == "new"
    assert "Mine" not in {each["type"] for each in changed.get("status", {}).get("conditions", ())}
    both["spec"]["taint"]["value"] = "newer"
    changed = (await client.patch(f"{path}/status", both)).json
    assert changed["spec"]["taint"]["value"] == "new"
    assert "Mine" in {each["type"] for each in changed["status"]["conditions"]}


async def test_a_kind_without_a_status(client: Client) -> None:
    """Where there is no status there is no path for it."""
    await client.make("a")
    refused(await client.patch(f"{client.templates}/a/status", {}), 404, "NotFound")


def _condition(type_: str, status: str) -> Json:
    moment = "2026-01-01T00:00:00Z"
    return {"type": type_, "status": status, "reason": "Test", "message": "", "lastTransitionTime": moment}

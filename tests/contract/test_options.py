"""The options of a write: field validation and dry runs; and what may not be created."""

from __future__ import annotations

import pytest

from tests.contract.client import Client, Json, refused, rule, template


@pytest.mark.parametrize(
    ("query", "warned"),
    [({}, True), ({"fieldValidation": "Warn"}, True), ({"fieldValidation": "Ignore"}, False)],
    ids=["nothing said", "Warn", "Ignore"],
)
async def test_unknown_fields_are_dropped(client: Client, rule_name: str, query: dict[str, str], warned: bool) -> None:
    """Without strict validation an unknown field is not stored; a Warning header names it unless it is to be ignored."""
    body = rule(rule_name, colour="red")
    answer = await client.call("POST", client.rules, body, query=query)
    assert answer.status == 201
    assert "colour" not in answer.json["spec"]["taint"]
    assert (answer.headers.get("Warning") == '299 - "unknown field \\"spec.taint.colour\\""') is warned
    changed = await client.patch(f"{client.rules}/{rule_name}", {"spec": {"taint": {"size": 5}}}, query=query)
    assert "size" not in changed.json["spec"]["taint"]
    assert ("spec.taint.size" in changed.headers.get("Warning", "")) is warned


@pytest.mark.parametrize(
    ("method", "kind"), [("POST", "CreateOptions"), ("PUT", "UpdateOptions"), ("PATCH", "PatchOptions")]
)
@pytest.mark.parametrize("option", ["dryRun", "fieldValidation"])
async def test_options_that_do_not_exist(client: Client, method: str, kind: str, option: str) -> None:
    """A dry run of something, or a validation of another name, is a 422 about the options, and nothing is written."""
    made = await client.make("a")
    path = client.templates if method == "POST" else f"{client.templates}/a"
    body: Json = template("b" if method == "POST" else "a", labels={"x": "y"})
    content_type = "application/merge-patch+json" if method == "PATCH" else "application/json"
    answer = await client.call(method, path, body, query={option: "Some"}, content_type=content_type)
    document = refused(answer, 422, "Invalid")
    assert (document["details"]["kind"], document["details"]["causes"][0]["field"]) == (kind, option)
    assert (await client.call("GET", client.templates)).json["items"][0]["metadata"] == made["metadata"]


async def test_a_dry_run_of_a_deletion_that_does_not_exist(client: Client) -> None:
    """The options of a deletion are checked too, in the query and in the body."""
    await client.make("a")
    path = f"{client.templates}/a"
    refused(await client.call("DELETE", path, query={"dryRun": "Some"}), 422, "Invalid")
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "dryRun": ["Some"]}
    refused(await client.call("DELETE", path, body), 422, "Invalid")
    assert (await client.call("GET", path)).status == 200


@pytest.mark.parametrize(
    ("change", "code", "reason"),
    [
        ({"metadata": {"name": "Upper_Case"}}, 422, "Invalid"),
        ({"metadata": {}}, 422, "Invalid"),
        ({"metadata": {"name": "a", "namespace": "elsewhere"}}, 400, "BadRequest"),
        ({"kind": "ResourceClaim"}, 400, "BadRequest"),
        ({"apiVersion": "resource.k8s.io/v9"}, 400, "BadRequest"),
    ],
    ids=["name", "no name", "namespace", "kind", "version"],
)
async def test_what_cannot_be_created(client: Client, change: Json, code: int, reason: str) -> None:
    """A name that is none is a 422; a body that contradicts its URL is a 400."""
    refused(await client.call("POST", client.templates, template("a") | change), code, reason)
    assert (await client.call("GET", client.templates)).json["items"] == []

"""What everybody may ask the server about themselves."""

from __future__ import annotations

from typing import Final

from tests.contract.client import Answer, Client, Json, refused

REVIEWS: Final = "/apis/authorization.k8s.io/v1"


async def _ask(client: Client, kind: str, spec: Json, user: str) -> Answer:
    body = {"kind": kind, "apiVersion": "authorization.k8s.io/v1", "spec": spec}
    return await client.call("POST", f"{REVIEWS}/{kind.lower()}s", body, user=user)


def _allows(status: Json, verb: str, group: str, resource: str) -> bool:
    """Rules name what they allow; "*" is everything."""
    return any(
        {verb, "*"} & set(rule["verbs"])
        and {group, "*"} & set(rule["apiGroups"])
        and {resource, "*"} & set(rule["resources"])
        for rule in status["resourceRules"]
    )


async def test_w35_all_rights_of_a_namespace_at_once(client: Client) -> None:
    """A rules review lists what one may do; it says whether the list is complete."""
    for user, verb, allowed in (("admin", "create", True), ("viewer", "create", False), ("viewer", "list", True)):
        answer = await _ask(client, "SelfSubjectRulesReview", {"namespace": client.namespace}, user)
        assert answer.status == 201
        status = answer.json["status"]
        assert _allows(status, verb, "resource.k8s.io", "devicetaintrules") is allowed, (user, verb)
        assert status["incomplete"] is False


async def test_a_rules_review_without_a_namespace(client: Client) -> None:
    """A rules review is about one namespace: without it, 400."""
    refused(await _ask(client, "SelfSubjectRulesReview", {}, "viewer"), 400, "BadRequest")


async def test_an_access_review_about_nothing(client: Client) -> None:
    """An access review is about a resource or a path: without either, 422."""
    refused(await _ask(client, "SelfSubjectAccessReview", {}, "viewer"), 422, "Invalid")


async def test_an_access_review_about_a_path(client: Client) -> None:
    """An access review can ask about a path; the answer repeats the question."""
    spec = {"nonResourceAttributes": {"path": "/version", "verb": "get"}}
    answer = (await _ask(client, "SelfSubjectAccessReview", spec, "viewer")).json
    assert (answer["spec"], answer["status"]["allowed"]) == (spec, True)


async def test_an_access_review_about_one_object(client: Client) -> None:
    """An access review can be about one object, or about a subresource."""
    for more in ({"name": "one"}, {"subresource": "status"}):
        attributes = {"verb": "update", "group": "resource.k8s.io", "resource": "devicetaintrules", **more}
        for user, allowed in (("admin", True), ("viewer", False)):
            answer = await _ask(client, "SelfSubjectAccessReview", {"resourceAttributes": attributes}, user)
            assert answer.json["status"]["allowed"] is allowed, (user, more)


async def test_reviews_are_only_created(client: Client) -> None:
    """Nobody lists reviews; discovery says so."""
    assert (await client.call("GET", f"{REVIEWS}/selfsubjectaccessreviews")).status == 405
    listed = (await client.call("GET", REVIEWS)).json["resources"]
    assert next(each["verbs"] for each in listed if each["name"] == "selfsubjectaccessreviews") == ["create"]

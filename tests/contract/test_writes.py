"""Writes, their preconditions, and who may."""

from __future__ import annotations

from typing import Any

import pytest

from tests.contract.client import Client, Json, refused, rule, template


def _autoscaler(client: Client, **spec: Any) -> tuple[str, Json]:
    metrics = [
        {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    ]
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "nothing"}
    path = f"/apis/autoscaling/v2/namespaces/{client.namespace}/horizontalpodautoscalers"
    body = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "hpa"},
        "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 5, "metrics": metrics, **spec},
    }
    return path, body


async def test_a_created_object_gets_its_identity(client: Client) -> None:
    """uid, version and creation time are given on creation and are there when it is read."""
    made = await client.make("a")
    metadata = made["metadata"]
    assert metadata["namespace"] == client.namespace
    assert len(metadata["uid"]) == 36
    assert metadata["resourceVersion"].isdigit()
    assert metadata["creationTimestamp"].endswith("Z")
    assert (await client.call("GET", f"{client.templates}/a")).json == made


async def test_generated_names(client: Client) -> None:
    """generateName makes a new name each time."""
    body = template("")
    body["metadata"] = {"generateName": "made-"}
    names = {(await client.call("POST", client.templates, body)).json["metadata"]["name"] for _ in range(2)}
    assert len(names) == 2
    assert all(name.startswith("made-") and len(name) == 10 for name in names)


async def test_a06_a_name_that_is_taken(client: Client) -> None:
    """Creating a second object of a name is a 409 AlreadyExists."""
    await client.make("a")
    document = refused(await client.call("POST", client.templates, template("a")), 409, "AlreadyExists")
    assert document["message"] == 'resourceclaimtemplates.resource.k8s.io "a" already exists'


async def test_a01_a_dry_run_stores_nothing(client: Client) -> None:
    """A dry run of a creation, a change or a deletion is answered like the real one, and changes nothing."""
    answer = await client.call("POST", client.templates, template("a"), query={"dryRun": "All"})
    assert answer.status == 201
    assert answer.json["metadata"]["uid"]
    assert (await client.call("GET", f"{client.templates}/a")).status == 404
    await client.make("a")
    path = f"{client.templates}/a"
    assert (await client.patch(path, {"metadata": {"labels": {"x": "y"}}}, query={"dryRun": "All"})).json["metadata"][
        "labels"
    ]
    assert (await client.call("DELETE", path, query={"dryRun": "All"})).status == 200
    assert "labels" not in (await client.call("GET", path)).json["metadata"]


async def test_a23_unknown_fields_under_strict_validation(client: Client, rule_name: str) -> None:
    """Under strict validation an unknown field is a 400 that names it."""
    body = rule(rule_name)
    body["spec"]["taints"] = []
    document = refused(
        await client.call("POST", client.rules, body, query={"fieldValidation": "Strict"}), 400, "BadRequest"
    )
    assert 'strict decoding error: unknown field "spec.taints"' in document["message"]


async def test_a_rule_with_its_defaults(client: Client, rule_name: str) -> None:
    """The server writes into a taint when it was added."""
    answer = await client.call("POST", client.rules, rule(rule_name), query={"fieldValidation": "Strict"})
    assert answer.status == 201
    assert answer.json["spec"]["taint"]["timeAdded"].endswith("Z")


async def test_a_new_effect_brings_a_new_time(client: Client, rule_name: str) -> None:
    """timeAdded says since when the effect has been what it is, unless the client sets it; other changes keep it."""
    then = "2020-01-01T00:00:00Z"
    path = f"{client.rules}/{rule_name}"
    await client.call("POST", client.rules, rule(rule_name, timeAdded=then))

    async def patched(**taint: str) -> str:
        merge = "application/merge-patch+json"
        answer = await client.call("PATCH", path, {"spec": {"taint": taint}}, content_type=merge)
        return str(answer.json["spec"]["taint"]["timeAdded"])

    assert await patched(value="79") == then
    assert await patched(effect="NoSchedule") > then
    assert await patched(effect="None", timeAdded="2021-01-01T00:00:00Z") == "2021-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("taint", "field"),
    [
        ({"effect": ""}, "spec.taint.effect"),
        ({"effect": "Sometimes"}, "spec.taint.effect"),
        ({"key": ""}, "spec.taint.key"),
    ],
)
async def test_a_rule_that_breaks_a_rule(client: Client, rule_name: str, taint: Json, field: str) -> None:
    """A taint without key or with an unknown effect is a 422 that names the field."""
    document = refused(await client.call("POST", client.rules, rule(rule_name, **taint)), 422, "Invalid")
    assert document["message"].startswith(f'DeviceTaintRule.resource.k8s.io "{rule_name}" is invalid: ')
    assert field in {cause["field"] for cause in document["details"]["causes"]}


@pytest.mark.parametrize("change", [{"spec": 5}, {"metadata": []}, {"spec": {"taint": "no"}}], ids=str)
async def test_what_does_not_have_the_shape_of_its_kind(client: Client, rule_name: str, change: Json) -> None:
    """A value of the wrong type is a 400."""
    refused(await client.call("POST", client.rules, rule(rule_name) | change), 400, "BadRequest")


async def test_a_body_that_is_not_json(client: Client) -> None:
    """A body that is no object is a 400."""
    assert (await client.call("POST", client.templates, "text")).status == 400


async def test_a14_a_stale_version_in_a_merge_patch(client: Client) -> None:
    """A resourceVersion in a patch is a condition: 409 Conflict when it has moved on."""
    made = await client.make("a")
    path = f"{client.templates}/a"
    first = await client.patch(
        path, {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"], "labels": {"n": "1"}}}
    )
    assert first.status == 200
    stale = {"metadata": {"resourceVersion": made["metadata"]["resourceVersion"], "labels": {"n": "2"}}}
    document = refused(await client.patch(path, stale), 409, "Conflict")
    assert "the object has been modified" in document["message"]


async def test_a08_a_wrong_uid_in_a_merge_patch(client: Client) -> None:
    """A uid in a patch is a condition: another object of the same name is not changed."""
    await client.make("a")
    wrong = {"metadata": {"uid": "00000000-0000-0000-0000-000000000000", "labels": {"n": "1"}}}
    answer = await client.patch(f"{client.templates}/a", wrong)
    assert answer.status in (409, 422)
    assert answer.json["reason"] in ("Conflict", "Invalid")


async def test_a_patch_that_changes_nothing_keeps_the_version(client: Client) -> None:
    """A patch without effect is no change."""
    made = await client.make("a", labels={"x": "y"})
    again = await client.patch(f"{client.templates}/a", {"metadata": {"labels": {"x": "y"}}})
    assert again.json["metadata"]["resourceVersion"] == made["metadata"]["resourceVersion"]


async def test_json_patches_and_their_tests(client: Client) -> None:
    """A JSON patch is applied whole or, when a test in it fails, not at all: 422."""
    made = await client.make("a", labels={"x": "y"})
    path, uid = f"{client.templates}/a", made["metadata"]["uid"]
    good = [
        {"op": "test", "path": "/metadata/uid", "value": uid},
        {"op": "replace", "path": "/metadata/labels/x", "value": "z"},
        {"op": "add", "path": "/metadata/labels/a~1b", "value": "c"},
    ]
    assert (await client.patch(path, good, "json-patch")).json["metadata"]["labels"] == {"x": "z", "a/b": "c"}
    bad = [{"op": "test", "path": "/metadata/labels/x", "value": "y"}, {"op": "remove", "path": "/metadata/labels/x"}]
    document = refused(await client.patch(path, bad, "json-patch"), 422, "Invalid")
    assert not document.get("details", {}).get("causes")


async def test_other_patch_types(client: Client) -> None:
    """A patch of a type that is none is a 415."""
    await client.make("a")
    answer = await client.call("PATCH", f"{client.templates}/a", {}, content_type="application/json")
    refused(answer, 415, "UnsupportedMediaType")


async def test_a08_preconditions_of_a_deletion(client: Client) -> None:
    """A deletion with another uid or version than the object has is a 409."""
    made = (await client.make("a"))["metadata"]
    path = f"{client.templates}/a"
    for wrong in ({"uid": "00000000-0000-0000-0000-000000000000"}, {"uid": made["uid"], "resourceVersion": "1"}):
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": wrong}
        refused(await client.call("DELETE", path, body), 409, "Conflict")
    right = {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}
    body = {"kind": "DeleteOptions", "apiVersion": "v1", "preconditions": right}
    assert (await client.call("DELETE", path, body)).status == 200
    refused(await client.call("DELETE", path, body), 404, "NotFound")


async def test_finalizers_keep_an_object_until_they_are_gone(client: Client) -> None:
    """A deleted object with finalizers stays, marked, and goes with the last of them."""
    await client.make("a", finalizers=["example.com/wait"])
    path = f"{client.templates}/a"
    assert (await client.call("DELETE", path)).status == 200
    assert (await client.call("GET", path)).json["metadata"]["deletionTimestamp"]
    assert (await client.patch(path, {"metadata": {"finalizers": None}})).status == 200
    assert (await client.call("GET", path)).status == 404


async def test_a12_a13_min_replicas(client: Client) -> None:
    """minReplicas: absent is 1; zero needs an Object or External metric; not above maxReplicas, not negative."""
    path, body = _autoscaler(client)
    assert (await client.call("POST", path, body)).status == 201
    hpa = f"{path}/hpa"
    assert (await client.patch(hpa, {"spec": {"minReplicas": 3}})).json["spec"]["minReplicas"] == 3
    assert (await client.patch(hpa, {"spec": {"minReplicas": None}})).json["spec"]["minReplicas"] == 1
    zero = refused(await client.patch(hpa, {"spec": {"minReplicas": 0}}), 422, "Invalid")
    assert "must specify at least one Object or External metric" in zero["message"]
    above = refused(await client.patch(hpa, {"spec": {"minReplicas": 6}}), 422, "Invalid")
    assert {cause["field"] for cause in above["details"]["causes"]} == {"spec.maxReplicas"}
    refused(await client.patch(hpa, {"spec": {"minReplicas": -1}}), 422, "Invalid")


async def test_zero_with_an_external_metric(client: Client) -> None:
    """With an External metric minReplicas may be zero."""
    external = {
        "type": "External",
        "external": {"metric": {"name": "queue"}, "target": {"type": "Value", "value": "10"}},
    }
    path, body = _autoscaler(client, minReplicas=0, metrics=[external])
    answer = await client.call("POST", path, body)
    assert (answer.status, answer.json["spec"]["minReplicas"]) == (201, 0)


async def test_a_put_on_a_collection(client: Client) -> None:
    """A method that a path does not have is a 405."""
    refused(await client.call("PUT", client.templates, template("a")), 405, "MethodNotAllowed")


async def test_an_unknown_token(client: Client) -> None:
    """An unknown token is a 401."""
    refused(await client.call("GET", client.templates, token="nobody"), 401, "Unauthorized")


async def test_a17_a_viewer_may_not_write(client: Client) -> None:
    """Who may not is told who they are and what they may not: 403."""
    document = refused(await client.call("POST", client.rules, rule("x"), user="viewer"), 403, "Forbidden")
    assert document["details"] == {"group": "resource.k8s.io", "kind": "devicetaintrules"}
    words = 'devicetaintrules.resource.k8s.io is forbidden: User "viewer" cannot create resource "devicetaintrules"'
    assert document["message"].startswith(f'{words} in API group "resource.k8s.io" at the cluster scope')


@pytest.mark.parametrize(
    ("user", "verb", "allowed"), [("admin", "create", True), ("viewer", "create", False), ("viewer", "list", True)]
)
async def test_w35_everybody_may_ask_for_their_rights(client: Client, user: str, verb: str, allowed: bool) -> None:
    """An access review answers for the one who asks."""
    attributes = {"verb": verb, "group": "resource.k8s.io", "resource": "devicetaintrules"}
    review = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "spec": {"resourceAttributes": attributes},
    }
    answer = await client.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review, user=user)
    assert (answer.status, answer.json["status"]["allowed"]) == (201, allowed)


async def test_everybody_may_ask_who_they_are(client: Client) -> None:
    """A review of oneself says the name."""
    review = {"kind": "SelfSubjectReview", "apiVersion": "authentication.k8s.io/v1"}
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    answer = await client.call("POST", path, review, user="viewer")
    assert answer.json["status"]["userInfo"]["username"] == "viewer"


async def test_impersonation(client: Client) -> None:
    """Impersonate-User asks as somebody else, with their rights."""
    answer = await client.call("POST", client.rules, rule("x"), headers={"Impersonate-User": "viewer"})
    assert 'User "viewer" cannot create' in refused(answer, 403, "Forbidden")["message"]

"""Discovery, versions, and what is not there."""

from __future__ import annotations

from tests.contract.client import Client

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


async def test_version(client: Client) -> None:
    """The version says which Kubernetes it is, whole and in two numbers, and of what it was built."""
    version = (await client.call("GET", "/version")).json
    assert version["gitVersion"].startswith("v1.37.")
    assert (version["major"], version["minor"]) == ("1", "37")
    built = {"gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform"}
    assert built <= version.keys()


async def test_aggregated_discovery_lists_resources_with_verbs_and_scope(client: Client) -> None:
    """One request to /apis tells every group, version, resource, verb and scope."""
    answer = await client.call("GET", "/apis", headers={"Accept": AGGREGATED})
    assert "g=apidiscovery.k8s.io" in answer.headers["Content-Type"]
    groups = {group["metadata"]["name"]: group["versions"] for group in answer.json["items"]}
    version = next(each for each in groups["resource.k8s.io"] if each["version"] == "v1")
    assert version["freshness"] == "Current"
    resources = {each["resource"]: each for each in version["resources"]}
    assert resources["resourceclaimtemplates"]["scope"] == "Namespaced"
    assert resources["deviceclasses"]["scope"] == "Cluster"
    assert {"list", "watch", "get", "create", "patch", "delete"} <= set(resources["devicetaintrules"]["verbs"])
    assert {each["version"] for each in groups["scheduling.k8s.io"]} >= {"v1beta1"}


async def test_the_core_group_has_no_name(client: Client) -> None:
    """The core group, at /api, stands alone and without a name."""
    answer = await client.call("GET", "/api", headers={"Accept": AGGREGATED})
    (group,) = answer.json["items"]
    assert not group["metadata"].get("name")
    assert "pods" in {each["resource"] for each in group["versions"][0]["resources"]}


async def test_w43_discovery_has_an_etag(client: Client) -> None:
    """What discovery said before is not sent again: 304 and no body."""
    first = await client.call("GET", "/apis", headers={"Accept": AGGREGATED})
    again = await client.call("GET", "/apis", headers={"Accept": AGGREGATED, "If-None-Match": first.headers["ETag"]})
    assert again.status == 304
    assert again.body == b""


async def test_legacy_discovery(client: Client) -> None:
    """The older documents, one for each group version, tell the same."""
    groups = {group["name"]: group["versions"] for group in (await client.call("GET", "/apis")).json["groups"]}
    assert "v1" in {each["version"] for each in groups["resource.k8s.io"]}
    assert (await client.call("GET", "/api")).json["versions"] == ["v1"]
    listed = (await client.call("GET", "/apis/resource.k8s.io/v1")).json
    assert listed["groupVersion"] == "resource.k8s.io/v1"
    assert "list" in next(each for each in listed["resources"] if each["name"] == "devicetaintrules")["verbs"]


async def test_the_document_of_one_group(client: Client) -> None:
    """A group's own document names its versions and the one that is preferred."""
    group = (await client.call("GET", "/apis/resource.k8s.io")).json
    assert (group["kind"], group["name"]) == ("APIGroup", "resource.k8s.io")
    assert group["preferredVersion"] == {"groupVersion": "resource.k8s.io/v1", "version": "v1"}
    assert group["preferredVersion"] in group["versions"]


async def test_w39_what_is_not_served_in_a_known_group(client: Client) -> None:
    """An unknown resource or version of a known group is a 404 with a Status."""
    for path in ("/apis/scheduling.k8s.io/v1alpha1/workloads", "/api/v1/things", "/apis/batch/v7/jobs"):
        answer = await client.call("GET", path)
        assert (answer.status, answer.json["reason"]) == (404, "NotFound")
        assert answer.json["message"] == "the server could not find the requested resource"


async def test_w39_what_is_not_served_at_all_is_a_404_in_plain_text(client: Client) -> None:
    """An unknown group or path is a 404 in plain text."""
    for path in ("/apis/nothing.example.com/v1/things", "/nope"):
        answer = await client.call("GET", path)
        assert answer.status == 404
        assert answer.headers["Content-Type"].startswith("text/plain")
        assert answer.body == b"404 page not found\n"


async def test_viewers_may_read_discovery(client: Client) -> None:
    """Who may only read may also ask what there is."""
    assert (await client.call("GET", "/apis", user="viewer")).status == 200
    assert (await client.call("GET", "/version", user="viewer")).status == 200


async def test_ready(client: Client) -> None:
    """/readyz says ok."""
    assert (await client.call("GET", "/readyz")).body == b"ok"

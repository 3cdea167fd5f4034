"""What a request and its answer may be written in."""

from __future__ import annotations

import pytest

from tests.contract.client import Client, refused, template


@pytest.mark.parametrize("query", [{}, {"watch": "1"}], ids=["list", "watch"])
async def test_a_format_that_is_not_spoken(client: Client, query: dict[str, str]) -> None:
    """An Accept header without a known format is a 406, also for a watch."""
    answer = await client.call("GET", client.templates, headers={"Accept": "text/csv"}, query=query)
    assert "application/json" in refused(answer, 406, "NotAcceptable")["message"]


async def test_a_form_that_is_not_known(client: Client) -> None:
    """JSON in a form that no server has is a 406."""
    accept = "application/json;as=Sculpture;v=v1;g=meta.k8s.io"
    refused(await client.call("GET", client.templates, headers={"Accept": accept}), 406, "NotAcceptable")


async def test_the_first_format_that_is_spoken(client: Client) -> None:
    """Of several formats the server takes one that it has; any will do for */*."""
    for accept in (
        "text/csv, application/json",
        "*/*",
        "application/json;as=Sculpture;v=v1;g=meta.k8s.io, application/json",
    ):
        answer = await client.call("GET", client.templates, headers={"Accept": accept})
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json["kind"] == "ResourceClaimTemplateList"


@pytest.mark.parametrize(
    ("accept", "sign"),
    [
        ("application/vnd.kubernetes.protobuf", b"k8s\x00"),
        ("application/yaml", b"apiVersion: "),
        ("application/json;as=Table;v=v1;g=meta.k8s.io", b'{"kind":"Table"'),
    ],
    ids=["protobuf", "YAML", "Table"],
)
async def test_what_is_asked_for_or_nothing(client: Client, accept: str, sign: bytes) -> None:
    """Protobuf, YAML and Table are answered by a server that has them and refused with a 406 by one that has not."""
    await client.make("a")
    answer = await client.call("GET", f"{client.templates}/a", headers={"Accept": accept})
    if answer.status == 200:
        assert answer.body.startswith(sign)
        assert answer.headers["Content-Type"] == accept.partition(";")[0]
    else:
        refused(answer, 406, "NotAcceptable")


async def test_a_body_in_a_format_that_is_not_spoken(client: Client) -> None:
    """A body that says it is something else than an object is a 415."""
    answer = await client.call("POST", client.templates, template("a"), content_type="text/plain")
    assert "application/json" in refused(answer, 415, "UnsupportedMediaType")["message"]


async def test_metadata_of_one_object(client: Client) -> None:
    """One object, too, can be read as metadata alone."""
    made = await client.make("one")
    accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    document = (await client.call("GET", f"{client.templates}/one", headers={"Accept": accept})).json
    assert (document["kind"], document["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert document["metadata"] == made["metadata"]
    assert "spec" not in document


async def test_a_watch_of_metadata(client: Client) -> None:
    """A watch can send metadata alone."""
    await client.make("one")
    accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
    (event,) = await client.watch(client.templates, {}, stop_after=1, headers={"Accept": accept})
    assert (event["object"]["kind"], event["object"]["metadata"]["name"]) == ("PartialObjectMetadata", "one")
    assert "spec" not in event["object"]

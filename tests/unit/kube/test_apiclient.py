"""The client library's requests on our own session: what leaves, what comes back, what it is called when it fails."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.demo.apiserver import ApiServer
from ktui.kube.apiclient import Api
from ktui.kube.failures import ApiError, ReadOnlyRefused, UnexpectedAnswer
from tests.faults import Answer, Faults
from tests.unit.kube.harness import StaticCredentials, transport_to

RULE = ("resource.k8s.io", "v1", "devicetaintrules", "")
HPA = ("autoscaling", "v2", "horizontalpodautoscalers", "ml")
RULES = "/apis/resource.k8s.io/v1/devicetaintrules"
HPAS = "/apis/autoscaling/v2/namespaces/ml/horizontalpodautoscalers"
OK = Answer(200, '{"metadata": {}}')


async def sent(faults: Faults, what: Any, **transport: Any) -> Any:
    """The answer to one call of the API, against a server with these faults."""
    async with ApiServer(middlewares=[faults.middleware]) as server, transport_to(server.url, **transport) as session:
        return await what(Api(session))


class TestRequests:
    @pytest.mark.parametrize("dry_run", [False, True])
    async def test_writes_name_the_manager_and_are_strict(self, dry_run: bool) -> None:
        faults = Faults()
        faults.script("*", OK, repeat=True)

        async def write(api: Api) -> None:
            await api.create(*RULE, {"a": 1}, dry_run=dry_run)
            await api.patch(*HPA, "chat", {"a": 1}, content_type="application/merge-patch+json", dry_run=dry_run)
            await api.patch(*RULE, "r", [{"op": "test"}], content_type="application/json-patch+json", dry_run=dry_run)

        await sent(faults, write)
        asked = [each for each in faults.journal if each.method != "GET"]
        assert [(each.method, each.path) for each in asked] == [
            ("POST", RULES),
            ("PATCH", f"{HPAS}/chat"),
            ("PATCH", f"{RULES}/r"),
        ]
        query = {"fieldManager": "ktui", "fieldValidation": "Strict", **({"dryRun": "All"} if dry_run else {})}
        assert all(each.query == query for each in asked)
        assert [each.headers["Content-Type"] for each in asked] == [
            "application/json",
            "application/merge-patch+json",
            "application/json-patch+json",
        ]

    async def test_what_the_session_adds_is_on_every_request(self) -> None:
        faults = Faults()
        faults.script("*", OK, repeat=True)

        async def call(api: Api) -> None:
            await api.get(*RULE, "r")
            await api.delete(*RULE, "r", {}, dry_run=True)
            await api.may("create", "resource.k8s.io", "devicetaintrules")

        await sent(faults, call, credentials=StaticCredentials("tok"))
        assert {each.headers["Authorization"] for each in faults.journal} == {"Bearer tok"}
        assert all(each.headers["User-Agent"].startswith("ktui/") for each in faults.journal)
        assert all("Cookie" not in each.headers for each in faults.journal)

    @pytest.mark.parametrize("name", ["a/../../pods", "a?dryRun=All", "a#b", "a%2fb", "{plural}"])
    async def test_a_name_cannot_leave_its_place_in_the_path(self, name: str) -> None:
        faults = Faults()
        with pytest.raises(ApiError):
            await sent(faults, lambda api: api.get(*RULE, name))
        (asked,) = faults.journal
        assert asked.path == f"{RULES}/{name}"  # as the server decodes it: one segment
        assert asked.query == {}

    async def test_a19_read_only(self) -> None:
        faults = Faults()

        async def every(api: Api) -> None:
            for dry_run in (False, True):
                with pytest.raises(ReadOnlyRefused):
                    await api.create(*RULE, {}, dry_run=dry_run)
                with pytest.raises(ReadOnlyRefused):
                    await api.delete(*RULE, "r", {}, dry_run=dry_run)
                with pytest.raises(ReadOnlyRefused):
                    await api.patch(*HPA, "x", {}, content_type="application/merge-patch+json", dry_run=dry_run)
            assert (await api.may("create", "resource.k8s.io", "devicetaintrules")).allowed

        await sent(faults, every, read_only=True)
        assert [each.path.rsplit("/", 1)[-1] for each in faults.journal] == ["selfsubjectaccessreviews"]


class TestAnswers:
    @pytest.mark.parametrize("body", ["", "null", "[]", "1", "{", "\x00", '"{}"'])
    async def test_no_object_is_an_answer_that_cannot_be_trusted(self, body: str) -> None:
        faults = Faults()
        faults.script("GET *", Answer(200, body))
        with pytest.raises(UnexpectedAnswer, match="its answer is not a JSON object"):
            await sent(faults, lambda api: api.get(*RULE, "r"))

    @pytest.mark.parametrize(
        ("header", "texts"),
        [
            ('299 - "unknown field \\"spec.x\\""', ('unknown field "spec.x"',)),
            ('299 - "a", 299 - "b, c"', ("a", "b, c")),
            ('299 kube "back\\\\slash" "Mon, 30 Nov 2026 05:00:00 GMT"', ("back\\slash",)),
            ("nonsense", ("nonsense",)),
            ('299 - "not closed', ('299 - "not closed',)),
        ],
    )
    async def test_warnings(self, header: str, texts: tuple[str, ...]) -> None:
        faults = Faults()
        faults.script("GET *", Answer(200, "{}", headers={"Warning": header, "Audit-Id": "8f3c"}))
        answer = await sent(faults, lambda api: api.get(*RULE, "r"))
        assert (answer.warnings, answer.audit_id) == (texts, "8f3c")

    @pytest.mark.parametrize(
        ("status", "allowed", "reason"),
        [
            ({"allowed": True}, True, ""),
            ({"allowed": False, "reason": "no binding"}, False, "no binding"),
            ({"evaluationError": "webhook down"}, False, "webhook down"),
            ({"allowed": "true"}, False, ""),  # only the word itself is a yes
            ({"allowed": True, "denied": True}, True, ""),
            (None, False, ""),
        ],
    )
    async def test_access_is_decided_by_allowed_alone(self, status: Any, allowed: bool, reason: str) -> None:
        faults = Faults()
        faults.script("POST *", Answer(201, json.dumps({"status": status})))
        access = await sent(faults, lambda api: api.may("patch", "autoscaling", "horizontalpodautoscalers", "ml", "x"))
        assert (access.allowed, access.reason) == (allowed, reason)

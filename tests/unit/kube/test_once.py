"""One consistent list of each kind: what is missing is told, what fails is one line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ktui.cluster.state import Cluster
from ktui.demo.access import Attributes, User
from ktui.demo.apiserver import SERVES_1_37, ApiServer
from ktui.errors import KtuiError
from ktui.kube.failures import ApiError
from ktui.kube.once import ROUTINE, first_error, read_once, read_widely
from ktui.model.event import Event
from ktui.model.kinds import KINDS
from tests.faults import Answer, Busy, Drop, Faults, status_body
from tests.unit.kube.harness import StaticCredentials, fast, pod, transport_to

PODS = "/api/v1/pods"
TOKEN = "token-0815"


async def read(
    faults: Faults, namespace: str = "", kinds: tuple[str, ...] = ("Pod", "DeviceTaintRule"), **server: Any
) -> Cluster:
    """The state after one reading of a server with 3 pods in two namespaces. Raises what the reading raises."""
    cluster = Cluster()
    async with ApiServer(middlewares=[faults.middleware], **server) as at:
        for name, where in (("a", "ml"), ("b", "ml"), ("c", "lab")):
            at.create("Pod", pod(name, where))
        credentials = StaticCredentials(TOKEN if server else "")
        async with transport_to(at.url, timers=fast(retry_after_cap=0.01), credentials=credentials) as transport:
            await read_once(transport, kinds, namespace, cluster.apply)
    return cluster


def names(cluster: Cluster) -> set[str]:
    return {key[1] for key in cluster.stores["Pod"].objects}


async def told(faults: Faults, **server: Any) -> str:
    """The one line of a reading that fails."""
    with pytest.raises(BaseExceptionGroup) as failed:
        await read(faults, **server)
    error = first_error(failed.value)
    assert error is not None
    assert str(error).isprintable()
    return str(error)


async def test_everything_or_one_namespace() -> None:
    assert names(await read(Faults())) == {"a", "b", "c"}
    assert names(await read(Faults(), "lab")) == {"c"}


async def test_a_forbidden_kind_does_not_break_the_others() -> None:
    def authorizer(asked: Attributes) -> bool:
        return asked.resource != "pods"

    cluster = await read(Faults(), tokens={TOKEN: User("viewer")}, authorizer=authorizer)
    (pods,), (rules,) = cluster.streams_of(("Pod",)), cluster.streams_of(("DeviceTaintRule",))
    assert (pods.phase, rules.synced) == ("no-access", True)
    assert 'User "viewer" cannot list resource "pods"' in pods.message


@pytest.mark.parametrize(
    ("everywhere", "somewhere", "seen"),
    [(True, True, {"a", "b", "c"}), (False, True, {"c"}), (False, False, set())],
)
async def test_widely_is_as_far_as_that_is_allowed(everywhere: bool, somewhere: bool, seen: set[str]) -> None:
    def authorizer(asked: Attributes) -> bool:
        return asked.resource != "pods" or (somewhere if asked.namespace else everywhere)

    cluster = Cluster()
    async with ApiServer(tokens={TOKEN: User("tenant")}, authorizer=authorizer) as at:
        for name, where in (("a", "ml"), ("b", "ml"), ("c", "lab")):
            at.create("Pod", pod(name, where))
        async with transport_to(at.url, timers=fast(), credentials=StaticCredentials(TOKEN)) as transport:
            await read_widely(transport, ("Pod", "DeviceTaintRule"), "lab", cluster.apply)
    (pods,) = cluster.streams_of(("Pod",))
    assert (names(cluster), pods.synced, cluster.sees_all("Pod")) == (seen, bool(seen), everywhere)
    assert cluster.synced("DeviceTaintRule")


async def test_a_kind_that_is_not_served_says_what_is_missing() -> None:
    cluster = await read(Faults(), serves={**SERVES_1_37, "DeviceTaintRule": ()}, tokens={TOKEN: User("a")})
    (rules,) = cluster.streams_of(("DeviceTaintRule",))
    assert rules.phase == "absent"
    assert "DRADeviceTaintRules=true" in rules.message


@pytest.mark.parametrize("path", [PODS, "/apis"])
@pytest.mark.parametrize("status", [429, 503])
async def test_waits_as_told_and_reads_then(status: int, path: str) -> None:
    faults = Faults()
    busy = Answer(status, status_body(status, "TooManyRequests", "busy"), headers={"Retry-After": "1"})
    faults.script(f"GET {path}", busy, busy)
    assert names(await read(faults)) == {"a", "b", "c"}
    assert len(faults.asked(f"GET {path}")) >= 3


@pytest.mark.parametrize("path", [PODS, "/apis"])
async def test_a_server_that_stays_busy_is_told_after_a_few_tries(path: str) -> None:
    faults = Faults()
    busy = Answer(429, status_body(429, "TooManyRequests", "busy"), headers={"Retry-After": "1"})
    faults.script(f"GET {path}", busy, repeat=True)
    if path == PODS:
        assert "429 TooManyRequests: busy" in await told(faults)
    else:
        with pytest.raises(ApiError, match="429 TooManyRequests: busy"):
            await read(faults)
    assert len(faults.asked(f"GET {path}")) == 4


async def test_w15_when_one_is_asked_to_wait_all_wait_and_one_tries() -> None:
    """Of two dozen lists four are under way when the server has enough; after that a single one asks whether it is over."""
    faults, at_first, later = Faults(), Busy(), Busy()
    faults.script("list *", *[at_first] * 4, *[later] * 2)
    kinds = tuple(name for name, kind in KINDS.items() if not kind.program)
    assert names(await read(faults, kinds=kinds)) == {"a", "b", "c"}
    assert (at_first.most, later.most) == (4, 1)
    lists = [asked.path for asked in faults.asked("list *")]
    assert len(lists) == len(set(lists)) + 6


async def test_a_page_that_has_to_wait_does_not_cost_those_before_it() -> None:
    faults = Faults()
    busy = Answer(429, status_body(429, "TooManyRequests", "busy"), headers={"Retry-After": "1"})
    more = {"metadata": {"resourceVersion": "9", "continue": "next"}, "items": [pod("first")]}
    last = {"metadata": {"resourceVersion": "9"}, "items": [pod("last")]}
    faults.script(f"GET {PODS}", Answer(200, json.dumps(more)), busy, Answer(200, json.dumps(last)))
    assert names(await read(faults)) == {"first", "last"}
    assert [asked.query.get("continue") for asked in faults.asked(f"GET {PODS}")] == [None, "next", "next"]


async def test_without_a_time_to_wait_it_is_told_at_once() -> None:
    faults = Faults()
    faults.script(f"GET {PODS}", Answer(503, "no healthy upstream", "text/plain"), repeat=True)
    assert "503 no healthy upstream" in await told(faults)
    assert len(faults.asked(f"GET {PODS}")) == 1


async def test_of_events_those_that_say_that_all_is_well_are_left_out() -> None:
    cluster, faults = Cluster(), Faults()
    async with ApiServer(middlewares=[faults.middleware]) as at:
        for number, reason in enumerate((*ROUTINE, "FailedScheduling", "Preempted")):
            about = {"kind": "Pod", "namespace": "ml", "name": "a"}
            at.create(
                "Event",
                {"metadata": {"name": f"e{number}", "namespace": "ml"}, "involvedObject": about, "reason": reason},
            )
        async with transport_to(at.url, timers=fast()) as transport:
            await read_once(transport, ("Event",), "", cluster.apply)
    assert {event.reason for event in cluster.all(Event)} == {"FailedScheduling", "Preempted"}
    assert cluster.sees_all("Event")


async def test_a_list_that_expires_between_its_pages_begins_anew() -> None:
    faults = Faults()
    faults.script(f"GET {PODS}", Answer(410, status_body(410, "Expired", "too old")))
    assert names(await read(faults)) == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (Answer(500, status_body(500, "InternalError", "etcdserver: \x1b[31mleader changed")), "leader changed"),
        (Answer(200, "<html>", "text/html"), "a web page, not the Kubernetes API"),
        (Answer(200, "[]"), "127.0.0.1|not a list|list"),
        (Answer(302, "", headers={"Location": "https://login.example.com/"}), "login.example.com"),
        (Drop(), "closed the connection"),
    ],
    ids=["500", "page", "no list", "redirect", "drop"],
)
async def test_anything_else_is_one_line(fault: Any, words: str) -> None:
    faults = Faults()
    faults.script(f"GET {PODS}", fault, repeat=True)
    import re

    assert re.search(words, await told(faults))


def test_the_first_error_is_found_however_deep() -> None:
    inner = ExceptionGroup("b", [ValueError("x"), KtuiError("the line")])
    found = first_error(ExceptionGroup("a", [TypeError("y"), inner]))
    assert str(found) == "the line"
    assert first_error(ExceptionGroup("a", [ValueError("x")])) is None

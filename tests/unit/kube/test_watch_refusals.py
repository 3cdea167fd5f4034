"""Servers that say no: overload, sign-in, rights, kinds that are not there (fault plan W15, W16, W33 to W43, W57)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from ktui.demo.access import Attributes, User
from ktui.demo.apiserver import SERVES_1_36, SERVES_1_37
from ktui.kube.timers import Span
from tests.faults import Answer, Delay, Fault, status_body
from tests.unit.kube.harness import POD, Rig, fast, pod, rig, truth

WATCH = f"watch {POD}"
NAMESPACES_5 = ("a", "b", "c", "d", "e")


async def _wait_told(r: Rig, answer: Fault) -> float:
    """How long the client says it waits after this answer, in seconds."""
    r.faults.script(WATCH, answer)
    connection = r.connect(fast(retry_after_cap=60.0, stagger=0.0))
    await connection.start(("Pod",))
    await r.view.until(lambda: "waiting" in r.view.phases())
    state = next(state for state in r.view.states() if state.phase == "waiting")
    assert state.until is not None
    return state.until - datetime.now(UTC).timestamp()


@pytest.mark.parametrize(
    ("answer", "low", "high"),
    [
        (Answer(429, status_body(429, "TooManyRequests"), headers={"Retry-After": "7"}), 5, 9),
        (Answer(429, "Too many requests, please try again later.", "text/plain", {"Retry-After": "5"}), 3, 6.5),
        (Answer(503, "<h1>no healthy upstream</h1>", "text/html", {"Retry-After": "4"}), 2, 5.5),
        (Answer(429, b"", headers={"Retry-After": "1000000000"}), 55, 76),
        (Answer(429, b"", headers={"Retry-After": "1e9"}), 55, 76),
        (Answer(429, b""), 0, 0.05),
        (Answer(429, b"", headers={"Retry-After": "-1"}), 0, 0.05),
        (Answer(429, b"", headers={"Retry-After": "abc"}), 0, 0.05),
    ],
    ids=["json", "text", "proxy", "too long", "1e9", "missing", "negative", "words"],
)
async def test_w15_retry_after(answer: Answer, low: float, high: float) -> None:
    async with rig() as r:
        assert low - 1 <= await _wait_told(r, answer) <= high


async def test_w15_a_date() -> None:
    async with rig() as r:
        date = format_datetime(datetime.now(UTC) + timedelta(seconds=12), usegmt=True)
        assert 8 <= await _wait_told(r, Answer(429, b"", headers={"Retry-After": date})) <= 16


async def test_w15_retry_now_does_not_shorten_what_the_server_asked() -> None:
    async with rig() as r:
        await _wait_told(r, Answer(429, b"", headers={"Retry-After": "30"}))
        before = len(r.faults.asked(WATCH))
        r.connections[0].retry_now()
        await asyncio.sleep(0.2)
        assert len(r.faults.asked(WATCH)) == before


async def test_w16_25_streams_behind_one_gate() -> None:
    """Twenty seconds of 429, at a twentieth; the server asks for one second each time."""
    async with rig(pods=0) as r:
        r.faults.script("watch *", Answer(429, b"", headers={"Retry-After": "1"}), repeat=True)
        r.faults.script("list *", Answer(429, b"", headers={"Retry-After": "1"}), repeat=True)
        connection = r.connect(fast(0.05, retry_after_cap=0.1, stagger=0.4))
        await connection.start(("Pod", "Job", "ResourceClaim", "Event", "HorizontalPodAutoscaler"), NAMESPACES_5)
        await asyncio.sleep(1.0)
        refused = len(r.faults.asked("watch *")) + len(r.faults.asked("list *"))
        assert refused <= 30
        r.faults.clear()
        await r.view.until(lambda: len([f for f in r.view.frames if getattr(f, "phase", "") == "watching"]) == 25)
        times = sorted(each.at for each in r.faults.asked("watch *")[-24:])
        assert times[-1] - times[0] >= 0.15


async def test_w33_one_renewal_serves_all_streams() -> None:
    async with rig(tokens={"first": User("u"), "second": User("u")}) as r:
        r.credentials.token = "first"
        r.credentials.renewals = ["second"]
        kinds = ("Pod", "Node", "Job", "ResourceClaim", "DeviceClass", "Namespace", "Event")
        await r.live(kinds=kinds)
        rows = r.view.names()
        del r.server.tokens["first"]
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        r.server.create("Pod", pod("later"))
        await r.converge()
        await r.view.until(lambda: all(r.view.phase(kind) == "watching" for kind in kinds))
        assert r.credentials.renewed == 1
        assert r.view.names() == rows | {"later"}
        assert "needs-login" not in r.view.phases()


async def test_w34_without_a_new_credential_all_streams_park() -> None:
    async with rig(tokens={"good": User("u")}) as r:
        r.credentials.token = "bad"
        connection = r.connect(fast(needs_login=60.0))
        await connection.start(("Pod", "Node", "Job"))
        await r.view.until(lambda: r.view.phase("Job") == "needs-login")
        await asyncio.sleep(0.3)
        assert r.credentials.renewed <= 3
        assert len(r.faults.journal) <= 6
        r.credentials.token = "good"
        connection.retry_now()
        await r.converge()
        assert r.credentials.logins == 1


def _only(*resources: str, namespaces: tuple[str, ...] = (), verbs: tuple[str, ...] = ("get", "list", "watch")) -> Any:
    def authorize(asked: Attributes) -> bool:
        if asked.path:
            return True
        return asked.resource in resources and asked.verb in verbs and (not namespaces or asked.namespace in namespaces)

    return authorize


async def test_w35_one_forbidden_kind_does_not_hold_the_others() -> None:
    async with rig(authorizer=_only("pods")) as r:
        connection = r.connect()
        await connection.start(("Pod", "ResourceSlice"))
        await r.view.until(lambda: r.view.phase("ResourceSlice") == "no-access" and r.view.phase() == "watching")
        assert r.view.states("ResourceSlice")[-1].message == "no access: list resourceslices.resource.k8s.io"
        refusals = len(r.faults.asked("list /apis/resource.k8s.io*")) + len(
            r.faults.asked("watch /apis/resource.k8s.io*")
        )
        await r.view.until(lambda: len(r.faults.asked("POST *")) >= 4)
        assert refusals == 2
        r.server.authorizer = _only("pods", "resourceslices")
        await r.view.until(lambda: r.view.phase("ResourceSlice") == "watching")


async def test_w36_namespaces_one_by_one_where_all_together_are_forbidden() -> None:
    async with rig(pods=0, authorizer=_only("pods", namespaces=("a", "b"))) as r:
        for namespace in NAMESPACES_5:
            r.server.create("Pod", pod(f"in-{namespace}", namespace))
        connection = r.connect(fallback_namespaces=NAMESPACES_5)
        await connection.start(("Pod", "Node"))
        await r.view.until(lambda: r.view.names() == {"in-a", "in-b"})
        await r.view.until(lambda: r.view.phase("Node") == "no-access")
        await r.view.until(lambda: {s.source.namespace for s in r.view.states() if s.phase == "watching"} == {"a", "b"})
        await r.view.until(
            lambda: {s.source.namespace for s in r.view.states() if s.phase == "no-access"} == {"", "c", "d", "e"}
        )
        r.server.authorizer = _only("pods", "nodes")
        await r.converge()
        await r.view.until(lambda: {s.source.namespace for s in r.view.states() if s.phase == "stopped"} >= {"a", "b"})
        assert len(truth(r.server)) == 5


async def test_w37_list_without_watch_is_polled() -> None:
    async with rig(authorizer=_only("pods", verbs=("list",))) as r:
        connection = r.connect(fast(poll=Span(0.05, 0.1)))
        await connection.start(("Pod",))
        await r.view.until(lambda: r.view.phase() == "polling")
        r.server.create("Pod", pod("later"))
        await r.converge()
        assert len(r.faults.asked(WATCH)) == 2
        r.server.authorizer = _only("pods")
        await r.view.until(lambda: r.view.phase() == "watching")


async def test_w38_watch_without_list_works_by_streaming() -> None:
    async with rig(authorizer=_only("pods", verbs=("watch",))) as r:
        await r.live()
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        r.server.create("Pod", pod("later"))
        await r.converge()
        assert set(r.view.phases()) == {"listing", "watching"}


@pytest.mark.parametrize("authorizer", [_only("pods"), lambda _: True], ids=["viewer", "admin"])
async def test_w39_w40_a_kind_that_is_not_served_is_absent_until_it_is(authorizer: Any) -> None:
    async with rig(authorizer=authorizer, serves={**SERVES_1_37, "PodGroup": ()}) as r:
        connection = r.connect(fast(rediscover=Span(0.2, 0.3)))
        await connection.start(("Pod", "PodGroup"))
        await r.view.until(lambda: r.view.phase("PodGroup") == "absent" and r.view.phase() == "watching")
        assert "--feature-gates=GenericWorkload=true" in r.view.states("PodGroup")[-1].message
        assert not r.faults.asked("* /apis/scheduling.k8s.io*")
        r.server.authorizer = lambda _: True
        r.server.serves = SERVES_1_37
        await r.view.until(lambda: r.view.phase("PodGroup") == "watching")


async def test_w40_retry_now_asks_again_at_once() -> None:
    async with rig(serves={**SERVES_1_37, "PodGroup": ()}) as r:
        connection = r.connect()
        await connection.start(("PodGroup",))
        await r.view.until(lambda: r.view.phase("PodGroup") == "absent")
        r.server.serves = SERVES_1_37
        connection.retry_now()
        await r.view.until(lambda: r.view.phase("PodGroup") == "watching")


async def test_w41_a_new_version_of_a_kind_keeps_its_rows() -> None:
    async with rig(serves=SERVES_1_36) as r:
        r.server.create(
            "DeviceTaintRule", {"metadata": {"name": "t"}, "spec": {"taint": {"key": "k", "effect": "NoSchedule"}}}
        )
        await r.live(kinds=("DeviceTaintRule",))
        r.server.serves = SERVES_1_37
        for watcher in r.connections[0]._watchers.values():
            watcher.reset()
        await r.view.until(lambda: len(r.view.lists("DeviceTaintRule")) == 2)
        first, second = r.view.lists("DeviceTaintRule")
        assert first.source.path == "/apis/resource.k8s.io/v1beta2/devicetaintrules"
        assert second.source.path == "/apis/resource.k8s.io/v1/devicetaintrules"
        assert first.source.id == second.source.id
        assert [obj.metadata.uid for obj in first.items] == [obj.metadata.uid for obj in second.items]
        assert not r.view.stores["DeviceTaintRule"].tombstones


async def test_w42_a_failing_discovery_touches_no_stream() -> None:
    async with rig() as r:
        connection = r.connect(fast(rediscover=Span(0.05, 0.1)))
        await connection.start(("Pod", "ResourceClaim"))
        await r.view.until(lambda: r.view.phase("ResourceClaim") == "watching" and r.view.phase() == "watching")
        r.faults.script("GET /apis", Answer(500, b""), repeat=True)
        count = len(r.faults.asked("GET /apis"))
        await r.view.until(lambda: len(r.faults.asked("GET /apis")) >= count + 3)
        assert connection.served is not None
        assert "resource.k8s.io" in connection.served.stale
        assert r.view.phase("ResourceClaim") == "watching"
        assert len(r.faults.asked("watch *")) == 2


async def test_w57_headers_that_never_come_lead_to_polling() -> None:
    async with rig() as r:
        r.faults.script(WATCH, Delay(5.0), repeat=True)
        connection = r.connect(fast(headers=0.05))
        await connection.start(("Pod",))
        await r.view.until(lambda: r.view.phase() == "polling")
        assert len(r.faults.asked(WATCH)) == 3
        assert r.view.names() == {"p0", "p1", "p2"}


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(302, b"", headers={"Location": "https://login.example.com/sso?x=1"}), "redirects to login.example.com"),
        (Answer(200, "<html>sign in</html>", "text/html"), "a web page, not the Kubernetes API"),
    ],
    ids=["redirect", "page"],
)
async def test_w45_login_pages_are_not_followed_or_believed(answer: Answer, words: str) -> None:
    async with rig() as r:
        r.faults.script(WATCH, answer)
        connection = r.connect()
        await connection.start(("Pod",))
        await r.converge()
        told = [state.message for state in r.view.states() if state.phase == "waiting"]
        assert len(told) == 1
        assert told[0].startswith(f"unexpected answer from host {r.server.url.split('//')[1]}")
        assert words in told[0]


async def test_l01_a_cluster_that_is_down_at_the_start_says_why_and_recovers() -> None:
    async with rig() as r:
        await r.server.stop()
        connection = r.connect()
        await connection.start(("Pod", "Node"))
        await r.view.until(lambda: r.view.phase() == "waiting" and r.view.phase("Node") == "waiting")
        assert "cannot be reached" in r.view.states()[-1].message
        await r.server.start()
        await r.converge()


async def test_a_503_page_of_a_proxy_is_shown_in_short_and_one_line() -> None:
    async with rig() as r:
        r.faults.script(WATCH, Answer(503, "<html>\n<body>\x1b[31mno healthy upstream" + "x" * 5000, "text/html"))
        connection = r.connect()
        await connection.start(("Pod",))
        await r.converge()
        (message,) = [state.message for state in r.view.states() if state.phase == "waiting"]
        assert "no healthy upstream" in message
        assert message.isprintable()
        assert len(message) < 300

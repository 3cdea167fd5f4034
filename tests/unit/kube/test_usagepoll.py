"""What is asked for while somebody looks, and what never is."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler

from ktui.demo import access, status
from ktui.demo.apiserver import ApiServer
from ktui.demo.figures import Figures, exporter_pod
from ktui.demo.objects import node, resource_slice
from ktui.kube.discovery import Discovery
from ktui.kube.transport import Transport
from ktui.kube.usagepoll import UsagePoll
from ktui.model.usage import (
    GpusReport,
    MetricsServed,
    NodeReport,
    PodsReport,
    UsageReport,
    UsageTrouble,
    Wanted,
)
from tests.unit.kube.harness import PATIENCE, StaticCredentials, fast, target

METRICS = "/apis/metrics.k8s.io/"
POD = {
    "metadata": {"name": "train-0", "namespace": "ml"},
    "spec": {"nodeName": "n1", "containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]},
    "status": {"phase": "Running"},
}


async def _at_once(_: web.Request) -> None:
    """The server takes no time."""


class Desk:
    """A server with a metrics server and an exporter, a poll of it, what was asked, and what was told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.told: list[UsageReport] = []
        self.refuse: Callable[[str], status.Refused | web.Response | None] = lambda _: None
        self.before: Callable[[web.Request], Awaitable[None]] = _at_once
        self.server = ApiServer(middlewares=[self._see])
        self.server.figures = Figures(self.server.database, clock=time.time)
        self.exporter = ("", "")
        self.poll: UsagePoll

    @web.middleware
    async def _see(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path.startswith(METRICS) or "/proxy/" in request.path:
            self.asked.append(request.path)
            await self.before(request)
            if (refused := self.refuse(request.path)) is not None:
                if isinstance(refused, web.Response):
                    return refused
                headers = {"Retry-After": str(refused.retry_after)} if refused.retry_after else {}
                return web.json_response(refused.status, status=refused.code, headers=headers)
        return await handler(request)

    @asynccontextmanager
    async def open(
        self, *, usage: float = 0.05, namespaces: tuple[str, ...] = (), fallback: str = ""
    ) -> AsyncIterator[None]:
        self.server.create("Node", node("n1", "2026-11-30T06:00:00Z", zone="a"))
        self.server.create("ResourceSlice", resource_slice("n1", "2026-11-30T06:00:00Z"))
        self.server.create("Pod", POD)
        exporter = self.server.create("Pod", exporter_pod("n1", "2026-11-30T06:00:00Z"))
        self.exporter = (exporter["metadata"]["namespace"], exporter["metadata"]["name"])
        async with self.server:
            transport = Transport(
                target(self.server.url),
                StaticCredentials(),
                read_only=True,
                environ={},
                timers=fast(usage=usage, retry_after_cap=60.0),
            )
            discovery = Discovery(transport)
            await discovery.refresh()
            self.poll = UsagePoll(
                transport, lambda: discovery.served, self.told.append, namespaces=namespaces, fallback=fallback
            )
            task = asyncio.create_task(self.poll.run())
            try:
                yield
            finally:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
                await transport.close()

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not condition():
                await asyncio.sleep(0.01)

    def of(self, kind: type[UsageReport]) -> list[UsageReport]:
        return [report for report in self.told if isinstance(report, kind)]


async def test_nothing_is_asked_while_nobody_looks() -> None:
    desk = Desk()
    async with desk.open():
        desk.poll.want(Wanted())
        await asyncio.sleep(0.3)
        assert desk.asked == []
        desk.poll.want(Wanted(pods=True))
        await desk.until(lambda: len(desk.of(PodsReport)) >= 3)
        desk.poll.want(Wanted())
        await asyncio.sleep(0.1)  # what was on its way comes in
        before = len(desk.asked)
        await asyncio.sleep(0.4)
        assert len(desk.asked) == before
    (report,) = {id(r): r for r in desk.of(PodsReport)[:1]}.values()
    assert isinstance(report, PodsReport)
    assert set(report.items) == {("ml", "train-0"), desk.exporter}


async def test_only_what_is_shown_is_asked_for() -> None:
    desk = Desk()
    async with desk.open():
        desk.poll.want(Wanted(pod=("ml", "train-0"), nodes=("n1",), exporters=(("n1", desk.exporter),)))
        await desk.until(lambda: desk.of(PodsReport) and desk.of(NodeReport) and desk.of(GpusReport))
    assert set(desk.asked) == {
        f"{METRICS}v1beta1/namespaces/ml/pods/train-0",
        f"{METRICS}v1beta1/nodes/n1",
        f"/api/v1/namespaces/{desk.exporter[0]}/pods/{desk.exporter[1]}/proxy/metrics",
    }
    gpus = desk.of(GpusReport)[0]
    assert isinstance(gpus, GpusReport)
    assert (gpus.node, len(gpus.gpus)) == ("n1", 8)


@pytest.mark.parametrize(
    ("served", "used"), [(("v1", "v1beta1"), "v1"), (("v1beta1",), "v1beta1"), (("v2",), ""), ((), "")]
)
async def test_the_version_is_negotiated_and_nothing_asked_without_one(served: tuple[str, ...], used: str) -> None:
    desk = Desk()
    desk.server.figures = Figures(desk.server.database, clock=time.time, versions=served)
    async with desk.open():
        desk.poll.want(Wanted(pods=True, nodes=("n1",)))
        await desk.until(lambda: desk.of(MetricsServed))
        if used:
            await desk.until(lambda: desk.of(PodsReport) and desk.of(NodeReport))
        else:
            await asyncio.sleep(0.2)
    assert desk.of(MetricsServed) == [MetricsServed(used)]
    assert {path.split("/")[3] for path in desk.asked} == ({used} if used else set())


async def test_a_metrics_server_that_is_down_is_asked_less_and_less_and_said_in_words() -> None:
    desk = Desk()
    desk.refuse = lambda _: status.Refused(503, "ServiceUnavailable", "the server is currently unable", retry_after=1)
    async with desk.open():
        desk.poll.want(Wanted(pods=True))
        await desk.until(lambda: desk.of(UsageTrouble))
        await asyncio.sleep(0.7)  # 14 times the usual pause, but less than the server asked for
        assert len(desk.asked) == 1
        desk.refuse = lambda _: None
        await desk.until(lambda: desk.of(PodsReport))
    (trouble,) = desk.of(UsageTrouble)
    assert isinstance(trouble, UsageTrouble)
    assert "metrics.k8s.io does not answer" in trouble.message
    assert trouble.node == ""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (web.Response(status=401, text="who are you"), "401"),
        (
            web.Response(status=403, text="Forbidden (user=x, verb=get, resource=metrics)"),
            "verb=get",
        ),  # a guard beside it
        (web.Response(status=429, headers={"Retry-After": "1"}, text="later"), "429"),
        (web.Response(status=302, headers={"Location": "https://evil.example/"}), "redirects"),
        (web.Response(text="<html>", content_type="text/html"), "web page"),
        (web.Response(body=b"x" * (9 * 1024 * 1024)), "more than"),
    ],
    ids=["401", "403", "429", "redirect", "page", "huge"],
)
async def test_what_an_exporter_answers_concerns_the_exporter_alone(answer: web.Response, words: str) -> None:
    desk = Desk()
    desk.refuse = lambda path: answer if "/proxy/" in path else None
    async with desk.open(usage=5.0):
        desk.poll.want(Wanted(pods=True, exporters=(("n1", desk.exporter),)))
        await desk.until(lambda: desk.of(UsageTrouble) and desk.of(PodsReport))
        assert desk.poll._transport.gate.hold is None
        assert isinstance(credentials := desk.poll._transport._credentials, StaticCredentials)
        assert credentials.renewed == 0
    (trouble,) = desk.of(UsageTrouble)
    assert isinstance(trouble, UsageTrouble)
    assert trouble.node == "n1"
    assert words in trouble.message


async def test_a_refusal_names_verb_and_resource() -> None:
    desk = Desk()
    desk.server.authorizer = lambda asked: asked.subresource != "proxy" and asked.group != "metrics.k8s.io"
    async with desk.open():
        desk.poll.want(Wanted(pods=True, exporters=(("n1", desk.exporter),)))
        await desk.until(lambda: len({r.node for r in desk.told if isinstance(r, UsageTrouble)}) == 2)
    said = {report.node: report.message for report in desk.told if isinstance(report, UsageTrouble)}
    assert said[""] == "no CPU and memory figures: your user needs get, list on pods and nodes in metrics.k8s.io"
    assert said["n1"] == "no GPU figures: your user needs get on pods/proxy in namespace gpu-operator"


async def test_where_all_namespaces_are_forbidden_the_own_one_is_asked() -> None:
    def only_ml(asked: access.Attributes) -> bool:
        return asked.group != "metrics.k8s.io" or asked.namespace == "ml"

    desk = Desk()
    desk.server.authorizer = only_ml
    async with desk.open(fallback="ml"):
        desk.poll.want(Wanted(pods=True))
        await desk.until(lambda: desk.of(PodsReport))
    report = desk.of(PodsReport)[0]
    assert isinstance(report, PodsReport)
    assert (report.namespace, set(report.items)) == ("ml", {("ml", "train-0")})
    assert desk.asked.count(f"{METRICS}v1beta1/pods") == 1


async def test_what_was_scrolled_past_meanwhile_is_not_asked_for() -> None:
    desk = Desk()
    go_on = asyncio.Event()

    async def wait(request: web.Request) -> None:
        if "/proxy/" in request.path:
            await go_on.wait()

    desk.before = wait
    async with desk.open(usage=5.0):
        passing = tuple((f"n{number}", ("gpu-operator", f"exporter-{number}")) for number in range(40))
        desk.poll.want(Wanted(exporters=passing))
        await desk.until(lambda: len(desk.asked) == 4)
        desk.poll.want(Wanted(exporters=(("n1", desk.exporter),)))
        go_on.set()
        await desk.until(lambda: desk.of(GpusReport))
    assert len(desk.asked) == 5


async def test_a_session_of_one_namespace_asks_for_that_one_only() -> None:
    desk = Desk()
    async with desk.open(namespaces=("ml",)):
        desk.poll.want(Wanted(pods=True))
        await desk.until(lambda: desk.of(PodsReport))
    assert set(desk.asked) == {f"{METRICS}v1beta1/namespaces/ml/pods"}


async def test_a_pod_that_was_not_measured_has_no_figures() -> None:
    desk = Desk()
    async with desk.open():
        desk.poll.want(Wanted(pod=("ml", "gone"), nodes=("gone",)))
        await desk.until(lambda: desk.of(PodsReport) and desk.of(NodeReport))
    assert desk.of(PodsReport)[0] == PodsReport({}, "ml", ("ml", "gone"))
    assert desk.of(NodeReport)[0] == NodeReport("gone", None)
    assert not desk.of(UsageTrouble)

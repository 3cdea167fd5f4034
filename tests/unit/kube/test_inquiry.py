"""What a server tells of itself: version, clock, gates, components; and hostile forms of each."""

from __future__ import annotations

import gzip
import json
from email.utils import formatdate
from typing import Any

import pytest

from ktui.demo.apiserver import ApiServer
from ktui.kube import inquiry
from ktui.kube.discovery import Discovery
from ktui.kube.failures import ApiError, UnexpectedAnswer
from ktui.kube.once import read_each
from ktui.kube.reviews import own_identity
from ktui.kube.timers import Clock
from ktui.kube.transport import Transport
from ktui.model.frame import Frame, Listed, StreamState
from tests.faults import Answer, Delay, Faults, status_body
from tests.unit.kube.harness import fast, pod, transport_to

NOW = 1_800_000_000.0
METRICS = """# HELP kubernetes_feature_enabled [BETA] This metric records whether a k8s feature is on.
# TYPE kubernetes_feature_enabled gauge
kubernetes_feature_enabled{name="GenericWorkload",stage="BETA"} 1
kubernetes_feature_enabled{stage="ALPHA",name="CompositePodGroup"} 0
kubernetes_feature_enabled{name="Odd} 1
kubernetes_feature_enabled{name="Huge",stage=""} 12
other{name="NotAGate",stage="BETA"} 1
"""


async def ask(question: Any, *scripts: tuple[str, Answer], clock: Clock | None = None) -> Any:
    """The answer to `question(transport)` of a server that answers some paths as told."""
    faults = Faults()
    for path, answer in scripts:
        faults.script(path, answer)
    async with (
        ApiServer(middlewares=[faults.middleware]) as server,
        transport_to(server.url, timers=fast(), clock=clock) as transport,
    ):
        return await question(transport)


def version(told: dict[str, Any], date: float | None = None, **headers: str) -> Answer:
    """An answer of /version, dated."""
    if date is not None:
        headers["Date"] = formatdate(date, usegmt=True)
    return Answer(200, json.dumps(told), headers=headers)


@pytest.mark.parametrize(
    ("server", "ahead"),
    [(NOW, 0.0), (NOW - 0.5, 0.0), (NOW - 10.0, 9.0), (NOW + 10.0, -10.0), (NOW - 86_400.0, 86_399.0)],
)
async def test_how_far_the_clocks_are_apart(server: float, ahead: float) -> None:
    clock = Clock(wall=lambda: NOW)
    told = version({"gitVersion": "v1.37.2"}, server)
    found = await ask(inquiry.presence, ("GET /version", told), clock=clock)
    assert (found.git_version, found.ahead) == ("v1.37.2", pytest.approx(ahead, abs=1.0))


@pytest.mark.parametrize("date", ["", "yesterday", "Mon, 99 Foo 99999 99:99:99 GMT"])
async def test_a_date_that_is_none(date: str) -> None:
    assert (await ask(inquiry.presence, ("GET /version", version({"gitVersion": "v1"}, Date=date)))).ahead is None


@pytest.mark.parametrize(
    ("emulation", "expected"), [({}, ""), (("1", "37"), ""), (("1", "36"), "1.36")], ids=["none", "same", "older"]
)
async def test_an_emulated_version(emulation: Any, expected: str) -> None:
    told = {"gitVersion": "v1.37.2", "major": "1", "minor": "37"}
    if emulation:
        told |= dict(zip(("emulationMajor", "emulationMinor"), emulation, strict=True))
    assert (await ask(inquiry.presence, ("GET /version", version(told)))).emulated == expected


@pytest.mark.parametrize("body", ["[]", '{"gitVersion": 1}', "{}", "nonsense", ""])
async def test_a_version_that_is_none(body: str) -> None:
    with pytest.raises(UnexpectedAnswer, match="not what a Kubernetes API says"):
        await ask(inquiry.presence, ("GET /version", Answer(200, body)))


@pytest.mark.parametrize("packed", [False, True])
async def test_gates_from_the_metrics(packed: bool) -> None:
    body = gzip.compress(METRICS.encode()) if packed else METRICS.encode()
    headers = {"Content-Encoding": "gzip"} if packed else {}
    answer = Answer(200, body, "text/plain; version=0.0.4", headers)
    found = await ask(inquiry.feature_gates, ("GET /metrics", answer))
    assert found == {"GenericWorkload": True, "CompositePodGroup": False}


async def test_metrics_that_may_not_be_read() -> None:
    with pytest.raises(ApiError, match="403"):
        await ask(inquiry.feature_gates, ("GET /metrics", Answer(403, status_body(403, "Forbidden"))))


def component(name: str, image: str, **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": [{"image": image}]}}


async def test_versions_of_the_control_plane_are_those_of_its_images() -> None:
    items = [
        component("a", "registry.k8s.io/kube-scheduler:v1.37.2", component="kube-scheduler"),
        component("b", "registry.k8s.io/kube-scheduler:v1.37.2@sha256:ab", component="kube-scheduler"),
        component("c", "localhost:5000/etcd:3.6.4-0", component="etcd"),
        component("d", "localhost:5000/unversioned", component="other"),
        component("e", "registry/thing:v1.2.3"),
        {"metadata": {"labels": None}, "spec": {}},
    ]
    answer = Answer(200, json.dumps({"items": items}))
    found = await ask(inquiry.component_versions, ("list /api/v1/namespaces/kube-system/pods", answer))
    assert found == (("etcd", "3.6.4-0"), ("kube-scheduler", "v1.37.2"))


@pytest.mark.parametrize("body", ['{"items": null}', "{}"])
async def test_no_control_plane_in_pods(body: str) -> None:
    answer = Answer(200, body)
    assert await ask(inquiry.component_versions, ("list /api/v1/namespaces/kube-system/pods", answer)) == ()


async def test_who_we_are_with_our_groups() -> None:
    assert await ask(own_identity) == ("system:anonymous", ("system:unauthenticated",))


# --- each kind by itself ---


async def frames(
    faults: Faults, limit: float = 30.0, kinds: tuple[str, ...] = ("Pod", "Node")
) -> dict[str, list[Frame]]:
    found: dict[str, list[Frame]] = {}

    def sink(frame: Frame) -> None:
        assert isinstance(frame, Listed | StreamState)
        found.setdefault(frame.source.kind, []).append(frame)

    async with ApiServer(middlewares=[faults.middleware]) as server:
        server.create("Pod", pod("a"))
        async with transport_to(server.url, timers=fast()) as transport:
            await read_each(transport, await served(transport), kinds, "ml", sink, limit)
    return found


async def served(transport: Transport) -> Any:
    return await Discovery(transport).refresh()


async def test_what_fails_keeps_nobody_else_from_being_read() -> None:
    faults = Faults()
    faults.script("list /api/v1/nodes", Answer(500, status_body(500, "InternalError")), repeat=True)
    found = await frames(faults)
    assert isinstance(found["Pod"][-1], Listed)
    (failed,) = found["Node"]
    assert isinstance(failed, StreamState)
    assert (failed.phase, "500" in failed.message) == ("waiting", True)


async def test_what_takes_too_long_is_given_up_alone() -> None:
    faults = Faults()
    faults.script("list /api/v1/nodes", Delay(60.0))
    found = await frames(faults, limit=1.0)
    assert isinstance(found["Pod"][-1], Listed)
    (late,) = found["Node"]
    assert isinstance(late, StreamState)
    assert late.message == "no complete list within 1 s"


async def test_a_namespace_where_all_of_them_are_forbidden() -> None:
    faults = Faults()
    faults.script("list /api/v1/pods", Answer(403, status_body(403, "Forbidden")), repeat=True)
    faults.script("list /api/v1/nodes", Answer(403, status_body(403, "Forbidden")), repeat=True)
    found = await frames(faults)
    (pods,), (nodes,) = found["Pod"], found["Node"]
    assert isinstance(pods, Listed)
    assert (pods.source.namespace, len(pods.items)) == ("ml", 1)
    assert isinstance(nodes, StreamState)
    assert nodes.phase == "no-access"

"""What ktui asks of a real API server: what is watched, of which namespace, how often, how many bytes."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
from collections.abc import Iterator
from functools import partial

import pytest

from ktui.kube.credentials import Credentials
from ktui.kube.kubeconfig import LoadOptions, load
from ktui.kube.once import read_once
from ktui.kube.timers import Timers
from ktui.kube.transport import Transport
from ktui.model.cost import Cost, total
from ktui.model.frame import Listed
from ktui.model.kinds import KINDS
from tests.cluster import objects
from tests.cluster.controlplane.cluster import ControlPlane
from tests.cluster.test_watch_real import connected
from tests.unit.kube.harness import View

KIND = "ResourceClaimTemplate"
WHAT = "resourceclaimtemplates.resource.k8s.io"
MANY = 200
NOTE = "a text of the usual length, as people and programs write them into annotations. " * 12
OWN = tuple(kind.name for kind in KINDS.values() if not kind.program)  # what Kubernetes itself serves
QUIET = 3.0  # seconds
FAST_LINK = Timers(slow_link=60.0)  # a machine that is busy is not one far away
_ASKED = re.compile(r"(?:GET|POST) (\S+)")


@pytest.fixture
def crowded(real_cluster: ControlPlane) -> Iterator[str]:
    """A namespace with far more in it than the one beside it."""
    api = real_cluster.api()
    name = f"crowd-{secrets.token_hex(4)}"
    api.create(objects.namespace(name))
    for number in range(MANY):
        made = objects.claim_template(name, f"t{number}")
        made["metadata"]["annotations"] = {"note": NOTE}
        api.create(made)
    yield name
    api.delete(f"/api/v1/namespaces/{name}")


def _settled(view: View) -> bool:
    """Whether every kind that the server serves is watched."""
    return all(view.phase(kind) in ("watching", "absent") for kind in OWN)


def _costs(costs: tuple[Cost, ...]) -> dict[str, Cost]:
    return {cost.what: cost for cost in costs}


async def test_with_a_namespace_the_cost_is_that_of_the_namespace(
    real_cluster: ControlPlane, fresh_namespace: str, crowded: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of another namespace is asked for, and so nothing of it comes."""
    received = {}
    for namespaces in ((), (fresh_namespace,)):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, "ktui.kube.journal"):
            async with connected(real_cluster, timers=FAST_LINK) as (connection, view):
                await connection.start(OWN, namespaces)
                await view.until(partial(_settled, view))
                received[namespaces] = _costs(connection.transport.ledger.costs())[f"watch {WHAT}"].unpacked
                found = {key[0] for key, _ in view.content(KIND).items()}
        asked = [match[1] for match in map(_ASKED.search, caplog.messages) if match]
        if namespaces:
            assert found == {fresh_namespace}
            collections = {KINDS[name].plural for name in OWN if KINDS[name].namespaced}
            wide = [path for path in asked if path.partition("?")[0].rsplit("/", 1)[-1] in collections]
            assert wide, "the journal has the requests"
            assert all(f"/namespaces/{fresh_namespace}/" in path for path in wide), wide
            assert not any(crowded in path for path in asked)
        else:
            assert found >= {fresh_namespace, crowded}
    assert received[()] > MANY * len(NOTE)
    assert received[(fresh_namespace,)] < received[()] / 20


async def test_streaming_lists_come_compressed(real_cluster: ControlPlane, crowded: str) -> None:
    async with connected(real_cluster, timers=FAST_LINK) as (connection, view):
        await connection.start([KIND], (crowded,))
        await view.until(lambda: view.phase(KIND) == "watching")
        cost = _costs(connection.transport.ledger.costs())[f"watch {WHAT}"]
    assert len(view.content(KIND)) == MANY
    assert cost.unpacked > MANY * len(NOTE)
    assert cost.received < cost.unpacked / 10


async def test_a_session_is_one_watch_a_kind_and_asks_nothing_while_nothing_happens(
    real_cluster: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    """No polling where there is a watch, no list where the server streams one, and that compressed."""
    with caplog.at_level(logging.DEBUG, "ktui.kube.journal"):
        async with connected(real_cluster, timers=FAST_LINK) as (connection, view):
            await connection.start(OWN)
            await view.until(partial(_settled, view))
            served = sum(view.phase(kind) == "watching" for kind in OWN)
            ledger = connection.transport.ledger
            await view.until(lambda: total(ledger.costs()).open == served)
            before = ledger.requests
            await asyncio.sleep(QUIET)
            assert ledger.requests == before
            costs = ledger.costs()
            assert {cost.requests for cost in costs if cost.verb == "watch"} == {2}
            assert not [cost.what for cost in costs if cost.verb == "list"]
    watches = [line for line in caplog.messages if "watch=1" in line]
    assert len(watches) == 2 * served > 20
    assert all("allowWatchBookmarks=true" in line for line in watches)
    lists = [line for line in watches if "sendInitialEvents=true" in line]
    assert len(lists) == served


async def test_lists_of_commands_come_compressed(real_cluster: ControlPlane, crowded: str) -> None:
    target = load(LoadOptions(kubeconfig=str(real_cluster.kubeconfig), context="admin", environ={})).resolve("admin")
    transport = Transport(target, Credentials(target, environ={}), read_only=True, environ={})
    view = View()
    try:
        await read_once(transport, [KIND], crowded, view)
        cost = _costs(transport.ledger.costs())[f"list {WHAT}"]
    finally:
        await transport.close()
    assert [len(frame.items) for frame in view.frames if isinstance(frame, Listed)] == [MANY]
    assert cost.requests == 1
    assert cost.unpacked > MANY * len(NOTE)
    assert cost.received < cost.unpacked / 10

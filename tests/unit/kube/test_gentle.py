"""What a connection asks for, and what it does not. `tests/cluster/test_gentle_real.py` asks the same of a real API server."""

from __future__ import annotations

import asyncio
from functools import partial

from ktui.model.cost import total
from ktui.model.kinds import KINDS
from ktui.views.registry import VIEWS
from tests.unit.kube.harness import Rig, View, pod, rig

SHOWN = tuple(dict.fromkeys(kind for view in VIEWS.values() for kind in (*view.kinds, *view.joins)))


def _settled(view: View) -> bool:
    return all(view.phase(kind) in ("watching", "absent") for kind in SHOWN)


async def _begun(r: Rig, *namespaces: str) -> None:
    connection = r.connect()
    await connection.start(SHOWN, namespaces)
    await r.view.until(partial(_settled, r.view))


async def test_nothing_is_asked_for_that_no_view_shows_or_joins() -> None:
    async with rig() as r:
        await _begun(r)
        wanted = {KINDS[kind].plural for kind in SHOWN}
        for asked in r.faults.journal:
            if asked.verb in ("list", "watch"):
                assert asked.path.rsplit("/", 1)[-1] in wanted


async def test_of_another_namespace_nothing_is_asked_and_nothing_comes() -> None:
    async with rig(pods=0) as r:
        r.server.create("Pod", pod("mine", "ml"))
        for number in range(50):
            r.server.create("Pod", pod(f"theirs-{number}", "other"))
        await _begun(r, "ml")
        assert r.view.names() == {"mine"}
        namespaced = {kind.plural for kind in KINDS.values() if kind.namespaced}
        collections = [a.path for a in r.faults.journal if a.path.rsplit("/", 1)[-1] in namespaced]
        assert collections
        assert all("/namespaces/ml/" in path for path in collections)


async def test_what_is_watched_is_not_asked_for_again() -> None:
    async with rig() as r:
        await _begun(r)
        served = sum(r.view.phase(kind) == "watching" for kind in SHOWN)
        ledger = r.connections[0].transport.ledger
        await r.view.until(lambda: total(ledger.costs()).open == served)
        before = len(r.faults.journal)
        r.server.create("Pod", pod("new"))
        await r.converge()
        await asyncio.sleep(0.2)
        assert len(r.faults.journal) == before
        assert not [asked for asked in r.faults.journal if asked.verb == "list"], "the server streams its lists"
        watches = [asked for asked in r.faults.journal if asked.verb == "watch"]
        assert len(watches) == served
        assert all(asked.query["allowWatchBookmarks"] == "true" for asked in watches)

"""From the wire to what is shown: late, doubled and odd events, and what changed while nobody looked (fault plan W26 to W31)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.faults import Stream, bookmark, line
from tests.unit.kube.harness import POD, Rig, pod, rig

WATCH = f"watch {POD}"


def _obj(name: str, version: str, uid: str = "", namespace: str = "ml", node: str = "") -> dict[str, Any]:
    metadata = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-{namespace}-{name}",
        "resourceVersion": version,
    }
    return {"metadata": metadata, "spec": {"nodeName": node}}


async def _after(r: Rig, *lines: bytes, end: str = "900") -> None:
    """Everything of a scripted stream has been taken."""
    r.faults.script(WATCH, Stream([*lines, bookmark(end)], hold=True))
    connection = r.connect()
    await connection.start(("Pod",))
    watcher = connection._watchers[("Pod", "", "")]
    await r.view.until(lambda: watcher.position.resource_version == end)


def _node(r: Rig, name: str) -> str:
    return r.view.stores["Pod"].objects[("ml", name)].spec.node_name  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize(
    ("version", "taken"),
    [("100", False), ("99", False), ("9", False), ("101", True), ("abc", True), ("0101", True)],
    ids=["equal", "older", "shorter", "newer", "no number", "leading zero"],
)
async def test_w26_only_certainly_older_versions_are_ignored(version: str, taken: bool) -> None:
    async with rig(pods=0) as r:
        await _after(
            r,
            line("ADDED", _obj("a", "100", node="before")),
            bookmark("100", ends=True),
            line("MODIFIED", _obj("a", version, node="after")),
        )
        assert _node(r, "a") == ("after" if taken else "before")
        assert r.view.stores["Pod"].dropped == (0 if taken else 1)


async def test_w27_changes_of_unknown_and_additions_of_known_objects() -> None:
    async with rig(pods=0) as r:
        await _after(
            r,
            bookmark("100", ends=True),
            line("MODIFIED", _obj("unknown", "101")),
            line("DELETED", _obj("never-seen", "102")),
            line("ADDED", _obj("unknown", "103", node="again")),
        )
        assert r.view.names() == {"unknown"}
        assert _node(r, "unknown") == "again"
        assert [key[1] for key in r.view.stores["Pod"].tombstones] == ["never-seen"]


async def test_w28_w29_deleted_and_made_anew_while_disconnected() -> None:
    async with rig(pods=3) as r:
        await r.live()
        old = r.view.stores["Pod"].objects[("ml", "p1")].metadata.uid
        await r.server.stop()
        r.delete("p0")
        r.delete("p1")
        r.server.create("Pod", pod("p1"))
        assert r.view.names() == {"p0", "p1", "p2"}
        await r.server.start()
        await r.converge()
        store = r.view.stores["Pod"]
        assert r.view.names() == {"p1", "p2"}
        assert store.objects[("ml", "p1")].metadata.uid != old
        assert not store.tombstones[("ml", "p0")].seen
        assert store.tombstones[("ml", "p1")].object.metadata.uid == old


async def test_w30_a_late_change_does_not_bring_back_the_dead() -> None:
    async with rig(pods=0) as r:
        await _after(
            r,
            line("ADDED", _obj("a", "100")),
            bookmark("100", ends=True),
            line("DELETED", _obj("a", "120")),
            line("MODIFIED", _obj("a", "110")),
        )
        assert r.view.names() == set()


async def test_w31_one_name_in_three_namespaces_is_three_objects() -> None:
    async with rig(pods=0) as r:
        for namespace in ("a", "b", "c"):
            r.server.create("Pod", pod("same", namespace))
        await r.live()
        assert set(r.view.content()) == {("a", "same"), ("b", "same"), ("c", "same")}


async def test_w31_one_uid_under_two_names_is_the_newer_one() -> None:
    async with rig(pods=0) as r:
        await _after(
            r,
            line("ADDED", _obj("a", "100", uid="u")),
            bookmark("100", ends=True),
            line("ADDED", _obj("b", "101", uid="u")),
            line("MODIFIED", _obj("a", "99", uid="u")),
        )
        assert r.view.names() == {"b"}

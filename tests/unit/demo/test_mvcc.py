"""The demo server's database: every version can be read until it is forgotten."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.demo.mvcc import JSON, Compacted, Database

writes = st.lists(st.tuples(st.sampled_from("abcd"), st.booleans()), max_size=40)


def _apply(database: Database, name: str, delete: bool) -> None:
    key = ("ns", name)
    if delete and database.get("Pod", key) is not None:
        database.remove("Pod", key)
    else:
        database.put("Pod", key, {"metadata": {"name": name}})


@given(writes)
def test_every_past_content_can_be_read(steps: list[tuple[str, bool]]) -> None:
    database = Database()
    contents = {database.revision: database.snapshot("Pod")}
    for name, delete in steps:
        _apply(database, name, delete)
        contents[database.revision] = database.snapshot("Pod")
    for revision, content in contents.items():
        assert database.snapshot("Pod", revision) == content


@given(writes, st.integers(0, 40))
def test_changes_lead_from_a_past_content_to_the_present_one(steps: list[tuple[str, bool]], at: int) -> None:
    database = Database()
    for name, delete in steps[:at]:
        _apply(database, name, delete)
    revision, content = database.revision, database.snapshot("Pod")
    for name, delete in steps[at:]:
        _apply(database, name, delete)
    seen: list[int] = []
    for change in database.changes("Pod", revision):
        seen.append(change.revision)
        assert change.previous == content.get(change.key)
        assert change.object["metadata"]["resourceVersion"] == str(change.revision)
        if change.type == "DELETED":
            del content[change.key]
        else:
            assert (change.type == "ADDED") is (change.key not in content)
            content[change.key] = change.object
    assert content == database.snapshot("Pod")
    assert seen == sorted(set(seen))


def test_what_was_compacted_cannot_be_read() -> None:
    database = Database()
    for name in "ab":
        _apply(database, name, False)
    database.compact(2)
    assert set(database.snapshot("Pod", 2)) == {("ns", "a")}
    with pytest.raises(Compacted):
        database.snapshot("Pod", 1)
    with pytest.raises(Compacted):
        database.changes("Pod", 1)


def test_the_history_of_a_kind_is_bounded() -> None:
    database = Database(history=10)
    for _ in range(100):
        _apply(database, "a", False)
    assert len(database.changes("Pod", database.revision - 10)) == 10
    with pytest.raises(Compacted):
        database.changes("Pod", 5)
    assert database.changes("Node", 5) == []


def test_objects_are_never_changed_in_place() -> None:
    database = Database()
    given_object: JSON = {"metadata": {"name": "a"}}
    stored = database.put("Pod", ("ns", "a"), given_object)
    assert given_object == {"metadata": {"name": "a"}}
    database.put("Pod", ("ns", "a"), {"metadata": {"name": "a"}, "spec": {}})
    assert stored["metadata"]["resourceVersion"] == "2"
    assert "spec" not in stored


async def test_watchers_hear_of_their_kind_only() -> None:
    database = Database()
    with database.watching("Pod") as pods, database.watching("Node") as nodes:
        _apply(database, "a", False)
        assert pods.is_set()
        assert not nodes.is_set()
        pods.clear()
    _apply(database, "b", False)
    assert not pods.is_set()

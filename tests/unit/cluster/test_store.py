"""What frames do to a store: W26-W31, epochs, and that any course of events ends in the truth."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster import store as store_module
from ktui.cluster.store import Delta, Store, older_or_equal
from ktui.model.frame import Changed, ChangeType, Listed
from ktui.model.meta import Object
from ktui.model.pod import Pod
from tests.unit.builders import changed, listed, make

KEY = ("ml", "p")


def thing(version: str, name: str = "p", uid: str = "u", namespace: str = "ml", phase: str = "Pending") -> Pod:
    metadata = {"name": name, "namespace": namespace, "uid": uid, "resourceVersion": version}
    return make(Pod, {"metadata": metadata, "status": {"phase": phase}})


def pods(*frames: Changed | Listed) -> Store:
    store = Store("Pod")
    for frame in frames:
        apply(store, frame)
    return store


def apply(store: Store, frame: Changed | Listed) -> list[Delta]:
    if isinstance(frame, Changed):
        return store.change(frame)
    return [delta for delta in store.replacements(frame) if delta is not None]


def kinds_of(deltas: Sequence[Delta]) -> list[str]:
    return ["added" if d.old is None else "removed" if d.new is None else "changed" for d in deltas]


# --- versions ---


@pytest.mark.parametrize(
    ("version", "than", "late"),
    [
        ("5", "5", True),
        ("4", "5", True),
        ("9", "10", True),
        ("10", "9", False),
        ("0", "1", True),
        ("99999999999999999999", "100000000000000000000", True),
        ("05", "9", False),
        ("abc", "9", False),
        ("", "9", False),
        ("5", "", False),
        ("٣", "9", False),
        ("-1", "9", False),
    ],
)
def test_only_plain_numbers_compare(version: str, than: str, late: bool) -> None:
    assert older_or_equal(version, than) is late


@given(st.integers(0, 2**70), st.integers(0, 2**70))
def test_versions_compare_as_numbers(a: int, b: int) -> None:
    assert older_or_equal(str(a), str(b)) is (a <= b)


# --- single events ---


@pytest.mark.parametrize("version", ["5", "4", "0"])
def test_W26_an_equal_or_older_version_is_dropped_and_counted(version: str) -> None:
    store = pods(changed("ADDED", thing("5")))
    assert apply(store, changed("MODIFIED", thing(version, phase="Running"))) == []
    assert (store.get(KEY), store.dropped) == (thing("5"), 1)


@pytest.mark.parametrize("version", ["abc", "05", ""])
def test_W26_a_version_that_is_no_number_is_taken_as_new(version: str) -> None:
    store = pods(changed("ADDED", thing("5")))
    assert kinds_of(apply(store, changed("MODIFIED", thing(version)))) == ["changed"]


def test_W27_modified_for_an_unknown_object_adds_it() -> None:
    store = Store("Pod")
    assert kinds_of(apply(store, changed("MODIFIED", thing("5")))) == ["added"]


def test_W27_deleted_for_an_unknown_object_leaves_a_tombstone_only() -> None:
    store = Store("Pod")
    assert apply(store, changed("DELETED", thing("5"))) == []
    assert store.objects == {}
    assert store.tombstones[KEY].seen


def test_W27_added_for_a_known_object_changes_it() -> None:
    store = pods(changed("ADDED", thing("5")))
    assert kinds_of(apply(store, changed("ADDED", thing("6")))) == ["changed"]


def test_W28_what_a_complete_list_lacks_is_gone_without_a_time() -> None:
    store = pods(listed("Pod", thing("5"), version="5"))
    assert kinds_of(apply(store, listed("Pod", version="9"))) == ["removed"]
    assert not store.tombstones[KEY].seen
    assert store.tombstones[KEY].object == thing("5")


@pytest.mark.parametrize("frame", [changed("ADDED", thing("9", uid="v")), listed("Pod", thing("9", uid="v"))])
def test_W29_a_new_object_under_an_old_name_is_a_removal_and_an_addition(frame: Changed | Listed) -> None:
    store = pods(changed("ADDED", thing("5")))
    deltas = apply(store, frame)
    assert kinds_of(deltas) == ["removed", "added"]
    assert (store.by_uid("u"), store.by_uid("v")) == (None, thing("9", uid="v"))


@pytest.mark.parametrize(("version", "taken"), [("6", False), ("7", False), ("8", True)])
def test_W30_a_late_change_does_not_raise_the_dead(version: str, taken: bool) -> None:
    store = pods(changed("ADDED", thing("5")), changed("DELETED", thing("7")))
    apply(store, changed("MODIFIED", thing(version)))
    assert (KEY in store.objects) is taken


def test_W30_a_new_object_with_the_name_of_a_dead_one_is_welcome() -> None:
    store = pods(changed("ADDED", thing("5")), changed("DELETED", thing("7")), changed("ADDED", thing("6", uid="v")))
    assert store.get(KEY) == thing("6", uid="v")


def test_W31_one_name_in_three_namespaces_is_three_objects() -> None:
    spaces = ("a", "b", "c")
    store = pods(*(changed("ADDED", thing("1", uid=n, namespace=n)) for n in spaces))
    assert set(store.objects) == {(n, "p") for n in spaces}


@pytest.mark.parametrize(("second", "kept"), [("6", "q"), ("4", "p")])
def test_W31_one_uid_under_two_names_is_the_newer_one(second: str, kept: str) -> None:
    store = pods(changed("ADDED", thing("5")), changed("ADDED", thing(second, name="q")))
    assert set(store.objects) == {("ml", kept)}
    found = store.by_uid("u")
    assert found is not None
    assert found.name == kept


@pytest.mark.parametrize(
    "frame", [changed("MODIFIED", thing("4", uid="v")), listed("Pod", thing("4", uid="v"), version="6")]
)
def test_W29_a_late_word_of_a_predecessor_is_dropped(frame: Changed | Listed) -> None:
    store = pods(changed("ADDED", thing("8")))
    assert apply(store, frame) == []
    assert store.get(KEY) == thing("8")


def test_W32_a_late_deletion_does_not_hide_what_came_back() -> None:
    store = pods(changed("ADDED", thing("5")), changed("DELETED", thing("6")), changed("ADDED", thing("8")))
    assert apply(store, changed("DELETED", thing("6"))) == []
    assert KEY in store.objects


def test_a_deletion_under_another_uid_takes_the_older_object_with_it() -> None:
    store = pods(changed("ADDED", thing("5")))
    assert kinds_of(apply(store, changed("DELETED", thing("9", uid="v")))) == ["removed"]


def test_a_late_deletion_of_a_predecessor_is_dropped() -> None:
    store = pods(changed("ADDED", thing("9", uid="v")))
    assert apply(store, changed("DELETED", thing("5"))) == []
    assert KEY in store.objects


# --- lists ---


def test_a_list_keeps_the_python_objects_that_did_not_change() -> None:
    store = pods(listed("Pod", thing("5"), thing("6", "q", "v")))
    before = dict(store.objects)
    deltas = apply(store, listed("Pod", thing("5"), thing("7", "q", "v")))
    assert [d.key for d in deltas] == [("ml", "q")]
    assert store.objects[KEY] is before[KEY]


def test_a_list_of_one_namespace_leaves_the_others_alone() -> None:
    store = Store("Pod")
    for namespace in ("ml", "lab"):
        apply(store, listed("Pod", thing("1", uid=namespace, namespace=namespace), namespace=namespace))
    apply(store, listed("Pod", namespace="lab"))
    assert set(store.objects) == {KEY}


def test_a_lagging_list_does_not_hide_what_is_newer() -> None:
    store = pods(listed("Pod", version="5"), changed("ADDED", thing("9")))
    assert apply(store, listed("Pod", version="7")) == []
    assert KEY in store.objects


def test_a_lagging_list_does_not_turn_an_object_back() -> None:
    store = pods(changed("ADDED", thing("9")))
    assert apply(store, listed("Pod", thing("6"), version="7")) == []
    assert store.get(KEY) == thing("9")


def test_a_lagging_list_does_not_raise_the_dead() -> None:
    store = pods(changed("ADDED", thing("5")), changed("DELETED", thing("9")))
    assert apply(store, listed("Pod", thing("5"), version="7")) == []
    assert kinds_of(apply(store, listed("Pod", thing("5"), version="10"))) == ["added"]


# --- epochs: the server's state went back ---


def test_in_a_new_epoch_lower_versions_count() -> None:
    store = pods(listed("Pod", thing("50"), version="60"))
    apply(store, listed("Pod", thing("20", phase="Running"), version="30", epoch=1))
    assert store.get(KEY) == thing("20", phase="Running")
    apply(store, changed("MODIFIED", thing("25"), epoch=1))
    assert store.get(KEY) == thing("25")
    assert apply(store, changed("MODIFIED", thing("24"), epoch=1)) == []


def test_in_a_new_epoch_a_lower_list_version_removes() -> None:
    store = pods(listed("Pod", thing("50"), version="60"))
    assert kinds_of(apply(store, listed("Pod", version="30", epoch=1))) == ["removed"]


def test_in_a_new_epoch_tombstones_bar_nothing() -> None:
    store = pods(changed("ADDED", thing("50")), changed("DELETED", thing("60")))
    apply(store, changed("ADDED", thing("20"), epoch=1))
    assert KEY in store.objects


def test_in_a_new_epoch_one_version_may_stand_for_two_contents() -> None:
    store = pods(listed("Pod", thing("50")))
    apply(store, listed("Pod", thing("50", phase="Running"), epoch=1))
    assert store.get(KEY) == thing("50", phase="Running")


def test_epochs_are_each_sources_own() -> None:
    store = Store("Pod")
    apply(store, listed("Pod", thing("50"), namespace="ml", version="60"))
    apply(store, listed("Pod", namespace="lab", version="3", epoch=1))
    assert apply(store, changed("MODIFIED", thing("40"), namespace="ml")) == []


def test_tombstones_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "MAX_TOMBSTONES", 3)
    store = pods(*(changed("DELETED", thing("1", f"p{i}", f"u{i}")) for i in range(10)))
    assert list(store.tombstones) == [("ml", "p7"), ("ml", "p8"), ("ml", "p9")]


# --- whole courses ---

Life = list[tuple[ChangeType, Object]]


@st.composite
def lives(draw: st.DrawFn) -> tuple[Life, dict[tuple[str, str], Object]]:
    """What a server did to three names, in order, and what is there in the end."""
    truth: dict[tuple[str, str], Object] = {}
    life: Life = []
    for version in range(1, draw(st.integers(1, 25)) + 1):
        name = draw(st.sampled_from("abc"))
        known = truth.get(("ml", name))
        if known is None:
            obj = truth["ml", name] = thing(str(version), name, f"{name}{version}")
            life.append(("ADDED", obj))
        elif draw(st.booleans()):
            obj = truth["ml", name] = thing(str(version), name, known.metadata.uid, phase=f"phase {version}")
            life.append(("MODIFIED", obj))
        else:
            del truth["ml", name]
            life.append(("DELETED", thing(str(version), name, known.metadata.uid)))
    return life, truth


@given(lives())
def test_events_in_order_give_the_truth(course: tuple[Life, dict[tuple[str, str], Object]]) -> None:
    life, truth = course
    assert pods(*(changed(type_, obj) for type_, obj in life)).objects == truth


@given(lives(), st.data())
def test_events_again_after_a_reconnect_change_nothing(
    course: tuple[Life, dict[tuple[str, str], Object]], data: st.DataObject
) -> None:
    """A watch that resumes from an older version gives a stretch of the course once more, in order."""
    life, truth = course
    start = data.draw(st.integers(0, len(life)))
    store = pods(*(changed(type_, obj) for type_, obj in [*life, *life[start:]]))
    assert store.objects == truth


@given(lives(), st.data())
def test_after_any_disorder_a_complete_list_gives_the_truth(
    course: tuple[Life, dict[tuple[str, str], Object]], data: st.DataObject
) -> None:
    life, truth = course
    late = data.draw(st.lists(st.sampled_from(life)))
    store = pods(*(changed(type_, obj) for type_, obj in data.draw(st.permutations([*life, *late]))))
    end = listed("Pod", *truth.values(), version=str(len(life)))
    first = apply(store, end)
    assert store.objects == truth
    assert all((d.old is None) != (d.new is None) or d.old != d.new for d in first)
    assert apply(store, end) == []
    assert {uid: store.by_uid(uid) for uid in store._keys_by_uid} == {o.metadata.uid: o for o in truth.values()}


@given(lives(), st.data())
def test_versions_never_fall_while_something_has_the_name(
    course: tuple[Life, dict[tuple[str, str], Object]], data: st.DataObject
) -> None:
    life, _ = course
    store = Store("Pod")
    seen: dict[tuple[str, str], int] = {}
    for type_, obj in data.draw(st.permutations([*life, *life])):
        apply(store, changed(type_, obj))
        for known in store.objects.values():
            assert int(known.metadata.resource_version) >= seen.get(known.key, 0)
        seen = {key: int(known.metadata.resource_version) for key, known in store.objects.items()}

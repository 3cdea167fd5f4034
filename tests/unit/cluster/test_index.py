"""Look-ups by value, and the changes that leave every one of them as it was."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.cluster import joins
from ktui.cluster.index import Index
from ktui.cluster.state import Cluster
from ktui.model.frame import Changed, Listed
from ktui.model.meta import Key, Object, ObjectMeta
from tests.unit import builders as b
from tests.unit.cluster import worlds


def valued(name: str, values: list[str]) -> Object:
    return Object(ObjectMeta(name=name, finalizers=tuple(values)))


def finalizers(obj: Object) -> tuple[str, ...]:
    return obj.metadata.finalizers or ()


@given(st.lists(st.tuples(st.sampled_from("pqr"), st.none() | st.lists(st.sampled_from("abc"), max_size=4))))
def test_says_which_objects_have_a_value_however_they_change(changes: list[tuple[str, list[str] | None]]) -> None:
    index: Index[str] = Index(finalizers)
    known: dict[str, Object] = {}
    for name, values in changes:
        old, new = known.pop(name, None), None if values is None else valued(name, values)
        index.update(("", name), old, new)
        if new is not None:
            known[name] = new
        for value in "abc":
            expected = {("", name) for name, obj in known.items() if value in finalizers(obj)}
            assert set(index[value]) == expected
            assert index.count(value) == len(list(index[value])) == len(expected)
            assert (value in index) == bool(expected)
        assert set(index.values()) == {value for obj in known.values() for value in finalizers(obj)}
        assert bool(index) == any(map(finalizers, known.values()))


def test_gives_the_objects_in_the_order_they_came() -> None:
    index: Index[str] = Index(finalizers)
    for name in "cab":
        index.update(("", name), None, valued(name, ["x"]))
    index.update(("", "a"), valued("a", ["x"]), valued("a", ["y", "x"]))
    assert list(index["x"]) == [("", "c"), ("", "a"), ("", "b")]


def values_of(obj: Object) -> dict[str, set[object]]:
    """What every index knows of a cluster that has nothing else."""
    cluster = Cluster()
    cluster.apply(b.added(obj))
    return {name: set(index.values()) for name, index in vars(cluster).items() if isinstance(index, Index)}


@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(24))
def test_objects_that_are_alike_have_the_same_values(course: list[worlds.Step]) -> None:
    latest: dict[tuple[str, Key], Object] = {}
    for version, step in enumerate(course, start=2):
        frame = worlds.frame(step, version)
        objects = (frame.object,) if isinstance(frame, Changed) else frame.items if isinstance(frame, Listed) else ()
        for obj in objects:
            known = latest.get((type(obj).__name__, obj.key))
            if known is not None and joins.alike(known, obj):
                assert values_of(known) == values_of(obj)
            latest[type(obj).__name__, obj.key] = obj


def test_a_status_that_says_nothing_new_leaves_a_pod_alike() -> None:
    """The property above would hold of nothing, too."""
    pod = b.pod("p", group="g", node="n", spec={"schedulerName": "volcano"})
    assert joins.alike(pod, b.pod("p", group="g", node="n", spec={"schedulerName": "volcano"}, phase="Running"))
    assert not joins.alike(pod, b.pod("p", group="h", node="n", spec={"schedulerName": "volcano"}))
    assert not joins.alike(pod, b.pod("p", group="g", node="n", spec={"schedulerName": "volcano"}, phase="Failed"))

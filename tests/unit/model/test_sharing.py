"""Values stay what they are, however much of them is kept only once."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ktui.model.meta import Condition
from ktui.model.pod import Pod
from ktui.model.sharing import share, shared
from tests.unit import builders as b
from tests.unit.cluster import worlds

TEXTS = st.sampled_from(["a", "b", "c"])
CONDITIONS = st.builds(Condition, type=TEXTS, status=TEXTS, reason=st.none() | TEXTS)
VALUES = st.recursive(
    st.none() | TEXTS | CONDITIONS,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_what_is_shared_is_the_same_value_and_leaves_the_other_alone(new: Any, old: Any) -> None:
    wanted, before = copy.deepcopy(new), copy.deepcopy(old)
    assert shared(new, old) == wanted
    assert old == before


def test_equal_parts_are_kept_once_wherever_they_are() -> None:
    old: Any = {"x": (Condition("Ready", "True", last_transition_time=_written("2026-11-30")),), "y": _written("z")}
    new: Any = {
        "x": (Condition("Ready", "False", last_transition_time=_written("2026-11-30")), None),
        "y": _written("z"),
    }
    assert new["y"] is not old["y"]
    found = shared(new, old)
    assert found["x"][0].last_transition_time is old["x"][0].last_transition_time
    assert found["x"][0].status == "False"
    assert found["y"] is old["y"]
    assert shared({"x": old["x"]}, old)["x"] is old["x"]


@given(worlds.pods(), worlds.pods())
def test_where_two_objects_differ_is_told_when_they_do(first: b.Document, second: b.Document) -> None:
    old, new = b.make(Pod, first), b.make(Pod, second)
    wanted, differ = copy.deepcopy(new), new != old
    fields = share(new, old)
    assert new == wanted
    assert bool(fields) == differ
    assert share(new, old) == fields, "the same again, now that equal parts are the same ones"


def test_the_innermost_fields_are_told() -> None:
    statuses = [{"name": "main", "restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
    old = b.pod("p", node="n", status={"containerStatuses": statuses})
    again = [{"name": "main", "restartCount": 2, "state": {}}]
    new = b.pod("p", node="n", meta_={"resourceVersion": "2"}, status={"containerStatuses": again, "message": "m"})
    assert share(new, old) == {
        "ObjectMeta.resource_version",
        "PodStatus.message",
        "ContainerStatus.restart_count",
        "ContainerState.waiting",
    }
    more = b.pod("p", node="n", meta_={"labels": {"a": "b"}}, status={"containerStatuses": [*statuses, *again]})
    assert share(more, old) == {"ObjectMeta.labels", "PodStatus.container_statuses"}
    assert more.status.container_statuses is not None
    assert old.status.container_statuses is not None
    assert more.status.container_statuses[0] is old.status.container_statuses[0]


def _written(text: str) -> str:
    """A text of its own, as if it had been read."""
    return f"{text}{text}"

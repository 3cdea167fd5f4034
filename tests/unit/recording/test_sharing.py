"""Frames say the same however much of them is kept only once; and few states of a recording are kept, however long it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.cluster.moment import Moment
from ktui.model.frame import Changed, Frame, Listed, Mark, Source
from ktui.model.meta import ObjectMeta
from ktui.model.pod import Pod, PodSpec, PodStatus
from ktui.recording import checkpoints
from ktui.recording.checkpoints import Checkpoints
from ktui.recording.reader import Recording
from ktui.recording.sharing import Sharing
from tests.recordings import PATHS

PODS = Source("Pod", "/api/v1/pods")
NAMES = st.sampled_from("abc")
OBJECTS = st.builds(
    lambda name, version, node, phase: Pod(
        metadata=ObjectMeta(name=name, namespace="ml", resource_version=str(version), labels={"app": name}),
        spec=PodSpec(node_name=node, priority_class_name="high"),
        status=PodStatus(phase=phase),
    ),
    NAMES,
    st.integers(1, 3),
    st.sampled_from([None, "n1", "n2"]),
    st.sampled_from(["Pending", "Running"]),
)
FRAMES = st.lists(
    st.builds(Changed, st.just(PODS), st.sampled_from(["ADDED", "MODIFIED", "DELETED"]), OBJECTS)
    | st.builds(lambda objects: Listed(PODS, "1", tuple(objects)), st.lists(OBJECTS, max_size=4))
    | st.just(Mark("here")),
    max_size=12,
)


@given(FRAMES)
def test_what_is_shared_says_the_same(frames: list[Frame]) -> None:
    sharing = Sharing()
    assert [sharing.frame(frame) for frame in frames] == frames


@pytest.mark.parametrize("name", sorted(PATHS))
def test_recordings_say_the_same(name: str) -> None:
    sharing = Sharing()
    for _, frame in Recording(PATHS[name]).frames():
        assert sharing.frame(frame) == frame


def pod(version: int, phase: str) -> Pod:
    return Pod(
        metadata=ObjectMeta(name="a", namespace="ml", resource_version=str(version), labels={"app": "a"}),
        spec=PodSpec(node_name="n"),
        status=PodStatus(phase=phase),
    )


def test_a_change_keeps_what_it_leaves_as_it_was() -> None:
    sharing = Sharing()
    listed = sharing.frame(Listed(PODS, "1", (pod(1, "Pending"),)))
    changed = sharing.frame(Changed(PODS, "MODIFIED", pod(2, "Running")))
    again = sharing.frame(Listed(PODS, "2", (pod(2, "Running"),)))
    assert isinstance(listed, Listed)
    assert isinstance(changed, Changed)
    assert isinstance(again, Listed)
    first, second = listed.items[0], changed.object
    assert isinstance(first, Pod)
    assert isinstance(second, Pod)
    assert second.spec is first.spec
    assert second.metadata.labels is first.metadata.labels
    assert second.status is not first.status
    assert again.items[0] is second


@given(st.integers(0, 2_000), st.integers(0, 2_000))
def test_few_checkpoints_are_kept_and_each_moment_is_the_right_one(frames: int, asked: int) -> None:
    least, checkpoints._LEAST = checkpoints._LEAST, 5
    try:
        kept = Checkpoints(Moment())
        for number in range(frames):
            kept.take(Changed(PODS, "MODIFIED", pod(number + 1, "Running")))
        assert len(kept._kept) <= checkpoints._MOST
        taken, state = kept.before(asked)
    finally:
        checkpoints._LEAST = least
    assert 0 <= taken <= min(asked, frames)
    versions = [obj.metadata.resource_version for obj in state.stores["Pod"].objects.values()]
    assert versions == ([str(taken)] if taken else [])

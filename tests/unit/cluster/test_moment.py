"""Going from any moment to any other gives the same state, and the same rows, as the frames from the start; and whatever
looks different then is named."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ktui.cluster.dirty import Dirty
from ktui.cluster.moment import Moment
from ktui.cluster.state import Cluster
from ktui.model.kinds import KINDS
from tests.unit import builders as b
from tests.unit.cluster import worlds
from tests.unit.cluster.test_dirty import rows_of

START = [b.listed(kind, version="1") for kind in KINDS]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds.steps(24), st.lists(st.floats(0, 1), min_size=1, max_size=4))
def test_any_moment_can_be_gone_to_from_any_other(course: list[worlds.Step], stops: list[float]) -> None:
    frames = [*START, *(worlds.frame(step, version) for version, step in enumerate(course, start=2))]
    travelling = Cluster()
    for stop in stops:
        reached = round(stop * len(frames))
        there, straight = Moment(), Cluster()
        for frame in frames[:reached]:
            there.take(frame)
            straight.apply(frame)
        before, dirty = rows_of(travelling), Dirty()
        for part in travelling.become(there):
            dirty.merge(part)
        after = rows_of(travelling)
        assert after == rows_of(straight)
        assert travelling.streams == straight.streams == there.streams
        for kind, store in straight.stores.items():
            found = travelling.stores[kind]
            assert found.objects == store.objects
            assert (found.tombstones, found.epochs) == (store.tombstones, store.epochs)
        assert dirty.streams  # rows that only depend on what can be read are looked at again for it
        gone = before.keys() - after.keys()
        assert not [at for at in gone if at[1] not in getattr(dirty, at[0])]
    for version, frame in enumerate(frames[reached:]):
        assert travelling.apply(frame) == straight.apply(frame), version  # and both go on alike


def test_a_copy_goes_its_own_way() -> None:
    first = Moment()
    first.take(b.listed("Pod", b.pod("a")))
    second = first.copy()
    second.take(b.deleted(b.pod("a", meta_={"resourceVersion": "2"})))
    second.take(b.phase("Pod", "waiting"))
    assert (first.size, second.size) == (1, 0)
    uid = b.pod("a").metadata.uid
    assert first.stores["Pod"].by_uid(uid) == b.pod("a")
    assert second.stores["Pod"].by_uid(uid) is None
    assert not first.stores["Pod"].tombstones
    assert [stream.phase for stream in first.streams.values()] == ["watching"]
    second.take(b.added(b.pod("a")))
    assert second.size == 0  # it remembers that the pod went


def test_copies_have_in_common_who_has_which_uid_as_long_as_that_is_so() -> None:
    first = Moment()
    first.take(b.listed("Pod", b.pod("a"), b.pod("b")))
    second = first.copy()
    second.take(b.changed("MODIFIED", b.pod("a", phase="Running", meta_={"resourceVersion": "2"})))
    pods, others = first.stores["Pod"], second.stores["Pod"]
    assert pods is not others
    assert pods._keys_by_uid is others._keys_by_uid
    second.take(b.added(b.pod("c")))
    first.take(b.added(b.pod("d")))
    found = {
        name: [moment.stores["Pod"].by_uid(b.uid_of(name)) is not None for moment in (first, second)] for name in "abcd"
    }
    assert found == {"a": [True, True], "b": [True, True], "c": [False, True], "d": [True, False]}


def test_all_who_take_a_list_have_its_keys_in_common() -> None:
    frame = b.listed("Pod", b.pod("a"), b.pod("b"))
    assert [key for key, _ in frame.keyed()] == list(frame.keys)
    first, second = Moment(), Moment()
    for moment in (first, second):
        moment.take(frame)
    for moment in (first, second):
        keys = moment.stores["Pod"].objects
        assert list(keys) == [obj.key for obj in frame.items]
        assert all(key is known for key, known in zip(keys, frame.keys, strict=True))


def test_moments_that_became_one_another_go_their_own_ways() -> None:
    there, here = Moment(), Moment()
    there.take(b.listed("Pod", b.pod("a")))
    assert len(list(here.become(there))) == 1
    assert list(here.become(there)) == []
    there.take(b.added(b.pod("b")))
    here.take(b.added(b.pod("c")))
    assert [key[1] for key in there.stores["Pod"].objects] == ["a", "b"]
    assert [key[1] for key in here.stores["Pod"].objects] == ["a", "c"]
    list(here.become(there))
    assert [key[1] for key in here.stores["Pod"].objects] == ["a", "b"]

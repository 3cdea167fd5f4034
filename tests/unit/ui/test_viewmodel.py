"""A view's rows, cursor and marks; the map's pools; the deck they are in."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from ktui.cluster.dirty import Dirty
from ktui.cluster.state import Cluster
from ktui.model.frame import Frame
from ktui.model.pod import Pod
from ktui.model.resourceslice import ResourceSlice
from ktui.ui import deck as deck_module
from ktui.ui.deck import Deck
from ktui.ui.mapmodel import MapModel
from ktui.ui.rowindex import Filter
from ktui.ui.session import Session, Sink, Target, Travel
from ktui.ui.viewmodel import ViewModel
from ktui.views.base import Row, RowKey
from ktui.views.registry import VIEWS
from tests.ui.world import ScriptedFeed, changed, everything_live, example, listed, phase, pod, pool


def always() -> bool:
    return True


def cluster(*frames: Frame) -> Cluster:
    made = Cluster()
    for frame in frames:
        made.apply(frame)
    return made


def pods(count: int) -> list[Pod]:
    return [pod(f"p-{number:04}") for number in range(count)]


def test_work_is_done_in_slices_from_the_top() -> None:
    model = ViewModel(VIEWS["pods"], cluster(listed("Pod", *pods(500))))
    assert model.behind == 500
    model.work(lambda: False)
    assert 0 < len(model.index) < 500
    assert model.index.key_at(0) == ("research", "p-0000")
    while model.behind:
        model.work(lambda: False)
    assert len(model.index) == 500


def test_the_top_comes_first_in_whatever_order_the_keys_do() -> None:
    shuffled = random.Random(1).sample(pods(2_000), 2_000)
    model = ViewModel(VIEWS["pods"], cluster(listed("Pod", *shuffled)))
    model.work(lambda: False)
    assert [model.index.key_at(place) for place in range(50)] == [("research", f"p-{n:04}") for n in range(50)]
    assert model.behind == 2_000 - 64
    while model.behind:
        model.work(lambda: False)
    assert len(model.index) == 2_000


def test_rows_are_found_although_the_state_changes_between_two_slices() -> None:
    state = cluster(listed("Pod", *pods(300)), listed("ResourceSlice", *(pool(f"node-{n}", 8) for n in range(40))))
    models = [ViewModel(VIEWS[view], state) for view in ("pods", "devices")]
    for number in range(100):
        for model in models:
            model.work(lambda: False)
        gone, come = pod(f"p-{299 - number:04}", version=200), pod(f"q-{number}", version=200)
        for frame in (
            changed("Pod", "DELETED", gone),
            changed("Pod", "ADDED", come),
            changed("ResourceSlice", "ADDED", pool(f"late-{number}", 1)),
        ):
            dirty = state.apply(frame)
            models[0].invalidate(dirty.pods)
            models[1].invalidate(dirty.devices)
    for model in models:
        model.work(always)
        assert not model.behind
        assert sorted(map(str, model.index.keys())) == sorted(map(str, model.view.keys(state)))


def test_kinds_read_one_after_the_other_cost_no_more_than_the_last_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    state = cluster(listed("ResourceSlice", *(pool(f"node-{n}", 8) for n in range(50))))
    model = ViewModel(VIEWS["triage"], state)
    model.work(always)
    made = 0
    row = type(VIEWS["triage"]).row

    def counted(self: object, cluster: Cluster, key: RowKey) -> Row | None:
        nonlocal made
        made += 1
        return row(self, cluster, key)  # type: ignore[arg-type]

    monkeypatch.setattr(type(VIEWS["triage"]), "row", counted)
    for kind in ("ResourceClaim", "ResourceSlice", "DeviceTaintRule", "Pod"):
        model.reread(frozenset((kind,)))
        model.work(lambda: False)
    model.work(always)
    assert 450 <= made < 500
    assert model.behind == 0


def test_rows_that_were_painted_are_as_they_are_now_before_all_others() -> None:
    state = cluster(listed("Pod", *pods(2_000)))
    model = ViewModel(VIEWS["pods"], state)
    model.work(always)
    painted = [model.index.key_at(position) for position in range(1_000, 1_050)]
    before = [model.row(key) for key in painted]
    for number in range(2_000):
        state.apply(changed("Pod", "MODIFIED", pod(f"p-{number:04}", phase="Failed", version=101)))
    model.invalidate(("research", f"p-{number:04}") for number in range(2_000))
    model.work(lambda: False)
    assert model.behind > 1_000
    assert all(model.row(key) not in (None, old) for key, old in zip(painted, before, strict=True))


def test_a_row_is_the_same_object_until_it_changes() -> None:
    state = cluster(listed("Pod", *pods(2)))
    model = ViewModel(VIEWS["pods"], state)
    model.work(always)
    key = ("research", "p-0000")
    before = model.row(key)
    model.invalidate([key])
    model.work(always)
    assert model.row(key) is before
    state.apply(changed("Pod", "MODIFIED", pod("p-0000", phase="Failed", version=101)))
    model.invalidate([key])
    model.work(always)
    assert model.row(key) != before


def test_until_it_is_moved_the_cursor_stays_at_the_top() -> None:
    state = cluster(listed("Pod", *pods(2)))
    model = ViewModel(VIEWS["pods"], state)
    model.work(always)
    state.apply(changed("Pod", "ADDED", pod("a")))
    model.invalidate([("research", "a")])
    model.work(always)
    assert model.cursor == ("research", "a")
    model.move_to(1)
    state.apply(changed("Pod", "ADDED", pod("b")))
    model.invalidate([("research", "b")])
    model.work(always)
    assert model.cursor == ("research", "p-0000")
    assert model.locate_cursor() == 2


def test_the_cursor_of_an_empty_table_comes_back_to_its_row() -> None:
    model = ViewModel(VIEWS["pods"], cluster(listed("Pod", *pods(5))))
    model.work(always)
    model.move_to(3)
    model.narrow(Filter(text="nothing like it"))
    assert model.cursor is None
    model.narrow(Filter())
    assert model.cursor == ("research", "p-0003")


def test_the_cursor_stays_on_its_row_where_a_filter_lets_it_pass_though_no_row_was_made() -> None:
    model = ViewModel(VIEWS["pods"], cluster(listed("Pod", *pods(500))))
    model.work(always)
    model.move_to(300)
    model.narrow(Filter(text="running"))
    assert model.cursor == ("research", "p-0300")
    for _ in range(3):
        model.work(lambda: False)
    assert 1 < len(model.index) < 500
    assert model.cursor == ("research", "p-0300")
    model.work(always)
    assert model.locate_cursor() == 300


def test_a_row_that_a_filter_lets_pass_is_gone_to_though_it_was_not_made() -> None:
    model = ViewModel(VIEWS["pods"], cluster(listed("Pod", *pods(500))))
    model.work(always)
    model.narrow(Filter(text="running"))
    assert model.go_to(("research", "p-0300"))
    assert model.cursor == ("research", "p-0300")
    model.narrow(Filter(text="failed"))
    assert not model.go_to(("research", "p-0301"))
    assert not model.go_to(("research", "nobody"))


def test_the_map_lists_pools_again_only_when_one_comes_or_goes() -> None:
    state = cluster(*everything_live(ResourceSlice=[pool("n0", 4), pool("n1", 4)]))
    model = MapModel(state)
    listed_before = model.pools
    line = model.line(1)
    model.invalidate([("gpu.example.com", "n0", "gpu-0")])
    assert model.pools is listed_before
    assert model.line(1) is line
    state.apply(changed("ResourceSlice", "ADDED", pool("n2", 4)))
    model.invalidate([("gpu.example.com", "n2", "gpu-0")])
    assert [name for _, name in model.pools] == ["n0", "n1", "n2"]


def test_the_maps_cursor_follows_its_pool() -> None:
    state = cluster(*everything_live(ResourceSlice=[pool("n1", 4), pool("n2", 4)]))
    model = MapModel(state)
    model.move_to(1)
    state.apply(changed("ResourceSlice", "ADDED", pool("n0", 4)))
    model.rebase(state)
    assert model.cursor == ("gpu.example.com", "n2")


def newer(piece: ResourceSlice, version: int) -> ResourceSlice:
    return replace(piece, metadata=replace(piece.metadata, resource_version=str(version)))


def deck(*frames: Frame) -> tuple[Deck, ScriptedFeed]:
    feeds: list[ScriptedFeed] = []

    def make(sink: Sink, travel: Travel) -> ScriptedFeed:
        feeds.append(ScriptedFeed(sink, travel))
        return feeds[-1]

    session = Session(Target(), make)
    for frame in frames:
        feeds[0].give(frame)
    session.take_changes()
    return Deck(session, VIEWS, "gangs", Filter()), feeds[0]


def test_rows_are_computed_again_when_a_kind_they_need_becomes_unreadable() -> None:
    made, feed = deck(*example())
    made.show("pods")
    feed.give(phase("Namespace", "quiet"))
    changes = made.session.take_changes()
    assert changes is not None
    made.take(changes)
    made.model.work(always)
    feed.give(phase("ResourceClaim", "no-access"))
    changes = made.session.take_changes()
    assert changes is not None
    made.take(changes)
    assert made.model.behind == 7


def test_a_view_is_filtered_when_it_is_shown() -> None:
    made, _ = deck(*example())
    made.narrow(Filter(text="numa"))
    made.show("pods")
    made.model.work(always)
    assert len(made.model.index) == 2


@pytest.mark.parametrize("many", [0, 10_000])
def test_of_many_changed_devices_the_triage_finds_out_by_itself(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that are sick, that are sick no longer, and that are gone."""
    monkeypatch.setattr(deck_module, "_MANY", many)
    if not many:
        monkeypatch.setattr(Dirty, "triage", None)  # which is not asked for
    made, feed = deck(*example())
    made.show("triage")
    made.model.work(always)
    slices = ((pool(f"node-{n}", 8, tainted=2) for n in range(1, 5)), (pool("node-1", 8),), ())
    for version, published in enumerate(slices, 300):
        frame = listed("ResourceSlice", *(newer(piece, version) for piece in published))
        feed.give(replace(frame, resource_version=str(version)))
        changes = made.session.take_changes()
        assert changes is not None
        assert changes.devices
        made.take(changes)
        made.model.work(always)
        state = made.session.cluster
        rows = {key for key in made.model.view.keys(state) if made.model.view.row(state, key) is not None}
        assert set(made.model.index.keys()) == rows


def test_settled_means_that_every_first_list_is_in() -> None:
    made, feed = deck(phase("Pod", "listing"))
    assert not made.settled
    feed.give(listed("Pod"))
    feed.give(phase("Pod", "watching"))
    assert made.settled

"""What an event, a key and a look at a view cost does not depend on how large the cluster is: rows made and calls are counted,
not time. Where all rows are looked at, as by a filter, no row is made."""

from __future__ import annotations

import cProfile
import gc
import pstats
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from ktui.cluster.dirty import Entity
from ktui.cluster.state import Cluster
from ktui.model.kinds import KINDS
from ktui.model.pod import Pod
from ktui.ui.deck import Deck
from ktui.ui.rowindex import Filter
from ktui.ui.session import Session, Sink, Travel
from ktui.ui.viewmodel import ViewModel
from ktui.views.base import Row, RowKey, View
from ktui.views.registry import VIEWS
from tests.ui.world import TARGET, ScriptedFeed, changed, gang, listed, pod, pool

SMALL, LARGE = 1_000, 10_000
PER_GANG = 8
SCREENS = 256
"""Rows of a few screens."""
AT_ONCE = 4_000
"""Calls for keys of which nothing is wanted: so many are looked at in one go."""
SHOWN: tuple[Entity, ...] = ("triage", "gangs", "pods", "devices")


class World:
    """Gangs of eight pods and nodes of eight devices, and the views of them."""

    def __init__(self, pods: int) -> None:
        feeds: list[ScriptedFeed] = []

        def feed(sink: Sink, travel: Travel) -> ScriptedFeed:
            feeds.append(ScriptedFeed(sink, travel))
            return feeds[-1]

        gangs = range(pods // PER_GANG)
        self.session = Session(TARGET, feed, clock=lambda: 0.0)  # how long a look takes is another each time
        self.give = feeds[0].give
        cluster = self.session.cluster
        for frame in (
            listed("PodGroup", *(gang(f"gang-{n:05}", PER_GANG) for n in gangs)),
            listed("ResourceSlice", *(pool(f"node-{n:05}", PER_GANG) for n in gangs)),
            listed("Pod", *(self.pod(n, 1) for n in range(pods))),
            *(listed(kind) for kind in KINDS if kind not in ("PodGroup", "ResourceSlice", "Pod")),
        ):
            cluster.apply(frame)  # the session would take long lists in between other things
        self.session.take_changes()
        self.deck = Deck(self.session, VIEWS, "triage", Filter())
        for _ in range(2 * pods // SMALL):  # as long as gangs are counted for the first time
            self.finish()

    @property
    def cluster(self) -> Cluster:
        return self.session.cluster

    def pod(self, number: int, version: int, phase: str = "Running") -> Pod:
        name, node = f"gang-{number // PER_GANG:05}", f"node-{number // PER_GANG:05}"
        return pod(f"{name}-{number % PER_GANG}", gang=name, node=node, version=version, phase=phase)

    def show(self, view: Entity) -> None:
        self.deck.show(view)
        self.finish()

    def flush(self) -> None:
        changes = self.session.take_changes()
        if changes is not None:
            self.deck.take(changes)

    def finish(self) -> None:
        self.flush()
        self.deck.model.work(lambda: True)


@contextmanager
def rows_made(view: Entity) -> Iterator[list[RowKey]]:
    made: list[RowKey] = []
    kind: type[View] = type(VIEWS[view])
    row = kind.row

    def counted(self: object, cluster: Cluster, key: RowKey) -> Row | None:
        made.append(key)
        return row(self, cluster, key)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "row", counted)
        yield made


def calls_of(what: Callable[[], object]) -> int:
    """Calls in Python and C. A sort or a comprehension is one, however much it goes through."""
    gc.disable()  # finalizers are calls, too
    profile = cProfile.Profile()
    profile.enable()
    what()
    profile.disable()
    gc.enable()
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]  # missing in the stubs


@pytest.fixture(scope="module")
def worlds() -> tuple[World, World]:
    return World(SMALL), World(LARGE)


@pytest.mark.parametrize("view", SHOWN)
def test_an_event_costs_the_same_calls_and_rows(view: Entity, worlds: tuple[World, World]) -> None:
    found = []
    for world in worlds:
        world.show(view)

        def event(version: int, phase: str, world: World = world) -> None:
            world.give(changed("Pod", "MODIFIED", world.pod(77, version, phase)))
            world.finish()

        version = int(world.cluster.stores["Pod"].objects["research", "gang-00009-5"].metadata.resource_version)
        event(version + 1, "Failed")  # fills the caches
        event(version + 2, "Running")
        with rows_made(view) as made:
            event(version + 3, "Failed")
            rows = len(made)
        event(version + 4, "Running")
        calls = calls_of(partial(event, version + 5, "Failed"))
        event(version + 6, "Running")
        found.append((calls, rows))
    (small_calls, small_rows), (large_calls, large_rows) = found
    assert large_rows == small_rows <= 2
    assert large_calls <= small_calls * 1.1 + 20  # searches are a little deeper


@pytest.mark.parametrize("view", ["pods", "devices"])
def test_a_key_of_a_filter_makes_no_row_and_looks_at_none_of_them_by_a_call(
    view: Entity, worlds: tuple[World, World]
) -> None:
    found = []
    for world in worlds:
        world.show(view)
        with rows_made(view) as made:
            typed = ("0", "00", "000", "00", "")
            found.append([calls_of(partial(world.deck.narrow, Filter(text=text))) for text in typed])
        assert made == []
    assert found[0] == found[1]


@pytest.mark.parametrize("view", ["pods", "devices"])
def test_the_first_look_at_a_view_makes_no_more_rows_than_it_has_time_for(
    view: Entity, worlds: tuple[World, World]
) -> None:
    found = []
    for world in worlds:
        with rows_made(view) as made:
            model = ViewModel(VIEWS[view], world.cluster)
            model.work(lambda: False)
            assert 0 < len(model.index) <= SCREENS
            assert made == [], "the places of rows are enough"
            found.append(calls_of(partial(_first_look, view, world.cluster)))
    small, large = found
    assert large <= small * 1.1 + 20


@pytest.mark.parametrize("view", ["pods", "devices", "claims", "gangs"])
def test_only_rows_that_are_looked_at_are_made(view: Entity, worlds: tuple[World, World]) -> None:
    for world in worlds:
        with rows_made(view) as made:
            model = ViewModel(VIEWS[view], world.cluster)
            model.work(lambda: True)
            assert len(model.index) == len(list(VIEWS[view].keys(world.cluster)))
            painted = [model.index.key_at(position) for position in range(min(50, len(model.index)))]
            for _ in range(3):
                assert all(model.row(key) is not None for key in painted)
        assert sorted(map(str, made)) == sorted(map(str, painted))


def test_events_make_the_rows_that_are_looked_at_again_and_no_others(worlds: tuple[World, World]) -> None:
    for world in worlds:
        world.show("pods")
        model = world.deck.model
        painted = [model.index.key_at(position) for position in range(50)]
        before = {key: model.row(key) for key in painted}
        versions = {key: int(pod.metadata.resource_version) for key, pod in world.cluster.stores["Pod"].objects.items()}
        with rows_made("pods") as made:
            for number in range(0, 1_000, 7):
                changed_pod = world.pod(number, 1)
                version = versions[changed_pod.key] + 1
                world.give(changed("Pod", "MODIFIED", world.pod(number, version, "Failed")))
            world.finish()
            assert made == [], "nobody looked yet"
            after = {key: model.row(key) for key in painted}
        assert set(made) == {key for key in painted if after[key] is not before[key]}
        assert 0 < len(made) == len(set(made)) <= len(painted)


@pytest.mark.parametrize("view", ["pods", "devices", "claims"])
def test_the_first_key_of_a_filter_another_order_and_a_lost_source_hold_up_nothing(
    view: Entity, worlds: tuple[World, World]
) -> None:
    """Until the next key is looked at: what is left to do is done in slices."""
    found = []
    for world in worlds:
        model = ViewModel(VIEWS[view], world.cluster)
        model.work(lambda: True)
        filters = (Filter(text="0"), Filter(problems_only=True), Filter())
        keys = [partial(_narrow_and_work, model, wanted) for wanted in filters]
        keys += [partial(_sort_and_work, model, column) for column in range(len(VIEWS[view].columns))]
        keys.append(partial(_reread_and_work, model))
        found.append([calls_of(key) for key in keys])
    for small, large in zip(*found, strict=True):
        assert large <= small * 1.2 + AT_ONCE


def _narrow_and_work(model: ViewModel, wanted: Filter) -> None:
    model.narrow(wanted)
    model.work(lambda: False)


def _sort_and_work(model: ViewModel, column: int) -> None:
    model.sort_by(column, descending=False)
    model.work(lambda: False)


def _reread_and_work(model: ViewModel) -> None:
    model.reread(frozenset(("ResourceSlice",)))
    model.work(lambda: False)


def _first_look(view: Entity, cluster: Cluster) -> None:
    ViewModel(VIEWS[view], cluster).work(lambda: False)


@pytest.mark.parametrize("view", SHOWN)
def test_coming_back_to_a_view_makes_no_row(view: Entity, worlds: tuple[World, World]) -> None:
    for world in worlds:
        world.show(view)
        world.show("claims")
        with rows_made(view) as made:
            world.show(view)
        assert made == []

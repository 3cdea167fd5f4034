"""Views that nobody has opened are told nothing; opened later, they show the same as if they had been open all the time."""

from __future__ import annotations

import pytest

from ktui.cluster.dirty import ROWS, Dirty, Entity, rows_of
from ktui.ui.deck import Deck
from ktui.ui.rowindex import Filter
from ktui.ui.session import Session, Sink, Travel
from ktui.views.base import Row, RowKey
from ktui.views.registry import VIEWS
from tests.ui.world import TARGET, ScriptedFeed, changed, example, pod


def _session() -> tuple[Session, ScriptedFeed]:
    feeds: list[ScriptedFeed] = []

    def feed(sink: Sink, travel: Travel) -> ScriptedFeed:
        feeds.append(ScriptedFeed(sink, travel))
        return feeds[-1]

    session = Session(TARGET, feed)
    for frame in example():
        feeds[0].give(frame)
    return session, feeds[0]


def _flush(deck: Deck) -> None:
    changes = deck.session.take_changes()
    if changes is not None:
        deck.take(changes)
    deck.model.work(lambda: True)


def _rows(deck: Deck) -> dict[RowKey, Row | None]:
    model = deck.model
    return {key: model.row(key) for key in model.index.keys()}  # noqa: SIM118 - no mapping


def test_only_rows_of_views_that_were_opened_are_told_of() -> None:
    session, feed = _session()
    deck = Deck(session, VIEWS, "triage", Filter())
    session.take_changes()
    feed.give(changed("Pod", "ADDED", pod("late", gang="llm-train", version=900)))
    changes = session.take_changes()
    assert changes is not None
    assert changes.gangs
    assert not changes.pods
    deck.show("pods")
    feed.give(changed("Pod", "DELETED", pod("late", gang="llm-train", version=901)))
    changes = session.take_changes()
    assert changes is not None
    assert changes.pods


@pytest.mark.parametrize("view", list(VIEWS))
def test_a_view_that_is_opened_late_shows_what_it_would_have_shown(
    view: Entity, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, between and after the changes."""
    monkeypatch.setattr(ScriptedFeed, "now", lambda _: 1_800_000_000.0)
    phases = ("Failed", "Running", "Succeeded")
    shown = []
    for opened in range(len(phases) + 1):
        session, feed = _session()
        deck = Deck(session, VIEWS, "autoscalers", Filter())
        _flush(deck)
        for number, phase in enumerate(phases):
            if number == opened:
                deck.show(view)
                _flush(deck)
            feed.give(
                changed("Pod", "MODIFIED", pod("llm-train-1", gang="llm-train", phase=phase, version=900 + number))
            )
            _flush(deck)
        deck.show(view)
        _flush(deck)
        shown.append(_rows(deck))
    assert all(each == shown[0] for each in shown)


def test_the_map_is_told_of_devices_though_their_view_was_never_opened() -> None:
    session, _ = _session()
    deck = Deck(session, VIEWS, "gangs", Filter())
    deck.open_map()
    session._note(Dirty(devices={("driver", "pool", "gpu-0")}))
    changes = session.take_changes()
    assert changes is not None
    assert changes.devices


def test_rows_of_a_view() -> None:
    assert rows_of(VIEWS) == ROWS
    assert rows_of(["pods"]) == ("pods",)
    assert "pods" not in rows_of(["triage"])


def test_merging_takes_only_what_is_wanted() -> None:
    dirty = Dirty()
    dirty.merge(Dirty(pods={("a", "b")}, gangs={("a", "c")}, streams=True), ("gangs",))
    assert dirty == Dirty(gangs={("a", "c")}, streams=True)
    assert not Dirty()
    for name in ROWS:
        dirty = Dirty()
        getattr(dirty, name).add(("a", "b"))
        assert dirty

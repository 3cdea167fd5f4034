"""The parts of the main screen that need no terminal."""

from __future__ import annotations

from ktui.ui.commands import BY_ID, VIEW_NUMBERS, group_handlers
from ktui.ui.glyphs import UNICODE
from ktui.ui.main.decks import Decks
from ktui.ui.rowindex import Filter
from ktui.ui.screens.main import MainScreen
from ktui.ui.session import Session, Sink, Travel
from tests.ui.world import TARGET, ScriptedFeed, ScriptedOpener, degraded


def session() -> Session:
    """Of a cluster whose gangs need somebody; all of it was taken in."""
    feeds: list[ScriptedFeed] = []

    def feed(sink: Sink, travel: Travel) -> ScriptedFeed:
        feeds.append(ScriptedFeed(sink, travel))
        return feeds[-1]

    made = Session(TARGET, feed)
    for frame in degraded().frames:
        feeds[0].give(frame)
    return made


def decks(view: str = "triage") -> Decks:
    """With a deck that is shown, its rows computed."""
    made = Decks()
    made.view = view  # type: ignore[assignment]
    made.shown = made.deck_of(session())
    made.shown.model.work(lambda: True)
    return made


def screen(keys: dict[str, str] | None = None) -> MainScreen:
    return MainScreen(ScriptedOpener(), glyphs=UNICODE, keys=keys or {}, output_is_slow=lambda: False)


# --- decks ---


def test_a_deck_begins_with_the_view_and_the_filter_that_were_chosen_before_it() -> None:
    waiting = Decks()
    waiting.view, waiting.filter = "pods", Filter(text="train")
    deck = waiting.deck_of(session())
    assert (deck.shown, deck.filter) == ("pods", Filter(text="train"))
    assert waiting.shown is None


def test_the_row_of_the_triage_is_the_one_that_it_stands_for() -> None:
    for view in ("triage", "gangs"):
        found = decks(view).row
        assert found is not None
        assert found[0] == "gangs"
        assert "llm-train" in str(found[1])
    assert Decks().row is None


def test_the_past_has_none_of_the_trouble_of_its_session() -> None:
    found = decks()
    found.failure = "another cluster answers"
    assert found.trouble == "another cluster answers"
    found.live = found.shown
    assert (found.in_past, found.trouble) == (True, "")


def test_nothing_of_a_session_is_left_when_another_is_opened_but_view_and_filter() -> None:
    found = decks("pods")
    found.filter, found.live, found.failure = Filter(text="x"), found.shown, "lost"
    found.clear()
    assert (found.shown, found.live, found.failure, found.session, found.model, found.row) == (
        None,
        None,
        "",
        *[None] * 3,
    )
    assert (found.view, found.filter) == ("pods", Filter(text="x"))


# --- commands ---


def test_every_command_has_a_handler() -> None:
    assert set(screen().handlers) == set(BY_ID)


def test_the_handlers_of_a_group_do_what_is_named() -> None:
    done: list[str] = []
    handlers = group_handlers("view", done.append)
    assert set(handlers) == {f"view.{view}" for view in VIEW_NUMBERS}
    handlers["view.pods"]()
    assert done == ["pods"]


def test_without_a_session_nothing_can_be_done_to_a_row() -> None:
    available = {command.id for command in screen().menu.available()}
    assert {"context", "retry", "view.pods", "help", "quit"} <= available
    assert not {"row.open", "row.yaml", "act.taint", "record.start", "sources", "back"} & available


def test_the_menu_is_of_the_row_under_the_cursor_and_the_keys_are_of_the_settings() -> None:
    made = screen({"row.yaml": "v"})
    made.decks.shown = decks().shown
    situation = made.menu.situation()
    assert (situation.view, situation.row_of, situation.has_row, situation.nested) == ("triage", "gangs", True, False)
    assert made.menu.keys_of(BY_ID["row.yaml"]) == "v"
    assert made.menu.keys_of(BY_ID["row.why"]) == BY_ID["row.why"].keys
    made.decks.filter = Filter(text="train")
    assert made.menu.situation().nested


def test_in_the_past_the_menu_names_the_key_that_returns() -> None:
    made = screen({"look.return": "V"})
    assert made.menu.way_back() == ""
    made.decks.shown = made.decks.live = decks().shown
    assert made.menu.way_back() == "V"
    assert "look.return" in {command.id for command in made.menu.available()}

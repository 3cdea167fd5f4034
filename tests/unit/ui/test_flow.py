"""How much is sent ahead of what a terminal has acknowledged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ktui.ui.flow import AHEAD, FAR, PATIENCE, QUESTION, Flow


class Hand:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_terminal_that_says_nothing_is_sent_everything() -> None:
    flow = Flow(Hand())
    for _ in range(100):
        assert flow.may_send()
        flow.sending("x" * 1000)
    assert flow.on_the_way == 0


def test_one_question_is_open_until_the_terminal_is_known_to_answer() -> None:
    flow = Flow(Hand())
    assert flow.sending("x") == "x" + QUESTION
    assert flow.sending("y" * 5000) == "y" * 5000


def test_what_has_not_arrived_holds_the_rest_back() -> None:
    flow = Flow(Hand())
    flow.sending("x")
    flow.answered()
    assert flow.on_the_way == 0
    assert QUESTION in flow.sending("x" * (AHEAD + 1))
    assert not flow.may_send()
    flow.answered()
    assert flow.may_send()
    assert flow.on_the_way == 0


def test_a_little_is_sent_without_a_question() -> None:
    flow = Flow(Hand())
    flow.sending("x")
    flow.answered()
    outputs = [flow.sending("x" * 100) for _ in range(12)]
    assert 1 <= sum(QUESTION in output for output in outputs) <= 3


def test_a_terminal_that_stopped_to_answer_is_not_waited_for() -> None:
    clock = Hand()
    flow = Flow(clock)
    flow.sending("x")
    flow.answered()
    flow.sending("x" * 5000)
    assert not flow.may_send()
    clock.now += PATIENCE + 1
    assert flow.may_send()
    flow.sending("x" * 5000)
    assert flow.may_send()
    flow.answered()  # and when it answers again, it counts again
    flow.sending("x" * 5000)
    assert not flow.may_send()


def test_how_far_the_terminal_is_is_told_by_its_answers() -> None:
    clock = Hand()
    flow = Flow(clock)
    for seconds, is_far in ((FAR / 2, False), (FAR * 2, True), (FAR / 2, False)):
        flow.sending("x" * 1000)
        clock.now += seconds
        flow.answered()
        assert flow.is_far is is_far


def test_an_answer_to_no_question_means_nothing() -> None:
    flow = Flow(Hand())
    flow.answered()
    assert flow.may_send()
    assert flow.on_the_way == 0


@given(st.lists(st.integers(1, 9000) | st.none(), max_size=60))
def test_never_more_than_one_output_beyond_the_limit_is_on_its_way(events: list[int | None]) -> None:
    flow = Flow(Hand())
    flow.sending("x")
    flow.answered()
    open_questions = 0
    for event in events:
        if event is None:
            flow.answered()
            open_questions = max(0, open_questions - 1)
        elif flow.may_send():
            open_questions += QUESTION in flow.sending("x" * event)
            assert flow.on_the_way <= AHEAD + event + len(QUESTION)
            assert flow.may_send() or open_questions, "whoever waits has asked"

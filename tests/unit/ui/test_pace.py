"""How often something is done that takes a while."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ktui.ui.pace import Pace

SECONDS = st.floats(0.0, 1_000.0)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def after(took: float, pace: Pace, clock: Clock) -> None:
    with pace.doing():
        clock.now += took


def test_the_first_time_is_due_whatever_the_clock_says() -> None:
    assert Pace(lambda: -5.0, rest=20).is_due()


def test_after_what_takes_long_there_is_a_rest_and_then_it_is_due() -> None:
    clock = Clock()
    pace = Pace(clock, rest=10)
    after(2.0, pace, clock)
    assert not pace.is_due()
    clock.now = 21.9
    assert not pace.is_due()
    clock.now = 22.0
    assert pace.is_due()


def test_after_what_is_quick_there_is_none_and_no_rest_is_longer_than_the_longest() -> None:
    clock = Clock()
    pace = Pace(clock, rest=20, longest=1.0, quick=0.5)
    after(0.5, pace, clock)
    assert pace.is_due()
    after(3.0, pace, clock)
    assert not pace.is_due()
    clock.now += 1.0
    assert pace.is_due()


def test_a_rest_may_be_cut_short() -> None:
    clock = Clock()
    pace = Pace(clock, rest=10)
    after(5.0, pace, clock)
    pace.hurry()
    assert pace.is_due()


@given(st.lists(SECONDS, max_size=30), st.integers(1, 20))
def test_it_takes_no_more_than_its_part_of_the_time(each: list[float], rest: int) -> None:
    clock = Clock()
    pace = Pace(clock, rest=rest)
    spent = 0.0
    for took in each:
        after(took, pace, clock)
        spent += took
        while not pace.is_due():
            clock.now += max(1e-6, took / 4)
    assert spent * (rest + 1) <= clock.now * (1 + 1e-9) + 1e-6

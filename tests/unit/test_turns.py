"""Long work waits while a key is being answered, and goes on without an answer too."""

from __future__ import annotations

import asyncio

import pytest

from ktui.turns import Turns

PATIENCE = 20.0  # seconds


class Work:
    """Slices of no length; `done` counts them."""

    def __init__(self, turns: Turns) -> None:
        self.done = 0
        self._turns = turns

    async def run(self) -> None:
        while True:
            self.done += 1
            await self._turns.give_way()


async def others(turns: int = 20) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    """With all the time in the world for a key."""
    monkeypatch.setattr("ktui.turns._LONGEST", PATIENCE)
    return Turns()


async def test_work_goes_on_turn_by_turn(turns: Turns) -> None:
    work = Work(turns)
    async with asyncio.timeout(PATIENCE):
        task = asyncio.create_task(work.run())
        await others()
        assert work.done >= 10
        task.cancel()


async def test_work_waits_until_the_key_is_answered(turns: Turns) -> None:
    work = Work(turns)
    task = asyncio.create_task(work.run())
    await others(3)
    turns.key_came()
    await others(3)
    before = work.done
    await others()
    turns.key_came()  # another one
    await others()
    assert work.done == before
    turns.key_answered()
    await others()
    assert work.done > before
    task.cancel()


async def test_a_key_without_an_answer_is_not_waited_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ktui.turns._LONGEST", 0.05)
    turns = Turns()
    work = Work(turns)
    turns.key_came()
    async with asyncio.timeout(PATIENCE):
        task = asyncio.create_task(work.run())
        await others()
        assert work.done == 1
        while work.done < 3:
            await asyncio.sleep(0.01)
        task.cancel()


async def test_who_gives_way_can_be_cancelled(turns: Turns) -> None:
    turns.key_came()
    task = asyncio.create_task(turns.give_way())
    await others(3)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    turns.key_answered()
    await asyncio.create_task(turns.give_way())

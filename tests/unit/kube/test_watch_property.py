"""Random histories and random faults: in the end the view is what the server has, and nothing impossible was shown on the way
(fault plan W60)."""

from __future__ import annotations

import asyncio
import os
import random

import pytest

from ktui.model.frame import Changed, Listed
from ktui.model.meta import Key
from tests.faults import Answer, Chunks, Cut, Drop, Fault, Late, Stream, error_line, status_body
from tests.unit.kube.harness import POD, Rig, fast, pod, rig, truth

SEEDS = int(os.environ.get("KTUI_WATCH_SEEDS", "400"))
WATCH = f"watch {POD}"
TIMERS = fast(0.004, headers=0.5)


def _fault(dice: random.Random) -> Fault:
    return dice.choice(
        (
            lambda: Cut(dice.randrange(3_000), reset=dice.random() < 0.5),
            lambda: Cut(dice.randrange(3_000), reset=dice.random() < 0.5),
            lambda: Chunks(dice.choice((1, 7, 100, 5_000))),
            lambda: Drop(),
            lambda: Late(dice.random() * 0.02),
            lambda: Stream([error_line(410, "Expired")]),
            lambda: Stream([]),
            lambda: Stream([b'{"type":"ADDED","obj']),
            lambda: Stream([error_line(500, "InternalError")]),
            lambda: Answer(410, status_body(410, "Gone")),
            lambda: Answer(500, b""),
            lambda: Answer(503, b"<html>", "text/html"),
            lambda: Answer(422, status_body(422, "Invalid")),
            lambda: Answer(429, b""),
        )
    )()


class _History:
    """All writes, so that the content at every version is known even after the server forgot it."""

    def __init__(self, r: Rig) -> None:
        self._database = r.server.database
        self._log: list[tuple[int, dict[Key, str]]] = []
        self.note()

    def note(self) -> None:
        content = {key: obj["metadata"]["resourceVersion"] for key, obj in self._database.snapshot("Pod").items()}
        self._log.append((self._database.revision, content))

    def at(self, version: int) -> dict[Key, str]:
        return [content for revision, content in self._log if revision <= version][-1]


def _write(r: Rig, dice: random.Random, names: list[str]) -> None:
    name = dice.choice(names)
    exists = r.server.database.get("Pod", ("ml", name)) is not None
    if not exists:
        r.server.create("Pod", pod(name))
    elif dice.random() < 0.3:
        r.delete(name)
    else:
        r.update(name, nodeName=f"n{dice.randrange(1_000_000)}")


async def _run(seed: int) -> None:
    dice = random.Random(seed)
    names = [f"p{number}" for number in range(8)]
    async with rig(pods=dice.randrange(6)) as r:
        history = _History(r)
        connection = r.connect(TIMERS)
        await connection.start(("Pod",))
        r.faults.script(WATCH, *(_fault(dice) for _ in range(dice.randrange(6))))
        if dice.random() < 0.3:
            r.faults.script(f"list {POD}", *(_fault(dice) for _ in range(3)))
        for _ in range(dice.randrange(10, 40)):
            action = dice.random()
            if action < 0.75:
                _write(r, dice, names)
                history.note()
            elif action < 0.8:
                r.server.database.compact()
            elif action < 0.83:
                await r.server.stop()
                await asyncio.sleep(dice.random() * 0.01)
                await r.server.start()
            elif action < 0.9:
                for watcher in connection._watchers.values():
                    watcher.reset()
            else:
                await asyncio.sleep(dice.random() * 0.01)
        r.faults.clear()
        await r.converge()
        _check(r, history)


def _check(r: Rig, history: _History) -> None:
    """Every list is complete; every event is the next one of its object; so a row goes only when its object did."""
    shown: dict[Key, int] = {}
    for frame in r.view.frames:
        if isinstance(frame, Listed):
            content = {obj.key: obj.metadata.resource_version for obj in frame.items}
            assert content == history.at(int(frame.resource_version))
            shown = {key: int(version) for key, version in content.items()}
        elif isinstance(frame, Changed):
            version = int(frame.object.metadata.resource_version)
            assert version > shown.get(frame.object.key, 0)
            shown[frame.object.key] = version
    assert r.view.content() == truth(r.server)
    assert r.view.stores["Pod"].dropped == 0


@pytest.mark.parametrize("block", range(4))
async def test_w60_any_history_any_faults(block: int) -> None:
    for seed in range(block, SEEDS, 4):
        try:
            await _run(seed)
        except BaseException as error:
            error.add_note(f"seed {seed}")
            raise

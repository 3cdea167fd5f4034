"""Make the screenshots of the documentation from the app itself, on shipped recordings: `python -m docs.screenshots.make`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ktui import resources
from ktui.commands.replay import ReplayOpener
from ktui.ui.stage import staged, stopped_clock

HERE = Path(__file__).parent
DEGRADED = ("xid79.ktui.gz", 40.0)  # the pod of the tainted device has been evicted, its gang is one short
PENDING = ("pending.ktui.gz", 21.0)  # a gang for each cause

SHOTS = {
    "gangs": (DEGRADED, (132, 24), ("enter",)),  # the degraded one comes first
    "why": (PENDING, (140, 26), ("j", "j", "w")),
    "devices": (DEGRADED, (110, 24), ("3",)),
    "map": (DEGRADED, (100, 12), ("3", "m")),
    "pods": (DEGRADED, (100, 24), ("8",)),
    "taints": (DEGRADED, (100, 12), ("5",)),
}


async def _shoot(name: str, moment: tuple[str, float], size: tuple[int, int], keys: tuple[str, ...]) -> None:
    recording, seconds = moment
    opener = ReplayOpener(str(resources.recording(recording)), 0.0, stopped_clock)
    async with staged(opener, seconds, size=size, theme="dark") as stage:
        for key in keys:
            await stage.press(key)
        (HERE / f"{name}.svg").write_text(stage.picture(), encoding="utf-8")


async def main() -> None:
    for name, (moment, size, keys) in SHOTS.items():
        await _shoot(name, moment, size, keys)


if __name__ == "__main__":
    asyncio.run(main())

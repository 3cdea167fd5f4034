"""Make the screenshots of the documentation from the app itself, on a shipped recording: `python -m docs.screenshots.make`."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ktui import resources
from ktui.commands.replay import ReplayOpener
from ktui.ui.stage import staged, stopped_clock

HERE = Path(__file__).parent
RECORDING = "xid79.ktui.gz"
DEGRADED = 40.0  # seconds: the pod of the tainted device has been evicted, its gang is one short

SHOTS = {
    "gangs": ((132, 24), ("enter",)),  # the degraded one comes first
    "devices": ((110, 24), ("3",)),
    "map": ((100, 12), ("3", "m")),
    "pods": ((100, 24), ("8",)),
    "taints": ((100, 12), ("5",)),
}


async def _shoot(name: str, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    opener = ReplayOpener(str(resources.recording(RECORDING)), 0.0, stopped_clock)
    async with staged(opener, DEGRADED, size=size, theme="dark") as stage:
        for key in keys:
            await stage.press(key)
        (HERE / f"{name}.svg").write_text(stage.picture(), encoding="utf-8")


async def main() -> None:
    for name, (size, keys) in SHOTS.items():
        await _shoot(name, size, keys)


if __name__ == "__main__":
    asyncio.run(main())

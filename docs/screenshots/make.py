"""Make the screenshots of the documentation from the app itself, on a shipped recording: `python -m docs.screenshots.make`."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from textual.pilot import Pilot

from ktui import resources
from ktui.commands.replay import ReplayOpener
from ktui.ui.app import KtuiApp

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


async def _settle(pilot: Pilot[int]) -> None:
    for _ in range(20):
        await pilot.pause(0.05)


async def _shoot(name: str, size: tuple[int, int], keys: tuple[str, ...]) -> None:
    app = KtuiApp(ReplayOpener(str(resources.recording(RECORDING)), DEGRADED))
    async with app.run_test(size=size) as pilot:
        await _settle(pilot)
        await pilot.press("space")  # hold the recording at this moment
        await pilot.press(*keys)
        await _settle(pilot)
        picture = app.export_screenshot(title="ktui", simplify=True)
        (HERE / f"{name}.svg").write_text(_without_web_fonts(picture), encoding="utf-8")


def _without_web_fonts(picture: str) -> str:
    """The exporter names fonts on the web; a picture in a repository fetches nothing."""
    return re.sub(r"@font-face \{.*?\n    \}\n", "", picture, flags=re.DOTALL)


async def main() -> None:
    for name, (size, keys) in SHOTS.items():
        await _shoot(name, size, keys)


if __name__ == "__main__":
    asyncio.run(main())

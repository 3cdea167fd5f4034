"""What the first frame may not wait for."""

from __future__ import annotations

import json
import subprocess
import sys

PROGRAM = """
import asyncio, json, sys
from ktui.settings import load
from ktui.ui.app import KtuiApp

class Opener:
    def title(self): return "prod-eu"
    async def open(self, context=""):
        print(json.dumps(sorted(sys.modules)), flush=True)
        await asyncio.Event().wait()
    async def contexts(self): return ()

async def main():
    load({}, __import__("pathlib").Path("/nonexistent"))
    app = KtuiApp(Opener())
    async with app.run_test(size=(80, 24)) as pilot:
        painted = []
        for _ in range(500):
            painted = [strip.text for strip in app.screen._compositor.render_strips()]
            if any("connecting" in line for line in painted):
                break
            await pilot.pause(0.01)
        assert any("prod-eu" in line for line in painted), painted
        print(json.dumps(sorted(sys.modules)), flush=True)

asyncio.run(main())
"""

HEAVY = {
    "aiohttp",
    "common_expression_language",
    "cryptography",
    "kubernetes_asyncio",
    "orjson",
    "pydantic",
    "requests",
    "yaml",
    "ktui.actions",
    "ktui.demo",
    "ktui.diagnose",
    "ktui.kube",
}


def test_the_first_frame_waits_for_nothing_heavy() -> None:
    """The modules loaded when the opener is called: after the first frame, before anything reads a cluster."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    loaded = set(json.loads(done.stdout.splitlines()[0]))
    assert {name for name in HEAVY if name in loaded} == set()
    assert "textual" in loaded

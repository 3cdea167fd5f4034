"""`KTUI_FLOOR='{"url":…,"token":…,"authority":…}' python -m tests.bench.floor`, on a terminal; q ends it."""

from __future__ import annotations

import json
import os
import sys
import tty

if __name__ == "__main__":
    tty.setcbreak(0)
    sys.stdout.write("\x1b[?1049h\x1b[?25l\x1b[1;1Hreading")
    sys.stdout.flush()

    import asyncio

    from tests.bench.floor.program import run

    asyncio.run(run(json.loads(os.environ["KTUI_FLOOR"])))
    sys.stdout.write("\x1b[?25h\x1b[?1049l")

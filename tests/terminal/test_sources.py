"""What a session costs its API server, on the screen of a running ktui."""

from __future__ import annotations

import re
from pathlib import Path

from .screen import Screen


def test_the_sources_say_how_they_do_and_what_they_cost(tmp_path: Path) -> None:
    with Screen("demo", home=tmp_path, size=(100, 60)) as screen:
        screen.see(r"live (\d+) of \1\b")
        screen.press("I")
        screen.see(r"^ in all +\d+ ")
        assert re.search(r"^ pods +\d+  live$", screen.text, re.MULTILINE)
        assert re.search(r"^ watch pods +\d+ +\d+ KiB .*1 open$", screen.text, re.MULTILINE)
        screen.press("esc", "q")
        assert screen.ended() == 0

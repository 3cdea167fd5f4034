"""G14: screens that fail unexpectedly give the terminal back, say one line, and write a report without secrets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.canaries import files, traces
from tests.recordings import PATHS
from tests.terminal.screen import Screen

ROOT = Path(__file__).parents[2]
SECRET = "canary+screen/0001 <x>"

HOOK = """
import os

if "CANARY" in os.environ:
    from {module} import {owner}
    from ktui.redact import OF_THIS_PROCESS
    from tests.canaries import encoded

    def fail(*_):
        secret = os.environ["CANARY"]
        OF_THIS_PROCESS.add(lambda: (secret,))
        raise RuntimeError("planted", *encoded(secret))

    {owner}.{name} = fail
"""


@pytest.mark.parametrize(
    ("module", "owner", "name"),
    [("ktui.recording.player", "Player", "pause"), ("ktui.recording.player", "Player", "history")],
    ids=["in a key", "in a worker"],
)
def test_the_terminal_is_given_back(tmp_path: Path, module: str, owner: str, name: str) -> None:
    (tmp_path / "sitecustomize.py").write_text(HOOK.format(module=module, owner=owner, name=name))
    environ = {"PYTHONPATH": f"{tmp_path}:{ROOT}", "CANARY": SECRET}
    with Screen("replay", str(PATHS["xid79"]), home=tmp_path, environ=environ) as screen:
        if name == "pause":
            screen.see("REPLAY")
            screen.press(" ")
        assert screen.ended() == 1
        text = screen.text
    assert "ktui failed unexpectedly: RuntimeError: " in text
    assert "Traceback" not in screen.raw.decode("utf-8", "replace")
    left = screen.raw.rfind(b"\x1b[?1049l")
    assert left > screen.raw.rfind(b"\x1b[?1049h"), "the alternate screen is left"
    assert screen.raw.rfind(b"ktui failed unexpectedly") > left, "and the line is said after that"
    assert screen.raw.rfind(b"\x1b[?25h") > screen.raw.rfind(b"\x1b[?25l"), "the cursor is shown"
    assert screen.raw.rfind(b"\x1b[?1000l") > screen.raw.rfind(b"\x1b[?1000h"), "the mouse is not listened to"
    (report,) = (tmp_path / "state" / "ktui" / "crashes").iterdir()
    assert "planted" in report.read_text()
    assert report.stat().st_mode & 0o777 == 0o600
    written = {name: content for name, content in files(tmp_path).items() if name.startswith("state")}
    assert [traces(content, [SECRET]) for content in (bytes(screen.raw), *written.values())] == [[], []]

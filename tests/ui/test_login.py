"""A credential plug-in that takes its time (a login in a browser): the screens say whom they wait for."""

from __future__ import annotations

import json
from pathlib import Path

from ktui.cli import parser
from ktui.commands.live import LiveOpener
from ktui.ui.app import KtuiApp
from tests.unit.kube.fakeplugin import FakePlugin, reply

from .screen import lacks, shows, wait_for


async def test_the_plugin_that_is_waited_for_is_named_and_can_be_given_up(tmp_path: Path) -> None:
    plugin = FakePlugin(tmp_path).install(reply("t"), sleep=600)
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "prod",
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"exec": plugin.section()}}],
    }
    (tmp_path / "config").write_text(json.dumps(config))
    opener = LiveOpener(parser().parse_args(["--kubeconfig", str(tmp_path / "config")]), read_only=False)
    app = KtuiApp(opener)
    async with app.run_test(size=(100, 30)) as pilot:
        await shows(pilot, "waiting for fake-plugin ", "X stop waiting")
        await wait_for(pilot, lambda: bool(plugin.runs()), "the plug-in to have begun")
        await pilot.press("X")
        await shows(pilot, "log in again, then ctrl+r", "was cancelled")
        await lacks(pilot, "stop waiting")
        assert len(plugin.runs()) == 1

"""`ktui` and `ktui replay FILE`: start the screens. Imports only what the first frame needs; the rest follows it."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ktui import settings
from ktui.ui import launch

if TYPE_CHECKING:
    from ktui.recording.output import Output
    from ktui.ui.session import Opener


def run(args: argparse.Namespace) -> int:
    """Run the screens until they are left; their exit code. Flags count more than the settings."""
    chosen = settings.load()
    flags = {name: value for name in ("theme", "ascii") if (value := getattr(args, name, None)) is not None}
    return launch.run(_opener(args, chosen), replace(chosen, **flags))


def _opener(args: argparse.Namespace, chosen: settings.Settings) -> Opener:
    if getattr(args, "command", None) == "replay":
        from ktui.commands.replay import ReplayOpener
        from ktui.recording.reader import Recording

        launch.check_terminal()
        Recording(Path(args.file))  # what is no recording is said where the command was typed; this costs 20 ms
        return ReplayOpener(args.file, args.at)
    if getattr(args, "command", None) == "demo":
        from ktui.commands.demo import DemoOpener

        demo = DemoOpener(args)
        demo.record = _output(args)
        return demo
    from ktui.commands.live import LiveOpener

    read_only = getattr(args, "readonly", False) or chosen.readonly
    return LiveOpener(args, read_only=read_only, record=_output(args))


def _output(args: argparse.Namespace) -> Output | None:
    """Of --record. Made before the screens, so that a file that cannot be written is said where the command was typed."""
    if not getattr(args, "record", None):
        return None
    from ktui.recording.output import Output

    launch.check_terminal()
    return Output(Path(args.record))

"""`ktui export FILE`: a recording as an asciicast, a picture, or the draft of a post-mortem.

Settings are left aside: the same command makes the same file for everybody.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ktui.commands.outfile import opened
from ktui.errors import UsageError
from ktui.recording.reader import Recording
from ktui.settings import THEMES
from ktui.ui.safe import safe

if TYPE_CHECKING:
    from ktui.ui.script import Script
    from ktui.ui.stage import Stage

FORMATS: Final = {"cast": ".cast", "svg": ".svg", "markdown": ".md"}
_FLAGS: Final = {
    "at": ("svg",),
    "keys": ("svg",),
    "script": ("cast",),
    "size": ("cast", "svg"),
    "theme": ("cast", "svg"),
    "ascii": ("cast", "svg"),
    "since": ("markdown",),
    "until": ("markdown",),
}
"""The formats each flag goes with, by its name among the arguments."""
_SPELLED: Final = {"since": "from", "until": "to"}
_SIZE: Final = (100, 30)

Write = Callable[[bytes], object]


def run(args: argparse.Namespace) -> int:
    """0, or an error: everything that is wrong with the flags is said before anything is made."""
    form = _format(args)
    recording = Recording(Path(args.file))
    if form == "markdown":
        since, until = _span(args)
        with opened(args.output, force=args.force) as write:
            _markdown(recording, since, until, write)
        return 0
    theme = getattr(args, "theme", THEMES[0])
    if theme not in THEMES:
        raise UsageError(f"there is no theme {theme[:40]!r}; there are {', '.join(THEMES)}")
    with opened(args.output, force=args.force) as write:
        asyncio.run(_cast(args, theme, recording, write) if form == "cast" else _svg(args, theme, write))
    return 0


def _format(args: argparse.Namespace) -> str:
    """What was asked for, by name or by the name of the output."""
    form = args.format or next((form for form, suffix in FORMATS.items() if args.output.endswith(suffix)), "")
    if not form:
        raise UsageError(
            f"say what to make: --format {'|'.join(FORMATS)}, or -o with a name that ends in {', '.join(FORMATS.values())}"
        )
    for flag, forms in _FLAGS.items():
        if hasattr(args, flag) and form not in forms:
            raise UsageError(f"--{_SPELLED.get(flag, flag)} goes with {' and '.join(forms)}, not with {form}")
    return str(form)


def _span(args: argparse.Namespace) -> tuple[float, float]:
    since, until = getattr(args, "since", 0.0), getattr(args, "until", float("inf"))
    if since > until:
        raise UsageError(f"--from {since:g} is after --to {until:g}")
    return since, until


def _markdown(recording: Recording, since: float, until: float, write: Write) -> None:
    from ktui.commands.markdown import report
    from ktui.views.incident import incident

    found = incident(recording.frames(), recording.header.start, since, until)
    if since > found.end:
        raise UsageError(f"--from {since:g} is after the end of the recording, {found.end:.1f} s")
    for line in report(recording.header, found, since):
        write(f"{line}\n".encode())
    for note, count in recording.notes.items():
        print(f"ktui: skipped {count} {safe(note)}", file=sys.stderr)


async def _svg(args: argparse.Namespace, theme: str, write: Write) -> None:
    from ktui.ui.script import keys

    wanted = keys(getattr(args, "keys", ""))
    async with _staged(args, theme, getattr(args, "at", float("inf"))) as stage:
        for key in wanted:
            await stage.press(key)
            if stage.ended():
                raise UsageError(f"the key {key} ends the program, and nothing is left to draw")
        write(stage.picture().encode())


async def _cast(args: argparse.Namespace, theme: str, recording: Recording, write: Write) -> None:
    from ktui.ui.cast import cast, plain_script

    script = _script(Path(args.script)) if hasattr(args, "script") else None
    if script is None:
        script = plain_script(timed.t for timed in recording.frames())
    header, progress = recording.header, _Progress()
    size = getattr(args, "size", _SIZE)
    async with _staged(args, theme, 0.0) as stage:
        lines = cast(stage, script, size=size, created=header.start, title=header.title, progress=progress)
        try:
            async for line in lines:
                write(line)
        finally:
            progress.done()


def _staged(args: argparse.Namespace, theme: str, at: float) -> AbstractAsyncContextManager[Stage]:
    from ktui.commands.replay import ReplayOpener
    from ktui.ui.stage import staged, stopped_clock

    opener = ReplayOpener(args.file, 0.0, stopped_clock)
    size = getattr(args, "size", _SIZE)
    return staged(opener, at, size=size, theme=theme, ascii_only=getattr(args, "ascii", False))


def _script(path: Path) -> Script:
    from ktui.ui.script import LARGEST, parse

    try:
        with path.open("rb") as stream:
            text = stream.read(LARGEST + 1)
    except OSError as error:
        raise UsageError(f"cannot read the script {path}: {error.strerror}") from None
    if len(text) > LARGEST:
        raise UsageError(f"{path} is larger than {LARGEST // 2**20} MiB: this is no script")
    try:
        return parse(text.decode(), str(path))
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8") from None


class _Progress:
    """How much is done, for a person who waits. Made before the screens, which take sys.stderr for themselves."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._shown = "" if self._stream.isatty() else None

    def __call__(self, part: float) -> None:
        text = f"{part:.0%}"
        if self._shown is not None and text != self._shown:
            self._shown = text
            self._stream.write(f"\r{text:>4}")
            self._stream.flush()

    def done(self) -> None:
        if self._shown:
            self._stream.write("\r    \r")
            self._stream.flush()

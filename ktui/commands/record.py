"""`ktui record FILE`: record a cluster without screens, until a limit or ctrl-c."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from ktui.commands.cluster import wanted
from ktui.commands.live import LiveFeed
from ktui.kube.connection import Connection
from ktui.kube.credentials import Credentials
from ktui.kube.opening import Wanted, parse_duration, resolve
from ktui.kube.target import Target
from ktui.model.frame import Frame, StreamState
from ktui.recording.output import Output
from ktui.recording.tape import Tape
from ktui.recording.writer import Facts, Limits
from ktui.ui.safe import safe

if TYPE_CHECKING:
    from ktui.recording.recorder import Recorder

_LOOK = 0.2  # seconds between two looks at whether the recording ended by itself
_TROUBLE = frozenset(("absent", "no-access", "needs-login", "waiting"))


def run(args: argparse.Namespace) -> int:
    """0 when the recording ended as it was meant to, 1 when it could not go on."""
    duration = parse_duration(args.duration, "--for") if args.duration else None
    limits = _limits(args)
    wish = wanted(args)
    target = resolve(wish)
    output = Output(Path(args.file))
    return asyncio.run(_record(args, wish, target, output, limits, duration))


def _limits(args: argparse.Namespace) -> Limits:
    standard = Limits()
    return Limits(size=args.size * 2**20 if args.size else standard.size, files=args.files)


async def _record(
    args: argparse.Namespace, wish: Wanted, target: Target, output: Output, limits: Limits, duration: float | None
) -> int:
    credentials = Credentials(target, environ=wish.environ)
    version = ""
    tape = Tape(lambda: Facts(args.title, target.context, version), credentials.secrets)
    tell = _Teller()

    def take(frame: Frame) -> None:
        tape.take(frame)
        tell.about(frame)

    def connect() -> Connection:
        return Connection(
            target,
            credentials,
            take,
            environ=wish.environ,
            read_only=True,
            fallback_namespaces=(target.namespace,),
            timers=wish.timers(),
        )

    def introduce(found: str, _user: str) -> None:
        nonlocal version
        version = found

    only = None if getattr(args, "all_namespaces", False) else getattr(args, "namespace", None)
    feed = LiveFeed(connect, (only,) if only else (), tape)
    feed.introduce = introduce
    recorder = tape.start_on(output, limits, anonymise=args.anonymise)
    print(f"recording {safe(target.context)} to {safe(str(output.path))}; ctrl-c ends it", file=sys.stderr)
    return await _until_the_end(recorder, feed, duration)


async def _until_the_end(recorder: Recorder, feed: LiveFeed, duration: float | None) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    feeding = asyncio.create_task(feed.run())
    end = time.monotonic() + duration if duration is not None else float("inf")
    try:
        while not (recorder.ended or feeding.done() or stop.is_set()) and (left := end - time.monotonic()) > 0:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(_LOOK, left)):
                    await stop.wait()
        if feeding.done():
            await feeding
    finally:
        feeding.cancel()
        await asyncio.gather(feeding, return_exceptions=True)
        _sum_up(recorder)
    return 0 if recorder.complete else 1


def _sum_up(recorder: Recorder) -> None:
    why = recorder.ended or "the disk does not answer"
    counts = f"{recorder.frames:,} frames, {recorder.size:,} bytes"
    print(f"{safe(str(recorder.path))}: {safe(why, 1000)} ({counts})", file=sys.stderr)


class _Teller:
    """Says on stderr what cannot be recorded, each thing once."""

    def __init__(self) -> None:
        self._said: set[tuple[str, str, str]] = set()

    def about(self, frame: Frame) -> None:
        if not isinstance(frame, StreamState) or frame.phase not in _TROUBLE:
            return
        what = (frame.source.kind, frame.source.namespace, frame.phase)
        if what not in self._said:
            self._said.add(what)
            plural = frame.source.path.rpartition("/")[2]
            place = f" in {frame.source.namespace}" if frame.source.namespace else ""
            print(f"ktui: {safe(f'{plural}{place}: {frame.phase}: {frame.message}', 500)}", file=sys.stderr)

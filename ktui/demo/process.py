"""The demo cluster in a process of its own, so that its work never holds up the screens.

The child is told what to play in one line on its stdin and says where it listens in one line on its stdout. It ends when its
stdin does, which the system closes however the parent ends. What it writes to stderr, which it does when something fails in it,
goes to the debug log.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from asyncio.subprocess import PIPE, Process
from typing import Final, Self, cast

import msgspec
from msgspec import Struct

from ktui.demo.releases import LATEST
from ktui.errors import KtuiError
from ktui.model.resourceslice import DeviceId

_log = logging.getLogger(__name__)
_LAST_WORDS: Final = (
    1.0  # seconds for what an ended child has written to arrive; something it started may still hold the pipe
)


class Play(Struct, frozen=True):
    """What the child is told; the fields are those of DemoCluster, the release by its name."""

    size: int = 0
    sick: DeviceId | None = None
    tainted: DeviceId | None = None
    release: str = LATEST.name


class Listening(Struct, frozen=True):
    """What the child answers."""

    url: str
    token: str


class DemoProcess:
    """An async context: `where` is known inside. Raises KtuiError when the child does not come up."""

    def __init__(self, play: Play) -> None:
        self.where = Listening("", "")
        self._play = play
        self._child: Process | None = None
        self._listening: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        child = self._child = await _start()
        self._listening = asyncio.create_task(_keep_words(cast("asyncio.StreamReader", child.stderr)))
        try:
            self.where = await _introduced(child, self._play)
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        """There is nothing for the child to save."""
        child, self._child = self._child, None
        if child is not None:
            if child.returncode is None:
                child.kill()
            await child.wait()
        listening, self._listening = self._listening, None
        if listening is not None:
            await asyncio.wait({listening}, timeout=_LAST_WORDS)
            listening.cancel()

    async def ended(self) -> None:
        """Waits, inside the context, until the child is no more, which is not before its time; then raises KtuiError."""
        if self._child is not None:
            raise KtuiError(f"the demo cluster ended by itself: its process returned {await self._child.wait()}")


async def _start() -> Process:
    # What this process can import, the child can, in the same order; nothing is imported from where it was started (-P).
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    program = (sys.executable, "-P", "-m", "ktui.demo.child")
    try:
        # In a session of its own: ctrl-c at the terminal is for the screens.
        return await asyncio.create_subprocess_exec(
            *program, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environ, start_new_session=True
        )
    except OSError as error:
        raise KtuiError(f"the demo cluster did not start: {error.strerror}: {sys.executable}") from None


async def _keep_words(stderr: asyncio.StreamReader) -> None:
    """Read to the end, log or no log: a full pipe would hold the child up."""
    while True:
        try:
            line = await stderr.readline()
        except ValueError:  # too long for a line, and dropped
            continue
        if not line:
            return
        _log.debug("the demo cluster's process says: %s", line.decode(errors="replace").rstrip())


async def _introduced(child: Process, play: Play) -> Listening:
    cast("asyncio.StreamWriter", child.stdin).write(msgspec.json.encode(play) + b"\n")
    answer = await cast("asyncio.StreamReader", child.stdout).readline()
    if not answer:
        raise KtuiError(f"the demo cluster did not start: its process ended with {await child.wait()}")
    return msgspec.json.decode(answer, type=Listening)

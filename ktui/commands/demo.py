"""`ktui demo`: the screens on the embedded cluster, a process that starts after the first frame and ends with them."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ktui import paths
from ktui.commands.live import LiveFeed, introduce
from ktui.demo.incidents import INCIDENTS, Guide, Incident
from ktui.demo.releases import RELEASES, Release
from ktui.errors import UsageError
from ktui.ui.session import Session, Sink, Target, Travel

if TYPE_CHECKING:
    from ktui.cluster.state import Cluster
    from ktui.demo.process import DemoProcess
    from ktui.kube.connection import Connection
    from ktui.model.frame import Frame
    from ktui.recording.output import Output
    from ktui.recording.tape import Tape

LARGEST = 200_000


class DemoOpener:
    """Opens a new cluster each time. Raises UsageError for an incident or a release there is none of."""

    record: Output | None = None
    """The file that the first session is recorded to."""

    def __init__(self, args: argparse.Namespace) -> None:
        found = INCIDENTS.get(args.incident)
        if found is None:
            raise UsageError(f"there is no incident {args.incident[:40]!r}; there are {', '.join(INCIDENTS)}")
        release = RELEASES.get(args.kubernetes)
        if release is None:
            raise UsageError(f"the demo cannot be Kubernetes {args.kubernetes[:40]!r}, only {', '.join(RELEASES)}")
        if found.asleep and not release.scale_to_zero:
            raise UsageError(
                f"nothing sleeps in Kubernetes {release.name}: minReplicas 0 is on by default from 1.37 on"
            )
        if not 0 <= args.size <= LARGEST:
            raise UsageError(f"--size {args.size} is not between 0 and {LARGEST}")
        self._incident = found
        self._size = args.size
        self._release = release

    def title(self) -> str:
        return "DEMO"

    async def open(self, context: str = "") -> Session:  # noqa: ARG002 - there is one
        record, self.record = self.record, None
        return await asyncio.to_thread(_session, self._incident, self._size, self._release, record)

    async def contexts(self) -> Sequence[str]:
        return ()


class DemoFeed(LiveFeed):
    """A live feed of a cluster of its own, with a guide."""

    def __init__(
        self,
        demo: DemoProcess,
        connect: Callable[[], Connection],
        tape: Tape,
        guide: Guide,
        tell: Callable[[Frame], object],
    ) -> None:
        super().__init__(connect, (), tape, tell)
        self._demo = demo
        self._guide = guide

    async def run(self) -> None:
        try:
            await self._run_both()
        finally:
            await asyncio.to_thread(self.tape.end, "the session ended")  # also of a cluster that did not come up

    async def _run_both(self) -> None:
        async with self._demo:
            work = {asyncio.ensure_future(super().run()), asyncio.ensure_future(self._demo.ended())}
            try:
                done, _ = await asyncio.wait(work, return_when=asyncio.FIRST_COMPLETED)
                done.pop().result()
            finally:
                for task in work:
                    task.cancel()
                await asyncio.gather(*work, return_exceptions=True)

    def audit_log(self) -> Path:
        return paths.demo_audit_log()

    def hint(self, cluster: Cluster, view: str, opened: bool) -> str:
        return self._guide.hint(cluster, view, opened)


def _session(incident: Incident, size: int, release: Release, record: Output | None) -> Session:
    """In a thread: imports what talks to the cluster."""
    from ktui.commands.loopback import DemoCredentials, Loopback
    from ktui.demo.access import DEMO_USER
    from ktui.demo.process import DemoProcess, Play
    from ktui.kube.connection import Connection
    from ktui.recording.tape import Tape
    from ktui.recording.writer import Facts

    demo = DemoProcess(Play(size, incident.sick, incident.tainted, release.name))
    tape = Tape(lambda: Facts("", "DEMO", session.target.version), lambda: (demo.where.token,))

    def feed(sink: Sink, _: Travel) -> DemoFeed:
        def take(frame: Frame) -> None:
            tape.take(frame)
            sink(frame)

        def connect() -> Connection:
            url = demo.where.url
            host = url.removeprefix("http://")
            # No link is slow here, and both ends share the processor.
            address = Loopback("DEMO", "demo", DEMO_USER, "default", url, host, None, disable_compression=True)
            return Connection(address, DemoCredentials(demo.where.token), take, environ={})

        return DemoFeed(demo, connect, tape, Guide(incident), take)

    session = Session(Target(context="DEMO", server="127.0.0.1", user=DEMO_USER), feed)
    if isinstance(session.feed, LiveFeed):
        session.feed.introduce = lambda version, user: introduce(session, version, user)
        session.feed.figures = session.measure
    if record is not None:
        tape.start_on(record)
    return session

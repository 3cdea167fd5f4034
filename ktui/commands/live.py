"""Open a live cluster for the screens: the feed that watches it, reads single objects, and makes a desk for actions."""

from __future__ import annotations

import argparse
import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ktui import paths
from ktui.ui.session import Session, Sink, Target, Travel

if TYPE_CHECKING:
    from ktui.actions.desk import Desk
    from ktui.kube.connection import Connection
    from ktui.kube.credentials import Credentials
    from ktui.kube.usagepoll import UsagePoll
    from ktui.model.cost import Cost
    from ktui.model.frame import Frame
    from ktui.model.meta import Key
    from ktui.model.usage import UsageReport, Wanted
    from ktui.recording.output import Output
    from ktui.recording.tape import Tape


class LiveOpener:
    """What the command line asks for; `open` may be called again for another context."""

    def __init__(self, args: argparse.Namespace, *, read_only: bool, record: Output | None = None) -> None:
        """`record` is the file that the first session is recorded to."""
        self._record = record
        self._args = args
        self._read_only = read_only

    def title(self) -> str:
        return getattr(self._args, "context", None) or "current context"

    async def open(self, context: str = "") -> Session:
        return await asyncio.to_thread(self._open, context)

    def _open(self, context: str) -> Session:
        """In a thread: reads files, and imports what talks to a cluster. The connection itself is made by the feed's loop."""
        from ktui.commands.cluster import wanted
        from ktui.kube.opening import resolve
        from ktui.recording.tape import Tape
        from ktui.recording.writer import Facts

        self._args.readonly = self._read_only
        wish = wanted(self._args)
        target = resolve(wish, context or None)
        everywhere = getattr(self._args, "all_namespaces", False)
        only = None if everywhere else getattr(self._args, "namespace", None)
        shown = Target(
            context=target.context,
            server=target.host,
            namespace=only or "",
            insecure=target.insecure,
            impersonated=target.impersonate.user if target.impersonate else "",
            read_only=self._read_only,
        )

        used: list[Credentials] = []
        tape = Tape(
            lambda: Facts("", target.context, session.target.version), lambda: used[-1].secrets() if used else ()
        )

        def feed(sink: Sink, _travel: Travel) -> LiveFeed:
            from ktui.kube.connection import Connection
            from ktui.kube.credentials import Credentials

            def take(frame: Frame) -> None:
                tape.take(frame)
                sink(frame)

            def connect() -> Connection:
                used[:] = [Credentials(target, environ=wish.environ)]
                return Connection(
                    target,
                    used[0],
                    take,
                    environ=wish.environ,
                    read_only=wish.read_only,
                    fallback_namespaces=(target.namespace,),
                    timers=wish.timers(),
                )

            return LiveFeed(connect, (only,) if only else (), tape, take)

        session = Session(shown, feed)
        if isinstance(session.feed, LiveFeed):
            session.feed.introduce = lambda version, user: introduce(session, version, user)
            session.feed.credentials = lambda: used[-1] if used else None
            session.feed.figures = session.measure
        if self._record is not None:
            tape.start_on(self._record)
            self._record = None
        return session

    async def contexts(self) -> Sequence[str]:
        def names() -> list[str]:
            from ktui.commands.cluster import wanted
            from ktui.kube.kubeconfig import load

            config = load(wanted(self._args).load)
            return sorted((entry.name for entry in config.contexts), key=lambda name: name != config.current)

        return await asyncio.to_thread(names)


class LiveFeed:
    """Watches one cluster while it runs. `introduce` is told the server's version and our user once they are known.

    `tape` gets the frames from whoever made `connect`; its recording ends with the feed. `tell` is told of actions.
    `credentials` may come from a plug-in that takes its time. `figures` gets what is used, while `measure` is told that somebody
    looks.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        namespaces: tuple[str, ...],
        tape: Tape,
        tell: Callable[[Frame], object] | None = None,
    ) -> None:
        self.tape = tape
        self._connect = connect
        self._namespaces = namespaces
        self._connection: Connection | None = None
        self._desk: Desk | None = None
        self._tell = tell
        self._poll: UsagePoll | None = None
        self._polling: asyncio.Task[None] | None = None
        self.introduce: Callable[[str, str], object] = _nobody
        self.figures: Callable[[UsageReport], object] = _nowhere
        self.credentials: Callable[[], Credentials | None] = _none

    def now(self) -> float:
        return time.time()

    async def run(self) -> None:
        from ktui.errors import KtuiError
        from ktui.views.registry import VIEWS

        kinds = dict.fromkeys(kind for view in VIEWS.values() for kind in (*view.kinds, *view.joins))
        self._connection = connection = self._connect()
        try:
            await connection.start(kinds, self._namespaces)
            await self._introduce(connection)
            await connection.replaced()
            # Not what was opened: nothing may be done to it by mistake, and its rows are not those of the one that was.
            raise KtuiError("another cluster answers at this address now; what is shown is of the one before")
        finally:
            self._connection = self._desk = self._poll = None
            if self._polling is not None:
                self._polling.cancel()
            try:
                await connection.stop()
            finally:  # when the program ends, the loop cancels once more what the screens have cancelled already
                await asyncio.to_thread(self.tape.end, "the session ended")

    def retry_now(self) -> None:
        if self._connection is not None:
            self._connection.retry_now()

    def measure(self, wanted: Wanted) -> None:
        connection = self._connection
        if connection is None:
            return
        if self._poll is None:
            from ktui.kube.usagepoll import UsagePoll

            self._poll = UsagePoll(
                connection.transport,
                lambda: connection.served,
                self.figures,
                namespaces=self._namespaces,
                fallback=connection.transport.target.namespace,
            )
            self._polling = asyncio.create_task(self._poll.run())
        self._poll.want(wanted)

    def costs(self) -> Sequence[Cost]:
        return self._connection.transport.ledger.costs() if self._connection is not None else ()

    def awaited(self) -> tuple[str, float] | None:
        credentials = self.credentials()
        return credentials.plugin_awaited if credentials is not None else None

    def stop_waiting(self) -> None:
        if (credentials := self.credentials()) is not None:
            credentials.cancel_plugin()

    async def read(self, kind: str, key: Key) -> dict[str, object] | None:
        """The whole object, fresh, without managedFields (as kubectl shows it)."""
        import orjson

        from ktui.errors import KtuiError
        from ktui.kube.failures import ApiError
        from ktui.model.kinds import KINDS
        from ktui.model.owner import named_type

        connection = self._connection
        if connection is None or connection.served is None:
            raise KtuiError(f"{kind} cannot be read right now: there is no connection yet")
        served, type_ = connection.served, named_type(kind)
        known = served.owner(type_) if type_ else KINDS.get(kind)
        version = served.version(known) if known else None
        if known is None or version is None:
            raise KtuiError(f"{kind} cannot be read: this cluster does not serve it")
        path = f"{known.path(version, key[0])}/{key[1]}"
        try:
            answer = await connection.transport.request("GET", path)
        except ApiError as error:
            if error.status == 404:
                return None
            raise
        document: dict[str, Any] = orjson.loads(answer.body)
        document.get("metadata", {}).pop("managedFields", None)
        return document

    async def desk(self) -> Desk:
        """What actions need, made once for each connection. Raises KtuiError while there is no connection."""
        from ktui.actions.desk import open_desk
        from ktui.errors import KtuiError

        connection = self._connection
        if connection is None or connection.served is None:
            raise KtuiError("there is no connection to act on yet")
        if self._desk is None:
            transport = connection.transport
            versions = connection.served.versions()
            self._desk = await open_desk(transport, transport.target, versions, self.audit_log(), self._tell)
        return self._desk

    def audit_log(self) -> Path:
        """Where actions on this cluster are written down."""
        return paths.audit_log()

    async def _introduce(self, connection: Connection) -> None:
        from ktui.errors import KtuiError
        from ktui.kube.reviews import own_name

        served = await connection.discovered()
        self.introduce(served.git_version, "")
        try:
            self.introduce(served.git_version, await own_name(connection.transport))
        except KtuiError:
            return  # the header does without


def _nobody(_version: str, _user: str) -> None:
    """Nobody wants to know."""


def _nowhere(_: UsageReport) -> None:
    """Nobody shows figures."""


def _none() -> None:
    """These credentials are never waited for."""


def introduce(session: Session, version: str, user: str) -> None:
    """What the server told about itself and about us, for the header."""
    session.target = replace(session.target, version=version, user=user)

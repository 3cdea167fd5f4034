"""A watcher or a connection under test, against the embedded API server, with its view kept as the application keeps it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace

from ktui.cluster.store import Store
from ktui.demo.apiserver import ApiServer
from ktui.demo.reads import ReadTimers
from ktui.kube.connection import Connection
from ktui.kube.login import NeedsLogin
from ktui.kube.target import Target
from ktui.kube.timers import Clock, Timers
from ktui.kube.transport import Transport
from ktui.model.frame import Changed, Frame, Listed, StreamState
from ktui.model.kinds import KINDS
from tests.faults import Faults

PATIENCE = 30.0
"""Seconds that a test waits for something that should take milliseconds: the machine may be busy."""

POD = "/api/v1/pods"


class StaticCredentials:
    """Credentials of a kind that the tests can change: a token, a number of renewals that help, a generation."""

    def __init__(self, token: str = "") -> None:
        self.token = token
        self.generation = 0
        self.renewals: list[str] = []
        self.renewed = 0
        self.logins = 0
        self.context: ssl.SSLContext | None = None

    async def headers(self) -> Mapping[str, str]:
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    async def ssl_context(self) -> ssl.SSLContext | None:
        return self.context

    async def on_unauthorized(self, used_headers: Mapping[str, str], /) -> bool:
        if used_headers.get("Authorization") != f"Bearer {self.token}":
            return True  # somebody else renewed it already
        self.renewed += 1
        if not self.renewals:
            raise NeedsLogin("the token is not accepted any more", "", "")
        self.token = self.renewals.pop(0)
        return True

    async def on_tls_failure(self) -> bool:
        return False

    def allow_login(self) -> None:
        self.logins += 1

    def redact(self, text: str, /) -> str:
        return text.replace(self.token, "[redacted]") if self.token else text


def target(url: str) -> Target:
    return Target("demo", "demo", "tester", "default", url, url.split("://", 1)[1].split("/", maxsplit=1)[0], None)


def fast(factor: float = 0.01, **changes: Any) -> Timers:
    """Waits scaled down, except those that would only make a busy machine look like a dead server."""
    patient = {
        name: getattr(Timers(), name)
        for name in (
            "connect",
            "short_get",
            "page_stall",
            "slow_link",
            "headers",
            "sync_stall",
            "sync_idle",
            "quiet",
            "idle",
            "server_timeout",
            "clock_jump",
        )
    }
    return replace(Timers().scaled(factor), **(patient | {"stop": 5.0, "short_watch": 0.01} | changes))


def pod(name: str, namespace: str = "ml", **metadata: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, **metadata}, "spec": {"nodeName": "n1"}}


class View:
    """A sink: every frame in order, and what the application would show."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.stores: dict[str, Store] = {}
        self._news = asyncio.Event()

    def __call__(self, frame: Frame) -> None:
        self.frames.append(frame)
        if isinstance(frame, (Listed, Changed)):
            store = self.stores.setdefault(frame.source.kind, Store(frame.source.kind))
            if isinstance(frame, Listed):
                list(store.replacements(frame))
            else:
                store.change(frame)
        self._news.set()

    def names(self, kind: str = "Pod") -> set[str]:
        return {key[1] for key in self.stores[kind].objects} if kind in self.stores else set()

    def lists(self, kind: str = "Pod") -> list[Listed]:
        return [f for f in self.frames if isinstance(f, Listed) and f.source.kind == kind]

    def states(self, kind: str = "Pod") -> list[StreamState]:
        return [f for f in self.frames if isinstance(f, StreamState) and f.source.kind == kind]

    def phases(self, kind: str = "Pod") -> list[str]:
        return [state.phase for state in self.states(kind)]

    def phase(self, kind: str = "Pod") -> str:
        return (self.phases(kind) or [""])[-1]

    async def until(self, condition: Callable[[], object]) -> None:
        """Raises TimeoutError when it does not become true."""
        async with asyncio.timeout(PATIENCE):
            while not condition():
                self._news.clear()
                try:
                    async with asyncio.timeout(0.05):  # conditions may be about the server's journal, too
                        await self._news.wait()
                except TimeoutError:
                    pass

    def content(self, kind: str = "Pod") -> dict[tuple[str, str], str]:
        """Key → resourceVersion."""
        store = self.stores.get(kind)
        return {key: obj.metadata.resource_version for key, obj in store.objects.items()} if store else {}


def truth(server: ApiServer, kind: str = "Pod") -> dict[tuple[str, str], str]:
    return {key: obj["metadata"]["resourceVersion"] for key, obj in server.database.snapshot(kind).items()}


class Rig:
    """A server with faults, and a connection to it that watches some kinds."""

    def __init__(self, **server: Any) -> None:
        self.faults = Faults()
        server.setdefault("timers", ReadTimers(freshness=0.05, bookmark=60.0))
        self.server = ApiServer(middlewares=[self.faults.middleware], send=self.faults.send, **server)
        self.view = View()
        self.credentials = StaticCredentials()
        self.connections: list[Connection] = []

    def connect(
        self, timers: Timers | None = None, view: View | None = None, clock: Clock | None = None, **options: Any
    ) -> Connection:
        connection = Connection(
            target(self.server.url),
            self.credentials,
            view or self.view,
            environ={},
            timers=timers or fast(),
            clock=clock,
            **options,
        )
        self.connections.append(connection)
        return connection

    async def live(self, timers: Timers | None = None, kinds: tuple[str, ...] = ("Pod",), **options: Any) -> Connection:
        """A connection whose sources are all watching."""
        connection = self.connect(timers, **options)
        await connection.start(kinds)
        await self.view.until(lambda: all(self.view.phase(kind) == "watching" for kind in kinds))
        return connection

    async def converge(self, kind: str = "Pod") -> None:
        """Until the view is what the server has."""
        await self.view.until(lambda: self.view.content(kind) == truth(self.server, kind))

    def update(self, name: str, namespace: str = "ml", **spec: Any) -> None:
        self.server.registry.update(
            KINDS["Pod"], (namespace, name), lambda old: {**old, "spec": {**old["spec"], **spec}}
        )

    def delete(self, name: str, namespace: str = "ml") -> None:
        self.server.registry.delete(KINDS["Pod"], (namespace, name))


@asynccontextmanager
async def rig(pods: int = 3, **server: Any) -> AsyncIterator[Rig]:
    made = Rig(**server)
    await made.server.start()
    for number in range(pods):
        made.server.create("Pod", pod(f"p{number}"))
    try:
        yield made
    finally:
        for connection in made.connections:
            await connection.stop()
        await made.server.stop()


@asynccontextmanager
async def transport_to(url: str, **options: Any) -> AsyncIterator[Transport]:
    credentials = options.pop("credentials", None) or StaticCredentials()
    made = Transport(target(url), credentials, read_only=options.pop("read_only", False), environ={}, **options)
    try:
        yield made
    finally:
        await made.close()

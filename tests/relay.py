"""A TCP relay that can go deaf: a connection through it stays open, and nothing comes or goes any more (half-open). It can be
slow as well: all its connections share one link to the client."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

_PIECE = 1 << 11  # bytes that a slow link takes at once
_INSTANT = 0.005  # seconds of a faster link that it takes at once: shorter waits are not kept


class Relay:
    """Between a client and `port`. While `deaf`, bytes are taken and kept; new connections are taken and not answered. `rate` is
    bytes a second to the client, None for no limit; `passed` bytes went there. What the client sends arrives after
    `round_trip` seconds."""

    def __init__(self, port: int, rate: float | None = None, round_trip: float = 0.0) -> None:
        self._backend = port
        self._rate = rate
        self._round_trip = round_trip
        self._piece = 1 << 16 if rate is None else max(_PIECE, round(rate * _INSTANT))
        self._link = asyncio.Lock()
        self._free_at = 0.0
        self.passed = 0
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    def go_deaf(self) -> None:
        self._open.clear()

    def hear_again(self) -> None:
        self._open.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (serving := asyncio.current_task()) is not None:
            self._keep(serving)
        try:
            await self._open.wait()
            behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._backend)
        except BaseException:
            writer.close()
            raise
        self._keep(asyncio.create_task(self._pipe(reader, behind_writer, self._wait)))
        self._keep(asyncio.create_task(self._pipe(behind_reader, writer, self._travel)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pipe(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, on_the_way: Callable[[int], Awaitable[None]]
    ) -> None:
        try:
            while data := await source.read(self._piece):
                await on_the_way(len(data))
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()

    async def _wait(self, _: int) -> None:
        await asyncio.sleep(self._round_trip)

    async def _travel(self, size: int) -> None:
        """One piece after the other. A turn that came late is made up for, within a moment."""
        self.passed += size
        if self._rate is None:
            return
        async with self._link:
            self._free_at = max(self._free_at, time.monotonic() - _INSTANT) + size / self._rate
            await asyncio.sleep(max(0.0, self._free_at - time.monotonic()))


@asynccontextmanager
async def relay_to(port: int, rate: float | None = None, round_trip: float = 0.0) -> AsyncIterator[Relay]:
    relay = Relay(port, rate, round_trip)
    server = await asyncio.start_server(relay._serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        for task in tuple(relay._tasks):
            task.cancel()
        await asyncio.gather(*relay._tasks, return_exceptions=True)

"""A TCP relay that can go deaf: a connection through it stays open, and nothing comes or goes any more (half-open). It can be
slow as well: all its connections share one link to the client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_PIECE = 1 << 11  # bytes that a slow link takes at once


class Relay:
    """Between a client and `port`. While `deaf`, bytes are taken and kept; new connections are taken and not answered. `rate` is
    bytes a second to the client, None for no limit; `passed` bytes went there."""

    def __init__(self, port: int, rate: float | None = None) -> None:
        self._backend = port
        self._rate = rate
        self._link = asyncio.Lock()
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
        for source, sink, slow in ((reader, behind_writer, False), (behind_reader, writer, self._rate is not None)):
            self._keep(asyncio.create_task(self._pipe(source, sink, slow=slow)))

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, slow: bool) -> None:
        try:
            while data := await source.read(_PIECE if slow else 1 << 16):
                if slow:
                    await self._travel(len(data))
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()

    async def _travel(self, size: int) -> None:
        async with self._link:
            self.passed += size
            await asyncio.sleep(size / (self._rate or size))


@asynccontextmanager
async def relay_to(port: int, rate: float | None = None) -> AsyncIterator[Relay]:
    relay = Relay(port, rate)
    server = await asyncio.start_server(relay._serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        for task in tuple(relay._tasks):
            task.cancel()
        await asyncio.gather(*relay._tasks, return_exceptions=True)

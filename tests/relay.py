"""A TCP relay that can go deaf: a connection through it stays open, and nothing comes or goes any more (half-open)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Relay:
    """Between a client and `port`. While `deaf`, bytes are taken and kept; new connections are taken and not answered."""

    def __init__(self, port: int) -> None:
        self._backend = port
        self._open = asyncio.Event()
        self._open.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0

    def go_deaf(self) -> None:
        self._open.clear()

    def hear_again(self) -> None:
        self._open.set()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self._open.wait()
        behind_reader, behind_writer = await asyncio.open_connection("127.0.0.1", self._backend)
        for source, sink in ((reader, behind_writer), (behind_reader, writer)):
            task = asyncio.create_task(self._pipe(source, sink))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _pipe(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(1 << 16):
                await self._open.wait()
                sink.write(data)
                await sink.drain()
        except OSError:
            pass
        finally:
            sink.close()


@asynccontextmanager
async def relay_to(port: int) -> AsyncIterator[Relay]:
    relay = Relay(port)
    server = await asyncio.start_server(relay._serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()
        for task in tuple(relay._tasks):
            task.cancel()
        await asyncio.gather(*relay._tasks, return_exceptions=True)

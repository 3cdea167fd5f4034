"""The demo cluster's own process; see `process`."""

from __future__ import annotations

import asyncio
import sys

import msgspec

from ktui.demo.cluster import DemoCluster
from ktui.demo.process import Listening, Play
from ktui.demo.releases import RELEASES


def main() -> None:
    play = msgspec.json.decode(sys.stdin.buffer.readline(), type=Play)
    asyncio.run(_serve(play))


async def _serve(play: Play) -> None:
    release = RELEASES[play.release]
    async with DemoCluster(size=play.size, sick=play.sick, tainted=play.tainted, release=release) as demo:
        answer = Listening(demo.server.url, demo.token)
        sys.stdout.buffer.write(msgspec.json.encode(answer) + b"\n")
        sys.stdout.buffer.flush()
        ends = {asyncio.create_task(_end_of_input()), asyncio.create_task(demo.failed())}
        done, pending = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        done.pop().result()


async def _end_of_input() -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    await reader.read()


if __name__ == "__main__":
    main()

"""`python -m tests.bench.apilink --kubeconfig FILE`: the first lists of a session over links of several speeds, as a table.

Between ktui and the API server is a relay, in a process of its own, that delivers so many bytes a second and adds a round trip.
The same lists come as streams, as compressed streams (Kubernetes 1.37 and newer), and in compressed pages; each figure is the
best of so many runs, by turns. Processor time is ktui's own, and that of the API server where its process is named.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection as Pipe
from typing import Final, Literal, NamedTuple
from urllib.parse import urlsplit

from ktui.kube.connection import Connection
from ktui.kube.credentials import Credentials
from ktui.kube.kubeconfig import LoadOptions, load
from ktui.kube.target import Target
from ktui.kube.timers import Timers
from ktui.model.frame import Frame, StreamState
from tests.bench import machine, processes
from tests.relay import relay_to

Way = Literal["stream", "compressed stream", "compressed pages"]

WAYS: Final[tuple[Way, ...]] = ("stream", "compressed stream", "compressed pages")
KINDS: Final = ("Pod", "ResourceClaim", "ResourceSlice", "PodGroup", "Node")
LINKS: Final = ((None, 0.0), (100e6, 0.001), (50e6, 0.005), (20e6, 0.02), (5e6, 0.04), (1e6, 0.08))
"""Bytes a second (None: loopback), seconds of a round trip."""
_NEVER: Final = Timers(slow_link=86_400.0)  # each way is measured as it is, also where ktui would take another
_LIMIT: Final = 600.0  # seconds


class Taken(NamedTuple):
    """Seconds until everything is watched, of which the processor had; bytes and requests; the server's processor seconds."""

    wall: float
    cpu: float
    received: int
    requests: int
    server: float


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.apilink", description=__doc__)
    parser.add_argument("--kubeconfig", required=True)
    parser.add_argument("--server-pid", type=int, help="process of the API server, where it runs on this machine")
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    target = load(LoadOptions(kubeconfig=args.kubeconfig, environ={})).resolve(None)
    print(f"{machine.description()}; best of {args.runs}\n")
    for rate, round_trip in LINKS:
        with _relay(urlsplit(target.server).port or 443, rate, round_trip) as port:
            there = replace(target, server=f"https://127.0.0.1:{port}")
            taken: dict[Way, list[Taken]] = {way: [] for way in WAYS}
            for _ in range(args.runs):
                for way in WAYS:
                    taken[way].append(asyncio.run(_first_lists(there, way, args.server_pid)))
        print("loopback" if rate is None else f"{rate / 1e6:g} MB/s, {round_trip * 1000:g} ms")
        for way, runs in taken.items():
            print(f"  {way:18}{_best(runs)}", flush=True)
    return 0


def _best(runs: list[Taken]) -> str:
    wall, cpu, received, requests, server = map(min, zip(*runs, strict=True))
    return (
        f"{wall:7.2f} s {cpu * 1000:6.0f} ms, {server * 1000:.0f} ms {received / 1e6:6.2f} MB {requests:4.0f} requests"
    )


async def _first_lists(target: Target, way: Way, server: int | None) -> Taken:
    phases: dict[str, str] = {}
    live = asyncio.Event()

    def take(frame: Frame) -> None:
        if isinstance(frame, StreamState):
            phases[frame.source.kind] = frame.phase
            if all(phases.get(kind) in ("watching", "absent") for kind in KINDS):
                live.set()

    where = replace(target, disable_compression=way == "stream")
    connection = Connection(where, Credentials(where, environ={}), take, environ={}, read_only=True, timers=_NEVER)
    connection._host.is_far = way == "compressed pages"
    of_server = processes.cpu(server) if server else 0.0
    began, used = time.perf_counter(), time.process_time()
    try:
        await connection.start(KINDS)
        async with asyncio.timeout(_LIMIT):
            await live.wait()
        ledger = connection.transport.ledger
        return Taken(
            time.perf_counter() - began,
            time.process_time() - used,
            ledger.received,
            ledger.requests,
            (processes.cpu(server) if server else 0.0) - of_server,
        )
    finally:
        await connection.stop()


@contextmanager
def _relay(port: int, rate: float | None, round_trip: float) -> Iterator[int]:
    """A port at which the link begins."""
    fresh = multiprocessing.get_context("spawn")
    here, there = fresh.Pipe()
    process = fresh.Process(target=_serve, args=(port, rate, round_trip, there), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve(port: int, rate: float | None, round_trip: float, pipe: Pipe) -> None:
    async def serve() -> None:
        async with relay_to(port, rate, round_trip) as relay:
            pipe.send(relay.port)
            await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    sys.exit(main())

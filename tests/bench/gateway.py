"""A gateway to an API server, which counts what is asked and answered, and can add a storm of events to the watches of pods.
Everything else is the server's own word. It is a process of its own (`tests.bench.passing`), started and ordered from here.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import Any

from ktui.errors import KtuiError

Json = dict[str, Any]


class GatewayError(KtuiError):
    """The gateway did not start, or has ended."""


@dataclass(frozen=True)
class Server:
    """The API server, the certificate and key that it shows (the gateway shows the same), who vouches for it, and a token."""

    url: str
    certificate: str
    key: str
    authority: str
    token: str

    def __repr__(self) -> str:
        return f"Server({self.url})"


@dataclass(frozen=True)
class Counts:
    """What went through since the start. Bytes are of bodies, as they are on the wire; `events` are those that were added."""

    requests: int = 0
    bytes: int = 0
    events: int = 0

    def __sub__(self, other: Counts) -> Counts:
        return Counts(self.requests - other.requests, self.bytes - other.bytes, self.events - other.events)


class Gateway:
    """The running process, from outside; its address is https://127.0.0.1:`port`."""

    def __init__(self, process: subprocess.Popen[str], server: Server) -> None:
        self.process = process
        self.port = int(self._ask(asdict(server))["port"])

    def counts(self) -> Counts:
        return Counts(**self._ask({}))

    def storm(self, a_second: int) -> Counts:
        """So many events a second from now on; 0 is none. Returns the counts up to then."""
        return Counts(**self._ask({"storm": a_second}))

    def _ask(self, order: Mapping[str, object]) -> Json:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            raise GatewayError("the gateway has ended") from None
        line = self.process.stdout.readline()
        if not line:
            raise GatewayError("the gateway has ended")
        answer: Json = json.loads(line)
        return answer


@contextmanager
def running(server: Server) -> Iterator[Gateway]:
    """A gateway that ends with the block, and with this process."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.passing"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the person's own program, which then ends this one
    ) as process:
        try:
            yield Gateway(process, server)
        finally:
            assert process.stdin is not None
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait(30)

"""Faults for the embedded API server, scripted per request, and a journal of what was asked.

    faults = Faults()
    async with ApiServer(middlewares=[faults.middleware], send=faults.send) as server:
        faults.script("watch /api/v1/pods", Cut(after=500), Answer(410, status_body(410, "Expired")))

A script's entries are used up in order by the requests that match; the last one may be `repeat`ed for ever. A match is
"VERB PATH" with the verb list, watch, or an HTTP method; a trailing * in the path matches any rest.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.typedefs import Handler


@dataclass(frozen=True)
class Asked:
    """One request as the server saw it. `at` is monotonic."""

    verb: str
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    at: float


class Fault:
    """Base: a request that is served normally."""

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        """An answer in place of the server's, None to go on."""
        return None

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        """Every piece of a watch on its way out."""
        await response.write(data)


@dataclass
class Answer(Fault):
    """A fixed answer."""

    status: int
    body: bytes | str = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        body = self.body.encode() if isinstance(self.body, str) else self.body
        return web.Response(status=self.status, body=body, headers={"Content-Type": self.content_type, **self.headers})


@dataclass
class Busy(Fault):
    """Answers after a moment that one is to come back in so many seconds; `most` were told so at once. Of `every` so many
    requests it is one."""

    retry_after: int = 1
    every: int = 1
    asked: int = 0
    now: int = 0
    most: int = 0

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        self.asked += 1
        if self.asked % self.every:
            return None
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.05)
        self.now -= 1
        headers = {"Content-Type": "application/json", "Retry-After": str(self.retry_after)}
        return web.Response(status=429, body=status_body(429, "TooManyRequests", "busy"), headers=headers)


@dataclass
class Delay(Fault):
    """Seconds before anything, the status line included, is sent."""

    seconds: float

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        await asyncio.sleep(self.seconds)
        return None


@dataclass
class Drop(Fault):
    """The request is read, then the connection is closed without an answer."""

    reset: bool = False

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        break_connection(request, reset=self.reset)
        raise asyncio.CancelledError


@dataclass
class Cut(Fault):
    """Break the connection after so many bytes of a watch's body, by FIN or by RST."""

    after: int
    reset: bool = False
    sent: int = 0

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        await response.write(data[: self.after - self.sent])
        self.sent += len(data)
        if self.sent >= self.after:
            await asyncio.sleep(0.01)  # let what was written leave before the reset overtakes it
            break_connection(request, reset=self.reset)


@dataclass
class Chunks(Fault):
    """The body of a watch in pieces of `size` bytes; `change` may alter the bytes first."""

    size: int
    change: Callable[[bytes], bytes] = bytes

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        data = self.change(data)
        for start in range(0, len(data), self.size):
            await response.write(data[start : start + self.size])


@dataclass
class Stall(Fault):
    """Nothing of a watch leaves after so many bytes; the connection stays open."""

    after: int = 0
    sent: int = 0

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        await response.write(data[: max(0, self.after - self.sent)])
        self.sent += len(data)


@dataclass
class Late(Fault):
    """What a watch sends within `seconds` of the first piece leaves as one piece; then everything as it comes."""

    seconds: float
    held: bytes = b""
    flushing: bool | None = None

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        if self.flushing is False:
            await response.write(data)
            return
        self.held += data
        if self.flushing is None:
            self.flushing = True
            asyncio.get_running_loop().call_later(self.seconds, self._flush, response)

    def _flush(self, response: web.StreamResponse) -> None:
        self.flushing = False
        held, self.held = self.held, b""
        task = asyncio.ensure_future(response.write(held))
        task.add_done_callback(lambda done: done.cancelled() or done.exception())


@dataclass
class Rewrite(Fault):
    """Change every piece of a watch; b"" holds it back."""

    change: Callable[[bytes], bytes]

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        if changed := self.change(data):
            await response.write(changed)


@dataclass
class Stream(Fault):
    """A whole watch body, a line at a time or all `together`; then a clean end, or nothing until the client goes (`hold`)."""

    lines: list[bytes]
    hold: bool = False
    gzip_members: bool = False
    together: bool = False

    async def before(self, request: web.Request) -> web.StreamResponse | None:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        if self.gzip_members:
            response.headers["Content-Encoding"] = "gzip"
        response.enable_chunked_encoding()
        await response.prepare(request)
        for line in [b"".join(self.lines)] if self.together else self.lines:
            await response.write(gzip.compress(line) if self.gzip_members else line)
            await asyncio.sleep(0.001)
        if self.hold:
            await asyncio.Event().wait()
        await response.write_eof()
        return response


class Faults:
    def __init__(self) -> None:
        self.journal: list[Asked] = []
        self._scripts: list[tuple[str, deque[Fault], bool]] = []

    def script(self, match: str, *faults: Fault, repeat: bool = False) -> None:
        """Later scripts win. With `repeat` the last fault stays."""
        self._scripts.insert(0, (match, deque(faults), repeat))

    def clear(self) -> None:
        self._scripts.clear()

    def asked(self, match: str) -> list[Asked]:
        return [each for each in self.journal if _matches(match, each)]

    @property
    def middleware(self) -> Any:
        @web.middleware
        async def disturb(request: web.Request, handler: Handler) -> web.StreamResponse:
            asked = _asked(request)
            self.journal.append(asked)
            fault = self._take(asked)
            if fault is not None:
                request[_FAULT] = fault
                if (answer := await fault.before(request)) is not None:
                    return answer
            return await handler(request)

        return disturb

    async def send(self, request: web.Request, response: web.StreamResponse, data: bytes) -> None:
        await request.get(_FAULT, _NOTHING).send(request, response, data)

    def _take(self, asked: Asked) -> Fault | None:
        for match, faults, repeat in self._scripts:
            if faults and _matches(match, asked):
                return faults[0] if repeat and len(faults) == 1 else faults.popleft()
        return None


_NOTHING = Fault()
_FAULT = web.RequestKey("fault", Fault)


def _asked(request: web.Request) -> Asked:
    verb = request.method
    if verb == "GET" and request.path.rsplit("/", 1)[-1].isalpha() and request.path.count("/") > 2:
        verb = "watch" if "watch" in request.query else "list"
    return Asked(verb, request.method, request.path, dict(request.query), dict(request.headers), time.monotonic())


def _matches(match: str, asked: Asked) -> bool:
    verb, _, path = match.partition(" ")
    same_path = asked.path.startswith(path[:-1]) if path.endswith("*") else path in ("", asked.path)
    return same_path and verb in ("*", asked.verb, asked.method)


def break_connection(request: web.Request, *, reset: bool) -> None:
    """Close under the handler's feet: FIN, or RST (lingering for 0 seconds)."""
    transport = request.transport
    if transport is None:
        return
    if not reset:
        transport.close()
        return
    transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


def status_body(code: int, reason: str, message: str = "scripted", **details: Any) -> bytes:
    return json.dumps(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "status": "Failure",
            "code": code,
            "reason": reason,
            "message": message,
            "details": details,
        }
    ).encode()


def line(type_: str, obj: Any) -> bytes:
    """One line of a watch."""
    return json.dumps({"type": type_, "object": obj}).encode() + b"\n"


def error_line(code: int, reason: str, message: str = "scripted", **details: Any) -> bytes:
    return line("ERROR", json.loads(status_body(code, reason, message, **details)))


def bookmark(version: str, *, ends: bool = False) -> bytes:
    annotations = {"annotations": {"k8s.io/initial-events-end": "true"}} if ends else {}
    return line(
        "BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {"resourceVersion": version, **annotations}}
    )

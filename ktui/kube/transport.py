"""The only way to a cluster: one hardened HTTP session per set of credentials, for reads, watches and actions alike.

What is decided here and nowhere else: read-only mode, who we say we are, what is never followed or believed (redirects, cookies,
netrc, proxies of the environment that do not apply), how long to wait, how much to read, and what a failure is called.
"""

from __future__ import annotations

import asyncio
import logging
import platform
import ssl
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, NoReturn, Protocol, Self
from urllib.parse import urlencode

import aiohttp
from msgspec import Struct
from multidict import CIMultiDict
from yarl import URL

from ktui import __version__
from ktui.errors import KtuiError
from ktui.kube.failures import (
    AnswerLost,
    ApiError,
    HeadersLate,
    TlsProblem,
    UnexpectedAnswer,
    Unreachable,
    api_error,
    connection_error,
    one_line,
)
from ktui.kube.gate import Gate
from ktui.kube.journal import journaled
from ktui.kube.ledger import Ledger, Tally
from ktui.kube.proxy import proxy_for
from ktui.kube.readonly import check_read_only
from ktui.kube.session import NOTHING_SENT, Session, end_with_connection, hang_up, send_once
from ktui.kube.target import Target
from ktui.kube.timers import Clock, Timers
from ktui.kube.unpacking import CannotUnpack, Members, flowing, unpacking

USER_AGENT: Final = f"ktui/{__version__} ({sys.platform}; {platform.machine()})"
MAX_BODY: Final = 512 * 1024 * 1024
"""Bytes of one answer after decompression: no list of ours is that large, a decompression bomb is larger."""
MAX_ERROR_BODY: Final = 8 * 1024 * 1024
OLDEST_AIOHTTP: Final = (3, 14)

_READS: Final = ("GET", "HEAD")
_CLOSED: Final = "this connection is closed"

_log = logging.getLogger(__name__)

Params = Mapping[str, str]


class CredentialSource(Protocol):
    """What the transport asks of `ktui.kube.credentials.Credentials`."""

    @property
    def generation(self) -> int: ...
    async def headers(self) -> Mapping[str, str]: ...
    async def ssl_context(self) -> ssl.SSLContext | None: ...
    async def on_unauthorized(self, used_headers: Mapping[str, str], /) -> bool: ...
    async def on_tls_failure(self) -> bool: ...
    def allow_login(self) -> None: ...
    def redact(self, text: str, /) -> str: ...


class Response(Struct, frozen=True):
    """A complete answer with a status below 400. `headers` keep repeated ones (`getall`); `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class _Request(Struct, frozen=True):
    """One request before credentials. `headers_within` (seconds) bounds the wait for the status line of a watch."""

    method: str
    path: str
    params: Params | None
    body: bytes | None
    headers: Mapping[str, str] | None
    limits: aiohttp.ClientTimeout
    headers_within: float | None = None
    proxied: bool = False  # answered by a workload: its 401 says nothing about our credentials

    @property
    def query(self) -> str:
        return f"?{urlencode(self.params)}" if self.params else ""

    @property
    def words(self) -> str:
        return f"{self.method} {self.path}{self.query}"


def check_aiohttp(version: str = aiohttp.__version__) -> None:
    """Raises KtuiError for an aiohttp that decodes only the first member of a gzip stream."""
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers < OLDEST_AIOHTTP:
        raise KtuiError(
            f"aiohttp {version} is too old: before 3.14.0 it loses watch events without an error on compressed streams;"
            " upgrade it to 3.14.0 or later"
        )


class Transport:
    def __init__(
        self,
        target: Target,
        credentials: CredentialSource,
        *,
        read_only: bool,
        environ: Mapping[str, str],
        timers: Timers | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`environ` names proxies. Opens nothing until the first request.

        Raises KtuiError when the installed aiohttp cannot be trusted, UsageError for a proxy that cannot be used.
        """
        check_aiohttp()
        self.target = target
        self.read_only = read_only
        self.ledger = Ledger()
        self.heard_at = 0.0  # when the last bytes of a body came, on the monotonic clock
        self.timers = timers or Timers()
        self.clock = clock or Clock()
        self.gate = Gate(self.timers, self.clock)
        self._credentials = credentials
        self._proxy = proxy_for(target, environ)
        self._session: Session | None = None
        self._retired: set[Session] = set()
        self._opening = asyncio.Lock()
        self._closed = False

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Params | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout: float | None = None,
        stall: float | None = None,
        limit: int = MAX_BODY,
    ) -> Response:
        """One request, its whole answer. `path` begins with "/" and is relative to the server's URL.

        `timeout` limits the whole (None: `Timers.short_get`, unless `stall` is given), `stall` the time between two reads.
        Raises ReadOnlyRefused before anything is sent; ApiError for 4xx and 5xx; UnexpectedAnswer; Unreachable; NeedsLogin.
        """
        total = self.timers.short_get if timeout is None and stall is None else timeout
        limits = aiohttp.ClientTimeout(total=total, connect=self.timers.connect, sock_read=stall)
        return await self._whole(_Request(method, path, params, body, headers, limits), limit)

    async def scrape(self, path: str, *, timeout: float, limit: int) -> bytes:
        """The metrics page of a pod, through the API server's proxy: `path` ends in /proxy/metrics. Plain text, `limit` bytes at
        most, within `timeout` seconds. Raises like `request`; what it raises may be in the pod's words."""
        limits = aiohttp.ClientTimeout(total=timeout, connect=self.timers.connect)
        asked = _Request("GET", path, None, None, {"Accept": "text/plain"}, limits, proxied=True)
        return (await self._whole(asked, limit)).body

    async def _whole(self, asked: _Request, limit: int) -> Response:
        """Send, and read all of the answer."""
        with journaled(asked.words, self.clock.monotonic) as note:
            async with self._exchange(asked) as (response, _):
                note(str(response.status))
                if response.status >= 400:
                    await self._refuse(response, asked)
                answer = await self._read(response, asked, limit)
            note(f"{len(answer)} bytes")
        return Response(response.status, response.headers, answer)

    @asynccontextmanager
    async def stream(self, path: str, params: Params, *, compressed: bool = False) -> AsyncIterator[Stream]:
        """A watch. Entered once the status line is there; leaving it closes the connection. `compressed`: if the server likes,
        and the kubeconfig does not forbid it.

        Raises like `request`, and HeadersLate when the server accepts but says nothing for `Timers.headers`.
        """
        limits = aiohttp.ClientTimeout(total=None, connect=self.timers.connect)
        headers = self.compression if compressed else None
        asked = _Request("GET", path, params, None, headers, limits, self.timers.headers)
        with journaled(asked.words, self.clock.monotonic) as note:
            async with self._exchange(asked) as (response, session):
                note(str(response.status))
                if response.status >= 400:
                    await self._refuse(response, asked)
                with Stream(response, session, self, self._tally(asked)) as stream:
                    try:
                        yield stream
                    finally:
                        note(f"{stream.received} bytes")

    def redact(self, text: str) -> str:
        return self._credentials.redact(text)

    @property
    def compression(self) -> Mapping[str, str]:
        """The header that asks for a compressed answer, unless the kubeconfig's disable-compression forbids it. API servers
        compress what is larger than 128 KiB."""
        return {} if self.target.disable_compression else {"Accept-Encoding": "gzip"}

    @property
    def generation(self) -> int:
        """Of the credentials: what was opened under an older one should be opened anew."""
        return self._credentials.generation

    def allow_login(self) -> None:
        """A person asked: let a credential plug-in that failed be tried again."""
        self._credentials.allow_login()

    def failed(self, error: Exception, method: str = "GET") -> Unreachable:
        """The exception of a request or of reading its answer, as ktui calls it."""
        failure = connection_error(error, self.target.host, self.redact)
        if method in _READS or isinstance(error, NOTHING_SENT):
            return failure
        return AnswerLost(f"{failure}; the request may have been carried out")

    def unexpected(self, error: CannotUnpack) -> UnexpectedAnswer:
        return UnexpectedAnswer(f"unexpected answer from host {self.target.host}: {error}")

    async def reset(self) -> None:
        """Forget pooled connections (after a sleep they are dead): the next request opens a new session."""
        if self._session is not None:
            session, self._session = self._session, None
            self._retired.add(session)
            await self._dispose(session)

    async def close(self) -> None:
        """Close every connection, within `Timers.stop`; later requests fail."""
        self._closed = True
        sessions = [*self._retired, *([self._session] if self._session else [])]
        await self.reset()
        for session in sessions:
            await session.close(self.timers.stop)

    @asynccontextmanager
    async def _exchange(self, asked: _Request) -> AsyncIterator[tuple[aiohttp.ClientResponse, Session]]:
        """Send, with one more try after a 401 that the credentials could cure. A 401 means: not carried out."""
        if self.read_only:
            check_read_only(asked.method, asked.path)
        for last_try in (True,) if asked.proxied else (False, True):
            used = await self._credentials.headers()
            async with self._current() as session:
                response = await self._send(session, asked, used)
                try:
                    if response.status != 401 or last_try:
                        yield response, session
                        return
                finally:
                    response.release()
            _log.debug("%s: 401, looking for other credentials", asked.words)
            if not await self._credentials.on_unauthorized(used):
                raise ApiError(401, "Unauthorized", "the server does not accept these credentials")

    def _headers(self, asked: _Request, credentials: Mapping[str, str]) -> CIMultiDict[str]:
        headers = CIMultiDict(asked.headers or {})
        headers.extend(credentials)  # impersonation repeats names
        headers.setdefault("Accept", "application/json")
        headers.setdefault("Accept-Encoding", "identity")
        headers["User-Agent"] = USER_AGENT
        if asked.body is not None:
            headers.setdefault("Content-Type", "application/json")
        if self._proxy is not None and self.target.tls is None:
            headers.extend(self._proxy.headers)  # without TLS there is no CONNECT that could carry them
        return headers

    async def _send(self, session: Session, asked: _Request, credentials: Mapping[str, str]) -> aiohttp.ClientResponse:
        tally = self._tally(asked)
        tally.requests += 1
        patience = asyncio.timeout(asked.headers_within)
        try:
            async with patience:
                response = await session.http.request(
                    asked.method,
                    URL(f"{self.target.server}{asked.path}{asked.query}", encoded=True),
                    data=asked.body,
                    headers=self._headers(asked, credentials),
                    timeout=asked.limits,
                    allow_redirects=False,
                    server_hostname=self.target.server_name,
                    proxy=self._proxy.url if self._proxy else None,
                    proxy_headers=self._proxy.headers if self._proxy else None,
                    middlewares=() if asked.method in _READS else (send_once,),
                    auto_decompress=False,
                )
        except (aiohttp.ClientError, TimeoutError, OSError, UnicodeError) as error:
            tally.failures += 1
            if patience.expired():
                raise HeadersLate(f"{self.target.host} accepted a watch but sent no answer") from None
            failure = self.failed(error, asked.method)
            if isinstance(failure, TlsProblem):
                await self._credentials.on_tls_failure()  # new files, if there are any, are for the next try
            raise failure from None
        except RuntimeError:
            if self._closed:  # aiohttp's word for a request that was waiting when the session was closed
                raise KtuiError(_CLOSED) from None
            raise
        try:
            self._check_kind(response)
        except UnexpectedAnswer:
            response.close()
            raise
        return response

    def _check_kind(self, response: aiohttp.ClientResponse) -> None:
        host = self.target.host
        if response.status < 200:
            raise UnexpectedAnswer(f"unexpected answer from host {host}: it wants to speak another protocol than HTTP")
        if 300 <= response.status < 400 and response.status != 304:
            where = _place(response.headers.get("Location", ""))
            raise UnexpectedAnswer(
                f"unexpected answer from host {host}: it redirects to {where} (a login page, or a wrong server URL)"
            )
        if response.status < 300 and response.content_type == "text/html":
            raise UnexpectedAnswer(f"unexpected answer from host {host}: a web page, not the Kubernetes API")

    async def _refuse(self, response: aiohttp.ClientResponse, asked: _Request) -> NoReturn:
        self._tally(asked).failures += 1
        try:
            async with asyncio.timeout(self.timers.short_get):
                content = await self._read(response, asked, MAX_ERROR_BODY)
        except (KtuiError, TimeoutError):
            content = b""  # the status alone says enough
        raise api_error(response.status, content, self.redact, response.headers.get("Retry-After"))

    async def _read(self, response: aiohttp.ClientResponse, asked: _Request, limit: int) -> bytes:
        parts: list[bytes] = []
        tally = self._tally(asked)
        try:
            packed = unpacking(response.headers.get("Content-Encoding", ""), limit)
            async for came in response.content.iter_any():
                tally.received += len(came)
                self.heard_at = self.clock.monotonic()
                parts.append(packed.feed(came))
                tally.unpacked += len(parts[-1])
            packed.finish()
        except CannotUnpack as error:
            response.close()
            raise self.unexpected(error) from None
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            tally.failures += 1
            raise self.failed(error, asked.method) from None
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _tally(self, asked: _Request) -> Tally:
        return self.ledger.of(asked.method, asked.path, asked.params)

    @asynccontextmanager
    async def _current(self) -> AsyncIterator[Session]:
        """The session of the present credentials. An older one lives until its last answer has been read."""
        context = await self._credentials.ssl_context()
        async with self._opening:
            session = self._session
            if session is None or session.generation != self.generation or session.context is not context:
                await self.reset()
                if self._closed:  # not before: closing the old session takes a moment
                    raise KtuiError(_CLOSED)
                session = self._session = Session(context, self.generation)
        session.users += 1
        try:
            yield session
        finally:
            session.users -= 1
            await self._dispose(session)

    async def _dispose(self, session: Session) -> None:
        if session in self._retired and session.users == 0:
            self._retired.discard(session)
            await session.http.close()


class Stream:
    """A watch that has begun: its bytes, as they come. Leaving it closes the connection. `packed`: it is compressed."""

    def __init__(self, response: aiohttp.ClientResponse, session: Session, transport: Transport, tally: Tally) -> None:
        """Raises UnexpectedAnswer for a compression that nobody asked for."""
        end_with_connection(response)
        self._response = response
        self._session = session
        self._transport = transport
        self._tally = tally
        try:
            self._flow = flowing(response.headers.get("Content-Encoding", ""))
        except CannotUnpack as error:
            hang_up(response)
            raise transport.unexpected(error) from None
        self.packed = isinstance(self._flow, Members)
        self.received = 0  # bytes

    def __enter__(self) -> Self:
        self._tally.open += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._tally.open -= 1
        hang_up(self._response)

    @property
    def outdated(self) -> bool:
        """Opened with credentials that have been replaced: go on with a new one."""
        return self._session.generation != self._transport.generation

    async def read(self) -> bytes:
        """The next bytes, b"" at a clean end. May be cancelled (a time-out) and called again. Raises Unreachable, and
        UnexpectedAnswer for what cannot be unpacked."""
        try:
            while not (piece := self._flow.take()):
                chunk = await self._receive()
                if not chunk:
                    self._flow.finish()
                    return b""
                self._flow.feed(chunk)
        except CannotUnpack as error:
            raise self._transport.unexpected(error) from None
        self._tally.unpacked += len(piece)
        return piece

    async def _receive(self) -> bytes:
        try:
            chunk = await self._response.content.readany()
        except (aiohttp.ClientError, OSError) as error:
            self._tally.failures += 1
            raise self._transport.failed(error) from None
        self.received += len(chunk)
        self._tally.received += len(chunk)
        self._transport.heard_at = self._transport.clock.monotonic()
        return chunk

    def abort(self) -> None:
        """Break the connection; a pending `read` raises Unreachable."""
        hang_up(self._response)


def _place(location: str) -> str:
    """Where a redirect leads: the host, without a path that may hold a ticket."""
    try:
        return one_line(URL(location).host or location.partition("?")[0] or "nowhere", 120)
    except ValueError:
        return "no valid address"

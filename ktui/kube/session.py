"""aiohttp, made fit for production credentials: sockets that notice a dead peer, writes that are sent once, a thorough close."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import Final
from weakref import WeakSet

import aiohttp

NOTHING_SENT: Final = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, UnicodeError)
"""What a failure to connect raises; the last one is the resolver's, for what cannot be a host's name."""


class Session:
    """An aiohttp session for one set of credentials; `users` counts the requests that are using it.

    No cookies, no netrc, no proxy or certificate settings of the environment.
    """

    def __init__(self, context: ssl.SSLContext | None, generation: int) -> None:
        self.generation = generation
        self.context = context
        self.users = 0
        self._sockets: WeakSet[socket.socket] = WeakSet()
        self.http = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=context if context is not None else True,
                limit=0,  # one connection a watch; their number is bounded by the number of sources
                socket_factory=self._socket,
            ),
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )

    async def close(self, patience: float) -> None:
        """Until no socket is open: TLS says goodbye first, which aiohttp does not wait for."""
        await self.http.close()
        try:
            async with asyncio.timeout(patience):
                while any(each.fileno() != -1 for each in self._sockets):  # noqa: ASYNC110 (nothing tells when a socket closes)
                    await asyncio.sleep(0.005)
        except TimeoutError:
            pass  # a dead peer; the sockets go with the loop

    def _socket(self, address: aiohttp.AddrInfoType) -> socket.socket:
        made = _keep_alive_socket(address)
        self._sockets.add(made)
        return made


def hang_up(response: aiohttp.ClientResponse) -> None:
    """End a stream in the middle, without waiting for the peer to agree: it may be dead, or have more to say."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()


def end_with_connection(response: aiohttp.ClientResponse) -> None:
    """When the connection is gone, whoever reads the body is to know. aiohttp closes a connection over a chunk that is none
    and tells nobody, so that a watch would wait in vain. Not for connections that are used again: they collect callbacks.
    """
    protocol = response.connection.protocol if response.connection is not None else None
    if protocol is not None and protocol.closed is not None:
        protocol.closed.add_done_callback(lambda closed: _end(response.content, closed))


def _end(content: aiohttp.StreamReader, closed: asyncio.Future[None]) -> None:
    reason = None if closed.cancelled() else closed.exception()
    if not content.is_eof() and content.exception() is None:
        content.set_exception(reason or aiohttp.ClientPayloadError("the body is not complete"))


class _Broken(aiohttp.ClientConnectionError):
    """A connection that broke after a write was sent. aiohttp does not know this one as a reason to send again."""


async def send_once(request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType) -> aiohttp.ClientResponse:
    """aiohttp repeats a DELETE or PUT when the connection breaks; a write must never be repeated without being asked."""
    try:
        return await handler(request)
    except NOTHING_SENT:
        raise
    except (aiohttp.ClientOSError, aiohttp.ServerDisconnectedError) as error:
        raise _Broken(str(error)) from error


def _keep_alive_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """A socket that notices a dead peer within a minute: HTTP/1.1 has no pings as HTTP/2 has."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    try:
        made.setblocking(False)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in _KEEP_ALIVE:
            if hasattr(socket, name):
                made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    except OSError:
        made.close()
        raise
    return made


# Idle seconds before a probe, seconds between probes, probes; milliseconds that sent data may stay unacknowledged.
# macOS calls the first one TCP_KEEPALIVE.
_KEEP_ALIVE: Final = (
    ("TCP_KEEPIDLE", 30),
    ("TCP_KEEPALIVE", 30),
    ("TCP_KEEPINTVL", 10),
    ("TCP_KEEPCNT", 3),
    ("TCP_USER_TIMEOUT", 45_000),
)

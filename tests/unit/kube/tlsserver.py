"""A TLS server on loopback that tells what it saw of each connection: SNI, client certificate."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import trustme


@dataclass
class Seen:
    port: int = 0
    names: list[str | None] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)


@asynccontextmanager
async def tls_server(certificate: trustme.LeafCert, client_authority: trustme.CA | None = None) -> AsyncIterator[Seen]:
    """Answers each connection with one line; asks for a client certificate if an authority for it is given."""
    seen = Seen()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    if client_authority is not None:
        client_authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    context.sni_callback = lambda _socket, name, _context: seen.names.append(name)

    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peercert") or {}
        seen.clients.extend(value for kind, value in peer.get("subjectAltName", ()))
        writer.write(b"hello\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        await server.wait_closed()


async def connect(port: int, context: ssl.SSLContext | None, name: str = "127.0.0.1") -> bytes:
    """One line from the server. Raises what the handshake raises."""
    async with asyncio.timeout(20):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
        try:
            return await reader.readline()
        finally:
            writer.close()
            with suppress(ssl.SSLError, ConnectionError):
                await writer.wait_closed()

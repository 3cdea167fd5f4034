"""Impersonation headers (Kubernetes authentication: user impersonation; client-go transport.ImpersonationConfig)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ktui.kube.target import Impersonation

# RFC 9110 token characters except "%", which introduces an escape.
_KEY_CHARACTERS: Final = frozenset(
    b"!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"  # the API server lowers the case
)


def impersonation_headers(impersonation: Impersonation) -> Iterator[tuple[str, str]]:
    """The headers in order; a group or a value of an extra key each has a header of its own, so names repeat."""
    yield "Impersonate-User", impersonation.user
    if impersonation.uid:
        yield "Impersonate-Uid", impersonation.uid
    for group in impersonation.groups:
        yield "Impersonate-Group", group
    for key, values in impersonation.extra:
        for value in values:
            yield f"Impersonate-Extra-{escape_key(key)}", value


def escape_key(key: str) -> str:
    """Every byte that a header's name cannot hold, and "%", as %XX."""
    return "".join(chr(byte) if byte in _KEY_CHARACTERS else f"%{byte:02X}" for byte in key.encode())

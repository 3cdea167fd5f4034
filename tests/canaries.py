"""Planted secrets, and a look for them in every form in which one may leave the program."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

_TELLING = 6  # bytes of a form; fewer are found by accident


def traces(content: bytes, secrets: Iterable[str]) -> list[str]:
    """Which secrets are in `content` (unpacked, where it is packed), and in what form."""
    plain = unpacked(content)
    small = plain.lower()
    return [
        f"{secret} as {form}"
        for secret in secrets
        for form, needle, haystack in _needles(secret, plain, small)
        if len(needle) >= _TELLING and needle in haystack
    ]


def unpacked(content: bytes) -> bytes:
    """Of gzip and zstd also what was written before the end is missing."""
    if content.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(content)
    if content.startswith(b"\x28\xb5\x2f\xfd"):
        return bytes(_zstd().ZstdDecompressor().decompress(content))
    return content


def encoded(secret: str) -> list[str]:
    """The secret as it may stand in a message."""
    data = secret.encode()
    return [
        secret,
        *(base64.b64encode(bytes(shift) + data + b"--").decode() for shift in range(3)),
        *(base64.urlsafe_b64encode(bytes(shift) + data + b"--").decode() for shift in range(3)),
        data.hex(),
        data.hex().upper(),
        quote(secret, safe=""),
        "".join(f"%{byte:02X}" for byte in data),
        json.dumps(secret),
        "".join(f"\\u{ord(character):04x}" for character in secret),
    ]


def files(directory: Path) -> dict[str, bytes]:
    """Every file below a directory, by its name."""
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def _zstd() -> Any:
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        from backports import zstd
    return zstd


def _needles(secret: str, plain: bytes, small: bytes) -> Iterator[tuple[str, bytes, bytes]]:
    """Each form, what to look for, and in what. Of a secret the middle, which is left when only its ends were masked."""
    text = secret[3:-3]
    data = text.encode()
    yield "it is", data, plain
    yield "JSON", json.dumps(text, ensure_ascii=False)[1:-1].encode(), plain
    yield "JSON in ASCII", json.dumps(text)[1:-1].encode(), plain
    for escape in ("\\u", "\\\\u"):
        yield "JSON in numbers", "".join(f"{escape}{ord(character):04x}" for character in text).encode(), small
    yield "hex", data.hex().encode(), small
    yield "percent", quote(text, safe="").lower().encode(), small
    yield "percent for every byte", "".join(f"%{byte:02x}" for byte in data).encode(), small
    for shift in range(3):
        for name, encode in (("base64", base64.b64encode), ("base64url", base64.urlsafe_b64encode)):
            code = encode(bytes(shift) + data + bytes(-(shift + len(data)) % 3))
            yield f"{name} at {shift}", code[4:-4], plain

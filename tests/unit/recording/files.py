"""Recordings written by tests, line by line."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

PODS = "/api/v1/pods"
CREATED = "2026-11-30T05:54:09Z"
HEADER: dict[str, Any] = {
    "ktui": "recording",
    "version": 1,
    "created": CREATED,
    "title": "test",
    "resources": [{"path": PODS, "kind": "Pod"}],
}


def pod(name: str, version: int = 1, **more: Any) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "ml", "uid": f"u-{name}", "resourceVersion": str(version)}, **more}


def listed(t: float, *pods: dict[str, Any]) -> dict[str, Any]:
    return {"t": t, "path": PODS, "type": "LIST", "resourceVersion": "1", "items": list(pods)}


def event(t: float, type_: str, obj: Any) -> dict[str, Any]:
    return {"t": t, "path": PODS, "type": type_, "object": obj}


def text(*lines: Any, header: Any = None) -> bytes:
    return b"".join(_line(line) for line in (HEADER if header is None else header, *lines))


def _line(line: Any) -> bytes:
    return (line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n"


def write(
    directory: Path, lines: Iterable[Any], *, header: Any = None, pack: Callable[[bytes], bytes] = gzip.compress
) -> Path:
    path = directory / "test.ktui.gz"
    path.write_bytes(pack(text(*lines, header=header)))
    return path

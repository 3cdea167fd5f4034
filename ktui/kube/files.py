"""Bounded reads of local files that a kubeconfig names. Blocking: the async edge runs them in a thread."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ktui.errors import UsageError

Stamp = tuple[int, int, int, int]
"""(device, inode, size, modification time in ns): differs when a file was replaced or written."""


class Unreadable(UsageError):
    """A file that cannot be read. `reason` says why without naming the file: its path may itself be a pasted secret."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.reason = reason


class Missing(Unreadable):
    """No such file, or a link that leads nowhere."""


def read_regular(path: Path, limit: int) -> bytes:
    """The content of a regular file of at most `limit` bytes.

    Raises `Missing` or `Unreadable`. Opened without blocking, and checked after opening, so that a FIFO or a device put in
    the file's place cannot hang the reader.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise Missing(path, "no such file") from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise Unreadable(path, _reason(error)) from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(path, "not a regular file")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise Unreadable(path, _reason(error)) from None
    finally:
        os.close(descriptor)
    if len(data) > limit:
        raise Unreadable(path, f"larger than {limit} bytes")
    return data


def stamp(path: Path) -> Stamp | None:
    """Identity of the file's present content, None when there is no file to see."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


def _reason(error: Exception) -> str:
    return (error.strerror or "cannot be read").lower() if isinstance(error, OSError) else "not a path"

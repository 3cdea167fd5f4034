"""Files that are the person's alone: recordings, debug logs, crash reports.

Made new, mode 0600, never through a symbolic link.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ktui.errors import UsageError


def create(path: Path, what: str) -> int:
    """A new file, open for writing. Raises UsageError where that is not possible, or not safe. `what` is "a recording"."""
    if problem := _unsafe(path.parent):
        raise UsageError(f"{path} is not written: {problem}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno == errno.EEXIST:
            raise UsageError(f"{path} exists already; {what} never replaces a file") from None
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    os.fchmod(file, 0o600)
    return file


def write_all(file: int, data: bytes) -> None:
    """Raises OSError."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def ascii_lines(text: str) -> str:
    """Text for a file that people print on terminals: nothing in it is obeyed. Lines stay lines."""
    shown = text.encode("ascii", "backslashreplace").decode()
    return "".join(c if c >= " " and c != "\x7f" else c if c == "\n" else f"\\x{ord(c):02x}" for c in shown)


def _unsafe(directory: Path) -> str:
    """What speaks against a directory, "" for nothing: who may rename in it could put any file in the new one's place."""
    try:
        found = directory.stat()
    except OSError as error:
        return f"{directory}: {error.strerror}"
    if not stat.S_ISDIR(found.st_mode):
        return f"{directory} is not a directory"
    open_to_all = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
    if open_to_all and found.st_uid != os.geteuid():
        return f"{directory} belongs to somebody else, and everybody may write in it"
    return ""

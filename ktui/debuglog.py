"""The debug log (`--debug-log FILE`): what a maintainer needs to see what ktui did, and no secret.

Requests (method, path, status, time, bytes), states of streams, epochs, runs of plug-ins without what they write, notices,
exceptions. Every line passes the redactor. Of libraries only warnings are written: some log whole bodies when they debug.
Without a log nothing is formatted or written, and nothing is printed over the screens either.
"""

from __future__ import annotations

import logging
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from ktui import __version__
from ktui.errors import KtuiError, UsageError
from ktui.privatefile import ascii_lines, create, write_all

MOST: Final = 16 * 2**20
"""Bytes of one file. When it is full it becomes FILE.1, in the place of the one before, and a new one is begun."""

_OURS: Final = "ktui"
_log = logging.getLogger(__name__)


class DebugLog(logging.Handler):
    """Raises UsageError where a file cannot be made. Later trouble with the file ends the log, and is kept in `ended`."""

    def __init__(self, path: Path, most: int = MOST) -> None:
        super().__init__()
        self.path = path
        self.ended = ""
        self._most = most
        self._full = path.with_name(f"{path.name}.1")
        if self._full.is_symlink() or self._full.exists():
            raise UsageError(f"{self._full} exists already, and the debug log will need that name")
        self._size = 0
        self._file = create(path, "a debug log")

    def emit(self, record: logging.LogRecord) -> None:
        if self.ended or (record.levelno < logging.WARNING and record.name.partition(".")[0] != _OURS):
            return
        try:
            self._append(_line(record).encode())
        except (KtuiError, OSError) as error:
            self.ended = str(error)
        except Exception as error:  # noqa: BLE001 - whoever has something to log must not fail because of the log
            self.ended = f"unexpected {type(error).__name__}"

    def close(self) -> None:
        file, self._file = self._file, -1
        if file >= 0:
            os.close(file)
        super().close()

    def _append(self, line: bytes) -> None:
        if self._size and self._size + len(line) > self._most:
            os.close(self._file)
            self._file = -1
            self.path.replace(self._full)
            self._file = create(self.path, "a debug log")
            self._size = 0
        write_all(self._file, line)
        self._size += len(line)


@contextmanager
def writing(file: str | None) -> Iterator[None]:
    """Log to a file as long as this lasts; without a file, log nowhere. Raises UsageError where the file cannot be made."""
    root, ours = logging.getLogger(), logging.getLogger(_OURS)
    handler = DebugLog(Path(file)) if file else logging.NullHandler()
    root.addHandler(handler)
    level = ours.level
    if file:
        ours.setLevel(logging.DEBUG)
        _log.debug("ktui %s, Python %s, %s", __version__, platform.python_version(), platform.platform())
    try:
        yield
    except KtuiError as error:
        _log.debug("ends: %s", error)
        raise
    except Exception:
        _log.critical("ends unexpectedly", exc_info=True)
        raise
    finally:
        ours.setLevel(level)
        root.removeHandler(handler)
        handler.close()
        if isinstance(handler, DebugLog) and handler.ended:
            with suppress(OSError):
                sys.stderr.write(f"ktui: the debug log ended early: {ascii_lines(handler.ended)}\n")


def _line(record: logging.LogRecord) -> str:
    """Of an exception also where it was raised, without the values of variables; those lines are indented."""
    from ktui.redact import OF_THIS_PROCESS  # here, since most runs have no log

    moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
    head = f"{moment}.{int(record.msecs):03}Z {record.levelname} {record.name} "
    text = OF_THIS_PROCESS.redact(record.getMessage()).replace("\n", r"\n")
    if record.exc_info:
        trace = logging.Formatter().formatException(record.exc_info)
        text += "\n" + OF_THIS_PROCESS.redact(trace)
    return ascii_lines(head + text).replace("\n", "\n    ") + "\n"

"""What becomes of an exception that nobody expected: one line for the person, and a report in a file for a maintainer.

The report says where it happened, without the values of variables, and what the screens said last. It passes the redactor.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING, Final

from ktui import __version__

if TYPE_CHECKING:
    from pathlib import Path

KEPT: Final = 10
"""Reports; the oldest go."""

NOTICES: Final[deque[str]] = deque(maxlen=20)
"""What the screens said last. Raw text."""

_MOST = 2**18  # characters of a report: exceptions may carry whole answers
_MOST_SAID = 300


def end(error: BaseException) -> str:
    """Write the report; the line for the person."""
    from ktui.errors import KtuiError
    from ktui.redact import OF_THIS_PROCESS

    said = OF_THIS_PROCESS.redact(f"{type(error).__name__}: {error}").partition("\n")[0][:_MOST_SAID]
    try:
        return f"ktui failed unexpectedly: {said}; report written to {write(error)}"
    except (KtuiError, OSError) as problem:
        return f"ktui failed unexpectedly: {said}; no report could be written: {problem}"


def write(error: BaseException) -> Path:
    """The report's file. Raises KtuiError and OSError."""
    import time

    from ktui import paths
    from ktui.privatefile import create, write_all

    directory = paths.crash_reports()
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = directory / f"crash-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.txt"
    file = create(path, "a report")
    try:
        write_all(file, report(error).encode())
    finally:
        os.close(file)
    for old in sorted(directory.glob("crash-*.txt"))[:-KEPT]:
        old.unlink(missing_ok=True)
    return path


def report(error: BaseException) -> str:
    """ASCII, so that a terminal on which it is printed does not obey it."""
    import platform
    import traceback

    from ktui.privatefile import ascii_lines
    from ktui.redact import OF_THIS_PROCESS

    trace = "".join(traceback.TracebackException.from_exception(error, capture_locals=False).format())
    parts = [
        f"ktui {__version__}, Python {platform.python_version()}, {platform.platform()}, Textual {_version('textual')}",
        f"terminal {os.environ.get('TERM', 'none')}, {os.environ.get('LANG', 'no language')}",
        "",
        trace,
        "What the screens said last:",
        *(f"  {notice}" for notice in NOTICES),
    ]
    # The end of a long traceback is what tells most. Cut twice, so that half a secret at the first cut is not kept.
    return ascii_lines(OF_THIS_PROCESS.redact("\n".join(parts)[-2 * _MOST :]))[-_MOST:] + "\n"


def _version(distribution: str) -> str:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "unknown"

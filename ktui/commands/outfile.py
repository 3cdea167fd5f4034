"""Where a command's result goes: stdout, or a file that appears complete and does not take the place of another unasked."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ktui.errors import KtuiError, UsageError

STDOUT: Final = "-"


@contextmanager
def opened(name: str, *, force: bool = False) -> Iterator[Callable[[bytes], object]]:
    """A function that writes. A file that was begun and not finished is taken away again.

    With `force` what has that name is replaced in the end, a symbolic link itself and not what it points to. Raises UsageError
    where the file cannot be made, and KtuiError where it cannot be written.
    """
    if name == STDOUT:
        stream = sys.stdout.buffer  # while screens are drawn without a terminal, sys.stdout is something else
        yield stream.write
        stream.flush()
        return
    path = Path(name)
    if force and path.exists() and not path.is_symlink() and not path.is_file():
        raise UsageError(f"{path} is not a file that can be replaced")
    part = path.with_name(f".{path.name}.{os.getpid()}.part") if force else path
    file = _create(part, path)
    try:
        yield lambda data: _write(file, path, data)
        if force:
            part.replace(path)
    except OSError as error:
        _remove(part)
        raise KtuiError(f"cannot write {path}: {error.strerror}") from None
    except BaseException:
        _remove(part)
        raise
    finally:
        os.close(file)


def _create(part: Path, path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(part, flags, 0o666)
    except FileExistsError:
        if part == path:
            raise UsageError(f"{path} exists already; --force replaces it") from None
        raise UsageError(f"{part} is in the way") from None
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _write(file: int, path: Path, data: bytes) -> None:
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(file, left) :]
    except OSError as error:
        raise KtuiError(f"cannot write {path}: {error.strerror}") from None


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()

"""The file a recording is written to: made new and private, packed by its suffix, whole lines on the disk after each sync."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final, Protocol

from ktui.errors import KtuiError, UsageError
from ktui.privatefile import create

SUFFIXES: Final = (".ktui", ".ktui.gz", ".ktui.zst")

_BUFFER = 256 * 2**10  # bytes that wait for the next sync at most


class Output:
    """One file. Any method but `close` may raise KtuiError: the disk is full, or gone. What was synced before stays."""

    def __init__(self, path: Path) -> None:
        """Make the file. Raises UsageError where that is not possible, or not safe."""
        self.path = path
        self.size = 0  # bytes given to the operating system
        self._whole = 0  # of them, up to the last sync: complete lines
        self._packer = _packer(path)
        self._waiting = bytearray()
        self._file = create(path, "a recording")

    def write(self, line: bytes) -> None:
        self._waiting += self._packer.pack(line)
        if len(self._waiting) > _BUFFER:
            self._put()

    def sync(self) -> None:
        """Everything written so far can be read from the file, whatever happens to this process."""
        self._waiting += self._packer.sync()
        self._put()
        self._whole = self.size

    def close(self) -> None:
        """End the file. When that fails it ends with the last line that was synced."""
        if self._file < 0:
            return
        try:
            self._waiting += self._packer.finish()
            self._put()
        except KtuiError:
            pass  # the end mark of the packed form is all that is missing, and no reader needs it
        finally:
            os.close(self._file)
            self._file = -1

    def _put(self) -> None:
        data = memoryview(bytes(self._waiting))
        self._waiting.clear()
        try:
            while data:
                written = os.write(self._file, data)
                self.size += written
                data = data[written:]
        except OSError as error:
            self._cut()
            raise KtuiError(f"cannot write {self.path}: {error.strerror}") from None

    def _cut(self) -> None:
        """Back to the last whole line; half of one would only be skipped by readers."""
        try:
            os.ftruncate(self._file, self._whole)
        except OSError:
            return
        os.lseek(self._file, self._whole, os.SEEK_SET)
        self.size = self._whole


def numbered(path: Path, number: int) -> Path:
    """The name of the next file of a rotation: "x.ktui.gz", "x.1.ktui.gz", …"""
    suffix = suffix_of(path)
    return path.with_name(f"{path.name.removesuffix(suffix)}.{number}{suffix}") if number else path


def suffix_of(path: Path) -> str:
    """Raises UsageError for a name that does not say how it is to be packed."""
    for suffix in SUFFIXES:
        if path.name.endswith(suffix) and path.name != suffix:
            return suffix
    raise UsageError(f"{path}: a recording's name ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}")


class _Packer(Protocol):
    def pack(self, data: bytes, /) -> bytes: ...

    def sync(self) -> bytes: ...

    def finish(self) -> bytes: ...


class _Plain:
    def pack(self, data: bytes) -> bytes:
        return data

    def sync(self) -> bytes:
        return b""

    def finish(self) -> bytes:
        return b""


class _Gzip:
    def __init__(self) -> None:
        self._inner = zlib.compressobj(6, zlib.DEFLATED, 16 + zlib.MAX_WBITS)

    def pack(self, data: bytes) -> bytes:
        return self._inner.compress(data)

    def sync(self) -> bytes:
        return self._inner.flush(zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        return self._inner.flush(zlib.Z_FINISH)


class _Zstd:
    def __init__(self) -> None:
        try:
            from compression import zstd  # type: ignore[import-not-found]
        except ImportError:
            from backports import zstd
        self._inner = zstd.ZstdCompressor(level=3)
        self._block, self._end = zstd.ZstdCompressor.FLUSH_BLOCK, zstd.ZstdCompressor.FLUSH_FRAME

    def pack(self, data: bytes) -> bytes:
        return bytes(self._inner.compress(data))

    def sync(self) -> bytes:
        return bytes(self._inner.flush(self._block))

    def finish(self) -> bytes:
        return bytes(self._inner.flush(self._end))


def _packer(path: Path) -> _Packer:
    match suffix_of(path):
        case ".ktui.gz":
            return _Gzip()
        case ".ktui.zst":
            return _Zstd()
        case _:
            return _Plain()

"""A person at a terminal: ktui in a pseudo-terminal, its output drawn by a terminal emulator, keys typed.

Nothing here waits for a time: `see` and `gone` wait until the screen shows something, with a generous limit, and say what was
on the screen when it did not come.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

import pexpect
import pyte

LIMIT = 90.0
_KEYS = {
    "enter": "\r",
    "esc": "\x1b",
    "tab": "\t",
    "down": "\x1b[B",
    "up": "\x1b[A",
    "ctrl+r": "\x12",
    "ctrl+c": "\x03",
}
_CHECKOUT = Path(__file__).parents[2]


class Screen:
    """One run of ktui. `home` keeps its files away from the person's own."""

    def __init__(
        self, *arguments: str, home: Path, size: tuple[int, int] = (120, 34), environ: Mapping[str, str] | None = None
    ) -> None:
        columns, rows = size
        self._emulator = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._emulator)
        surroundings = {
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "XDG_STATE_HOME": str(home / "state"),
            "XDG_CONFIG_HOME": str(home / "config"),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(_CHECKOUT),
            **(environ or {}),
        }
        self.raw = bytearray()  # everything the program wrote
        self._child = pexpect.spawn(
            sys.executable, ["-m", "ktui", *arguments], env=surroundings, dimensions=(rows, columns), timeout=None
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close(force=True)

    @property
    def text(self) -> str:
        """What is on the screen now, trailing blanks left out."""
        self._pump(0.0)
        return "\n".join(line.rstrip() for line in self._emulator.display)

    def see(self, pattern: str, limit: float = LIMIT) -> re.Match[str]:
        """Wait until the screen matches."""
        found = self._until(lambda text: re.search(pattern, text, re.MULTILINE), pattern, limit)
        assert isinstance(found, re.Match)
        return found

    def gone(self, pattern: str, limit: float = LIMIT) -> None:
        """Wait until the screen no longer matches."""
        self._until(lambda text: not re.search(pattern, text, re.MULTILINE), f"no {pattern}", limit)

    def press(self, *keys: str) -> None:
        """Type: names of keys, or text as it is. What follows an esc too soon would be one key with it (alt+…): wait for what
        the esc does first."""
        for key in keys:
            self._child.send(_KEYS.get(key, key))

    def ended(self, limit: float = LIMIT) -> int:
        """Wait for the program to end; its exit code."""
        deadline = time.monotonic() + limit
        while self._child.isalive() and time.monotonic() < deadline:
            self._pump(0.1)
        assert not self._child.isalive(), f"still running:\n{self.text}"
        return int(self._child.exitstatus if self._child.exitstatus is not None else -self._child.signalstatus)

    def _until(self, wanted: Callable[[str], object], what: str, limit: float) -> object:
        deadline = time.monotonic() + limit
        while True:
            text = self.text
            if found := wanted(text):
                return found
            if time.monotonic() > deadline:
                raise AssertionError(f"waited for {what!r}; the screen shows:\n{text}")
            self._pump(0.1)

    def _pump(self, wait: float) -> None:
        try:
            data = self._child.read_nonblocking(1 << 16, timeout=wait)
        except pexpect.TIMEOUT:
            return
        except (pexpect.EOF, OSError):
            return
        self.raw += data
        self._stream.feed(data)
        self._pump(0.0)

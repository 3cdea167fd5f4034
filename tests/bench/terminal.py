"""Runs a command on a pseudo-terminal of its own and notes what appears there, and when."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from tests.bench import processes

ANYTHING: Final = re.compile(r"\S")
FULL_SCREEN: Final = b"\x1b[?1049h"

# Control sequences as ECMA-48 builds them. Output is looked at while it arrives, so the last one may lack its end.
_CONTROL: Final = re.compile(
    rb"""
      \x1b \[ [0-?]* [\ -/]* (?: [@-~] | \Z )             # CSI
    | \x1b [\]PX^_] .*? (?: \x07 | \x1b\\ | \Z )          # OSC, DCS, SOS, PM, APC
    | \x1b [\ -/]* (?: [0-~] | \Z )                       # all others
    | [\x00-\x08\x0b-\x1f\x7f]
    """,
    re.DOTALL | re.VERBOSE,
)
_READ_SIZE: Final = 1 << 16


@dataclass(frozen=True)
class Ended:
    """`status` as a shell has it; `seconds` from the start; `cpu` seconds and `memory` bytes at most, by the kernel's count.

    The kernel's count of memory begins with the copy of this program that became the command: 20 to 30 MiB are no news.
    """

    status: int
    seconds: float
    cpu: float
    memory: int


@dataclass(frozen=True)
class Idle:
    """What a command and its children did in a stretch of time: their share of one core (1.0 is all of it), bytes written a
    second."""

    cpu: float
    bytes: float


def start(command: Sequence[str], environment: Mapping[str, str], columns: int, rows: int) -> tuple[int, int]:
    """A command on a new terminal: its process id, and the file of the terminal's other side."""
    pid, file = pty.fork()
    if pid == 0:
        try:
            termios.tcsetwinsize(0, (rows, columns))
            os.execve(command[0], list(command), dict(environment))
        finally:
            # Whatever happened, a second copy of this program must not go on.
            os._exit(127)
    return pid, file


class Terminal:
    """A command on a terminal of `columns` x `rows`; use it as a context manager, so that nothing is left running."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, columns: int = 80, rows: int = 24
    ) -> None:
        self._output = bytearray()
        self._arrived: list[tuple[int, float]] = []
        self._started = time.perf_counter()
        self._pid, self._fd = start(command, environment, columns, rows)
        self._ended: Ended | None = None

    @property
    def pid(self) -> int:
        return self._pid

    @property
    def elapsed(self) -> float:
        """Seconds from the start until now."""
        return self._elapsed()

    def read(self, limit: float) -> bool:
        """Waits for output, `limit` seconds at most; False when the command has closed the terminal."""
        return self._read(limit)

    @property
    def pieces(self) -> int:
        """How many times output was read."""
        return len(self._arrived)

    @property
    def written(self) -> int:
        """Bytes of output so far."""
        return len(self._output)

    def chunks(self, start: int) -> list[tuple[float, bytes]]:
        """The output in pieces as it was read, from the `start`th on, each with its seconds from the start."""
        ends = self._arrived[start:]
        begin = self._arrived[start - 1][0] if start else 0
        starts = [begin, *(end for end, _ in ends)]
        return [(at, bytes(self._output[start:end])) for start, (end, at) in zip(starts, ends, strict=False)]

    def wait_for(self, text: re.Pattern[str], *, after: bytes = b"", limit: float = 30.0) -> float:
        """Seconds from the start until `text` had been written to the terminal. TimeoutError with what had been instead.

        Text counts from when it is written, wherever on the screen; escape sequences between its letters do not matter.
        With `after`, only what follows that output counts: a traceback is no first frame.
        """
        seen = self._elapsed()
        while not text.search(self._written(after)):
            if seen > limit or not self._read(0.1):
                shown = " ".join(self._written(b"").split())
                when = f"within {limit:g} s" if seen > limit else "before the command ended"
                raise TimeoutError(f"{text.pattern!r} did not appear {when}; the terminal had {shown[-500:]!r}")
            seen = self._elapsed()
        return seen

    def wait_for_output(self, text: str, limit: float = 60.0) -> float:
        """Seconds from the start until this stood somewhere in the output, or anything at all where it is empty. TimeoutError.

        Looks at each piece once, with the end of the one before: for much output without control sequences.
        """
        wanted, piece, rest = text.encode(), 0, b""
        begun = self._elapsed()
        while True:
            for at, data in self.chunks(piece):
                piece += 1
                rest += data
                if wanted in rest:
                    return at
                rest = rest[len(rest) - len(wanted) + 1 :] if len(rest) >= len(wanted) else rest
            if self._elapsed() - begun > limit or not self._read(0.1):
                raise TimeoutError(f"{text!r} did not appear; the terminal had {bytes(self._output[-500:])!r} last")

    def press(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    def answer_to(self, key: str, limit: float = 5.0) -> float:
        """Seconds from pressing a key to the next output, which is taken to be its answer: ask only when it is quiet."""
        pressed = time.perf_counter()
        self.press(key)
        before = len(self._output)
        while len(self._output) == before:
            if time.perf_counter() - pressed > limit or not self._read(limit):
                raise TimeoutError(f"no answer to {key!r} within {limit:g} s")
        return time.perf_counter() - pressed

    def last_answer_to(self, key: str, silence: float, limit: float = 60.0) -> float:
        """Seconds from pressing a key to the last output before so long a silence. TimeoutError where there is no silence."""
        pressed = last = time.perf_counter()
        self.press(key)
        while (now := time.perf_counter()) - last < silence:
            before = len(self._output)
            if now - pressed > limit or not self._read(silence / 10):
                raise TimeoutError(f"no end of the answer to {key!r} within {limit:g} s")
            if len(self._output) > before:
                last = time.perf_counter()
        return last - pressed

    def watch(self, seconds: float) -> Idle:
        """Lets the command run for a while, and says what it did meanwhile."""
        output, cpu, started = len(self._output), processes.cpu(self._pid), time.perf_counter()
        while (passed := time.perf_counter() - started) < seconds:
            if not self._read(seconds - passed):
                raise TimeoutError("the command ended while it was watched")
        return Idle((processes.cpu(self._pid) - cpu) / passed, (len(self._output) - output) / passed)

    def ended(self, limit: float = 30.0) -> Ended:
        """Waits until the command has ended by itself; after `limit` seconds it is killed."""
        while self._ended is None:
            alive = self._read(0.1)
            if self._elapsed() > limit:
                os.kill(self._pid, signal.SIGKILL)
            pid, status, usage = os.wait4(self._pid, os.WNOHANG if alive else 0)
            if pid:
                code = os.waitstatus_to_exitcode(status)
                self._ended = Ended(
                    status=code if code >= 0 else 128 - code,
                    seconds=self._elapsed(),
                    cpu=usage.ru_utime + usage.ru_stime,
                    memory=usage.ru_maxrss * 1024,
                )
        return self._ended

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._ended is None:
            os.kill(self._pid, signal.SIGKILL)
            self.ended()
        os.close(self._fd)

    def _written(self, after: bytes) -> str:
        output = bytes(self._output)
        return visible(output.partition(after)[2] if after else output)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._started

    def _read(self, limit: float) -> bool:
        """Takes what there is, or waits for it; False when the command has closed the terminal."""
        if not select.select([self._fd], [], [], limit)[0]:
            return True
        try:
            data = os.read(self._fd, _READ_SIZE)
        except OSError:
            # Linux says EIO where others say end of file.
            return False
        if data:
            self._output += data
            self._arrived.append((len(self._output), self._elapsed()))
        return bool(data)


def visible(output: bytes) -> str:
    """What is left of terminal output without its control sequences and half characters. Text drawn over remains."""
    return _CONTROL.sub(b"", output).decode(errors="ignore")

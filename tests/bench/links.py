"""`python -m tests.bench.links`: ktui at the end of a slow line, as a table.

The line between program and terminal delivers so many bytes a second and delays them, and keys, by half a round trip. Before it
is a buffer, as an SSH server has one, which takes what the program writes at once: what waits there is seen late, and keys are
answered after it. The terminal is an emulator that answers what programs ask of terminals.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import select
import signal
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple, Self

import pyte

from ktui import resources
from tests.bench import machine, recorded, subject
from tests.bench.terminal import start

RATE: Final = 20_000  # bytes a second
DELAY: Final = 0.075  # seconds each way
BUFFER: Final = 1 << 20  # bytes
_SIZES: Final = ((80, 24), (200, 50))
_QUIET: Final = 0.5  # seconds beyond the round trip without output: the answer is complete
_LIMIT: Final = 60.0  # seconds
_PACE: Final = 0.002  # seconds
_ANSWERS: Final = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[?2026$p": b"\x1b[?2026;2$y"}
_ASKED: Final = re.compile(b"|".join(map(re.escape, _ANSWERS)))
_STORM_PODS: Final = 96
_STORM_CHANGES: Final = 24_000  # 25 a second when they are replayed at their own speed
_STORM_KEYS: Final = 30
_FASTER: Final = "+" * 6  # 64 times


class Line:
    """One direction of a line: what is put in comes out later, in order."""

    def __init__(self, rate: float, delay: float) -> None:
        self._rate = rate
        self._delay = delay
        self._waiting: deque[bytes] = deque()
        self._travelling: deque[tuple[float, bytes]] = deque()
        self._allowed = 0.0  # bytes
        self._at: float | None = None
        self.waiting = 0  # bytes

    def put(self, data: bytes) -> None:
        self._waiting.append(data)
        self.waiting += len(data)

    def take(self, now: float) -> bytes:
        """What has arrived by `now`."""
        self._allowed += self._rate * (now - self._at) if self._at is not None else 0.0
        self._at = now
        while self._waiting and self._allowed >= 1.0:
            piece = self._waiting.popleft()
            sent, rest = piece[: int(self._allowed)], piece[int(self._allowed) :]
            if rest:
                self._waiting.appendleft(rest)
            self._allowed -= len(sent)
            self.waiting -= len(sent)
            self._travelling.append((now + self._delay, sent))
        if not self._waiting:
            self._allowed = min(self._allowed, 1.0)
        arrived = b""
        while self._travelling and self._travelling[0][0] <= now:
            arrived += self._travelling.popleft()[1]
        return arrived


class Answer(NamedTuple):
    """What followed a key: bytes, and seconds from the key to the first and the last of them, beyond the round trip."""

    size: int
    first: float
    last: float


class RemoteTerminal:
    """A command whose terminal is at the other end of the line."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], size: tuple[int, int], rate: float, delay: float
    ) -> None:
        columns, rows = size
        self._down, self._up = Line(rate, delay), Line(rate, delay)
        self._round_trip = 2 * delay
        self._emulator = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._emulator)
        self._asked = b""  # the end of what arrived, where half a question may be
        self.arrived = 0  # bytes
        self.most_waiting = 0  # bytes, in the buffer before the line
        self.last_at = 0.0
        self._pid, self._fd = start(command, environment, columns, rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._fd)

    @property
    def lines(self) -> list[str]:
        return [line.rstrip() for line in self._emulator.display]

    def wait_for(self, seen: Callable[[Self], bool], what: str) -> float:
        """Seconds from now until the screen was as wanted. TimeoutError."""
        begun = time.perf_counter()
        while not seen(self):
            if time.perf_counter() - begun > _LIMIT:
                raise TimeoutError(f"{what}: not seen; the screen shows:\n" + "\n".join(self.lines))
            self.step()
        return time.perf_counter() - begun

    def shows(self, pattern: str) -> None:
        self.wait_for(lambda terminal: re.search(pattern, "\n".join(terminal.lines)) is not None, pattern)

    def press(self, keys: str) -> None:
        self._up.put(keys.encode())

    def settle(self) -> None:
        """Until nothing comes any more."""
        self.last_at = time.perf_counter()
        self.wait_for(lambda terminal: time.perf_counter() - terminal.last_at > _QUIET + self._round_trip, "silence")

    def answer_to(self, key: str) -> Answer:
        """Only when it is quiet."""
        before, pressed, first = self.arrived, time.perf_counter(), 0.0
        self.press(key)
        self.last_at = pressed
        while time.perf_counter() - self.last_at < _QUIET + self._round_trip:
            self.step()
            if not first and self.arrived > before:
                first = self.last_at
        return Answer(
            self.arrived - before,
            max(0.0, (first or pressed) - pressed - self._round_trip),
            max(0.0, self.last_at - pressed - self._round_trip),
        )

    def step(self) -> None:
        """Let a moment pass: on the line, in the buffers, on the screen."""
        if self._down.waiting < BUFFER and select.select([self._fd], [], [], _PACE)[0]:
            try:
                self._down.put(os.read(self._fd, 1 << 16))
            except OSError:
                raise TimeoutError("the command has ended") from None
            self.most_waiting = max(self.most_waiting, self._down.waiting)
        now = time.perf_counter()
        if keys := self._up.take(now):
            os.write(self._fd, keys)
        if output := self._down.take(now):
            self.arrived += len(output)
            self.last_at = now
            self._receive(output)

    def _receive(self, output: bytes) -> None:
        text = self._asked + output
        start = 0
        for question in _ASKED.finditer(text):
            self._stream.feed(text[start : question.start()])
            self._up.put(_ANSWERS[question[0]])
            start = question.end()
        rest = text[start:]
        cut = rest.rfind(b"\x1b", max(0, len(rest) - 9))
        half = cut >= 0 and any(question.startswith(rest[cut:]) for question in _ANSWERS)
        self._asked = rest[cut:] if half else b""
        self._stream.feed(rest[:cut] if half else rest)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.links", description=__doc__)
    parser.add_argument("--rate", type=float, default=RATE, help="bytes a second (default: %(default)s)")
    parser.add_argument("--delay", type=float, default=DELAY, help="seconds each way (default: %(default)s)")
    arguments = parser.parse_args()
    command = subject.checkout()
    print(f"{command} on {machine.description()}")
    print(f"a line of {arguments.rate:,.0f} bytes/s, {2000 * arguments.delay:.0f} ms there and back", flush=True)
    with tempfile.TemporaryDirectory(prefix="ktui-links-") as directory:
        home = Path(directory)
        storm = _storm(home / "storm.ktui.gz")
        for size in _SIZES:

            @contextmanager
            def started(*words: str, size: tuple[int, int] = size) -> Iterator[RemoteTerminal]:
                environment = {**subject.surroundings(home), "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}
                with RemoteTerminal(
                    [str(command), *words], environment, size, arguments.rate, arguments.delay
                ) as terminal:
                    yield terminal

            print(f"\n{size[0]} x {size[1]}")
            with started("replay", "--at", "60", str(resources.recording("xid79"))) as terminal:
                _quiet(terminal)
            with started("replay", str(storm)) as terminal:
                _stormy(terminal)
    return 0


def _quiet(terminal: RemoteTerminal) -> None:
    """Keys while nothing else happens."""
    terminal.shows("Triage(?s:.)*need")
    terminal.press(" ")
    terminal.settle()
    print(f"{'':24}{'bytes':>8}{'first ms':>10}{'last ms':>10}   beyond the round trip; median")
    for name, prepare, keys in (
        ("the next row", "8", "jjjkjk"),
        ("half a page", "", "\x04\x15\x04\x15"),
        ("first, last row", "", "GgGg"),
        ("another view", "", "23845678"),
        ("open and close a detail", "8", "\r\x1b\r\x1b"),
        ("a line of a detail", "ENTER", "jjjj"),
        ("the map of devices", "ESC 3", "mmmm"),
    ):
        for press in prepare.split():
            terminal.press(press.replace("ENTER", "\r").replace("ESC", "\x1b"))
            terminal.settle()
        answers = [answer for answer in map(terminal.answer_to, keys) if answer.size]
        size, first, last = (statistics.median(column) for column in zip(*answers, strict=True))
        print(f"{name:24}{size:8.0f}{first * 1000:10.0f}{last * 1000:10.0f}", flush=True)


def _stormy(terminal: RemoteTerminal) -> None:
    """Keys while pods change all the time, and what is on the screen when that ends."""
    terminal.shows("Triage(?s:.)*paused|Triage(?s:.)* of ")
    terminal.press("8")
    terminal.shows("gang-00000-0")
    terminal.press(_FASTER)
    terminal.shows("x64")
    terminal.most_waiting, before, began = 0, terminal.arrived, time.perf_counter()
    answers = []
    for number in range(_STORM_KEYS):
        row = _cursor(terminal)
        terminal.press("j" if number % 10 < 5 else "k")
        answers.append(terminal.wait_for(partial(_moved, row), "the cursor on another row"))
    passed = time.perf_counter() - began
    rate = (terminal.arrived - before) / passed
    late = sorted(max(0.0, answer - terminal._round_trip) * 1000 for answer in answers)
    print(
        f"while {25 * 64:,} pods a second change: {rate:,.0f} bytes/s; a key moves the cursor {statistics.median(late):.0f} ms"
    )
    print(
        f"  (p95 {late[int(0.95 * len(late))]:.0f} ms) beyond the round trip; {terminal.most_waiting:,} bytes waited at most"
    )
    terminal.press("\x1b[F")
    late_by = terminal.wait_for(lambda now: "16:00 of 16:00" in "\n".join(now.lines), "the end of the recording")
    terminal.settle()
    shown = terminal.lines
    terminal.press("\x0c")
    terminal.settle()
    same = "what" if terminal.lines == shown else "NOT what"
    print(
        f"  its end is shown {max(0.0, late_by - terminal._round_trip) * 1000:.0f} ms beyond the round trip, {same} is drawn anew"
    )


def _moved(row: int | None, terminal: RemoteTerminal) -> bool:
    return _cursor(terminal) not in (None, row)


def _cursor(terminal: RemoteTerminal) -> int | None:
    return next((y for y, line in enumerate(terminal.lines) if line.startswith("▌")), None)


def _storm(path: Path) -> Path:
    """A recording in which every pod of a screen changes many times a second, when it is replayed fast."""
    plain = path.with_name("plain.ktui.gz")
    recorded.write(plain, _STORM_PODS, changes=_STORM_CHANGES)
    with gzip.open(plain, "rt") as lines, gzip.open(path, "wt", compresslevel=1) as changed:
        for number, line in enumerate(lines):
            document = json.loads(line)
            if document.get("type") == "MODIFIED":
                document["object"]["status"]["phase"] = ("Running", "Failed", "Succeeded")[number % 3]
            changed.write(json.dumps(document) + "\n")
    return path


if __name__ == "__main__":
    sys.exit(main())

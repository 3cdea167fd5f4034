"""One guarded process of the control plane: started, signalled and stopped by handle, its output in a log file."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Self

_GUARD: Final = Path(__file__).with_name("guard.py")
_STOP_SECONDS: Final = 10.0


class Process:
    """`command` running under the guard. Its standard output and error are appended to `log`."""

    def __init__(self, name: str, command: Sequence[str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self._guard = subprocess.Popen(
                [sys.executable, "-I", "-S", _GUARD, str(_STOP_SECONDS), *command],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                start_new_session=True,
            )
        assert self._guard.stdin is not None
        assert self._guard.stdout is not None
        self._orders = self._guard.stdin
        with self._guard.stdout as answers:
            self._pid = answers.readline().strip()

    @property
    def pid(self) -> int:
        """The command's own process id, e.g. to read its memory use under /proc. To signal it, use `send_signal`."""
        return int(self._pid)

    @property
    def running(self) -> bool:
        return self._guard.poll() is None

    def send_signal(self, number: signal.Signals) -> None:
        """Sends a signal to the command; does nothing when it has already ended."""
        if not self.running:
            return
        try:
            self._orders.write(f"{number.value}\n")
            self._orders.flush()
        except BrokenPipeError:
            return

    def stop(self, number: signal.Signals = signal.SIGTERM, limit: float = _STOP_SECONDS) -> None:
        """Ends the command with `number`, and with SIGKILL after `limit` seconds; returns when it is gone."""
        self.send_signal(number)
        try:
            self._guard.wait(limit)
        except subprocess.TimeoutExpired:
            self.send_signal(signal.SIGKILL)
            self._guard.wait(limit)
        self._close()

    def log_tail(self, lines: int = 12) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _close(self) -> None:
        try:
            self._orders.close()
        except BrokenPipeError:
            return

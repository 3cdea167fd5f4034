"""A terminal that reads slowly, or not at all, must not stop the program.

Textual hands its output to a writer thread through a queue of 30 writes; when the terminal stalls, the next write would
block the event loop, and with it every watch. Here the queue takes any number, screens look at `pending_writes` and hold
their updates back while it is long, and leaving does not wait for a terminal that reads nothing.
"""

from __future__ import annotations

import contextlib
from queue import Empty
from typing import ClassVar

from textual.driver import Driver
from textual.drivers._writer_thread import WriterThread
from textual.drivers.linux_driver import LinuxDriver

MANY_WRITES = 3  # one frame is up to three writes
_END_OF_FRAME = "\x1b[?2026l"  # the frame it ends may be among those dropped
_PATIENCE = 1.0  # seconds that leaving waits for the last output


class PatientDriver(LinuxDriver):
    """Textual's driver whose writes never block. Uses the writer thread's queue, which has no public face."""

    _writer_thread: WriterThread | None
    stuck: ClassVar[bool] = False  # the terminal did not take the last output of an application that has ended

    def start_application_mode(self) -> None:
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._writer_thread is not None:
            self._writer_thread._queue.maxsize = 0

    def stop_application_mode(self) -> None:
        """What is still queued will not be seen: drop it, so that a slow terminal is put back soon."""
        if self._writer_thread is not None:
            with contextlib.suppress(Empty):
                while True:
                    self._writer_thread._queue.get_nowait()
            self._writer_thread.write(_END_OF_FRAME)
        super().stop_application_mode()

    def close(self) -> None:
        writer, self._writer_thread = self._writer_thread, None
        if writer is not None:
            writer._queue.put(None)
            writer.join(_PATIENCE)
            PatientDriver.stuck = writer.is_alive()
        super().close()


def pending_writes(driver: Driver | None) -> int:
    """Writes the terminal has not taken yet; 0 where output goes nowhere."""
    writer = driver._writer_thread if isinstance(driver, PatientDriver) else None
    return writer._queue.qsize() if writer is not None else 0

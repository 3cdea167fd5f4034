"""A recording in the making: frames from the event loop, written by a thread of its own.

A disk that is full, slow or gone ends the recording and nothing else: whoever hands in frames never waits and never fails.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from ktui.errors import KtuiError
from ktui.model.frame import Frame, Mark
from ktui.recording.writer import RecordingEndedError, Writer

MOST_WAITING: Final = 200_000
"""Frames that wait for the disk; a disk that is further behind than this does not come back."""

_SYNC = 1.0  # seconds between two syncs

_log = logging.getLogger(__name__)


class Recorder:
    """Starts with the object. `began` is in Unix seconds; `ended` says why nothing is written any more, "" while it is."""

    def __init__(
        self,
        writer: Writer,
        begin: Iterable[tuple[float, Frame]] = (),
        *,
        clock: Callable[[], float] = time.time,
        sync: float = _SYNC,
    ) -> None:
        """`begin` is written first: what is known already, with the times of its frames."""
        self.began = clock()
        self.ended = ""
        self.complete = False  # ended where it was meant to, by somebody or a limit, with everything written
        self._writer = writer
        self._begin = begin
        self._clock = clock
        self._sync = sync
        self._queue: queue.Queue[tuple[float, Frame | None]] = queue.Queue(MOST_WAITING)
        self._overrun = False
        self._note = ""
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    @property
    def path(self) -> Path:
        return self._writer.path

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return self._writer.size

    @property
    def frames(self) -> int:
        return self._writer.frames

    def take(self, frame: Frame) -> None:
        if self.ended or self._note:
            return
        try:
            self._queue.put_nowait((self._clock(), frame))
        except queue.Full:
            self._overrun = True

    def mark(self, text: str) -> None:
        self.take(Mark(text))

    def close(self, note: str = "the recording was stopped", patience: float = 5.0) -> None:
        """Write what waits and end the file with `note` as its last mark. Waits for that for `patience` seconds at most."""
        self._note = self._note or note
        with contextlib.suppress(queue.Full):  # the thread sees the note all the same, if it ever gets to it
            self._queue.put_nowait((self._clock(), None))
        self._thread.join(patience)

    def _run(self) -> None:
        try:
            self._record()
        except KtuiError as error:
            self._end(str(error), mark=isinstance(error, RecordingEndedError))
        except Exception as error:  # noqa: BLE001 - a defect must end the recording visibly, not the thread silently
            _log.warning("the recorder: unexpected %s", type(error).__name__)
            _log.debug("the recorder", exc_info=True)
            self._end(f"internal error ({type(error).__name__})", mark=False)
        else:
            self._end(self._note, mark=True)

    def _record(self) -> None:
        for known in self._begin:
            self._writer.take(*known)
        self._begin = ()
        due = time.monotonic() + self._sync
        while True:
            with contextlib.suppress(queue.Empty):
                at, frame = self._queue.get(timeout=max(0.0, due - time.monotonic()))
                if frame is None:
                    return
                self._writer.take(at, frame)
            if self._overrun:
                raise KtuiError(f"the disk does not keep up: {MOST_WAITING:,} changes wait for {self.path}")
            if time.monotonic() >= due:
                self._writer.sync(self._clock())
                due = time.monotonic() + self._sync

    def _end(self, why: str, *, mark: bool) -> None:
        try:
            self._writer.close(why if mark else "", self._clock())
            self.complete = mark
        except KtuiError as error:
            why = str(error) if mark else why
        self.ended = why

"""What a live session remembers of itself, and the recording that is written beside it, if there is one."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from ktui.errors import UsageError
from ktui.model.frame import Frame, Mark
from ktui.recording.anonymise import Anonymous
from ktui.recording.output import Output
from ktui.recording.recorder import Recorder
from ktui.recording.ring import Ring
from ktui.recording.writer import Facts, Limits, Plain, Writer
from ktui.redact import Secrets

STOPPED: Final = "the recording was stopped"


class Tape:
    """Belongs to the event loop. `facts` and `secrets` are asked by other threads as well."""

    def __init__(
        self, facts: Callable[[], Facts], secrets: Secrets = tuple, clock: Callable[[], float] = time.time
    ) -> None:
        self.recorder: Recorder | None = None
        self._ring = Ring()
        self._facts = facts
        self._secrets = secrets
        self._clock = clock

    def take(self, frame: Frame) -> None:
        self._ring.take(self._clock(), frame)
        if self.recorder is not None:
            self.recorder.take(frame)

    @property
    def recording(self) -> bool:
        return self.recorder is not None and not self.recorder.ended

    def start(self, path: Path, *, anonymise: bool = False) -> None:
        """Record from now on; what is known already comes first. Raises UsageError."""
        if self.recording:
            raise UsageError("a recording is under way already")
        self.start_on(Output(path), anonymise=anonymise)

    def start_on(self, output: Output, limits: Limits | None = None, *, anonymise: bool = False) -> Recorder:
        """Record to a file that was made before."""
        now = self._clock()
        writer = Writer(output, self._facts, self._treatment(anonymise), limits, started=now)
        self.recorder = Recorder(writer, [(now, frame) for frame in self._ring.present()], clock=self._clock)
        return self.recorder

    def mark(self, text: str) -> None:
        """A note at this moment, in the recording and in what is remembered."""
        self.take(Mark(text))

    def stop(self) -> Recorder | None:
        """End the recording, if there is one."""
        ended, self.recorder = self.recorder, None
        if ended is not None:
            ended.close(STOPPED)
        return ended

    def end(self, note: str) -> None:
        """End the recording because of something else than somebody's wish; `take_ended` has it then."""
        if self.recorder is not None:
            self.recorder.close(note)

    def take_ended(self) -> Recorder | None:
        """The recording that ended by itself (a limit, a full disk, with its session), once."""
        if self.recorder is None or not self.recorder.ended:
            return None
        ended, self.recorder = self.recorder, None
        return ended

    @property
    def remembered(self) -> float:
        """Seconds that `saver` would save."""
        return self._clock() - self._ring.since if self._ring.since is not None else 0.0

    def frames(self) -> list[tuple[float, Frame]]:
        """What is remembered, with times in Unix seconds: first what was known before, then what happened."""
        return list(self._ring.frames())

    def saver(
        self, path: Path, frames: Sequence[tuple[float, Frame]] | None = None, *, anonymise: bool = False
    ) -> Callable[[], None]:
        """What writes frames to a file, by default those remembered now, to be called in a thread. It raises KtuiError."""
        frames = self.frames() if frames is None else frames
        started = frames[0][0] if frames else self._clock()

        def save() -> None:
            writer = Writer(Output(path), self._facts, self._treatment(anonymise), started=started)
            try:
                for at, frame in frames:
                    writer.take(at, frame)
            finally:
                writer.close()

        return save

    def _treatment(self, anonymise: bool) -> Plain:
        return Anonymous(self._secrets) if anonymise else Plain(self._secrets)

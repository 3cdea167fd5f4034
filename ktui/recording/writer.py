"""Frames in, JSON lines of format version 1 out. The counterpart of `ktui.recording.reader`.

Objects are written in the shape in which the model has them, which is the one of the newest version, under the path they came
from; the reader takes both shapes under an older path. A list of a source that the header does not name (one namespace, where
all are forbidden; another version, after an upgrade) is written like any other: its path says what it is.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, structs

from ktui.errors import KtuiError
from ktui.model.frame import ActionTaken, Changed, Frame, Listed, Mark, Source, StreamState
from ktui.model.owner import named_type
from ktui.model.time import format_time
from ktui.recording.baseline import Baseline
from ktui.recording.output import Output, numbered
from ktui.recording.reader import VERSION
from ktui.recording.redaction import redacted
from ktui.redact import Redactor, Secrets

_HEADER_AT_THE_LATEST = 5.0  # seconds; before, a first list is waited for, since by then the server's version is known


class Facts(Struct, frozen=True):
    """What the header says of the cluster."""

    title: str = ""
    context: str = ""
    git_version: str = ""


class Limits(Struct, frozen=True):
    """Of one file: bytes on the disk, and seconds. `files` is how many are written, one after the other."""

    size: int = 200 * 2**20
    seconds: float = 4 * 3600.0
    files: int = 1


class RecordingEndedError(KtuiError):
    """A limit was reached; everything up to it is in the files."""


class Plain:
    """What becomes of each part of a frame on its way into a file: here, secrets are masked."""

    anonymised = False

    def __init__(self, secrets: Secrets = tuple) -> None:
        self.redactor = Redactor(secrets)

    def refresh(self) -> None:
        self.redactor.refresh()

    def object(self, obj: Any) -> Any:
        return redacted(obj, self.redactor)

    def text(self, text: str) -> str:
        return self.redactor.text(text)

    def action(self, taken: ActionTaken) -> ActionTaken:
        return structs.replace(
            taken,
            object=self.text(taken.object),
            before=self.text(taken.before),
            after=self.text(taken.after),
            message=self.text(taken.message),
            who=self.text(taken.who),
        )

    def path(self, path: str) -> str:
        return path

    def facts(self, facts: Facts) -> Facts:
        return Facts(self.text(facts.title), self.text(facts.context), facts.git_version)


class _Moment(Struct, frozen=True):
    at: float  # Unix seconds
    frame: Frame


class Writer:
    """One recording. Belongs to one thread. Every method may raise KtuiError: nothing can be written any more."""

    def __init__(
        self,
        output: Output,
        facts: Callable[[], Facts],
        treatment: Plain | None = None,
        limits: Limits | None = None,
        *,
        started: float | None = None,
    ) -> None:
        """`facts` is asked when the header is written. `started` is t = 0 in Unix seconds, now by default."""
        self.frames = 0
        self._output = output
        self._first = output.path
        self._facts = facts
        self._treatment = treatment or Plain()
        self._limits = limits or Limits()
        # The header has whole seconds.
        self._started = float(int(time.time() if started is None else started))
        self._t = 0.0
        self._files = 1
        self._baseline = Baseline()
        self._early: list[_Moment] | None = []  # before the header is written, None after
        self._states: dict[tuple[str, str, str], tuple[str, str, float | None]] = {}
        self._epochs: dict[tuple[str, str, str], int] = {}
        self._written_before = 0  # bytes of the files that are complete

    @property
    def path(self) -> Path:
        return self._output.path

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return self._written_before + self._output.size

    def take(self, at: float, frame: Frame) -> None:
        """`at` in Unix seconds. A clock that is set back does not turn time back in the file."""
        if self._early is not None:
            self._early.append(_Moment(at, frame))
            if isinstance(frame, Listed):
                self._begin()
            return
        self._write(at, frame)

    def sync(self, now: float) -> None:
        """To be called every second or so: what is written gets to the disk, and limits are looked at."""
        if self._early is not None:
            if now - self._started < _HEADER_AT_THE_LATEST:
                return
            self._begin()
        self._output.sync()
        if self._output.size >= self._limits.size or now - self._started >= self._limits.seconds:
            self._next_file(now)

    def close(self, note: str = "", at: float | None = None) -> None:
        """End the recording, with a mark that says why, if there is a reason."""
        try:
            if self._early is not None:
                self._begin()
            if note:
                self._write(self._started + self._t if at is None else at, Mark(note))
            self._output.sync()
        finally:
            self._output.close()

    def _begin(self) -> None:
        """The header, and what was waiting for it."""
        early, self._early = self._early or [], None
        sources = {m.frame.source.id: m.frame.source for m in early if not isinstance(m.frame, Mark | ActionTaken)}
        self._write_header(sources.values())
        for moment in early:
            self._write(moment.at, moment.frame)

    def _write_header(self, sources: Iterable[Source]) -> None:
        facts = self._treatment.facts(self._facts())
        header = {
            "ktui": "recording",
            "version": VERSION,
            "created": format_time(self._started),
            "title": facts.title,
            "server": {"gitVersion": facts.git_version},
            "resources": [{"path": self._treatment.path(s.path), "kind": s.kind} for s in sources],
            "context": facts.context,
            "redacted": True,
            "anonymised": self._treatment.anonymised,
        }
        self._output.write(msgspec.json.encode(header) + b"\n")

    def _next_file(self, now: float) -> None:
        if self._files >= self._limits.files:
            raise RecordingEndedError(f"the recording is complete: {_reached(self._limits)} reached")
        path = numbered(self._first, self._files)
        self._output.close()
        self._written_before += self._output.size
        self._output = Output(path)
        self._files += 1
        self._started, self._t = float(int(now)), 0.0
        self._states.clear()
        self._write_header(self._baseline.sources)
        for frame in self._baseline.frames():
            self._put(now, frame)
        self._output.sync()

    def _write(self, at: float, frame: Frame) -> None:
        self._note_epoch(at, frame)
        if isinstance(frame, StreamState) and not self._is_news(frame):
            return
        self._put(at, frame)
        if self._limits.files > 1:
            self._baseline.apply(frame)

    def _is_news(self, frame: StreamState) -> bool:
        """Progress of a long list is not recorded, so most states are like the one before."""
        said = (frame.phase, frame.message, frame.until)
        if self._states.get(frame.source.id) == said:
            return False
        self._states[frame.source.id] = said
        return True

    def _note_epoch(self, at: float, frame: Frame) -> None:
        if not isinstance(frame, Listed | Changed):
            return
        before = self._epochs.setdefault(frame.source.id, frame.epoch)
        if frame.epoch != before:
            self._epochs[frame.source.id] = frame.epoch
            self._put(at, Mark(f"the server's state of {frame.source.kind} went back in time"))

    def _put(self, at: float, frame: Frame) -> None:
        self._t = max(self._t, round(at - self._started, 3))
        self._treatment.refresh()
        self._output.write(msgspec.json.encode(_line(self._t, frame, self._treatment)) + b"\n")
        self.frames += 1


def _reached(limits: Limits) -> str:
    return f"its limit of {limits.size / 2**20:.0f} MiB or {limits.seconds / 3600:.1f} h is"


class _About(Struct, frozen=True, omit_defaults=True, rename="camel"):
    """A line about a source; keys in the order in which people read them."""

    t: float
    path: str
    type: str
    kind: str = ""
    resource_version: str = ""
    state: str = ""
    message: str = ""
    until: float | None = None
    epoch: int = 0
    items: list[Any] | None = None
    object: Any = None


class _Note(Struct, frozen=True, omit_defaults=True):
    t: float
    type: str
    text: str = ""
    action: ActionTaken | None = None


def _line(t: float, frame: Frame, treatment: Plain) -> _About | _Note:
    match frame:
        case Listed(source=source):
            items = [treatment.object(obj) for obj in frame.items]
            return _about(
                t, source, "LIST", treatment, resource_version=frame.resource_version, epoch=frame.epoch, items=items
            )
        case Changed(source=source):
            return _about(t, source, frame.type, treatment, epoch=frame.epoch, object=treatment.object(frame.object))
        case StreamState(source=source):
            message = treatment.text(frame.message)
            return _about(t, source, "STATE", treatment, state=frame.phase, message=message, until=frame.until)
        case Mark(text=text):
            return _Note(t, "MARK", treatment.text(text))
        case ActionTaken():
            return _Note(t, "ACTION", action=treatment.action(frame))


def _about(t: float, source: Source, what: str, treatment: Plain, **rest: Any) -> _About:
    """Of an owner's kind the path does not say everything, and it may come after the header."""
    kind = source.kind if named_type(source.kind) else ""
    return _About(t, treatment.path(source.path), what, kind, **rest)

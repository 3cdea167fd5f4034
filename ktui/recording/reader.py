"""Read recordings: JSON lines, version 1, plain, gzip or zstd. A recording is untrusted input.

The first line is the header, every other line one frame with `t` seconds since `created`. Unknown keys and types are skipped
and counted in `notes`; a last line that is cut off ends the recording without an error, so that one whose writer was killed
still plays. Sizes are bounded: a line, and what a compressed file may unpack to.
"""

from __future__ import annotations

import gzip
import io
import stat
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple, Protocol, cast

import msgspec
from msgspec import Struct, field

from ktui.errors import UsageError
from ktui.model.decode import NOT_DECODED, DecodeError, decode_object
from ktui.model.frame import (
    NOT_RECORDED,
    ActionTaken,
    Changed,
    ChangeType,
    Frame,
    Listed,
    Mark,
    Source,
    StreamPhase,
    StreamState,
)
from ktui.model.kinds import KINDS, Kind, kind_at
from ktui.model.meta import Object
from ktui.model.parts import Names, Parts
from ktui.model.time import parse_time
from ktui.recording.longlines import LongList, TooLongError, read_line

VERSION = 1
MAX_LINE = 256 * 2**20  # a LIST of a large cluster is one line
MAX_UNPACKED = 4 * 2**30
MAX_ITEMS = 500_000  # of one list; the least of an object takes three bytes of a line, but hundreds of memory

_LATEST = 1e10  # seconds; a t beyond is none

_PHASES = frozenset(
    ("absent", "no-access", "needs-login", "listing", "watching", "quiet", "waiting", "polling", "stopped")
)


class Timed(NamedTuple):
    """A frame and when it happened, in seconds since the recording's `created`."""

    t: float
    frame: Frame


class Glimpse(NamedTuple):
    """The first objects of a list; `epoch` is the list's."""

    source: Source
    epoch: int
    objects: tuple[Object, ...]


class HeaderResource(Struct, frozen=True):
    path: str
    kind: str


class HeaderServer(Struct, frozen=True, rename="camel"):
    git_version: str = ""


class Header(Struct, frozen=True):
    """The first line. More keys may follow in later minor revisions; they are ignored."""

    ktui: str
    version: int
    created: str
    title: str = ""
    server: HeaderServer = field(default_factory=HeaderServer)
    resources: tuple[HeaderResource, ...] = ()
    context: str = ""
    redacted: bool = True

    @property
    def start(self) -> float:
        """Unix seconds of t = 0."""
        return parse_time(self.created) or 0.0


class _Line(Struct):
    type: str = ""
    t: float | None = None
    path: str = ""
    kind: str = ""  # of an owner, of which the path does not say it
    resource_version: str = field(default="", name="resourceVersion")
    items: msgspec.Raw = msgspec.Raw(b"[]")
    object: msgspec.Raw = msgspec.Raw(b"null")
    state: str = ""
    message: str = ""
    until: float | None = None
    epoch: int = 0
    text: str = ""
    action: msgspec.Raw = msgspec.Raw(b"null")


_decoder = msgspec.json.Decoder(_Line)


class Recording:
    """An opened recording. `header` is there at once; frames are decoded while iterating, each pass from the start."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.notes: Counter[str] = Counter()
        self._names: Names | None = None  # of the lists that the recording begins with, while they are read
        with _open(path) as stream:
            self.header = self._header(stream)
        self._sources = {
            r.path: (Source(r.kind, r.path, _namespace(r.path)), kind, version)
            for r in self.header.resources
            if (kind := kind_at(r.kind, r.path)) and (version := _version(kind, r.path))
        }

    @property
    def name(self) -> str:
        """For messages."""
        return str(self.path)

    @property
    def start(self) -> float:
        """Unix seconds of t = 0."""
        return self.header.start

    def frames(self, given_up: Callable[[], bool] = lambda: False) -> Iterator[Timed]:
        """All frames in order. `t` never falls: a line that goes back counts as happening at the time of the one before.
        `given_up` is asked every few milliseconds; the frames end early then."""
        self.notes.clear()
        self._names = Names()
        try:
            yield from self._absent()
            yield from self._recorded(given_up)
        finally:
            self._names = None

    def _recorded(self, given_up: Callable[[], bool]) -> Iterator[Timed]:
        now = 0.0
        for line in self._lines():
            document = self._document(line)
            if document is None:
                continue
            t = document.t
            if t is None or not 0 <= t < _LATEST:
                self.notes["lines without a usable t"] += 1
                if isinstance(line, LongList):
                    line.skip()
                continue
            now = max(now, t)
            if document.type not in ("LIST", "STATE"):
                self._names = None
            frame = self._long_list(document, line, given_up) if isinstance(line, LongList) else self._frame(document)
            if given_up():
                return
            if frame is not None:
                yield Timed(now, frame)

    def glimpses(self) -> Iterator[Glimpse]:
        """The first objects of each long list that the recording begins with: what can be shown long before all is decoded.
        What is wrong with the file is left to `frames` to find."""
        for line in self._lines():
            document = self._document(line)
            if document is None or document.type not in ("LIST", "STATE"):
                return
            if not isinstance(line, LongList):
                continue
            if (known := self._known(document)) is not None:
                items = next(line.pieces())
                source, kind, version = known
                yield Glimpse(
                    source,
                    document.epoch,
                    self._objects(items, kind, version, Parts(worth_it=0)) if items[:1] == b"[" else (),
                )
            line.skip()

    def _absent(self) -> Iterator[Timed]:
        """A kind that was not recorded is shown as such, not as empty."""
        recorded = {source.kind for source, _, _ in self._sources.values()}
        for kind in KINDS.values():
            if kind.name not in recorded:
                source = Source(kind.name, kind.path(kind.versions[0]))
                yield Timed(0.0, StreamState(source, "absent", NOT_RECORDED))

    def _header(self, stream: IO[bytes]) -> Header:
        line = stream.readline(MAX_LINE + 1)
        if len(line) > MAX_LINE:
            raise self._too_long()
        try:
            header = msgspec.json.decode(line, type=Header)
        except NOT_DECODED:
            raise UsageError(f"{self.path} is not a ktui recording: its first line is no header") from None
        if header.ktui != "recording":
            raise UsageError(f"{self.path} is not a ktui recording: its first line is no header")
        if header.version != VERSION:
            raise UsageError(
                f"{self.path} is a recording of version {header.version}; this ktui reads version {VERSION}"
            )
        if parse_time(header.created) is None:
            raise UsageError(f"{self.path}: the header's time of creation is not a time")
        return header

    def _lines(self) -> Iterator[bytes | LongList]:
        try:
            with _open(self.path) as stream:
                stream.readline(MAX_LINE)
                while line := read_line(stream, MAX_LINE):
                    yield line
        except TooLongError:
            raise self._too_long() from None

    def _too_long(self) -> UsageError:
        return UsageError(f"{self.path} has a line of more than {MAX_LINE // 2**20} MiB")

    def _document(self, line: bytes | LongList) -> _Line | None:
        """What a line says, without the items of a long list; None and a note when it is no frame."""
        if isinstance(line, LongList):
            found = _decoder.decode(line.head)
            if found.type == "LIST" and found.t is not None and self._known(found) is not None:
                return found
            line = line.whole()
        try:
            return _decoder.decode(line)
        except NOT_DECODED:
            self._note_no_frame(line)
        return None

    def _note_no_frame(self, line: bytes) -> None:
        if not line.endswith(b"\n"):
            self.notes["a last line that is cut off"] += 1
        elif line.strip():
            self.notes["lines that are not frames"] += 1

    def _frame(self, line: _Line) -> Frame | None:
        match line.type:
            case "LIST" | "ADDED" | "MODIFIED" | "DELETED" | "STATE":
                return self._about_source(line)
            case "MARK":
                return Mark(line.text)
            case "ACTION":
                return self._action(line)
            case "BOOKMARK":
                return None
            case _:
                self.notes[f"frames of the unknown type {line.type[:40]}"] += 1
                return None

    def _action(self, line: _Line) -> ActionTaken | None:
        try:
            return msgspec.json.decode(line.action, type=ActionTaken)
        except NOT_DECODED:
            self.notes["actions of an unknown shape"] += 1
            return None

    def _about_source(self, line: _Line) -> Frame | None:
        known = self._known(line)
        if known is None:
            self.notes[f"frames of {line.path[:120] or 'no path'}, which this ktui does not show"] += 1
            return None
        source, kind, version = known
        if line.type == "STATE":
            phase = cast("StreamPhase", line.state) if line.state in _PHASES else "waiting"
            return StreamState(source, phase, line.message, line.until)
        if line.type == "LIST":
            return self._list(line, source, kind, version)
        obj = self._object(line.object, kind, version)
        return Changed(source, cast("ChangeType", line.type), obj, line.epoch) if obj else None

    def _known(self, line: _Line) -> tuple[Source, Kind, str] | None:
        """Also a source that came after the header was written: a namespace of its own, a version after an upgrade, an owner."""
        path = line.path
        if path not in self._sources:
            owner = kind_at(line.kind, path)
            for kind in (owner,) if owner else KINDS.values():
                if version := _version(kind, path):
                    self._sources[path] = (Source(kind.name, path, _namespace(path)), kind, version)
                    break
        return self._sources.get(path)

    def _list(self, line: _Line, source: Source, kind: Kind, version: str) -> Listed:
        objects = self._objects(bytes(line.items), kind, version, self._parts())
        return Listed(source, line.resource_version, objects, line.epoch)

    def _long_list(self, head: _Line, line: LongList, given_up: Callable[[], bool]) -> Listed | None:
        known = self._known(head)
        if known is None:
            return None
        source, kind, version = known
        objects: list[Object] = []
        parts = self._parts()
        rest = head
        for piece in line.pieces():
            items = piece
            if not piece.startswith(b"["):
                try:
                    rest = _decoder.decode(piece)
                except NOT_DECODED:
                    self._note_no_frame(piece)
                    return None
                items = bytes(rest.items)
            objects += self._objects(items, kind, version, parts)
            self._check_size(len(objects))
            if given_up():
                return None
        at = head.resource_version or rest.resource_version
        return Listed(source, at, tuple(objects), head.epoch or rest.epoch)

    def _parts(self) -> Parts:
        return Parts(worth_it=0, names=self._names)

    def _check_size(self, items: int) -> None:
        if items > MAX_ITEMS:
            raise UsageError(f"{self.path} has a list of more than {MAX_ITEMS} objects")

    def _objects(self, items: bytes, kind: Kind, version: str, parts: Parts) -> tuple[Object, ...]:
        """The objects of a JSON array that can be read."""
        try:
            raws = msgspec.json.decode(items, type=list[msgspec.Raw])
        except NOT_DECODED:
            self.notes["lists without items"] += 1
            return ()
        self._check_size(len(raws))
        found = (self._object(raw, kind, version) for raw in raws)
        return tuple(parts.share(obj) for obj in found if obj is not None)

    def _object(self, raw: msgspec.Raw, kind: Kind, version: str) -> Object | None:
        try:
            return decode_object(kind, version, bytes(raw))
        except (DecodeError, *NOT_DECODED):
            self.notes[f"objects of {kind.plural} that cannot be read"] += 1
            return None


class _Unpacked(Protocol):
    def read1(self, size: int, /) -> bytes: ...

    def close(self) -> None: ...


class _Bounded(io.RawIOBase):
    """A decompressed stream that refuses to grow without end."""

    def __init__(self, inner: _Unpacked, raw: IO[bytes], path: Path, damaged: tuple[type[Exception], ...]) -> None:
        self._inner = inner
        self._damaged = damaged
        self._raw = raw
        self._path = path
        self._left = MAX_UNPACKED

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            # Not `read`, which loses what it has when the end is missing: up to a whole buffer of a recording cut off.
            data = self._inner.read1(len(buffer))
        except EOFError:
            return 0  # cut off: what was read so far is whole lines, or one that the reader notes
        except self._damaged as error:
            raise UsageError(f"{self._path} cannot be unpacked: {error}") from None
        self._left -= len(data)
        if self._left < 0:
            raise UsageError(f"{self._path} unpacks to more than {MAX_UNPACKED // 2**30} GiB")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._inner.close()
        self._raw.close()  # decompressors leave the file they were given open
        super().close()


def _version(kind: Kind, path: str) -> str:
    """The API version in a collection's path, "" when it is no path of this kind."""
    root = f"/apis/{kind.group}/" if kind.group else "/api/"
    version, _, rest = path.removeprefix(root).partition("/")
    return version if path.startswith(root) and rest.rpartition("/")[2] == kind.plural else ""


def _namespace(path: str) -> str:
    """The namespace in a collection's path, "" for all of them and for kinds that have none."""
    before, _, rest = path.partition("/namespaces/")
    return rest.partition("/")[0] if before and "/" in rest else ""


def _open(path: Path) -> IO[bytes]:
    """The recording's lines, unpacked; the form is told by the first bytes, whatever the file's name."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UsageError(f"{path} is not a regular file")
        raw = path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read the recording {path}: {error.strerror}") from None
    magic = raw.read(4)
    raw.seek(0)
    damaged: tuple[type[Exception], ...] = (OSError, zlib.error, ValueError)
    if magic[:2] == b"\x1f\x8b":
        inner: _Unpacked = cast("_Unpacked", gzip.GzipFile(fileobj=raw))
    elif magic == b"\x28\xb5\x2f\xfd":
        inner, own = _zstd(raw)
        damaged = (*damaged, own)
    else:
        inner = raw
    return io.BufferedReader(_Bounded(inner, raw, path, damaged), 2**20)


def _zstd(raw: IO[bytes]) -> tuple[_Unpacked, type[Exception]]:
    """The unpacked stream, and the error by which it says that the data is damaged."""
    try:
        from compression import zstd  # type: ignore[import-not-found]
    except ImportError:
        from backports import zstd
    return cast("_Unpacked", zstd.ZstdFile(raw)), zstd.ZstdError

"""List and watch, with the protocol of a Kubernetes 1.37 API server (apiserver, endpoints/handlers and storage/cacher)."""

from __future__ import annotations

import asyncio
import base64
import binascii
import gzip
import random
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Final

import msgspec
from msgspec import Struct

from ktui.demo import status
from ktui.demo.mvcc import JSON, Change, Compacted, Database, Key, Stored, plain
from ktui.demo.requests import Address, Shape
from ktui.demo.selectors import Predicate, field_selector, label_selector

GZIP_FROM: Final = 128 * 1024
"""Bytes; smaller bodies are not worth the server's time."""

_AT_ONCE: Final = 200  # objects that are encoded before others have their turn

_MATCHES: Final = ("Exact", "NotOlderThan")

Query = Mapping[str, str]


class ReadTimers(Struct, frozen=True):
    """Seconds, a real server's values."""

    freshness: float = 3.0  # how long a read waits for a revision that is not there yet
    bookmark: float = 60.0
    timeout: tuple[float, float] = (1800.0, 3600.0)  # of a watch that names none


class _Token(Struct):
    """What a continue token holds: the list's revision and the last key that was shown."""

    revision: int
    after: Key


class Options(Struct, frozen=True):
    """The checked query of a list. `matches` is None where everything does."""

    matches: Predicate | None
    revision: int
    limit: int = 0
    token: _Token | None = None


async def list_objects(database: Database, shape: Shape, address: Address, query: Query, timers: ReadTimers) -> JSON:
    """One page. Raises Refused: 400, 410 (token too old), 422, 504 (revision from the future)."""
    options = _list_options(query, shape.kind.name)
    await _wait_for(database, options.revision, timers)
    revision = options.token.revision if options.token else database.revision
    if query.get("resourceVersionMatch") == "Exact":
        revision = options.revision
    try:
        objects = database.stored(shape.kind.name, revision)
    except Compacted:
        if options.token is None:
            raise status.too_old(revision, database.compacted) from None
        raise status.continue_expired(_encode(_Token(database.revision, options.token.after))) from None
    after = options.token.after if options.token else ("", "")
    found = [
        (key, objects[key])
        for key in sorted(objects)
        if key > after and _in_scope(key, address) and _selects(options.matches, objects[key])
    ]
    # Any state will do for revision 0, so the answer comes from the cache, which has no pages.
    limit = options.limit if query.get("resourceVersion") != "0" else 0
    page = found[:limit] if limit else found
    metadata: JSON = {"resourceVersion": str(revision)}
    if len(page) < len(found):
        metadata["continue"] = _encode(_Token(revision, page[-1][0]))
        if not query.get("labelSelector") and not query.get("fieldSelector"):
            metadata["remainingItemCount"] = len(found) - len(page)
    return shape.list(metadata, [shape.item(obj) for _, obj in page])


def compressed(body: bytes, accept_encoding: str) -> bytes | None:
    """The body as one gzip member, when the client asks for it and it is large enough."""
    asked = "gzip" in (each.strip() for each in accept_encoding.split(","))
    return gzip.compress(body, 1, mtime=0) if asked and len(body) > GZIP_FROM else None


class Watch:
    """One watch request. The constructor raises Refused (400, 422) for parameters that do not go together; what is wrong from
    then on is an ERROR event, as everything that concerns versions."""

    def __init__(
        self,
        database: Database,
        shape: Shape,
        address: Address,
        query: Query,
        timers: ReadTimers,
        stopping: asyncio.Event,
    ) -> None:
        _check_watch(query)
        self._database = database
        self._shape = shape
        self._address = address
        self._timers = timers
        self._stopping = stopping
        self._matches = _selected(query, shape.kind.name)
        self._revision = _revision(query.get("resourceVersion", ""))
        self._initial_events = query.get("sendInitialEvents") == "true" or self._revision == 0
        self._bookmarks = query.get("allowWatchBookmarks") in ("true", "1")
        self._seconds = _timeout(query) or random.uniform(*timers.timeout)  # noqa: S311 (spreads reconnects)

    async def lines(self) -> AsyncGenerator[bytes]:
        """Lines of JSON, several at a time, until the time is up, the history is gone or the server stops."""
        deadline = asyncio.get_running_loop().time() + self._seconds
        with self._database.watching(self._shape.kind.name) as changed:
            try:
                if self._initial_events:
                    await _wait_for(self._database, self._revision, self._timers)
                    self._revision = self._database.revision
                    for data in self._initial():
                        yield data
                async for data in self._follow(changed, deadline):
                    yield data
            except status.Refused as refused:
                yield _line("ERROR", refused.status)

    async def _follow(self, changed: asyncio.Event, deadline: float) -> AsyncGenerator[bytes]:
        clock = asyncio.get_running_loop().time
        bookmark_at = clock() + self._timers.bookmark
        while not self._stopping.is_set():
            changed.clear()
            if lines := self._news():
                yield lines
            now = clock()
            if now >= deadline:
                return
            if now >= bookmark_at:
                bookmark_at = now + self._timers.bookmark
                if self._bookmarks and self._revision <= self._database.revision:
                    self._revision = self._database.revision
                    yield _line("BOOKMARK", self._shape.bookmark(self._revision, closes_initial=False))
            await _wait(changed, min(deadline, bookmark_at) - now)

    def _news(self) -> bytes:
        try:
            changes = self._database.changes(self._shape.kind.name, self._revision)
        except Compacted:
            raise status.too_old(self._revision, self._database.compacted) from None
        if changes:
            self._revision = changes[-1].revision
        return b"".join(self._event(change) for change in changes)

    def _initial(self) -> Iterator[bytes]:
        """Some lines at a time: a synthetic ADDED for every object, in no order, and the bookmark that ends them."""
        objects = [
            obj
            for key, obj in self._database.stored(self._shape.kind.name).items()
            if _in_scope(key, self._address) and _selects(self._matches, obj)
        ]
        random.Random(len(objects)).shuffle(objects)  # noqa: S311 (a real server's order follows from hashes)
        for start in range(0, len(objects), _AT_ONCE):
            yield b"".join(_line("ADDED", self._shape.object(obj)) for obj in objects[start : start + _AT_ONCE])
        if self._bookmarks:
            yield _line("BOOKMARK", self._shape.bookmark(self._revision, closes_initial=True))

    def _event(self, change: Change) -> bytes:
        """The line this watcher sees, b"" when it is not concerned. Leaving the selector is a deletion, entering an addition."""
        if not _in_scope(change.key, self._address):
            return b""
        before = change.previous is not None and _selects(self._matches, change.previous)
        after = change.type != "DELETED" and _selects(self._matches, change.object)
        if not before and not after:
            return b""
        type_ = "MODIFIED" if before and after else "ADDED" if after else "DELETED"
        cached = f"{type_} {self._shape.id}"
        if cached not in change.encoded:
            change.encoded[cached] = _line(type_, self._shape.object(change.object))
        return change.encoded[cached]


async def _wait_for(database: Database, revision: int, timers: ReadTimers) -> None:
    """Raises Refused (504) when the revision does not come about in time."""
    if revision > database.revision:
        await asyncio.sleep(timers.freshness)
    if revision > database.revision:
        raise status.too_large(revision, database.revision)


def _check_watch(query: Query) -> None:
    initial, match = query.get("sendInitialEvents"), query.get("resourceVersionMatch")
    if initial is not None and match != "NotOlderThan":
        raise status.bad_list_options(
            "resourceVersionMatch", "Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        )
    if initial is None and match is not None:
        raise status.bad_list_options(
            "resourceVersionMatch",
            "Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
        )


async def _wait(event: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        pass


def _line(type_: str, obj: JSON | msgspec.Raw) -> bytes:
    return msgspec.json.encode({"type": type_, "object": obj}) + b"\n"


def _in_scope(key: Key, address: Address) -> bool:
    return not address.namespace or key[0] == address.namespace


def _timeout(query: Query) -> float:
    """Seconds; 0 when the request names none. Raises Refused (400)."""
    text = query.get("timeoutSeconds", "0")
    seconds = _integer(text.removeprefix("-"))
    if seconds is None:
        raise status.bad_request(f"invalid timeoutSeconds: {text[:80]}")
    return -float(seconds) if text.startswith("-") else float(seconds)


def _list_options(query: Query, kind: str) -> Options:
    match, version, token = (
        query.get("resourceVersionMatch"),
        query.get("resourceVersion", ""),
        query.get("continue", ""),
    )
    if "sendInitialEvents" in query:
        raise status.bad_list_options("sendInitialEvents", "Forbidden: sendInitialEvents is forbidden for list")
    if match not in (None, "", *_MATCHES):
        listed = ", ".join(f'"{each}"' for each in (*_MATCHES, ""))
        why = f'Unsupported value: "{match}": supported values: {listed}'
        raise status.bad_options("ListOptions", "FieldValueNotSupported", "resourceVersionMatch", why)
    if match and not version:
        raise status.bad_list_options(
            "resourceVersionMatch", "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided"
        )
    if match and token:
        raise status.bad_list_options(
            "resourceVersionMatch", "Forbidden: resourceVersionMatch is forbidden when continue is provided"
        )
    if match == "Exact" and version == "0":
        raise status.bad_list_options(
            "resourceVersionMatch", 'Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
        )
    if token and version not in ("", "0"):
        raise status.bad_request("specifying resource version is not allowed when using continue")
    _timeout(query)
    limit = _integer(query.get("limit", "0"))
    if limit is None:
        raise status.bad_request(f"invalid limit: {query['limit'][:80]}")
    return Options(_selected(query, kind), _revision(version), limit, _decode(token) if token else None)


def _selects(matches: Predicate | None, stored: Stored) -> bool:
    return matches is None or matches(plain(stored))


def _selected(query: Query, kind: str) -> Predicate | None:
    if not query.get("labelSelector") and not query.get("fieldSelector"):
        return None
    labels = label_selector(query.get("labelSelector", ""))
    fields = field_selector(query.get("fieldSelector", ""), kind)
    return lambda obj: labels(obj) and fields(obj)


def _revision(text: str) -> int:
    revision = _integer(text or "0")
    if revision is None:
        raise status.Refused(400, "BadRequest", f"Invalid value: {text[:80]}: strconv.ParseUint: invalid syntax")
    return revision


def _integer(text: str) -> int | None:
    """A number without a sign that fits into 64 bits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None


def _encode(token: _Token) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _decode(text: str) -> _Token:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), type=_Token)
    except (binascii.Error, ValueError, msgspec.DecodeError):
        raise status.bad_request("continue key is not valid") from None

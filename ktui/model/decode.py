"""Bytes from the wire → typed objects, whatever version the server speaks, and whatever is wrong with single fields.

Two speeds. The fast one is msgspec's typed decoder. When a document does not fit (a null, a string where a number belongs, an
older shape), the slow one parses it to plain data, reshapes older versions, drops just the fields that do not fit, and
converts the rest: one odd field costs that field, never the row.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, Final, Generic, TypeVar, cast

import msgspec
from msgspec import Struct, field

from ktui.errors import KtuiError
from ktui.model import lenient, reshape
from ktui.model.kinds import Kind
from ktui.model.meta import Labels, Object, Wire

INITIAL_EVENTS_END = "k8s.io/initial-events-end"

NOT_DECODED: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What msgspec raises for bytes that are not the JSON that was expected; the last one for a million brackets."""


class DecodeError(KtuiError):
    """Not a Kubernetes document at all: not JSON, or not a mapping where one is due."""


class StatusCause(Wire, frozen=True):
    reason: str | None = None
    message: str | None = None
    field: str | None = None


class StatusDetails(Wire, frozen=True):
    retry_after_seconds: int | None = None
    causes: tuple[StatusCause, ...] | None = None


class ListMeta(Wire, frozen=True):
    resource_version: str | None = None
    continue_: str | None = field(default=None, name="continue")
    remaining_item_count: int | None = None


class Status(Wire, frozen=True):
    """metav1.Status: how the API says no."""

    metadata: ListMeta | None = None
    status: str | None = None
    message: str | None = None
    reason: str | None = None
    code: int | None = None
    details: StatusDetails | None = None


class ListPage(Struct, frozen=True):
    """One page of a list. `continue_` is "" on the last one, `remaining` None when the server did not say."""

    items: tuple[Object, ...]
    resource_version: str
    continue_: str = ""
    remaining: int | None = None


class WatchEvent(Struct, frozen=True, gc=False):
    """One line of a watch. `object` for ADDED, MODIFIED, DELETED; `status` for ERROR (None when it is not a Status);
    `resource_version` for those and BOOKMARK; `initial_events_end` on the bookmark that closes a streaming list."""

    type: str
    object: Object | None = None
    status: Status | None = None
    resource_version: str = ""
    initial_events_end: bool = False


T = TypeVar("T", bound=Object)


class _Event(Struct, Generic[T], gc=False):
    type: str
    object: T


class _Envelope(Struct):
    type: str = ""
    object: msgspec.Raw = msgspec.Raw(b"null")


class _List(Struct, Generic[T]):
    items: tuple[T, ...]
    kind: str = ""
    metadata: ListMeta = ListMeta()


class _RawList(Struct):
    items: list[msgspec.Raw]
    kind: str = ""
    metadata: ListMeta = ListMeta()


class _BookmarkMeta(Wire, frozen=True):
    resource_version: str = ""
    annotations: Labels | None = None


class _Bookmark(Wire, frozen=True):
    metadata: _BookmarkMeta | None = None


@functools.cache
def _object_decoder(kind: type[Object]) -> msgspec.json.Decoder[Object]:
    return msgspec.json.Decoder(kind)


@functools.cache
def _event_decoder(kind: type[Object]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_Event[kind])  # type: ignore[valid-type]


@functools.cache
def _list_decoder(kind: type[Object]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(_List[kind])  # type: ignore[valid-type]


_envelope_decoder = msgspec.json.Decoder(_Envelope)
_status_decoder = msgspec.json.Decoder(Status)
_bookmark_decoder = msgspec.json.Decoder(_Bookmark)


def decode_object(kind: Kind, version: str, data: bytes) -> Object:
    """One object. Raises DecodeError when `data` is not a JSON mapping."""
    if reshape.needed(kind.name, version):
        return from_builtins(kind, version, _parse(data))
    try:
        return _object_decoder(kind.type).decode(data)
    except NOT_DECODED:
        return from_builtins(kind, version, _parse(data))


def from_builtins(kind: Kind, version: str, document: object) -> Object:
    """An object from plain data (a recording's line, a parsed document). Raises DecodeError when it is not a mapping."""
    if not isinstance(document, dict):
        raise DecodeError(f"expected a {kind.name}, got {_type_name(document)}")
    shaped = reshape.apply(kind.name, version, document)
    try:
        return msgspec.convert(shaped, kind.type)
    except (msgspec.ValidationError, RecursionError):
        return cast("Object", lenient.convert(shaped, kind.type))


def decode_list(kind: Kind, version: str, data: bytes) -> ListPage:
    """One page of a list. Raises DecodeError for anything else than a list: a Status, a Table, not JSON, no items at all."""
    if not reshape.needed(kind.name, version):
        try:
            page = _list_decoder(kind.type).decode(data)
        except NOT_DECODED:
            pass
        else:
            if not page.kind or page.kind.endswith("List"):
                return _page(page.items, page.metadata)
    document = _parse(data)
    if (
        not isinstance(document, dict)
        or not str(document.get("kind", "List")).endswith("List")
        or "items" not in document
    ):
        what = document.get("kind", "a mapping") if isinstance(document, dict) else _type_name(document)
        raise DecodeError(f"expected a list of {kind.plural}, got {str(what)[:60]}")
    items = document["items"]
    if items is not None and not isinstance(items, list):
        raise DecodeError(f"the items of the list of {kind.plural} are {_type_name(items)}")
    meta = cast("ListMeta", lenient.convert(document.get("metadata") or {}, ListMeta))
    return _page(tuple(from_builtins(kind, version, item) for item in items or ()), meta)


def decode_list_slowly(kind: Kind, version: str, data: bytes) -> Iterator[ListPage | None]:
    """The same, one object at a time: None after each, the page at the end. For pages that would hold up everything else."""
    try:
        raw = msgspec.json.decode(data, type=_RawList)
    except NOT_DECODED:
        raw = None
    if raw is None or (raw.kind and not raw.kind.endswith("List")):
        yield decode_list(kind, version, data)  # says what is wrong, or copes with it
        return
    items = []
    for item in raw.items:
        items.append(decode_object(kind, version, bytes(item)))
        yield None
    yield _page(tuple(items), raw.metadata)


def decode_event(kind: Kind, version: str, line: bytes) -> WatchEvent:
    """One line of a watch. Raises DecodeError when the line is not JSON or its object is not a mapping."""
    if not reshape.needed(kind.name, version):
        try:
            event = _event_decoder(kind.type).decode(line)
        except NOT_DECODED:
            pass
        else:
            if event.type in ("ADDED", "MODIFIED", "DELETED"):
                return WatchEvent(event.type, event.object, None, event.object.metadata.resource_version)
    try:
        envelope = _envelope_decoder.decode(line)
    except NOT_DECODED as error:
        raise DecodeError(f"a line of the watch of {kind.plural} is not JSON: {_reason(error)}") from None
    raw = bytes(envelope.object)
    if envelope.type == "ERROR":
        return WatchEvent("ERROR", status=_status(raw))
    if envelope.type == "BOOKMARK":
        return _bookmark(raw)
    obj = decode_object(kind, version, raw)
    return WatchEvent(envelope.type, obj, None, obj.metadata.resource_version)


def decode_status(data: bytes) -> Status | None:
    """The Status a failed request carries, None when the body is something else (a proxy's page, plain text)."""
    try:
        status = _status_decoder.decode(data)
    except NOT_DECODED:
        return None
    return status if status.status is not None or status.code is not None else None


def _status(raw: bytes) -> Status | None:
    return decode_status(raw)


def _bookmark(raw: bytes) -> WatchEvent:
    try:
        bookmark = _bookmark_decoder.decode(raw)
    except NOT_DECODED as error:
        raise DecodeError(f"a bookmark is malformed: {_reason(error)}") from None
    meta = bookmark.metadata or _BookmarkMeta()
    ends = (meta.annotations or {}).get(INITIAL_EVENTS_END) == "true"
    return WatchEvent("BOOKMARK", None, None, meta.resource_version, ends)


def _page(items: tuple[Object, ...], meta: ListMeta) -> ListPage:
    return ListPage(items, meta.resource_version or "", meta.continue_ or "", meta.remaining_item_count)


def _parse(data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except NOT_DECODED as error:
        raise DecodeError(f"not JSON: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """The decoder's words: they name positions and types, never content."""
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)[:120]


def _type_name(value: object) -> str:
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")

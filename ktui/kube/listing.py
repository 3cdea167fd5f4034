"""A complete list in pages, whatever happens between them. The requests themselves are the caller's."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
from msgspec import Struct

from ktui.errors import KtuiError
from ktui.kube.failures import ApiError
from ktui.model.decode import NOT_DECODED, DecodeError, ListMeta, ListPage, decode_list, decode_list_slowly
from ktui.model.kinds import Kind
from ktui.model.meta import Object
from ktui.model.parts import Parts
from ktui.turns import TURNS

PAGE: Final = 500
LARGER_PAGE: Final = 1000
SMALLEST_PAGE: Final = 50
AT_ONCE: Final = 256 * 1024
"""Bytes of a page that is decoded in one go: about two milliseconds."""
TURN: Final = 0.004
"""Seconds of decoding before others have their turn."""
MAX_OBJECTS: Final = 1_000_000
"""Of one list: far more than the largest clusters have. A server whose list never ends is not read for ever."""

Fetch = Callable[[dict[str, str]], Awaitable[bytes]]
"""Query parameters → the body of that page. Raises ApiError and the other failures of a request."""
Progress = Callable[[int, int], None]
"""(items so far, expected in all or 0)."""


class Snapshot(Struct, frozen=True):
    """A whole collection at one version. `undecodable` objects are missing from it; `cached` means that the server answered
    from memory, so it may be older than what was seen before."""

    items: tuple[Object, ...]
    resource_version: str
    undecodable: int = 0
    cached: bool = False


class TooMany(KtuiError):
    """A list without end, as far as we can tell."""

    def __init__(self, kind: Kind) -> None:
        super().__init__(f"more than {MAX_OBJECTS} {kind.plural}: choose a namespace")


class _StartOver(Exception):
    """The pages do not belong together, or the server forgot the version they began with."""


async def read_pages(kind: Kind, version: str, fetch: Fetch, progress: Progress, size: int = PAGE) -> Snapshot:
    """The collection at one version. Two tries in pages, then one request for everything from the server's cache: on a cluster
    that changes faster than it can be paged through, that is the only thing that ends.

    Raises DecodeError when the answers are no lists of this kind, TooMany when there is no end to them.
    """
    for limit in (size, max(size, LARGER_PAGE)):
        try:
            return await _Pages(kind, version, fetch, progress, limit).read()
        except _StartOver:
            continue
    page = await _decode(kind, version, await fetch({"resourceVersion": "0"}))
    return Snapshot(tuple(await _sharing(Parts(), page.items)), page.resource_version, cached=True)


class _Pages:
    def __init__(self, kind: Kind, version: str, fetch: Fetch, progress: Progress, size: int) -> None:
        self._kind = kind
        self._version = version
        self._fetch = fetch
        self._progress = progress
        self._size = size
        self._undecodable = 0

    async def read(self) -> Snapshot:
        items: list[Object] = []
        parts = Parts()
        resource_version, token = "", ""
        asked = 0  # for so many objects; pages may be empty
        while True:
            page = await self._page(token)
            asked += max(self._size, len(page.items))
            if asked > MAX_OBJECTS:
                raise TooMany(self._kind)
            if resource_version and page.resource_version != resource_version:
                raise _StartOver
            resource_version, token = page.resource_version, page.continue_
            items += await _sharing(parts, page.items)
            if not token:
                return Snapshot(tuple(items), resource_version, self._undecodable)
            self._progress(len(items), len(items) + page.remaining if page.remaining else 0)

    async def _page(self, token: str) -> ListPage:
        """A page that cannot be decoded is asked for again in halves, down to the one object that is to blame."""
        size = self._size
        while True:
            body = await self._body(token, size)
            try:
                return await _decode(self._kind, self._version, body)
            except DecodeError:
                if size == 1:
                    page = _without_its_object(body)
                    self._undecodable += 1
                    return page
                size = max(1, size // 2)

    async def _body(self, token: str, size: int) -> bytes:
        query = {"limit": str(size)} | ({"continue": token} if token else {})
        try:
            return await self._fetch(query)
        except ApiError as error:
            if error.expired:
                # The answer holds a token for the rest as it is by now, which does not fit the first pages.
                raise _StartOver from None
            raise


async def _decode(kind: Kind, version: str, body: bytes) -> ListPage:
    """A page, a little at a time when it is large: half a thousand ResourceSlices of 128 devices take a quarter of a second."""
    if len(body) <= AT_ONCE:
        return decode_list(kind, version, body)
    turn = time.perf_counter()
    for page in decode_list_slowly(kind, version, body):
        if page is not None:
            return page
        if time.perf_counter() - turn > TURN:
            await TURNS.give_way()
            turn = time.perf_counter()
    raise DecodeError("a list without an end")


async def _sharing(parts: Parts, items: tuple[Object, ...]) -> list[Object]:
    """The same objects, a little at a time."""
    shared = []
    turn = time.perf_counter()
    for obj in items:
        shared.append(parts.share(obj))
        if time.perf_counter() - turn > TURN:
            await TURNS.give_way()
            turn = time.perf_counter()
    return shared


class _Anything(Struct):
    items: list[msgspec.Raw]
    metadata: ListMeta = ListMeta()


def _without_its_object(body: bytes) -> ListPage:
    """A page of one, reduced to its metadata. Raises DecodeError when it is no page of one."""
    try:
        page = msgspec.json.decode(body, type=_Anything)
    except NOT_DECODED:
        raise DecodeError("an object of the list cannot be decoded, nor the page around it") from None
    if len(page.items) != 1:
        raise DecodeError("an answer that should be a list cannot be decoded")
    meta = page.metadata
    return ListPage((), meta.resource_version or "", meta.continue_ or "", meta.remaining_item_count)

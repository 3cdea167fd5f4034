"""What a cluster serves: API discovery and the choice of a version for each kind.

Aggregated discovery (KEP-3352) gives everything in two requests, with ETags; servers or proxies that do not know it get the older
one, a request a group version, for our groups only and for those of owners that turn up. A group that is stale or fails keeps its
last good answer: a broken aggregated API must not make a kind disappear.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

import msgspec
from msgspec import Struct

from ktui.errors import KtuiError
from ktui.kube.answers import decoded
from ktui.kube.failures import ApiError
from ktui.kube.gate import Hold
from ktui.kube.patience import TRIES, in_silence, patiently
from ktui.kube.transport import Response, Transport
from ktui.model.kinds import KINDS, Kind, owning_kind
from ktui.model.meta import Wire
from ktui.model.owner import OwnerType, named_type
from ktui.model.version import numbers

ACCEPT: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

Groups = dict[str, frozenset[tuple[str, str]]]
"""Group → (version, plural) of what can be listed in it; the core group is ""."""


class Collection(Struct, frozen=True):
    """Where the objects of a type are: `versions` in the server's order of preference."""

    plural: str
    versions: tuple[str, ...]
    namespaced: bool


Collections = dict[OwnerType, Collection]


class Served(Struct, frozen=True):
    """`stale` holds groups whose present answer is missing or declared stale, for which the last good one is used.
    `collections` has everything that can be listed and watched, by type; of older discovery what is in the groups that were
    asked for."""

    git_version: str
    groups: Groups
    stale: frozenset[str] = frozenset()
    collections: Collections = msgspec.field(default_factory=dict)

    def version(self, kind: Kind) -> str | None:
        """The version to use: the first preferred one that is served, of an owner's kind the one that the server prefers; None
        when the kind is not served."""
        if (type_ := named_type(kind.name)) is not None:
            found = self.collections.get(type_)
            return found.versions[0] if found else None
        served = self.groups.get(kind.group, frozenset())
        return next((version for version in kind.versions if (version, kind.plural) in served), None)

    def versions(self) -> dict[str, str]:
        """The version to use of every kind that is served, by the kind's name."""
        return {name: version for name, kind in KINDS.items() if (version := self.version(kind))}

    def owner(self, type_: OwnerType) -> Kind | None:
        """The kind of an owner that a reference names; None when discovery does not tell of it."""
        found = self.collections.get(type_)
        return owning_kind(type_, found.plural, found.versions, namespaced=found.namespaced) if found else None

    @property
    def streaming_lists(self) -> bool:
        """Whether to try them: WatchList is on by default since 1.34."""
        major, minor = numbers(self.git_version)
        return (major, minor) >= (1, 34) or not major


class Discovery:
    """Asks, remembers, compares. One for each connection; `refresh` is not re-entrant. While the server wants to be left alone,
    `on_hold` is told, as often as that (`tries`; None: for ever)."""

    def __init__(
        self,
        transport: Transport,
        kinds: Iterable[Kind] = tuple(KINDS.values()),
        *,
        on_hold: Callable[[Hold], None] = in_silence,
        tries: int | None = TRIES,
    ) -> None:
        self._transport = transport
        self._on_hold = on_hold
        self._tries = tries
        self._kinds = tuple(kinds)
        self._documents = {"/api": _Remembered(), "/apis": _Remembered()}
        self._unasked: frozenset[str] = frozenset()  # groups that older discovery names, and that nobody wanted yet
        self._wanted: set[str] = set()
        self.served: Served | None = None

    def want(self, group: str) -> bool:
        """Ask for this group as well from now on; whether that may tell of more than is known."""
        if group not in self._unasked:
            return False
        self._wanted.add(group)
        return True

    async def refresh(self) -> Served:
        """The present answer. Raises KtuiError when there is none; `served` is then the last one, with every group stale."""
        try:
            version, (core, core_stale, _), (named, named_stale, collections) = await asyncio.gather(
                self._version(), self._root("/api"), self._root("/apis")
            )
        except KtuiError:
            if self.served is not None:
                everything = frozenset(kind.group for kind in self._kinds)
                self.served = msgspec.structs.replace(self.served, stale=everything)
            raise
        groups, stale = core | named, core_stale | named_stale
        if self.served is not None:
            groups |= {group: self.served.groups[group] for group in stale if group in self.served.groups}
            collections |= {type_: c for type_, c in self.served.collections.items() if type_.group in stale}
        self.served = Served(version, groups, stale, collections)
        return self.served

    async def _ask(self, path: str, headers: Mapping[str, str] | None = None, stall: float | None = None) -> Response:
        ask = partial(self._transport.request, "GET", path, headers=headers, stall=stall)
        return await patiently(self._transport, ask, self._on_hold, self._tries)

    async def _version(self) -> str:
        answer = await self._ask("/version")
        return decoded(_Version, answer, self._transport.target.host).git_version

    async def _root(self, root: str) -> tuple[Groups, frozenset[str], Collections]:
        remembered = self._documents[root]
        headers = {"Accept": ACCEPT, **self._transport.compression}
        if remembered.etag:
            headers["If-None-Match"] = remembered.etag
        # Of a cluster with many kinds it is a megabyte: no limit while it flows.
        answer = await self._ask(root, headers=headers, stall=self._transport.timers.short_get)
        if root == "/apis":
            self._unasked = frozenset()
        if answer.status == 304:
            return remembered.groups, remembered.stale, dict(remembered.collections)
        host = self._transport.target.host
        if "apidiscovery" not in answer.headers.get("Content-Type", ""):
            return await self._legacy(root, answer)
        document = decoded(_DiscoveryList, answer, host)
        (groups, stale), collections = _aggregated(document), _collections(document)
        self._documents[root] = _Remembered(answer.headers.get("ETag", ""), groups, stale, collections)
        return groups, stale, dict(collections)

    async def _legacy(self, root: str, answer: Response) -> tuple[Groups, frozenset[str], Collections]:
        groups: Groups = {}
        collections: Collections = {}
        stale: set[str] = set()
        for group, version in self._to_ask(root, answer):
            try:
                path = f"/apis/{group}/{version}" if group else f"/api/{version}"
                resources = decoded(_ResourceList, await self._ask(path), self._transport.target.host).resources
            except ApiError as error:
                if error.status != 404:  # 404: withdrawn between the two requests
                    stale.add(group)
                continue
            listable = frozenset((version, each.name) for each in resources if "list" in each.verbs)
            groups[group] = groups.get(group, frozenset()) | listable
            for each in resources:
                if {"list", "watch"} <= set(each.verbs):
                    _collect(collections, OwnerType(group, each.kind), each.name, version, namespaced=each.namespaced)
        return groups, frozenset(stale), collections

    def _to_ask(self, root: str, answer: Response) -> list[tuple[str, str]]:
        """Groups with their versions, in the server's order of preference."""
        host = self._transport.target.host
        if root == "/api":
            served = [("", version) for version in decoded(_Versions, answer, host).versions]
        else:
            listed = decoded(_GroupList, answer, host)
            served = [(group.name, each.version) for group in listed.groups for each in group.versions]
        ours = {(kind.group, version) for kind in self._kinds for version in kind.versions}
        asked = [each for each in served if each in ours or each[0] in self._wanted]
        if root == "/apis":
            self._unasked = frozenset(group for group, _ in served if group not in self._wanted)
        return asked


class _Remembered(Struct, frozen=True):
    etag: str = ""
    groups: Groups = msgspec.field(default_factory=dict)
    stale: frozenset[str] = frozenset()
    collections: Collections = msgspec.field(default_factory=dict)


class _Version(Wire, frozen=True):
    git_version: str


class _ResponseKind(Wire, frozen=True):
    kind: str = ""


class _Resource(Wire, frozen=True):
    resource: str = ""
    response_kind: _ResponseKind | None = None
    scope: str = ""
    verbs: tuple[str, ...] | None = None


class _GroupVersion(Wire, frozen=True):
    version: str = ""
    resources: tuple[_Resource, ...] | None = None
    freshness: str = ""


class _Name(Wire, frozen=True):
    name: str = ""


class _Group(Wire, frozen=True):
    metadata: _Name = _Name()
    versions: tuple[_GroupVersion, ...] | None = None


class _DiscoveryList(Wire, frozen=True):
    items: tuple[_Group, ...]


class _Versions(Wire, frozen=True):
    versions: tuple[str, ...]


class _ServedVersion(Wire, frozen=True):
    version: str = ""


class _LegacyGroup(Wire, frozen=True):
    name: str = ""
    versions: tuple[_ServedVersion, ...] = ()


class _GroupList(Wire, frozen=True):
    groups: tuple[_LegacyGroup, ...]


class _LegacyResource(Wire, frozen=True):
    name: str = ""
    kind: str = ""
    namespaced: bool = False
    verbs: tuple[str, ...] = ()


class _ResourceList(Wire, frozen=True):
    resources: tuple[_LegacyResource, ...]


def _aggregated(document: _DiscoveryList) -> tuple[Groups, frozenset[str]]:
    groups: Groups = {}
    stale: set[str] = set()
    for group in document.items:
        name = group.metadata.name
        groups[name] = frozenset(
            (each.version, resource.resource)
            for each in group.versions or ()
            for resource in each.resources or ()
            if "list" in (resource.verbs or ())
        )
        if any(each.freshness == "Stale" for each in group.versions or ()):
            stale.add(name)
    return groups, frozenset(stale)


def _collections(document: _DiscoveryList) -> Collections:
    found: Collections = {}
    for group in document.items:
        for each in group.versions or ():
            for resource in each.resources or ():
                if resource.response_kind is None or not {"list", "watch"} <= set(resource.verbs or ()):
                    continue
                type_ = OwnerType(group.metadata.name, resource.response_kind.kind)
                _collect(found, type_, resource.resource, each.version, namespaced=resource.scope == "Namespaced")
    return found


def _collect(found: Collections, type_: OwnerType, plural: str, version: str, *, namespaced: bool) -> None:
    before = found.get(type_)
    found[type_] = Collection(plural, (*before.versions, version) if before else (version,), namespaced)

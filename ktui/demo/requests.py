"""A request's URL, taken apart: which resource it names, in which version, and how the answer is to be shaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from ktui.demo.mvcc import JSON, Key, Lazy, Stored, plain
from ktui.model.kinds import Kind

Serves = Mapping[str, tuple[str, ...]]
"""Kind's name → the versions that are served, in the server's order of preference."""

_PATH: Final = re.compile(
    r"/(?:api/(?P<core>v1)|apis/(?P<group>[^/]+)/(?P<version>[^/]+))"
    r"(?:/namespaces/(?P<namespace>[^/]+)(?=/[^/]))?"
    r"/(?P<plural>[^/]+)(?:/(?P<name>[^/]+)(?:/(?P<subresource>[^/]+))?)?"
)
_METADATA: Final = re.compile(r"as=PartialObjectMetadata(List)?\b")


@dataclass(frozen=True)
class Address:
    """A resource request. `kind` is None when this server does not serve the resource (in this version, at this scope)."""

    group: str
    version: str
    plural: str
    namespace: str
    name: str
    subresource: str
    kind: Kind | None

    @property
    def key(self) -> Key:
        return (self.namespace, self.name)

    @property
    def group_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version


def parse(path: str, kinds: Mapping[str, Kind], serves: Serves) -> Address | None:
    """None for a path that is not a resource's. A namespace of its own (/api/v1/namespaces/x) is a resource too."""
    match = _PATH.fullmatch(path)
    if match is None:
        return None
    group, version = match["group"] or "", match["version"] or match["core"]
    plural, namespace, name, subresource = (
        match["plural"],
        match["namespace"] or "",
        match["name"] or "",
        match["subresource"] or "",
    )
    kind = next((each for each in kinds.values() if each.group == group and each.plural == plural), None)
    if kind is not None and (version not in serves.get(kind.name, ()) or (not kind.namespaced and namespace)):
        kind = None
    return Address(group, version, plural, namespace, name, subresource, kind)


@dataclass(frozen=True)
class Shape:
    """How objects are shown: in which version, whole or their metadata only."""

    kind: Kind
    group_version: str
    metadata_only: bool = False

    @classmethod
    def of(cls, kind: Kind, address: Address, accept: str) -> Shape:
        return cls(kind, address.group_version, _METADATA.search(accept) is not None)

    @property
    def id(self) -> str:
        return f"{self.group_version} metadata" if self.metadata_only else self.group_version

    def object(self, stored: Stored) -> JSON | msgspec.Raw:
        """With kind and apiVersion, as a GET or a watch shows it."""
        if self.metadata_only:
            return {
                "kind": "PartialObjectMetadata",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": plain(stored)["metadata"],
            }
        named: JSON = {"kind": self.kind.name, "apiVersion": self.group_version}
        if isinstance(stored, Lazy):
            return msgspec.Raw(msgspec.json.encode(named)[:-1] + b"," + stored.encoded()[1:])
        return {**named, **stored}

    def item(self, stored: Stored) -> JSON | msgspec.Raw:
        """As a list shows it: a list of a built-in kind does not repeat kind and apiVersion."""
        if self.metadata_only:
            return self.object(stored)
        return msgspec.Raw(stored.encoded()) if isinstance(stored, Lazy) else stored

    def list(self, metadata: JSON, items: list[JSON | msgspec.Raw]) -> JSON:
        named = (
            ("PartialObjectMetadata", "meta.k8s.io/v1") if self.metadata_only else (self.kind.name, self.group_version)
        )
        return {"kind": f"{named[0]}List", "apiVersion": named[1], "metadata": metadata, "items": items}

    def bookmark(self, revision: int, *, closes_initial: bool) -> JSON:
        annotations = {"annotations": {"k8s.io/initial-events-end": "true"}} if closes_initial else {}
        metadata = {"resourceVersion": str(revision), "creationTimestamp": None, **annotations}
        name = "PartialObjectMetadata" if self.metadata_only else self.kind.name
        version = "meta.k8s.io/v1" if self.metadata_only else self.group_version
        return {"kind": name, "apiVersion": version, "metadata": metadata}

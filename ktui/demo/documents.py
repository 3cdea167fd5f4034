"""Discovery documents, aggregated and legacy, and /version."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import msgspec

from ktui.demo.mvcc import JSON
from ktui.demo.requests import Serves
from ktui.model.kinds import Kind
from ktui.model.usage import GROUP as METRICS

AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
VERBS: Final = ("create", "delete", "get", "list", "patch", "update", "watch")

_REVIEWS: Final = {
    ("authorization.k8s.io", "v1"): ("SelfSubjectAccessReview", "SelfSubjectRulesReview"),
    ("authentication.k8s.io", "v1"): ("SelfSubjectReview",),
}


class _Resource(NamedTuple):
    plural: str
    kind: str
    namespaced: bool
    verbs: tuple[str, ...]


_METRICS: Final = (
    _Resource("nodes", "NodeMetrics", namespaced=False, verbs=("get", "list")),
    _Resource("pods", "PodMetrics", namespaced=True, verbs=("get", "list")),
)


class Documents:
    def __init__(
        self, kinds: Mapping[str, Kind], serves: Serves, git_version: str, metrics: tuple[str, ...] = ()
    ) -> None:
        """`metrics` are the versions of metrics.k8s.io that are served."""
        self._metrics = metrics
        self._kinds = kinds
        self._serves = serves
        self._git_version = git_version

    def get(self, path: str) -> JSON | None:
        """A legacy document or /version; None when there is none at the path."""
        match path.strip("/").split("/"):
            case ["version"]:
                major, minor, *_ = self._git_version.removeprefix("v").split(".")
                # Every field of version.Info: clients that check their models refuse an answer that lacks one.
                return {
                    "major": major,
                    "minor": minor,
                    "gitVersion": self._git_version,
                    "gitCommit": "unknown",
                    "gitTreeState": "clean",
                    "buildDate": "1970-01-01T00:00:00Z",
                    "goVersion": "unknown",
                    "compiler": "python",
                    "platform": "linux/amd64",
                }
            case ["api"]:
                return {"kind": "APIVersions", "versions": ["v1"]}
            case ["apis"]:
                return {
                    "kind": "APIGroupList",
                    "apiVersion": "v1",
                    "groups": [self._group(name) for name in self.groups()],
                }
            case ["api", "v1"]:
                return self._resources("", "v1")
            case ["apis", group] if group in self.groups():
                return {"kind": "APIGroup", "apiVersion": "v1", **self._group(group)}
            case ["apis", group, version] if version in self.groups().get(group, ()):
                return self._resources(group, version)
            case _:
                return None

    def aggregated(self, path: str) -> tuple[bytes, str] | None:
        """The aggregated document at /api or /apis, and its ETag."""
        if path not in ("/api", "/apis"):
            return None
        names = [""] if path == "/api" else list(self.groups())
        items = [self._discovery(name) for name in names]
        body = msgspec.json.encode(
            {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}
        )
        return body, f'"{hashlib.sha256(body).hexdigest().upper()}"'

    def groups(self) -> dict[str, list[str]]:
        """Named group → its versions, in order of preference."""
        groups: dict[str, list[str]] = {}
        for kind in self._kinds.values():
            for version in self._serves.get(kind.name, ()):
                if kind.group and version not in groups.setdefault(kind.group, []):
                    groups[kind.group].append(version)
        for group, version in _REVIEWS:
            groups[group] = [version]
        if self._metrics:
            groups[METRICS] = list(self._metrics)
        return groups

    def _in(self, group: str, version: str) -> Iterator[_Resource]:
        for kind in self._kinds.values():
            if kind.group == group and version in self._serves.get(kind.name, ()):
                yield _Resource(kind.plural, kind.name, kind.namespaced, VERBS)
        for name in _REVIEWS.get((group, version), ()):
            yield _Resource(f"{name.lower()}s", name, namespaced=False, verbs=("create",))
        if group == METRICS and version in self._metrics:
            yield from _METRICS

    def _group(self, name: str) -> JSON:
        versions = [{"groupVersion": f"{name}/{version}", "version": version} for version in self.groups()[name]]
        return {"name": name, "versions": versions, "preferredVersion": versions[0]}

    def _resources(self, group: str, version: str) -> JSON:
        group_version = f"{group}/{version}" if group else version
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version,
            "resources": [
                {
                    "name": each.plural,
                    "singularName": each.kind.lower(),
                    "namespaced": each.namespaced,
                    "kind": each.kind,
                    "verbs": each.verbs,
                }
                for each in self._in(group, version)
            ],
        }

    def _discovery(self, group: str) -> JSON:
        versions = ["v1"] if not group else self.groups()[group]
        return {
            "metadata": {"name": group, "creationTimestamp": None} if group else {"creationTimestamp": None},
            "versions": [
                {"version": version, "freshness": "Current", "resources": self._discovered(group, version)}
                for version in versions
            ],
        }

    def _discovered(self, group: str, version: str) -> list[JSON]:
        return [
            {
                "resource": each.plural,
                "responseKind": {"group": group, "version": version, "kind": each.kind},
                "scope": "Namespaced" if each.namespaced else "Cluster",
                "singularResource": each.kind.lower(),
                "verbs": each.verbs,
            }
            for each in self._in(group, version)
        ]

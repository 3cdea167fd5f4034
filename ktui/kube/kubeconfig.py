"""Kubeconfig files: which are read, how they merge, what their contexts resolve to. The rules are client-go's (clientcmd).

`--kubeconfig` names the only file; else every file of KUBECONFIG, missing ones skipped; else ~/.kube/config. Of entries
with the same name the first file's wins whole; the first non-empty current-context wins. ktui never writes these files.
All of it blocks on local files: from an event loop, in a thread.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ktui.errors import UsageError
from ktui.kube.fields import Fields, entry
from ktui.kube.files import Missing, Stamp, read_regular, stamp
from ktui.kube.pluginpolicy import PluginPolicy, load_policy
from ktui.kube.printable import quoted
from ktui.kube.proxy import bracketed
from ktui.kube.resolve import Overrides, is_namespace, resolve
from ktui.kube.target import AuthSettings, Target, TlsSettings
from ktui.kube.yamlfile import Tree, parse

__all__ = ["ContextEntry", "KubeConfig", "LoadOptions", "SourceFile", "Target", "in_cluster", "load"]

MAX_SIZE = 16 * 1024 * 1024
_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """What the command line says, and where to look. `allow_plain_http` admits http:// servers beyond loopback."""

    kubeconfig: str | None = None
    context: str | None = None
    as_user: str | None = None
    as_groups: tuple[str, ...] = ()
    as_uid: str | None = None
    namespace: str | None = None
    allow_plain_http: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    home: Path = field(default_factory=Path.home)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file that was looked at; `stamp` tells whether it has changed since."""

    path: Path
    state: Literal["read", "empty", "missing"]
    stamp: Stamp | None


@dataclass(frozen=True, slots=True)
class ContextEntry:
    """One context. `shadowed`: later files with an entry of the same name, which is not used."""

    name: str
    cluster: str
    user: str
    namespace: str
    origin: Path
    shadowed: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class _Named:
    """One entry of clusters, contexts or users; its fields are only looked at when it is used."""

    name: str
    tree: Tree = field(repr=False)
    origin: Path
    shadowed: tuple[Path, ...] = ()

    def fields(self, kind: str) -> Fields:
        return Fields(self.tree, entry(kind, self.name, self.origin))


@dataclass(frozen=True, slots=True)
class KubeConfig:
    """The merged files. `current` is the context's name by `--context` or current-context; it may be "" or name nothing."""

    files: tuple[SourceFile, ...]
    contexts: tuple[ContextEntry, ...]
    current: str
    _entries: Mapping[str, Mapping[str, _Named]] = field(repr=False)
    _options: LoadOptions = field(repr=False)
    _policy: PluginPolicy = field(repr=False)

    @property
    def empty(self) -> bool:
        """Nothing was found at all: the one case in which kubectl looks for an in-cluster service account."""
        return not any(self._entries.values())

    def changed(self) -> bool:
        """Whether a file that was looked at has been replaced, written, created or removed since. Blocks for a stat each."""
        return any(stamp(file.path) != file.stamp for file in self.files)

    def resolve(self, context: str | None = None) -> Target:
        """The target of `context`, by default of `current`. Raises UsageError with the entry and the key at fault."""
        name = context or self.current
        if not name:
            raise UsageError("no current context: choose one with --context" + self._looked_at())
        if name not in self._entries["contexts"]:
            raise UsageError(f"context {quoted(name)} does not exist" + self._looked_at())
        fields = self._entries["contexts"][name].fields("context")
        cluster, user = self._referenced(fields, "cluster"), self._referenced(fields, "user")
        options = self._options
        return resolve(
            name,
            fields,
            (cluster.fields("cluster"), cluster),
            (user.fields("user"), user),
            Overrides(
                as_user=options.as_user or "",
                as_uid=options.as_uid or "",
                as_groups=options.as_groups,
                namespace=options.namespace or "",
                allow_plain_http=options.allow_plain_http,
                kubeconfig=options.kubeconfig or "",
                policy=self._policy,
            ),
        )

    def _referenced(self, context: Fields, kind: Literal["cluster", "user"]) -> _Named:
        name = context.text(kind)
        if not name:
            raise context.error(f"no {kind} is given")
        named = self._entries[f"{kind}s"].get(name)
        if named is None:
            raise context.error(f"its {kind} {quoted(name)} does not exist")
        return named

    def _looked_at(self) -> str:
        paths = ", ".join(str(file.path) for file in self.files)
        return f" (looked in {paths})" if paths else ""


def load(options: LoadOptions) -> KubeConfig:
    """Read and merge. Raises UsageError for a file that cannot be read or understood, not for what its entries lack."""
    files: list[SourceFile] = []
    merged: dict[str, dict[str, _Named]] = {"clusters": {}, "contexts": {}, "users": {}}
    current = ""
    for path in _paths(options):
        seen = stamp(path)
        document = _read(path, must_exist=bool(options.kubeconfig))
        files.append(SourceFile(path, "missing" if document is None else "read" if document else "empty", seen))
        if document is None:
            continue
        for section, entries in merged.items():
            _merge(entries, _section(document, section, path))
        current = current or document.text("current-context")
    contexts = tuple(_context_entry(named) for named in merged["contexts"].values())
    policy = load_policy(options.environ, options.home)
    return KubeConfig(tuple(files), contexts, options.context or current, merged, options, policy)


def in_cluster(environ: Mapping[str, str], root: Path = _SERVICE_ACCOUNT) -> Target | None:
    """The pod's own service account, None outside a pod. For use only if `KubeConfig.empty`. Blocks."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST", ""), environ.get("KUBERNETES_SERVICE_PORT", "")
    token, authority = root / "token", root / "ca.crt"
    if not host or not port or not token.is_file():
        return None
    namespace = environ.get("POD_NAMESPACE", "") or _mounted_namespace(root)
    if not is_namespace(namespace):
        raise UsageError(f"{root / 'namespace'}: not a namespace's name")
    return Target(
        context="in-cluster",
        cluster="in-cluster",
        user="service account",
        namespace=namespace,
        server=f"https://{bracketed(host)}:{port}",
        host=f"{bracketed(host)}:{port}",
        tls=TlsSettings(ca_file=authority if authority.is_file() else None),
        auth=AuthSettings(token_file=token),
    )


def _mounted_namespace(root: Path) -> str:
    try:
        return read_regular(root / "namespace", 1024).decode("ascii", "replace").strip() or "default"
    except UsageError:
        return "default"


def _paths(options: LoadOptions) -> Iterator[Path]:
    if options.kubeconfig:
        yield Path(options.kubeconfig).absolute()
        return
    listed = options.environ.get("KUBECONFIG", "")
    if not listed:
        yield options.home / ".kube" / "config"
        return
    # An empty item is skipped, and a file that is named twice is read once.
    yield from (Path(name).absolute() for name in dict.fromkeys(listed.split(os.pathsep)) if name)


def _read(path: Path, *, must_exist: bool) -> Fields | None:
    try:
        data = read_regular(path, MAX_SIZE)
    except Missing:
        if must_exist:
            raise
        return None
    document = Fields(parse(data, path), str(path))
    if document.text("kind") not in {"", "Config"} or document.text("apiVersion") not in {"", "v1"}:
        raise document.error("not a kubeconfig: kind must be Config and apiVersion v1")
    return document


def _section(document: Fields, section: str, path: Path) -> Iterator[_Named]:
    names: set[str] = set()
    for fields in document.mappings(section):
        name = fields.text("name")
        if not name:
            raise fields.error("has no name")
        if name in names:
            raise UsageError(f"{path}: {section} has two entries named {quoted(name)}")
        names.add(name)
        yield _Named(name, fields.raw(section.removesuffix("s")), path)


def _merge(entries: dict[str, _Named], more: Iterator[_Named]) -> None:
    for named in more:
        first = entries.setdefault(named.name, named)
        if first is not named:
            entries[named.name] = _Named(first.name, first.tree, first.origin, (*first.shadowed, named.origin))


def _context_entry(named: _Named) -> ContextEntry:
    fields = named.fields("context")
    return ContextEntry(
        named.name, fields.text("cluster"), fields.text("user"), fields.text("namespace"), named.origin, named.shadowed
    )

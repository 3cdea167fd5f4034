"""What the screens are opened on, by the flags of the command line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ktui.cli import parser
from ktui.commands.live import LiveFeed, LiveOpener
from ktui.errors import KtuiError
from ktui.model.kinds import KINDS
from tests.unit.kube.harness import rig

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


async def test_another_cluster_at_the_address_ends_the_feed_and_no_action_reaches_it(tmp_path: Path) -> None:
    async with rig() as r:
        r.server.create("Namespace", {"metadata": {"name": "kube-system"}})
        file = tmp_path / "config"
        file.write_text(KUBECONFIG.replace("https://127.0.0.1:1", r.server.url).replace("{token: t}", "{}"))
        session = await LiveOpener(parser().parse_args(["--kubeconfig", str(file)]), read_only=False).open()
        feed = session.feed
        assert isinstance(feed, LiveFeed)
        running = asyncio.create_task(feed.run())
        async with asyncio.timeout(30):
            while not (session.target.version and session.cluster.synced("Pod")):
                await asyncio.sleep(0.01)
            await feed.desk()
            r.server.registry.delete(KINDS["Namespace"], ("", "kube-system"))
            r.server.create("Namespace", {"metadata": {"name": "kube-system"}})
            feed.retry_now()
            with pytest.raises(KtuiError, match="another cluster answers at this address"):
                await running
            with pytest.raises(KtuiError, match="no connection"):
                await feed.desk()
        assert session.cluster.stores["Pod"].objects, "what was shown stays"

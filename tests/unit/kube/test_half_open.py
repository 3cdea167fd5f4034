"""W19: a path that goes deaf while its connections stay open (a dropped NAT entry, a pulled cable, a lost Wi-Fi)."""

from __future__ import annotations

from urllib.parse import urlsplit

from ktui.kube.connection import Connection
from ktui.kube.timers import Span
from tests.relay import relay_to
from tests.unit.kube.harness import fast, pod, rig, target, truth


async def test_w19_a_deaf_path_is_told_and_left_and_nothing_is_lost() -> None:
    async with rig() as r, relay_to(urlsplit(r.server.url).port or 0) as relay:
        timers = fast(quiet=0.3, idle=Span(1.0, 1.2), connect=0.5, headers=0.5, short_get=0.5, probe=0.3)
        connection = Connection(
            target(f"http://127.0.0.1:{relay.port}"), r.credentials, r.view, environ={}, timers=timers
        )
        r.connections.append(connection)
        await connection.start(["Pod"])
        await r.view.until(lambda: r.view.phase() == "watching")
        rows = r.view.names()
        relay.go_deaf()
        r.server.create("Pod", pod("unheard"))
        await r.view.until(lambda: "waiting" in r.view.phases())
        assert "quiet" in r.view.phases(), "how old the rows are is said before the stream is given up"
        assert r.view.names() == rows, "a failure clears no row"
        relay.hear_again()
        await r.view.until(lambda: r.view.content() == truth(r.server) and r.view.phase() == "watching")
        assert len(r.view.lists()) == 1, "taken up again from the last version, not by a new list"

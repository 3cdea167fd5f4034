"""What the streams of one connection share."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

from ktui.kube.host import Host
from ktui.kube.transport import Transport


def test_names_are_forgotten_with_the_last_list_that_is_read() -> None:
    host = Host(cast("Transport", SimpleNamespace(gate=None, timers=None, clock=None)))
    first, second = host.names(), host.names()
    assert first is second
    first["a"] = "a"
    del first
    assert host.names() == {"a": "a"}
    del second
    assert host.names() == {}

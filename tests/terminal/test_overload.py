"""W15, W16: an API server that has enough, seen from the terminal: who is waited for, how long, and that it ends well."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ktui.demo.apiserver import ApiServer
from tests.background import in_background
from tests.faults import Busy, Faults
from tests.terminal.screen import Screen
from tests.unit.kube.harness import pod
from tests.unit.kube.kubeconfigbuilder import document, write

AT_ONCE = 4
"""First lists that are under way together (`Gate`)."""


@pytest.fixture
def faults() -> Faults:
    return Faults()


@contextmanager
def opened(faults: Faults, home: Path) -> Iterator[Screen]:
    """The screens on a server with three pods."""
    with in_background(ApiServer(middlewares=[faults.middleware], send=faults.send)) as server:
        server.create("Namespace", {"metadata": {"name": "kube-system"}})
        for number in range(3):
            server.create("Pod", pod(f"p{number}"))
        kubeconfig = write(home / "kubeconfig", document("prod", {"server": server.url}))
        with Screen("--kubeconfig", str(kubeconfig), "-A", home=home, size=(120, 40)) as screen:
            yield screen


def _live(screen: Screen) -> int:
    """Wait until every source is live; how many there are."""
    return int(screen.see(r"live (\d+) of \1\b")[1])


def test_w15_all_streams_wait_one_tries_and_the_screen_says_how_long(faults: Faults, tmp_path: Path) -> None:
    at_first, later = Busy(retry_after=2), Busy(retry_after=2)
    faults.script("watch *", *[at_first] * AT_ONCE, *[later] * 2)
    with opened(faults, tmp_path) as screen:
        screen.see(r"waiting [0-3]s for \w+: the server asks to wait 2 s")
        streams = _live(screen)
        screen.press("8")
        screen.see(r"\bp0\b")
        assert (at_first.most, later.most) == (AT_ONCE, 1), (
            "after the first refusal one at a time asks whether it is over"
        )
        assert len(faults.asked("watch *")) == streams + AT_ONCE + 2
        assert not faults.asked("list *"), "to be refused is no reason to read in another way"
        screen.press("q")
        assert screen.ended() == 0


def test_w16_a_server_that_refuses_every_third_request_is_read_all_the_same(faults: Faults, tmp_path: Path) -> None:
    busy = Busy(every=3)
    faults.script("* *", busy, repeat=True)
    with opened(faults, tmp_path) as screen:
        screen.see(r"the server asks to wait 1 s")
        _live(screen)
        faults.clear()
        screen.press("8")
        screen.see(r"\bp2\b")
        assert busy.most <= AT_ONCE
        screen.press("I", "G")
        failed = int(screen.see(r"^ in all .* (\d+) failed")[1])
        assert failed == busy.asked // 3 > 3
        assert not re.search(r"no access|log in", screen.text)

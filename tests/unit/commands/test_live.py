"""What the screens are opened on, by the flags of the command line."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Self, cast

import pytest

from ktui.actions.taint import parse_taint, plan_taint
from ktui.cli import parser
from ktui.commands.demo import DemoFeed
from ktui.commands.live import LiveFeed, LiveOpener
from ktui.demo.figures import Figures
from ktui.demo.incidents import INCIDENTS, Guide
from ktui.demo.process import DemoProcess, Play
from ktui.errors import KtuiError
from ktui.kube.connection import Connection
from ktui.model.frame import ActionTaken, Mark
from ktui.model.kinds import KINDS
from ktui.model.usage import Wanted
from ktui.recording.reader import Recording
from ktui.recording.tape import Tape
from ktui.recording.writer import Facts
from ktui.ui.feeds import Measuring
from tests.unit.kube.harness import pod, rig

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


async def test_what_is_used_comes_to_the_session_while_somebody_looks(tmp_path: Path) -> None:
    async with rig() as r:
        r.server.figures = Figures(r.server.database, clock=time.time)
        r.server.create("Pod", {**pod("run"), "spec": {"containers": [{"name": "main", "resources": {}}]}})
        r.server.registry.update(
            KINDS["Pod"], ("ml", "run"), lambda old: {**old, "status": {"phase": "Running"}}, subresource="status"
        )
        file = tmp_path / "config"
        file.write_text(KUBECONFIG.replace("https://127.0.0.1:1", r.server.url).replace("{token: t}", "{}"))
        flags = ["--kubeconfig", str(file), "-n", "ml"]
        session = await LiveOpener(parser().parse_args(flags), read_only=True).open()
        assert isinstance(session.feed, LiveFeed)
        assert isinstance(session.feed, Measuring)
        session.feed.measure(Wanted(pods=True))  # there is no connection yet
        running = asyncio.create_task(session.feed.run())
        async with asyncio.timeout(30):
            while session.cluster.usage.pod(("ml", "run")) is None:
                session.feed.measure(Wanted(pods=True))
                await asyncio.sleep(0.01)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        paths = [asked.path for asked in r.faults.journal if "metrics.k8s.io" in asked.path]
        assert set(paths) == {"/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods"}
        session.feed.measure(Wanted(pods=True))  # nor any longer


class SlowToStop:
    """A connection that is torn down while the program ends."""

    served = None

    def __init__(self) -> None:
        self.stopping = asyncio.Event()

    async def start(self, *_: object) -> None:
        await asyncio.Event().wait()

    async def stop(self) -> None:
        self.stopping.set()
        await asyncio.Event().wait()


async def test_a_recording_is_ended_although_the_end_of_the_program_interrupts_the_end_of_the_session(
    tmp_path: Path,
) -> None:
    """The screens cancel the feed when they are left; the event loop cancels whatever is not done soon after."""
    connection, tape = SlowToStop(), Tape(lambda: Facts("", "prod", "v1.37.2"))
    tape.start(tmp_path / "a.ktui")
    running = asyncio.create_task(LiveFeed(lambda: cast("Connection", connection), (), tape).run())
    async with asyncio.timeout(30):
        await asyncio.sleep(0)
        running.cancel()
        await connection.stopping.wait()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert [f.frame for f in Recording(tmp_path / "a.ktui").frames()][-1] == Mark("the session ended")


class DoesNotStart(DemoProcess):
    async def __aenter__(self) -> Self:
        raise KtuiError("the demo cluster did not start")


def unneeded() -> Connection:
    raise AssertionError("there is nothing to connect to")


async def test_a_recording_of_a_demo_that_does_not_come_up_is_ended_too(tmp_path: Path) -> None:
    tape = Tape(lambda: Facts("", "DEMO", ""))
    tape.start(tmp_path / "a.ktui")
    feed = DemoFeed(DoesNotStart(Play()), unneeded, tape, Guide(INCIDENTS["xid79"]), tape.take)
    with pytest.raises(KtuiError, match="did not start"):
        await feed.run()
    assert [f.frame for f in Recording(tmp_path / "a.ktui").frames()][-1] == Mark("the session ended")


async def test_what_is_done_during_a_session_is_in_its_recording_and_its_timeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    device = ("gpu.example.com", "node-1", "gpu-0")
    async with rig() as r:
        file = tmp_path / "config"
        file.write_text(KUBECONFIG.replace("https://127.0.0.1:1", r.server.url).replace("{token: t}", "{}"))
        session = await LiveOpener(parser().parse_args(["--kubeconfig", str(file)]), read_only=False).open()
        assert isinstance(session.feed, LiveFeed)
        session.feed.tape.start(tmp_path / "a.ktui")
        running = asyncio.create_task(session.feed.run())
        async with asyncio.timeout(30):
            while not session.cluster.synced("DeviceTaintRule"):
                await asyncio.sleep(0.01)
            desk = await session.feed.desk()
            plan = await plan_taint(desk.api, session.cluster, device, parse_taint("example.com/xid=79:NoSchedule"))
            assert (await desk.runner.apply(plan, await desk.runner.rehearse(plan))).status == "applied"
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    session.take_changes()
    timeline = session.cluster.timeline
    whats = [change.what for number in timeline.numbers() if (change := timeline.get(number)) is not None]
    assert "DeviceTainted" in whats
    taken = [f.frame for f in Recording(tmp_path / "a.ktui").frames() if isinstance(f.frame, ActionTaken)]
    assert [(t.verb, t.object, t.result) for t in taken] == [("taint", "/".join(device), "applied")]

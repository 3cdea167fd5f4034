"""What was recorded of the real control plane shows, at each moment, what the live session showed then."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from ktui.cluster.state import Cluster
from ktui.kube.connection import Connection
from ktui.kube.credentials import Credentials
from ktui.kube.kubeconfig import LoadOptions
from ktui.kube.opening import Wanted, resolve
from ktui.model.claim import ResourceClaim
from ktui.model.frame import Frame, Listed, Mark
from ktui.model.pod import Pod
from ktui.recording.output import Output
from ktui.recording.reader import Recording
from ktui.recording.writer import Facts, Writer
from ktui.views.registry import VIEWS
from tests.cluster import objects
from tests.cluster.controlplane.api import wait_for
from tests.cluster.controlplane.cluster import ControlPlane

RULE = "/apis/resource.k8s.io/v1/devicetaintrules/record-real"


def shown(cluster: Cluster) -> dict[str, list[Any]]:
    """All that the screens and `ktui get` say of every row."""
    return {
        view.id: [(view.item(cluster, key), view.row(cluster, key)) for key in view.keys(cluster)]
        for view in VIEWS.values()
        if view.id != "timeline"  # a session's own, from when it began
    }


async def test_g12_a_replay_shows_what_the_live_session_showed(
    real_cluster: ControlPlane, fresh_namespace: str, tmp_path: Path
) -> None:
    api, namespace, path = real_cluster.api(), fresh_namespace, tmp_path / "real.ktui.gz"
    live, then = Cluster(), dict[str, Any]()
    writer = Writer(Output(path), lambda: Facts("real"))
    listed: set[str] = set()

    def sink(frame: Frame) -> None:
        live.apply(frame)
        writer.take(time.time(), frame)
        if isinstance(frame, Listed):
            listed.add(frame.source.kind)

    def mark(text: str) -> None:
        then[text] = shown(live)
        sink(Mark(text))

    def running() -> int:
        return sum(1 for pod in live.all(Pod) if pod.namespace == namespace and pod.status.phase == "Running")

    target = resolve(Wanted(LoadOptions(kubeconfig=str(real_cluster.kubeconfig), environ={})))
    connection = Connection(target, Credentials(target, environ={}), sink, environ={}, read_only=True)
    try:
        await connection.start()
        kinds = set((await connection.discovered()).versions())
        await asyncio.to_thread(wait_for, lambda: listed >= kinds, "every kind")
        mark("before")
        api.create(objects.gang_job(namespace, "fits", 2, "one-gpu"))
        api.create(objects.gang_job(namespace, "waits", 40, "one-gpu"))
        await asyncio.to_thread(wait_for, lambda: running() == 2, "the gang to run")
        mark("running")
        victim = next(claim for claim in live.all(ResourceClaim) if claim.namespace == namespace and claim.results)
        result = victim.results[0]
        api.create(objects.device_taint_rule("record-real", result.pool, result.device))
        uids = {pod.metadata.uid for pod in live.all(Pod) if pod.namespace == namespace}
        await asyncio.to_thread(
            wait_for, lambda: uids - {pod.metadata.uid for pod in live.all(Pod)}, "the eviction", limit=90
        )
        mark("evicted")
    finally:
        api.delete(RULE)
        await connection.stop()
        writer.close()

    again, now = Cluster(), dict[str, Any]()
    recording = Recording(path)
    for _, frame in recording.frames():
        again.apply(frame)
        if isinstance(frame, Mark) and frame.text in then:
            now[frame.text] = shown(again)
    assert not recording.notes
    assert set(now) == {"before", "running", "evicted"}
    for moment, rows in now.items():
        for view, expected in then[moment].items():
            assert rows[view] == expected, f"{view}, {moment}"

"""Record the incidents of this directory from a real control plane: `python -m recordings.make [NAME...]`, at the project's root.

Each incident is played on a Kubernetes 1.37 control plane of its own with simulated nodes and devices (see tests/cluster), and
recorded as `ktui record` does it. incidents.py says what happens, README.md tells the story.
"""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from ktui.kube.connection import Connection
from ktui.kube.credentials import Credentials
from ktui.kube.kubeconfig import LoadOptions
from ktui.kube.opening import Wanted, resolve
from ktui.model.frame import Frame, Listed, Mark
from ktui.recording.output import Output
from ktui.recording.writer import Facts, Writer
from recordings import incidents
from recordings.incidents import INCIDENTS, Incident, Stage
from tests.cluster import infra
from tests.cluster.controlplane import build
from tests.cluster.controlplane.api import wait_for
from tests.cluster.controlplane.cluster import ControlPlane


def make(name: str, incident: Incident, binaries: Path, where: Path) -> Path:
    """Play the incident on a control plane of its own; its recording is put there when it went to the end. Returns its path."""
    with ControlPlane(binaries) as plane, TemporaryDirectory() as directory:
        api = plane.api()
        for manifest in incident.before():
            api.create(manifest)
        wait_for(
            lambda: all(infra.ready(node) for node in api.list("/api/v1/nodes")), "all nodes to be ready", limit=120
        )
        made = Path(directory, f"{name}.ktui.gz")
        asyncio.run(_record(plane, made, incident))
        # A copy has the permissions of any other file; a recording in the making is private.
        return Path(shutil.copyfile(made, where / made.name))


async def _record(plane: ControlPlane, path: Path, incident: Incident) -> None:
    listed: set[str] = set()

    def sink(frame: Frame) -> None:
        writer.take(time.time(), frame)
        if isinstance(frame, Listed):
            listed.add(frame.source.kind)

    def mark(text: str) -> None:
        loop.call_soon_threadsafe(sink, Mark(text))

    loop = asyncio.get_running_loop()
    target = resolve(Wanted(LoadOptions(kubeconfig=str(plane.kubeconfig), environ={})))
    connection = Connection(target, Credentials(target, environ={}), sink, environ={}, read_only=True)
    writer = Writer(Output(path), lambda: Facts(incident.title, git_version=_git_version(connection)))
    try:
        await connection.start()
        kinds = set((await connection.discovered()).versions())
        await asyncio.to_thread(wait_for, lambda: listed >= kinds, "every kind to be listed")
        await asyncio.sleep(incidents.LOOK)
        await asyncio.to_thread(incident.play, Stage(plane, mark))
    finally:
        await connection.stop()
        writer.close()


def _git_version(connection: Connection) -> str:
    return connection.served.git_version if connection.served else ""


def main(names: list[str]) -> str:
    """Record the named incidents, or all; returns what is wrong, "" when nothing is."""
    if unknown := [name for name in names if name not in INCIDENTS]:
        return f"no such incident: {', '.join(unknown)}"
    binaries = build.directory()
    if problem := build.missing(binaries):
        return problem
    for name in names or INCIDENTS:
        make(name, INCIDENTS[name], binaries, Path(__file__).parent)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) or None)

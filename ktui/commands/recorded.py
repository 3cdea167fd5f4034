"""What a recording tells `ktui doctor`: the objects, and the versions they were served in."""

from __future__ import annotations

import sys
from pathlib import Path

from ktui.cluster.state import Cluster
from ktui.doctor.facts import Facts, ServerVersion, Unknown
from ktui.model.kinds import KINDS
from ktui.ui.safe import safe


def recorded_facts(file: str, at: float | None) -> Facts:
    """The facts at that moment of the recording (None: its end). Raises UsageError for what is no recording."""
    from ktui.recording.player import replay_to
    from ktui.recording.reader import Recording

    recording = Recording(Path(file))
    cluster = Cluster()
    reached = replay_to(recording, at, cluster.apply)
    for note, count in recording.notes.items():
        print(f"ktui: skipped {count} {safe(note)}", file=sys.stderr)
    untold = Unknown("a recording does not tell")
    version = recording.header.server.git_version
    return Facts(
        cluster=cluster,
        now=recording.header.start + reached,
        recorded=True,
        connection=untold,
        files=untold,
        identity=untold,
        rights=untold,
        skew=untold,
        version=ServerVersion(version) if version else untold,
        served=_served(cluster),
        gates=untold,
        components=untold,
        usage=Unknown("a recording asks nothing of a server"),
    )


def _served(cluster: Cluster) -> dict[str, str]:
    """The version of each kind, from the paths that were listed."""
    streams = (
        stream for stream in cluster.streams.values() if stream.phase != "absent" and stream.source.kind in KINDS
    )
    return {stream.source.kind: _version(stream.source.path) for stream in streams}


def _version(path: str) -> str:
    """ "v1beta1" of "/apis/scheduling.k8s.io/v1beta1/podgroups"."""
    parts = path.split("/")
    return next(iter(parts[3:4] if path.startswith("/apis/") else parts[2:3]), "")

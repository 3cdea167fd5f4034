"""What a recording tells: the objects, and the versions they were served in."""

from __future__ import annotations

from typing import Final

from ktui.cluster.state import Cluster
from ktui.doctor.facts import Facts, ServerVersion, Unknown

_UNTOLD: Final = Unknown("a recording does not tell")


def recorded_facts(cluster: Cluster, git_version: str) -> Facts:
    """The facts of a recording's moment; `git_version` is "" when its header has none."""
    return Facts(
        cluster=cluster,
        recorded=True,
        connection=_UNTOLD,
        files=_UNTOLD,
        identity=_UNTOLD,
        rights=_UNTOLD,
        skew=_UNTOLD,
        version=ServerVersion(git_version) if git_version else _UNTOLD,
        served=_served(cluster),
        stale=_UNTOLD,
        gates=_UNTOLD,
        components=_UNTOLD,
        usage=Unknown("a recording asks nothing of a server"),
        metrics=_UNTOLD,
        proxies=_UNTOLD,
    )


def _served(cluster: Cluster) -> dict[str, str]:
    """The version of each kind, from the paths that were listed."""
    streams = (stream for stream in cluster.streams.values() if stream.phase != "absent")
    return {stream.source.kind: _version(stream.source.path) for stream in streams}


def _version(path: str) -> str:
    """ "v1beta1" of "/apis/scheduling.k8s.io/v1beta1/podgroups"."""
    parts = path.split("/")
    return next(iter(parts[3:4] if path.startswith("/apis/") else parts[2:3]), "")

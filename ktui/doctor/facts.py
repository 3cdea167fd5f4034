"""What was found out, before anybody judges it. What could not be found out is `Unknown`, with the reason."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct

from ktui.cluster.state import Cluster
from ktui.model.cost import Cost
from ktui.model.kinds import KINDS

Scope = Literal["everywhere", "namespace", "nowhere"]
"""Where something is allowed: in all namespaces, in the context's own only, or not at all."""

T = TypeVar("T")


class Unknown(Struct, frozen=True):
    why: str


Known: TypeAlias = T | Unknown


class File(Struct, frozen=True):
    """A file with credentials in it, or with the way to them. `mode`: permission bits."""

    path: str
    mode: int


class Connection(Struct, frozen=True):
    """How the cluster is reached, without any secret. `plain`: without TLS, `insecure`: nobody checks the certificate."""

    context: str
    host: str
    method: str
    namespace: str
    plain: bool = False
    insecure: bool = False
    impersonating: str = ""
    read_only: bool = False


class Identity(Struct, frozen=True):
    """As the server calls us (authentication.k8s.io SelfSubjectReview)."""

    name: str
    groups: tuple[str, ...] = ()


class Right(Struct, frozen=True):
    """`purpose` is "reading" or the action that needs it."""

    purpose: str
    verb: str
    resource: str
    scope: Scope

    @property
    def text(self) -> str:
        return f"{self.verb} {self.resource}"


class ServerVersion(Struct, frozen=True):
    """`emulated`: "1.36" when the server plays an older version (KEP-4330), else ""."""

    git: str
    emulated: str = ""


class Usage(Struct, frozen=True):
    """What this run asked of the API server, and how many watches the screens would keep open."""

    costs: tuple[Cost, ...]
    streams: int


class Facts(Struct, kw_only=True):
    """`served`: version in use by kind. `stale`: API groups of which the server has no present answer. `gates`: feature gates
    of kube-apiserver. `components`: (component, version) pairs. `skew`: seconds that this machine's clock is ahead. `metrics`:
    version of metrics.k8s.io, "" when it is not served. `proxies`: namespaces with DCGM exporters, and whether one may get
    pods/proxy there."""

    cluster: Cluster
    recorded: bool = False
    connection: Known[Connection]
    files: Known[tuple[File, ...]]
    identity: Known[Identity]
    rights: Known[tuple[Right, ...]]
    skew: Known[float]
    version: Known[ServerVersion]
    served: Known[dict[str, str]]
    stale: Known[tuple[str, ...]]
    gates: Known[dict[str, bool]]
    components: Known[tuple[tuple[str, str], ...]]
    usage: Known[Usage]
    metrics: Known[str]
    proxies: Known[dict[str, bool]]

    def unread(self, *kinds: str) -> str:
        """Why nothing can be said of these kinds, "" when all of them were read."""
        for kind in kinds:
            streams = self.cluster.streams_of((kind,))
            if not streams:
                return f"no {KINDS[kind].plural} {'in this recording' if self.recorded else 'were read'}"
            for stream in streams:
                if stream.phase == "no-access" and not stream.synced:
                    return f"{KINDS[kind].plural} may not be read"
                if not stream.synced:
                    return f"{KINDS[kind].plural}: {stream.message or stream.phase}"
        return ""

    def where(self, kind: str) -> str:
        """ " in namespace ml" when only that was read."""
        if self.cluster.sees_all(kind):
            return ""
        names = sorted({stream.source.namespace for stream in self.cluster.streams_of((kind,))} - {""})
        return f" in namespace {', '.join(names)}" if names else ""

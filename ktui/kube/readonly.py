"""What may leave in read-only mode: reads, metrics of exporters, and the questions about one's own rights, which the API asks by
POST."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import unquote

from ktui.kube.failures import ReadOnlyRefused

_REVIEWS: Final = re.compile(
    r"/apis/(authorization|authentication)\.k8s\.io/v[0-9a-z]+/"
    r"(selfsubjectaccessreviews|selfsubjectrulesreviews|selfsubjectreviews|subjectaccessreviews|tokenreviews)"
)
# A GET on these runs commands, opens tunnels or reaches into workloads.
_CONNECT: Final = re.compile(
    r"/api/v1/(namespaces/[^/]+/)?(pods|services|nodes)/[^/]+/(exec|attach|portforward|proxy)(/.*)?"
)
# But for one page, by which exporters show figures and do nothing (`ktui.kube.usage`).
_METRICS: Final = re.compile(r"/api/v1/namespaces/[^/]+/pods/[^/:]+/proxy/metrics")


def check_read_only(method: str, path: str) -> None:
    """Raises ReadOnlyRefused for anything that could change a cluster."""
    plain = unquote(path)
    ambiguous = (
        "//" in plain or "?" in plain or "#" in plain or "%" in plain or "/../" in f"{plain}/" or "/./" in f"{plain}/"
    )
    reads = (method in ("GET", "HEAD") and not _CONNECT.fullmatch(plain)) or (
        method == "GET" and _METRICS.fullmatch(plain)
    )
    asks = method == "POST" and _REVIEWS.fullmatch(plain)
    if ambiguous or not (reads or asks):
        raise ReadOnlyRefused(method, path)

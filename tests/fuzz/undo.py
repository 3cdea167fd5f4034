"""A recording in which a gang that runs has not been placed: its pods have no node, its claims no devices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ktui.cluster.state import Cluster
from ktui.recording.reader import Recording

Json = dict[str, Any]


def cluster_of(recording: bytes, path: Path) -> Cluster:
    """The state that a recording holds, which is kept at the path."""
    path.write_bytes(recording)
    cluster = Cluster()
    for timed in Recording(path).frames():
        cluster.apply(timed.frame)
    return cluster


def unplaced(recording: bytes, gang: str) -> bytes:
    """The same moment, with the gang as it was before the scheduler took it up."""
    lines = [json.loads(line) for line in recording.splitlines()]
    lists: dict[str, list[Json]] = {line["path"].rpartition("/")[2]: line["items"] for line in lines[1:]}
    pods = [p for p in lists["pods"] if p["spec"].get("schedulingGroup", {}).get("podGroupName") == gang]
    groups = [g for g in lists["podgroups"] if g["metadata"]["name"] == gang]
    uids = {item["metadata"]["uid"] for item in (*pods, *groups)}
    for pod in pods:
        pod["spec"].pop("nodeName", None)
        pod["status"] = {"phase": "Pending"} | {
            key: pod["status"][key] for key in ("resourceClaimStatuses", "qosClass") if key in pod["status"]
        }
    claims = lists["resourceclaims"]
    made = [c for c in claims if _reserved(c) & uids and _is_extended(c)]  # by the scheduler itself
    claims[:] = [claim for claim in claims if claim not in made]
    for claim in claims:
        if _reserved(claim) & uids:
            claim["status"] = {}
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _reserved(claim: Json) -> set[str]:
    return {user["uid"] for user in claim.get("status", {}).get("reservedFor", ())}


def _is_extended(claim: Json) -> bool:
    annotations: Json = claim["metadata"].get("annotations", {})
    return annotations.get("resource.kubernetes.io/extended-resource-claim") == "true"

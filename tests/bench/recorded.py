"""Writes the recording of a large fleet: a list of each kind at its start, then pods that change.

100,000 pods with their 80,000 claims and devices are 180 MB unpacked; each change adds 1.2 kB.
"""

from __future__ import annotations

import gzip
import hashlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from tests.cluster import objects

Json = dict[str, Any]

NAMESPACES: Final = 20
DEVICES: Final = 8
SECONDS_BETWEEN: Final = 0.04
_SINCE: Final = "2026-11-30T05:30:00Z"
_PODS: Final = "/api/v1/pods"
_GROUPS: Final = "/apis/scheduling.k8s.io/v1beta1/podgroups"
_SLICES: Final = "/apis/resource.k8s.io/v1/resourceslices"
_CLAIMS: Final = "/apis/resource.k8s.io/v1/resourceclaims"
_STRIDE: Final = 7_919  # a prime: one pod after another changes, all over the fleet


def write(path: Path, pods: int, changes: int) -> int:
    """Gangs of eight pods; four of five gangs have a node with eight devices. Then `changes` of one pod each, 25 a second.
    Returns the recording's length in whole seconds."""
    encoder = msgspec.json.Encoder()
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for document in _documents(pods, changes):
            stream.write(encoder.encode(document) + b"\n")
    return int(_moment(changes - 1))


def _documents(pods: int, changes: int) -> Iterator[Json]:
    gangs = range(pods // DEVICES)
    equipped = range(len(gangs) * 4 // 5)
    lists = {
        _GROUPS: ("PodGroup", [_group(gang) for gang in gangs]),
        _SLICES: ("ResourceSlice", [_slice(gang) for gang in equipped]),
        _CLAIMS: ("ResourceClaim", [_claim(pod) for pod in range(len(equipped) * DEVICES)]),
        _PODS: ("Pod", [_pod(pod, 2, claim=pod // DEVICES in equipped) for pod in range(pods)]),
    }
    yield {
        "ktui": "recording",
        "version": 1,
        "created": "2026-11-30T06:00:00Z",
        "title": f"{pods:,} pods",
        "server": {"gitVersion": "v1.37.2"},
        "resources": [{"path": path, "kind": kind} for path, (kind, _) in lists.items()],
    }
    for path, (_, items) in lists.items():
        yield {"t": 0, "path": path, "type": "LIST", "resourceVersion": "2", "items": items}
        yield {"t": 0, "path": path, "type": "STATE", "state": "watching"}
    for number in range(changes):
        pod = number * _STRIDE % pods
        changed = _pod(pod, 10 + number, claim=pod // DEVICES in equipped)
        yield {"t": _moment(number), "path": _PODS, "type": "MODIFIED", "object": changed}


def _moment(number: int) -> float:
    """When a change happens, in seconds since the start."""
    return round(1 + number * SECONDS_BETWEEN, 3)


def _metadata(name: str, version: int = 2, namespace: str = "") -> Json:
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        "uid": str(uuid.UUID(bytes=hashlib.blake2b(f"{namespace}/{name}".encode(), digest_size=16).digest())),
        "resourceVersion": str(version),
        "creationTimestamp": _SINCE,
    }


def _namespace(gang: int) -> str:
    return f"team-{gang % NAMESPACES}"


def _group(gang: int) -> Json:
    spec = objects.pod_group("", "", DEVICES)["spec"]
    return {"metadata": _metadata(f"gang-{gang:05d}", namespace=_namespace(gang)), "spec": spec}


def _slice(node: int) -> Json:
    name = f"node-{node:05d}"
    return {"metadata": _metadata(f"{name}-gpu"), "spec": objects.resource_slice(name, devices=DEVICES)["spec"]}


def _claim(pod: int) -> Json:
    gang, device = divmod(pod, DEVICES)
    result = {"request": "gpu", "driver": objects.DRIVER, "pool": f"node-{gang:05d}", "device": f"gpu-{device}"}
    name = f"gang-{gang:05d}-{device}"
    return {
        "metadata": _metadata(f"{name}-gpu", namespace=_namespace(gang)),
        "spec": objects.claim_spec(),
        "status": {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": _metadata(name, 2, _namespace(gang))["uid"]}],
        },
    }


def _pod(number: int, version: int, *, claim: bool) -> Json:
    gang, device = divmod(number, DEVICES)
    name, node = f"gang-{gang:05d}-{device}", f"node-{gang:05d}"
    spec = objects.pod("", "", "", group=f"gang-{gang:05d}")["spec"]
    spec["nodeName"] = node
    spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": f"{name}-gpu"}] if claim else []
    labels = {"app": f"gang-{gang:05d}", "batch.kubernetes.io/job-completion-index": str(device)}
    container = {
        "name": "train",
        "ready": True,
        "restartCount": version % 5,
        "state": {"running": {"startedAt": _SINCE}},
    }
    conditions = [
        {"type": kind, "status": "True", "lastTransitionTime": _SINCE}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    status = {"phase": "Running", "startTime": _SINCE, "conditions": conditions, "containerStatuses": [container]}
    return {
        "metadata": _metadata(name, version, _namespace(gang)) | {"labels": labels},
        "spec": spec,
        "status": status,
    }

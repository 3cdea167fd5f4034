"""A scenario on the disk: the cluster at one moment as a recording, and beside it what is true of it, as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from ktui.model.kinds import KINDS
from ktui.recording.output import Output
from tests.cluster.controlplane.api import Api, ApiError

Json = dict[str, Any]

DIRECTORY: Final = Path(__file__).with_name("recordings")
_SUFFIX: Final = ".ktui.zst"

# Kinds that ktui does not read yet, but that decide what the scheduler and the eviction controller do.
_MORE: Final = {
    "ReplicaSet": "/apis/apps/v1/replicasets",
    "ResourceQuota": "/api/v1/resourcequotas",
    "PodDisruptionBudget": "/apis/policy/v1/poddisruptionbudgets",
    "PriorityClass": "/apis/scheduling.k8s.io/v1/priorityclasses",
    "PersistentVolumeClaim": "/api/v1/persistentvolumeclaims",
}


EVICTIONS: Final = Path(__file__).with_name("evictions")


def recording_of(name: str, where: Path = DIRECTORY) -> Path:
    return where / f"{name}{_SUFFIX}"


def truth_of(name: str, where: Path = DIRECTORY) -> Json:
    found: Json = json.loads((where / f"{name}.json").read_text(encoding="utf-8"))
    return found


def names(where: Path = DIRECTORY) -> list[str]:
    return sorted(path.name.removesuffix(_SUFFIX) for path in where.glob(f"*{_SUFFIX}"))


def paths() -> dict[str, str]:
    """Kind → the path of its collection, of all that is recorded."""
    return {kind.name: kind.path(kind.versions[0]) for kind in KINDS.values()} | {
        kind: path for kind, path in _MORE.items() if kind not in KINDS
    }


def snapshot(api: Api, title: str) -> bytes:
    """The whole cluster as it is now: a header and one list of each kind, with every field that the server sends.

    ktui's own writer keeps the fields that ktui's model has, which would let a rule that ktui does not know yet hide behind
    a field that was never written down.
    """
    lists = {path: listed for path in paths().values() if (listed := _list(api, path)) is not None}
    created = datetime.now(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
    header = {
        "ktui": "recording",
        "version": 1,
        "created": created,
        "title": title,
        "context": "scenarios",
        "server": {"gitVersion": api.get("/version")["gitVersion"]},
        "resources": [{"path": path, "kind": kind} for kind, path in paths().items() if path in lists],
    }
    return b"".join(_line(document) for document in (header, *lists.values()))


def write(name: str, recording: bytes, truth: Mapping[str, Any], where: Path = DIRECTORY) -> None:
    path = recording_of(name, where)
    path.unlink(missing_ok=True)
    output = Output(path)
    output.write(recording)
    output.close()
    path.chmod(0o644)  # a recording is private at first; this one is source
    text = json.dumps(truth, indent=1, ensure_ascii=False, sort_keys=True)
    (where / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def _list(api: Api, path: str) -> Json | None:
    """None when the server does not serve the resource: not every cluster has all of them."""
    try:
        answer = api.get(path)
    except ApiError as error:
        if error.status == 404:
            return None
        raise
    version = answer["metadata"]["resourceVersion"]
    return {
        "t": 0,
        "path": path,
        "type": "LIST",
        "resourceVersion": version,
        "items": list(map(_bare, answer["items"])),
    }


def _bare(item: Json) -> Json:
    """Without the record of who set which field: half of the bytes, and nobody decides by it."""
    metadata = {key: value for key, value in item["metadata"].items() if key != "managedFields"}
    return item | {"metadata": metadata}


def _line(document: Json) -> bytes:
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"

"""Recordings from real control planes, as states and as the plain JSON they hold."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ktui.cluster.state import Cluster
from ktui.recording.player import replay_to
from ktui.recording.reader import Recording

_ROOT: Final = Path(__file__).parents[1]
PATHS: Final[dict[str, Path]] = {
    path.name.removesuffix(".ktui.gz"): path
    for path in sorted((*_ROOT.glob("recordings/*.ktui.gz"), *_ROOT.glob("tests/recordings/*.ktui.gz")))
}
"""Name → file: the shipped ones, and causes, v1.35, v1.36."""

_OF_OBJECTS: Final = ("LIST", "ADDED", "MODIFIED", "DELETED")

Document = dict[str, Any]


def cluster_at(name: str, at: float | None = None) -> tuple[Cluster, float]:
    """The state of the recording at `at` seconds (None: its end), and that moment in Unix seconds."""
    recording = Recording(PATHS[name])
    cluster = Cluster()
    reached = replay_to(recording, at, cluster.apply)
    return cluster, recording.header.start + reached


def raw_lines(name: str) -> list[Document]:
    """Every line as plain JSON, the header first. Read with the standard library alone, as an independent witness."""
    with gzip.open(PATHS[name], "rt", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def raw_objects(name: str, kind: str) -> Iterator[tuple[str, Document]]:
    """(path, document) of every object of the kind in the recording, from lists and events."""
    header, *lines = raw_lines(name)
    paths = {r["path"] for r in header["resources"] if r["kind"] == kind}
    for line in lines:
        if line.get("path") in paths and line["type"] in _OF_OBJECTS:
            documents = line["items"] if line["type"] == "LIST" else [line["object"]]
            yield from ((line["path"], document) for document in documents)


def raw_state(name: str, at: float | None = None) -> Callable[[str], dict[tuple[str, str], Document]]:
    """The documents as they stood at `at` seconds, by kind and (namespace, name): the last writer wins, nothing more."""
    header, *lines = raw_lines(name)
    kinds = {r["path"]: r["kind"] for r in header["resources"]}
    state: dict[str, dict[tuple[str, str], Document]] = {kind: {} for kind in kinds.values()}
    for line in lines:
        if at is not None and line["t"] > at:
            break
        if line["type"] not in _OF_OBJECTS:
            continue
        objects = state[kinds[line["path"]]]
        if line["type"] == "LIST":
            objects.clear()
            objects.update((_key(document), document) for document in line["items"])
        elif line["type"] == "DELETED":
            objects.pop(_key(line["object"]), None)
        else:
            objects[_key(line["object"])] = line["object"]
    return lambda kind: state.get(kind, {})


def _key(document: Document) -> tuple[str, str]:
    metadata = document["metadata"]
    return (metadata.get("namespace", ""), metadata["name"])

"""What of an object goes into a recording.

The model is the allow-list: a field that no struct has (environment, arguments, driver parameters, Secret data) was never
decoded. Annotations are free for all, so only those that ktui itself reads are kept. Every text that is left passes the
redactor (`ktui.redact`).
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from ktui.model.meta import Object
from ktui.recording.rewrite import rewrite
from ktui.redact import Redactor

ANNOTATIONS: Final = (
    "resource.kubernetes.io/",
    "scheduling.k8s.io/",
    "scheduling.volcano.sh/",
    "kueue.x-k8s.io/",
    "ktui/",
)
"""Prefixes of the annotations that are recorded."""


def recorded(obj: Object) -> Object:
    """The object with only the annotations that are recorded."""
    annotations = obj.metadata.annotations
    if annotations is None or all(key.startswith(ANNOTATIONS) for key in annotations):
        return obj
    kept = {key: value for key, value in annotations.items() if key.startswith(ANNOTATIONS)}
    return replace(obj, metadata=replace(obj.metadata, annotations=kept or None))


def redacted(obj: Object, redactor: Redactor) -> Object:
    """The object as it is recorded; the very same one where nothing is to be masked."""
    obj = recorded(obj)
    if not redactor.suspects(msgspec.json.encode(obj)):
        return obj
    return rewrite(obj, lambda _, text: redactor.text(text))

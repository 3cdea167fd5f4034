"""G03, G04: what may stand in a recording."""

from __future__ import annotations

import msgspec

from ktui.model.event import Event
from ktui.model.pod import Pod
from ktui.recording.redaction import recorded, redacted
from ktui.redact import MASK, Redactor
from tests.unit.builders import make, meta


def redactor(*secrets: str) -> Redactor:
    made = Redactor(lambda: secrets)
    made.refresh()
    return made


def test_a_secret_that_is_a_field_of_the_format_garbles_no_field() -> None:
    pod = make(Pod, {"metadata": meta("a"), "spec": {"nodeName": "metadata"}})
    masked = redacted(pod, redactor("metadata"))
    assert msgspec.json.decode(msgspec.json.encode(masked))["metadata"]["name"] == "a"
    assert isinstance(masked, Pod)
    assert masked.spec.node_name == MASK


def test_only_annotations_that_ktui_reads_are_kept() -> None:
    annotations = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "ktui/reason": "xid",
        "resource.kubernetes.io/extended-resource-claim": "true",
    }
    kept = recorded(make(Pod, {"metadata": meta("a", annotations=annotations)})).metadata.annotations
    assert kept == {"ktui/reason": "xid", "resource.kubernetes.io/extended-resource-claim": "true"}
    none = recorded(make(Pod, {"metadata": meta("a", annotations={"x": "y"})}))
    assert none.metadata.annotations is None


def test_an_object_without_secrets_stays_the_same_object() -> None:
    event = make(Event, {"metadata": meta("a"), "message": "token expired"})
    assert redacted(event, redactor("another")) is event

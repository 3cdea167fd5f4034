"""Bytes to objects: odd fields cost a field, never a row (D01-D03, D13, D14); lists and events of every shape (W54, W55)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.model.autoscaler import HorizontalPodAutoscaler
from ktui.model.decode import (
    DecodeError,
    ListPage,
    Status,
    WatchEvent,
    decode_event,
    decode_list,
    decode_object,
    decode_status,
)
from ktui.model.job import Job
from ktui.model.kinds import KINDS
from ktui.model.meta import Object
from ktui.model.node import Node
from ktui.model.pod import Pod
from ktui.model.resourceslice import ResourceSlice
from tests.unit.builders import O

POD = KINDS["Pod"]
META = {"name": "p", "namespace": "ml", "uid": "u", "resourceVersion": "7"}


def decoded(kind: type[O], document: Any) -> O:
    found = decode_object(KINDS[kind.__name__], KINDS[kind.__name__].versions[0], json.dumps(document).encode())
    assert isinstance(found, kind)
    return found


# --- single objects ---


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
@pytest.mark.parametrize("odd", [None, {}, [], "text", 3, True], ids=repr)
@pytest.mark.parametrize("where", ["metadata", "spec", "status"])
def test_D01_a_part_of_the_wrong_kind_is_an_empty_part(kind: Any, odd: object, where: str) -> None:
    document = {"metadata": META, "spec": {}, "status": {}} | {where: odd}
    found = decode_object(kind, kind.versions[0], json.dumps(document).encode())
    assert found == decode_object(kind, kind.versions[0], json.dumps({**document, where: {}}).encode())


@pytest.mark.parametrize("document", [{}, {"metadata": {"labels": None}}, {"metadata": {"name": None, "uid": None}}])
def test_D01_names_may_be_missing(document: Any) -> None:
    assert decoded(Pod, document).key == ("", "")


def test_D03_a_field_of_the_wrong_type_costs_that_field_only() -> None:
    found = decoded(
        Pod,
        {
            "metadata": {**META, "creationTimestamp": 5, "labels": ["a"], "generation": "3"},
            "spec": {"nodeName": True, "priority": "high", "containers": {"name": "x"}, "schedulerName": "volcano"},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": True}, "odd", {"type": "PodScheduled", "status": "True"}],
            },
        },
    )
    assert found.key == ("ml", "p")
    assert (found.spec.node_name, found.spec.priority, found.spec.containers) == (None, None, None)
    assert (found.spec.scheduler_name, found.status.phase) == ("volcano", "Running")
    assert found.metadata.creation_timestamp == "5"  # a number where a text belongs is kept as it was written
    assert found.metadata.labels is None
    assert [(c.type, c.status) for c in found.status.conditions or ()] == [("Ready", ""), ("PodScheduled", "True")]


def test_D03_replicas_as_text_are_no_replicas() -> None:
    found = decoded(HorizontalPodAutoscaler, {"metadata": META, "spec": {"minReplicas": "3", "maxReplicas": 5}})
    assert (found.spec.min_replicas, found.spec.max_replicas) == (None, 5)


def test_D04_amounts_stay_as_written() -> None:
    document = {"metadata": META, "spec": {"devices": [{"name": "d", "capacity": {"memory": {"value": "1e3"}}}]}}
    (device,) = decoded(ResourceSlice, document).spec.devices or ()
    assert device.capacity is not None
    assert device.capacity["memory"].value == "1e3"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("9223372036854775807", 2**63 - 1),
        ("-0", 0),
        ("1.0", 1),
        ("1e2", 100),
        ("1.5", None),
        ("1e400", None),
        ("NaN", None),
    ],
)
def test_D13_numbers_at_the_edges(written: str, value: int | None) -> None:
    line = f'{{"metadata": {{"name": "j"}}, "spec": {{"parallelism": {written}, "suspend": true}}}}'.encode()
    try:
        found = decode_object(KINDS["Job"], "v1", line)
    except DecodeError:
        assert value is None
        return
    assert isinstance(found, Job)
    assert (found.spec.parallelism, found.spec.suspend) == (value, True)


@pytest.mark.parametrize("number", [2**64, 2**64 + 1, 10**30])
def test_D13_a_number_beyond_64_bits_costs_no_row(number: int) -> None:
    line = f'{{"metadata": {{"name": "j"}}, "spec": {{"parallelism": {number}, "suspend": true}}}}'.encode()
    found = decode_object(KINDS["Job"], "v1", line)
    assert isinstance(found, Job)
    assert (found.name, found.spec.suspend) == ("j", True)


def test_D14_of_two_equal_keys_the_last_counts() -> None:
    found = decode_object(POD, "v1", b'{"metadata": {"name": "a", "name": "b"}, "metadata": {"name": "c"}}')
    assert found.name == "c"


def test_D14_a_nul_is_a_character_like_others() -> None:
    assert decode_object(POD, "v1", b'{"metadata": {"name": "a\\u0000b"}}').name == "a\0b"


@pytest.mark.parametrize(
    "data",
    [
        b'{"metadata": {"name": "\xff"}}',
        b'{"metadata": {"name": "\\ud800"}}',
        b"",
        b"{",
        b"\xef\xbb\xbf{}",
        b"[]",
        b"null",
        b'"text"',
        b"7",
        b"true",
        b"<html>",
        b'{"a":' * 100_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_D14_what_is_no_document_is_refused_in_one_line(data: bytes) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_object(POD, "v1", data)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_D17_a_node_without_capacity() -> None:
    assert decoded(Node, {"metadata": META, "status": {"capacity": None, "allocatable": {"cpu": 0}}}).name == "p"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
_FIELDS = (
    "metadata",
    "spec",
    "status",
    "name",
    "devices",
    "requests",
    "pool",
    "taint",
    "conditions",
    "items",
    "object",
)
shaped_values = st.recursive(
    json_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_FIELDS), inner, max_size=4),
    max_leaves=20,
)
kinds = st.sampled_from([(kind, version) for kind in KINDS.values() for version in kind.versions])


@given(kinds, shaped_values)
def test_no_json_makes_it_fail_otherwise(kind: tuple[Any, str], value: Any) -> None:
    data = json.dumps(value).encode()
    for decode in (decode_object, decode_list, decode_event):
        try:
            decode(*kind, data)
        except DecodeError:
            continue
    decode_status(data)


@given(kinds, st.binary(max_size=60))
def test_no_bytes_make_it_fail_otherwise(kind: tuple[Any, str], data: bytes) -> None:
    for decode in (decode_object, decode_list, decode_event):
        with pytest.raises(DecodeError):
            decode(*kind, b"\x00" + data)


# --- lists ---


def page(document: Any, version: str = "v1") -> ListPage:
    return decode_list(POD, version, json.dumps(document).encode())


def test_a_page_of_a_list() -> None:
    found = page(
        {
            "kind": "PodList",
            "metadata": {"resourceVersion": "9", "continue": "more", "remainingItemCount": 4},
            "items": [{"metadata": META}],
        }
    )
    assert [o.key for o in found.items] == [("ml", "p")]
    assert (found.resource_version, found.continue_, found.remaining) == ("9", "more", 4)


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": None},
        {"kind": "PodList", "metadata": {"resourceVersion": "9"}, "items": []},
        {"kind": "PodList", "metadata": {"resourceVersion": "9", "remainingItemCount": None}, "items": []},
    ],
)
def test_W55_null_items_are_no_items(document: Any) -> None:
    assert page(document) == ListPage((), "9")


@pytest.mark.parametrize("metadata", [None, "x", [], 3])
def test_W55_metadata_that_is_none(metadata: object) -> None:
    found = page({"kind": "PodList", "metadata": metadata, "items": [{"metadata": META}]})
    assert (len(found.items), found.resource_version, found.continue_) == (1, "", "")


@pytest.mark.parametrize(
    "document",
    [
        {"kind": "PodList", "metadata": {}},
        {"kind": "Status", "status": "Failure", "code": 500},
        {"kind": "Status", "items": []},
        {"kind": "Table", "rows": [], "items": []},
        {"kind": "Table", "columnDefinitions": [], "rows": []},
        {"kind": "Pod", "metadata": META, "items": []},
        {"kind": "PodList", "items": {}},
        {"kind": "PodList", "items": "none"},
        {"kind": "PodList", "items": [None]},
        {"kind": "PodList", "items": [["p"]]},
        {},
        [],
        None,
    ],
    ids=str,
)
def test_W55_anything_else_is_an_error_never_an_empty_list(document: Any) -> None:
    with pytest.raises(DecodeError):
        page(document)


def test_one_odd_item_does_not_cost_the_list() -> None:
    found = page({"kind": "PodList", "items": [{"metadata": META, "spec": {"nodeName": 7}}, {"metadata": META}]})
    assert [o.name for o in found.items] == ["p", "p"]


# --- events ---


def event(document: Any) -> WatchEvent:
    return decode_event(POD, "v1", json.dumps(document).encode())


@pytest.mark.parametrize("type_", ["ADDED", "MODIFIED", "DELETED"])
@pytest.mark.parametrize("odd", [{}, {"spec": {"nodeName": 7}}], ids=["fast", "lenient"])
def test_changes(type_: str, odd: dict[str, Any]) -> None:
    found = event({"type": type_, "object": {"metadata": META, **odd}})
    assert (found.type, found.resource_version) == (type_, "7")
    assert found.object is not None
    assert found.object.key == ("ml", "p")


def test_W11_an_error_carries_its_status() -> None:
    found = event({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "old"}})
    assert found.object is None
    assert found.status == Status(code=410, reason="Expired", message="old")


@pytest.mark.parametrize("odd", [None, {"kind": "Pod", "metadata": META}, "gone", 410, []], ids=str)
def test_W11_an_error_without_a_status_is_still_an_error(odd: object) -> None:
    assert event({"type": "ERROR", "object": odd}) == WatchEvent("ERROR")


@pytest.mark.parametrize(
    ("annotations", "ends"),
    [
        ({"k8s.io/initial-events-end": "true"}, True),
        ({"k8s.io/initial-events-end": "false"}, False),
        ({"k8s.io/other": "true"}, False),
        ({}, False),
        (None, False),
    ],
)
def test_W54_only_the_closing_bookmark_ends_the_initial_phase(annotations: Any, ends: bool) -> None:
    meta = {"resourceVersion": "12", "annotations": annotations}
    found = event({"type": "BOOKMARK", "object": {"kind": "Pod", "metadata": meta}})
    assert found == WatchEvent("BOOKMARK", None, None, "12", ends)


@pytest.mark.parametrize("odd", [None, [], 3, {"metadata": {"resourceVersion": 5}}], ids=str)
def test_a_malformed_bookmark_is_refused(odd: object) -> None:
    with pytest.raises(DecodeError):
        event({"type": "BOOKMARK", "object": odd})


@pytest.mark.parametrize("type_", ["FOO", "added", ""])
def test_W11_other_types_are_passed_on_for_the_watch_to_judge(type_: str) -> None:
    found = event({"type": type_, "object": {"metadata": META}})
    assert (found.type, found.resource_version) == (type_, "7")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"{",
        b"[]",
        b"null",
        b'{"type":"ADDED"}',
        b'{"type":"ADDED","object":null}',
        b'{"type":1,"object":{}}',
        b'{"type":"ADDED","object":{"metadata":{"name":"\\ud800"}}}',
        b'{"type":"ADDED","object":[]} {}',
    ],
)
def test_W25_a_bad_line_is_refused(line: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_event(POD, "v1", line)


# --- statuses ---


def test_a_failed_request_says_why() -> None:
    body = {
        "kind": "Status",
        "status": "Failure",
        "reason": "Invalid",
        "code": 422,
        "details": {"retryAfterSeconds": 7, "causes": [{"field": "spec.minReplicas", "message": "must be 1"}]},
    }
    found = decode_status(json.dumps(body).encode())
    assert found is not None
    assert found.details is not None
    assert (found.code, found.details.retry_after_seconds) == (422, 7)
    assert [c.field for c in found.details.causes or ()] == ["spec.minReplicas"]


@pytest.mark.parametrize("body", [b"<html>502</html>", b"too many requests", b"", b"{}", b'{"kind":"Pod"}', b"[]"])
def test_another_body_is_no_status(body: bytes) -> None:
    assert decode_status(body) is None


def test_kinds_know_their_struct() -> None:
    for kind in KINDS.values():
        assert issubclass(kind.type, Object)
        assert kind.type.__name__ == kind.name

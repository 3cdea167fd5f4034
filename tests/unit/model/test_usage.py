"""metrics.k8s.io as it is on the wire, and whatever else may come from there."""

from __future__ import annotations

import json
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.model.decode import DecodeError
from ktui.model.usage import Amounts, NodeUsage, PodUsage, decode_usage, decode_usages, metrics_path

POD = {
    "metadata": {"name": "train-0", "namespace": "ml", "labels": {"app": "x"}},
    "timestamp": "2026-11-30T06:00:00Z",
    "window": "15.014s",
    "containers": [
        {"name": "main", "usage": {"cpu": "12345678n", "memory": "1024Ki"}},
        {"name": "proxy", "usage": {"cpu": "5m", "memory": "1Mi"}},
    ],
}


def _pod(**changes: Any) -> PodUsage:
    return decode_usage(PodUsage, json.dumps({**POD, **changes}).encode())


def test_the_containers_of_a_pod_are_added_up() -> None:
    assert _pod().amounts == Amounts(Decimal("0.017345678"), Decimal(2 * 1024 * 1024))
    assert _pod().key == ("ml", "train-0")


def test_what_one_container_does_not_tell_is_not_told_of_the_pod() -> None:
    pod = _pod(containers=[{"name": "a", "usage": {"cpu": "1"}}, {"name": "b", "usage": {"cpu": "1", "memory": "1Ki"}}])
    assert pod.amounts == Amounts(Decimal(2), None)


@pytest.mark.parametrize("usage", [None, {}, {"cpu": "many"}, {"cpu": "-5m", "memory": "1" * 80}, {"cpu": None}])
def test_what_is_no_quantity_is_no_figure(usage: Any) -> None:
    assert _pod(containers=[{"name": "a", "usage": usage}]).amounts == Amounts(None, None)


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("15s", 15.0),
        ("1m30.5s", 90.5),
        ("1h", 3600.0),
        ("", None),
        ("s", None),
        ("15", None),
        ("-5s", None),
        (None, None),
    ],
)
def test_windows_are_durations_of_go(written: str | None, seconds: float | None) -> None:
    assert _pod(window=written).seconds == seconds


def test_a_field_that_does_not_fit_costs_that_field() -> None:
    pod = _pod(timestamp=17, containers=[{"name": "main", "usage": {"cpu": 1, "memory": ["x"]}}, "rubbish"])
    assert pod.at is None
    assert [container.amounts for container in pod.containers or ()] == [Amounts(Decimal(1), None)]


def test_an_item_that_is_no_object_is_left_out() -> None:
    body = json.dumps({"items": [POD, 7, None, "x", {**POD, "containers": None}]}).encode()
    assert [pod.key for pod in decode_usages(PodUsage, body)] == [("ml", "train-0"), ("ml", "train-0")]
    assert decode_usages(PodUsage, b'{"items": null}') == ()


def test_what_most_of_a_list_say_is_kept_once() -> None:
    other = {**POD, "metadata": {"name": "train-1", "namespace": "ml"}}
    first, second = decode_usages(PodUsage, json.dumps({"items": [POD, other]}).encode())
    assert (first, second) == (_pod(), _pod(metadata=other["metadata"]))
    assert first.metadata.namespace is second.metadata.namespace
    assert first.timestamp is second.timestamp
    assert first.window is second.window
    for mine, its in zip(first.containers or (), second.containers or (), strict=True):
        assert mine.name is its.name


@pytest.mark.parametrize("body", [b"", b"[]", b"<html>", b'{"items": 3}', b"[" * 100_000])
def test_what_is_no_list_is_said(body: bytes) -> None:
    with pytest.raises(DecodeError):
        decode_usages(PodUsage, body)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["metadata", "name", "containers", "usage", "cpu", "timestamp", "window", "items"]),
                inner,
            )
        ),
    )
)
def test_any_json_gives_figures_or_a_plain_no(document: object) -> None:
    body = json.dumps(document).encode()
    with suppress(DecodeError):
        pod, node = decode_usage(PodUsage, body), decode_usage(NodeUsage, body)
        assert all(amount is None or amount >= 0 for each in (pod, node) for amount in _both(each.amounts))
        assert all(each.seconds is None or each.seconds >= 0 for each in (pod, node))
    with suppress(DecodeError):
        assert all(isinstance(pod, PodUsage) for pod in decode_usages(PodUsage, body))


def _both(amounts: Amounts) -> tuple[Decimal | None, Decimal | None]:
    return (amounts.cpu, amounts.memory)


def test_paths() -> None:
    assert metrics_path("v1", "pods") == "/apis/metrics.k8s.io/v1/pods"
    assert metrics_path("v1beta1", "pods", "ml", "a") == "/apis/metrics.k8s.io/v1beta1/namespaces/ml/pods/a"
    assert metrics_path("v1", "nodes", name="n1") == "/apis/metrics.k8s.io/v1/nodes/n1"

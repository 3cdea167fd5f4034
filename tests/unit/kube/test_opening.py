"""From flags to a target: durations, the service account of a pod, and what must not be ignored there."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.errors import UsageError
from ktui.kube import opening
from ktui.kube.kubeconfig import LoadOptions, in_cluster
from ktui.kube.opening import Wanted, open_transport, parse_duration, resolve
from ktui.kube.target import Target
from ktui.kube.timers import Timers
from tests.unit.kube.harness import target

DAY = 86_400.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30", 30.0),
        ("30s", 30.0),
        ("1m", 60.0),
        ("1m30s", 90.0),
        ("1h1m1s", 3661.0),
        ("500ms", 0.5),
        ("1.5m", 90.0),
        ("0", DAY),
        ("0s", DAY),
        ("9999999999999h", DAY),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    ["", "s", "-5s", "+5s", "5 s", " 5s", "5x", "1e3", "inf", "nan", "\u0665s", "5s\n", "1m 30s", "1..5s", "x" * 9000],
)
def test_no_durations(text: str) -> None:
    with pytest.raises(UsageError, match=r"--request-timeout .* is not a duration") as refused:
        parse_duration(text)
    assert len(str(refused.value)) < 200


@given(st.text("0123456789hms. -", max_size=10))
def test_a_duration_is_positive_and_at_most_a_day_or_refused(text: str) -> None:
    try:
        seconds = parse_duration(text)
    except UsageError:
        return
    assert 0 < seconds <= DAY


def test_the_request_timeout_is_that_of_single_requests() -> None:
    options = LoadOptions(environ={})
    assert Wanted(options).timers() == Timers()
    assert Wanted(options, request_timeout=7.0).timers().short_get == 7.0


@pytest.fixture
def in_a_pod(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LoadOptions:
    """A pod without a kubeconfig."""
    account = tmp_path / "serviceaccount"
    account.mkdir()
    (account / "token").write_text("of the pod")
    (account / "namespace").write_text("tools")
    environ = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    monkeypatch.setattr(opening, "in_cluster", lambda asked: in_cluster(asked, account))
    return LoadOptions(environ=environ, home=tmp_path)


def opened(options: LoadOptions, **flags: object) -> Target:
    from dataclasses import replace

    return resolve(Wanted(replace(options, **flags)))  # type: ignore[arg-type]


def test_in_a_pod_its_own_account(in_a_pod: LoadOptions) -> None:
    found = opened(in_a_pod)
    assert (found.context, found.host, found.namespace, found.impersonate) == (
        "in-cluster",
        "10.96.0.1:443",
        "tools",
        None,
    )


def test_in_a_pod_the_identity_asked_for_is_not_forgotten(in_a_pod: LoadOptions) -> None:
    """To act with the account's own rights instead would be more than was asked for."""
    found = opened(in_a_pod, as_user="viewer", as_groups=("readers",), as_uid="7", namespace="ml")
    assert found.impersonate is not None
    assert (found.impersonate.user, found.impersonate.groups, found.impersonate.uid) == ("viewer", ("readers",), "7")
    assert found.namespace == "ml"


@pytest.mark.parametrize(
    ("flags", "wrong"),
    [
        ({"as_groups": ("readers",)}, "--as-group and --as-uid go with --as"),
        ({"as_uid": "7"}, "--as-group and --as-uid go with --as"),
        ({"as_user": "a\r\nX: y"}, "control characters"),
        ({"as_user": "a", "as_groups": ("\x1b",)}, "control characters"),
        ({"namespace": "a/b"}, "--namespace 'a/b' is not"),
    ],
)
def test_in_a_pod_flags_are_checked(flags: dict[str, object], wrong: str, in_a_pod: LoadOptions) -> None:
    with pytest.raises(UsageError, match=wrong):
        opened(in_a_pod, **flags)


@pytest.mark.parametrize("flags", [{"context": "prod"}, {"kubeconfig": "empty"}])
def test_in_a_pod_another_cluster_that_was_asked_for_is_not_replaced(
    flags: dict[str, object], in_a_pod: LoadOptions, tmp_path: Path
) -> None:
    (tmp_path / "empty").write_text("")
    if "kubeconfig" in flags:
        flags = {"kubeconfig": str(tmp_path / "empty")}
    with pytest.raises(UsageError):
        opened(in_a_pod, **flags)


def test_outside_of_a_pod_nothing_is_made_up(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        opened(LoadOptions(environ={}, home=tmp_path))


async def test_a_transport_is_closed_after_use(tmp_path: Path) -> None:
    wanted = Wanted(LoadOptions(environ={}, home=tmp_path), read_only=True, request_timeout=3.0)
    async with open_transport(wanted, target("http://127.0.0.1:9")) as transport:
        assert transport.read_only
        assert transport.timers.short_get == 3.0
    with pytest.raises(Exception, match="this connection is closed"):
        await transport.request("GET", "/version")


async def test_without_a_standard_input_there_is_nobody_to_ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`ktui … <&-`: Python has no sys.stdin then."""
    monkeypatch.setattr("sys.stdin", None)
    async with open_transport(Wanted(LoadOptions(environ={}, home=tmp_path)), target("http://127.0.0.1:9")):
        pass

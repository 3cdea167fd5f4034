"""What doctor says of credentials, files, TLS, clock and rights."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ktui.doctor import access
from ktui.doctor.facts import Connection, File, Identity, Right, Unknown
from ktui.doctor.finding import Finding, Status

from .facts import ACTING, CONNECTION, READING, facts


def only(found: object) -> Finding:
    (finding,) = list(found)  # type: ignore[call-overload]
    assert isinstance(finding, Finding)
    return finding


@pytest.mark.parametrize(
    ("identity", "status", "says"),
    [
        (Identity("alice", ("oncall",)), "ok", "alice: context prod, 10.0.0.1:6443, token"),
        (Identity("root", ("system:masters",)), "warn", "no role limits"),
        (Identity("system:anonymous", ()), "warn", "takes us for nobody"),
        (Unknown("no answer within 15 s"), "skipped", "no answer within 15 s (context prod"),
    ],
)
def test_who(identity: Identity | Unknown, status: Status, says: str) -> None:
    found = only(access.who(facts(identity=identity)))
    assert (found.status, says in found.text) == (status, True), found


def test_an_impersonated_user_is_named() -> None:
    acting = replace(CONNECTION, impersonating="bob")
    assert only(access.who(facts(connection=acting))).text.endswith("acting as bob")


@pytest.mark.parametrize(
    ("mode", "status"),
    [(0o600, "ok"), (0o400, "ok"), (0o640, "warn"), (0o604, "warn"), (0o620, "fail"), (0o666, "fail"), (0o711, "ok")],
)
def test_files(mode: int, status: Status) -> None:
    found = only(access.files(facts(files=(File("/k", mode),))))
    assert (found.status, found.objects) == (status, () if status == "ok" else ("/k",))


def test_each_bad_file_is_named_for_what_is_wrong_with_it() -> None:
    found = list(access.files(facts(files=(File("/read", 0o644), File("/write", 0o666), File("/well", 0o600)))))
    assert [(f.status, f.objects) for f in found] == [("fail", ("/write",)), ("warn", ("/read",))]


@pytest.mark.parametrize(
    ("connection", "status"),
    [
        (CONNECTION, "ok"),
        (replace(CONNECTION, plain=True), "warn"),
        (replace(CONNECTION, insecure=True), "fail"),
        (Unknown("a recording does not tell"), "skipped"),
    ],
)
def test_tls(connection: Connection | Unknown, status: Status) -> None:
    assert only(access.tls(facts(connection=connection))).status == status


@pytest.mark.parametrize(
    ("skew", "status", "says"),
    [
        (0.0, "ok", "agree"),
        (-5.0, "ok", "agree"),
        (6.0, "warn", "6 s ahead of"),
        (-6.0, "warn", "6 s behind"),
        (-3600.0, "fail", "3,600 s behind"),
    ],
)
def test_clock(skew: float, status: Status, says: str) -> None:
    found = only(access.clock(facts(skew=skew)))
    assert (found.status, says in found.text) == (status, True), found


def right(verb: str, resource: str, scope: str) -> Right:
    return Right("reading", verb, resource, scope)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rights", "status", "says"),
    [
        (READING, "ok", "all 1 kind it shows"),
        ((*READING, *(right(v, "nodes", "nowhere") for v in ("get", "list", "watch"))), "warn", "may not read nodes"),
        ((*READING, right("watch", "nodes", "nowhere")), "warn", "may not watch nodes"),
        ((right("list", "pods", "namespace"),), "warn", "only in namespace ml: pods"),
        ((right("list", "pods", "nowhere"), right("get", "pods", "everywhere")), "fail", "may not list pods"),
    ],
)
def test_reading(rights: tuple[Right, ...], status: Status, says: str) -> None:
    found = only(access.reading(facts(rights=rights)))
    assert (found.status, says in found.text, bool(found.todo)) == (status, True, status != "ok"), found


def test_who_reads_only_is_well() -> None:
    nothing = tuple(replace(each, scope="nowhere") for each in ACTING)
    found = only(access.acting(facts(rights=nothing)))
    assert (found.status, found.text) == ("ok", "may not: taint, untaint")
    assert found.objects == ("create devicetaintrules", "patch devicetaintrules", "delete devicetaintrules")


def test_who_may_taint_and_not_untaint_is_warned() -> None:
    trapped = tuple(replace(each, scope="nowhere") if each.verb == "delete" else each for each in ACTING)
    found = only(access.acting(facts(rights=trapped)))
    assert (found.status, found.text) == ("warn", "may: taint; may not: untaint")


def test_read_only_mode_is_said() -> None:
    found = only(access.acting(facts(connection=replace(CONNECTION, read_only=True))))
    assert found.text == "may: taint, untaint; read-only mode: nothing is written"


def test_requests_are_counted() -> None:
    finding = only(access.usage(facts()))
    assert finding.text == (
        "this look took 57 requests and 400 KiB of answers (2.8 MiB unpacked), most of it for list pods (7 requests, 391 KiB),"
        " get /version (50 requests, 9 KiB); the screens keep 14 watches open"
    )
    assert finding.objects == ("list pods (7 requests, 391 KiB)", "get /version (50 requests, 9 KiB)")

"""The audit log: one line an action, for its owner only, and no action without it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from ktui.actions.audit import AuditContext, AuditLog, audit_record
from ktui.actions.minreplicas import plan_min_replicas
from ktui.actions.plan import Plan
from ktui.errors import KtuiError
from tests.unit.actions.rig import CONTEXT, HPAS, rig

NOW = "2026-11-30T06:04:31Z"


async def _plan(tmp_path: Path) -> Plan:
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler()
        return await plan_min_replicas(at.api, ("ml", "chat"), 3)


def _record(plan: Plan, where: AuditContext = CONTEXT, result: str = "applied: done") -> dict[str, Any]:
    return audit_record(plan, where, time=NOW, rehearsal="accepted", result=result, audit_id="abc")


async def test_a22_everything_that_tells_who_did_what(tmp_path: Path) -> None:
    plan = await _plan(tmp_path)
    where = AuditContext("prod-eu", "10.0.0.1:6443", "oncall", "admin", insecure=True)
    body = plan.request.body
    assert _record(plan, where) == {
        "time": NOW,
        "action": "min-replicas",
        "context": "prod-eu",
        "host": "10.0.0.1:6443",
        "user": "oncall",
        "impersonating": "admin",
        "insecure": True,
        "method": "PATCH",
        "path": f"{HPAS}/chat",
        "name": "chat",
        "body": body,
        "bodySHA256": hashlib.sha256(orjson.dumps(body)).hexdigest(),
        "before": "minReplicas 1",
        "after": "minReplicas 3",
        "podsDeleted": [],
        "dryRun": "accepted",
        "result": "applied: done",
        "auditID": "abc",
    }


async def test_a22_the_digest_is_of_the_bytes_that_were_sent(tmp_path: Path) -> None:
    raw: list[bytes] = []
    async with rig(tmp_path) as at:
        await at.look()
        at.server.add_autoscaler()

        async def keep(request: Any, response: Any) -> Any:
            raw.append(await request.read())
            response.headers["Audit-Id"] = "8f3c"
            return response

        at.server.after = keep
        await at.carry_out(await plan_min_replicas(at.api, ("ml", "chat"), 3))
        (line,) = at.audit()
    assert line["bodySHA256"] == hashlib.sha256(raw[0]).hexdigest()
    assert line["auditID"] == "8f3c"
    assert line["time"] == NOW


async def test_a22_lines_are_appended(tmp_path: Path) -> None:
    plan = await _plan(tmp_path)
    path = tmp_path / "new" / "state" / "audit.log"
    for number in range(3):
        AuditLog(path).write(_record(plan, result=str(number)))
    assert [json.loads(line)["result"] for line in path.read_text().splitlines()] == ["0", "1", "2"]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_a22_only_its_owner_may_read_it(mask: int, tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    before = os.umask(mask)
    try:
        AuditLog(path).write({"a": 1})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a22_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    path.touch(0o644)
    AuditLog(path).check()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(), max_size=60))
def test_a22_any_text_is_one_printable_line(text: str, tmp_path: Path) -> None:
    """Also C1 controls and bidi marks, which a terminal obeys, and surrogates, which are no UTF-8."""
    path = tmp_path / "audit.log"
    path.unlink(missing_ok=True)
    AuditLog(path).write({"context": text, "result": f"\x1b[31m\n{text}"})
    (line,) = path.read_bytes().splitlines()
    assert all(0x20 <= byte <= 0x7F for byte in line)
    assert json.loads(line)["context"] == text


def _directory(path: Path) -> None:
    path.mkdir()


def _link(path: Path) -> None:
    (path.parent / "elsewhere").touch()
    path.symlink_to(path.parent / "elsewhere")


def _dangling(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _file_for_a_directory(path: Path) -> None:
    path.parent.rmdir()
    path.parent.touch()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_directory, "Is a directory"),
        (_link, "it is a symbolic link"),
        (_dangling, "it is a symbolic link"),
        (_pipe, "No such device or address"),
        (_file_for_a_directory, "(File exists|Not a directory)"),
    ],
)
def test_a21_what_is_no_plain_file_is_refused_beforehand(make: Any, why: str, tmp_path: Path) -> None:
    path = tmp_path / "state" / "audit.log"
    path.parent.mkdir()
    make(path)
    with pytest.raises(KtuiError, match=f"cannot write the audit log .*: {why}; without it no action is sent"):
        AuditLog(path).check()
    assert not (tmp_path / "state" / "nowhere").exists()


def test_a21_a_pipe_with_a_reader_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "audit.log"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(KtuiError, match="it is not a regular file; without it no action is sent"):
            AuditLog(path).check()
    finally:
        os.close(reader)


def test_a21_another_ones_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the owner may change the mode."""
    path = tmp_path / "audit.log"

    def refuse(_file: int, _mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refuse)
    with pytest.raises(KtuiError, match="it cannot be made private: Operation not permitted"):
        AuditLog(path).check()


def test_a21_a_full_disk_is_refused_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.fstatvfs

    class Full:
        f_bavail = 0
        f_frsize = 4096

    monkeypatch.setattr(os, "fstatvfs", lambda file: real(file) and Full)
    with pytest.raises(KtuiError, match="the disk is full; without it no action is sent"):
        AuditLog(tmp_path / "audit.log").check()


def test_a21_a_short_write_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:3]))
    with pytest.raises(KtuiError, match="the disk is full"):
        AuditLog(tmp_path / "audit.log").write({"a": 1})


async def test_a22_the_pods_that_go_are_named(tmp_path: Path) -> None:
    from ktui.diagnose.blast import Blast, PodHit

    plan = structs.replace(await _plan(tmp_path), blast=Blast((PodHit(("ml", "p0"), "u", 0),)))
    assert _record(plan)["podsDeleted"] == ["ml/p0"]

"""The audit log: one JSON line for each action, on the person's own machine.

Written before the answer is shown, appended in one write, mode 0600, never through a symlink. An action that cannot be audited
is not sent.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from pathlib import Path
from typing import Any

import orjson
from msgspec import Struct

from ktui.actions.plan import Plan
from ktui.errors import KtuiError


class AuditContext(Struct, frozen=True):
    """Where and as whom: `user` as the server sees it, `impersonating` when it is not the person's own."""

    context: str
    host: str
    user: str
    impersonating: str = ""
    insecure: bool = False


_ROOM = 1 << 20  # bytes: a line is a few KB, a large gang's hit list some hundred


class AuditLog:
    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Raises KtuiError when nothing can be appended, so that an action is refused before it is sent."""
        try:
            file = self._open()
            try:
                space = os.fstatvfs(file)
            finally:
                os.close(file)
        except KtuiError as error:
            raise KtuiError(f"{error}; without it no action is sent") from None
        if space.f_bavail * space.f_frsize < _ROOM:
            raise KtuiError(f"cannot write the audit log {self.path}: the disk is full; without it no action is sent")

    def write(self, record: dict[str, Any]) -> None:
        """Append one line. Raises KtuiError."""
        # ASCII only: a terminal that prints the file must not obey it, and no text can fail to be written.
        line = json.dumps(record, separators=(",", ":")).encode() + b"\n"
        file = self._open()
        try:
            written = os.write(file, line)
            os.fsync(file)
        except OSError as error:
            raise KtuiError(f"cannot write the audit log {self.path}: {error.strerror}") from None
        finally:
            os.close(file)
        if written != len(line):
            raise KtuiError(f"cannot write the audit log {self.path}: the disk is full")

    def _open(self) -> int:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            file = os.open(self.path, flags, 0o600)
        except OSError as error:
            why = "it is a symbolic link" if error.errno == errno.ELOOP else error.strerror
            raise KtuiError(f"cannot write the audit log {self.path}: {why}") from None
        if problem := _unfit(file):
            os.close(file)
            raise KtuiError(f"cannot write the audit log {self.path}: {problem}")
        return file


def _unfit(file: int) -> str:
    """What speaks against an open file as the log, "" for nothing. Makes it private."""
    if not stat.S_ISREG(os.fstat(file).st_mode):
        return "it is not a regular file"
    try:
        os.fchmod(file, 0o600)
    except OSError as error:
        return f"it cannot be made private: {error.strerror}"
    return ""


def audit_record(
    plan: Plan, where: AuditContext, *, time: str, rehearsal: str, result: str, audit_id: str
) -> dict[str, Any]:
    """What is kept of an action. The body holds no secret: it is made of names and numbers that the person chose."""
    request = plan.request
    body = orjson.dumps(request.body)
    return {
        "time": time,
        "action": plan.action,
        "context": where.context,
        "host": where.host,
        "user": where.user,
        "impersonating": where.impersonating or None,
        "insecure": where.insecure,
        "method": request.method,
        "path": request.path,
        "name": request.name,
        "body": request.body,
        "bodySHA256": hashlib.sha256(body).hexdigest(),
        "before": plan.before,
        "after": plan.after,
        "podsDeleted": ["/".join(hit.key) for hit in plan.blast.deleted],
        "dryRun": rehearsal,
        "result": result,
        "auditID": audit_id or None,
    }

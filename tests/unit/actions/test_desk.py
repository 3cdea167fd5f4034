"""The desk: who acts where, as the dialogs and the audit log name it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ktui.actions.desk import open_desk
from ktui.kube.failures import Unreachable
from ktui.kube.target import Impersonation, TlsSettings
from tests.faults import Answer, status_body
from tests.unit.actions.rig import rig
from tests.unit.kube.harness import target

REVIEW = "POST /apis/authentication.k8s.io/v1/selfsubjectreviews"


async def test_the_user_is_the_servers_word(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        where = (await open_desk(at.transport, target(at.server.api.url), {}, at.log)).where
    assert (where.context, where.user, where.impersonating, where.insecure) == (
        "demo",
        "system:anonymous",
        "",
        True,  # plain http
    )


async def test_whom_one_acts_as_and_how_safely(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        secure = replace(target(at.server.api.url), tls=TlsSettings(), impersonate=Impersonation("admin"))
        where = (await open_desk(at.transport, secure, {}, at.log)).where
        assert (where.impersonating, where.insecure) == ("admin", False)
        unchecked = replace(secure, tls=TlsSettings(insecure=True))
        assert (await open_desk(at.transport, unchecked, {}, at.log)).where.insecure


@pytest.mark.parametrize("status", [403, 404])
async def test_a_server_that_does_not_say_who_we_are(status: int, tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        at.server.faults.script(REVIEW, Answer(status, status_body(status, "NotFound")))
        assert (await open_desk(at.transport, target(at.server.api.url), {}, at.log)).where.user == ""


async def test_without_a_server_there_is_no_desk(tmp_path: Path) -> None:
    async with rig(tmp_path) as at:
        await at.server.api.stop()
        await at.transport.reset()
        with pytest.raises(Unreachable):
            await open_desk(at.transport, target(at.server.api.url), {}, at.log)

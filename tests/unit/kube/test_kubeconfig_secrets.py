"""K03 and rows 10, 12: whatever is wrong with a user entry, its secrets are in no message, log, repr or traceback."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from pathlib import Path
from typing import Any

import pytest
import yaml

from ktui.errors import KtuiError
from ktui.kube.credentials import Credentials, NeedsLogin
from ktui.kube.fields import Fields
from tests.unit.kube.fakeplugin import FakePlugin, reply
from tests.unit.kube.kubeconfigbuilder import document, load_files, target, write

SECRET = "CANARYcanary0123456789"
ENCODED = base64.b64encode(SECRET.encode()).decode()
PEM = base64.b64encode(b"-----BEGIN PRIVATE KEY-----\n" + SECRET.encode() + b"\n-----END PRIVATE KEY-----").decode()
EXEC = {
    "apiVersion": "client.authentication.k8s.io/v1",
    "interactiveMode": "Never",
    "command": "no-such-plugin-anywhere",
    "args": [f"--client-secret={SECRET}", SECRET],
    "env": [{"name": "TOKEN", "value": SECRET}],
}
_EXPIRED = base64.urlsafe_b64encode(json.dumps({"exp": 1, "sub": SECRET}).encode()).decode()

BROKEN_USERS: dict[str, Any] = {
    "a list": [SECRET],
    "text": SECRET,
    "token is a list": {"token": [SECRET]},
    "token is a mapping": {"token": {SECRET: SECRET}},
    "token with a line break": {"token": f"{SECRET}\n{SECRET}"},
    "token and password": {"token": SECRET, "password": SECRET, "username": SECRET},
    "username with a colon": {"username": f"{SECRET}:{SECRET}", "password": SECRET},
    "password is a list": {"username": "u", "password": [SECRET]},
    "token pasted as tokenFile": {"tokenFile": SECRET},
    "token with lines pasted as tokenFile": {"tokenFile": f"{SECRET}\n{SECRET}"},
    "token longer than a path pasted as tokenFile": {"tokenFile": SECRET * 300},
    "token pasted as tilde path": {"tokenFile": f"~{SECRET}"},
    "key pasted as a path": {"client-certificate": "c.pem", "client-key": f"-----BEGIN KEY-----\n{SECRET}"},
    "key in one line pasted as a path": {"client-certificate-data": PEM, "client-key": SECRET},
    "key data that is not base64": {"client-certificate": "c.pem", "client-key-data": f"-{SECRET}"},
    "key data that is not a key": {"client-certificate-data": ENCODED, "client-key-data": ENCODED},
    "certificate without a key": {"client-certificate-data": PEM, "token": SECRET},
    "key file and data": {"client-certificate-data": PEM, "client-key-data": PEM, "client-key": SECRET},
    "plugin that is missing": {"exec": EXEC},
    "plugin arguments of a wrong type": {"exec": EXEC | {"args": [[SECRET]]}},
    "plugin arguments as text": {"exec": EXEC | {"args": SECRET}},
    "plugin environment of a wrong type": {"exec": EXEC | {"env": [SECRET]}},
    "plugin environment with a bad name": {"exec": EXEC | {"env": [{"name": f"A={SECRET}", "value": SECRET}]}},
    "plugin environment value as a list": {"exec": EXEC | {"env": [{"name": "TOKEN", "value": [SECRET]}]}},
    "plugin as text": {"exec": SECRET},
    "plugin of an old version": {"exec": EXEC | {"apiVersion": SECRET}},
    "plugin in an unknown mode": {"exec": EXEC | {"interactiveMode": SECRET}},
    "auth-provider of an unknown kind": {"auth-provider": {"name": SECRET, "config": {"refresh-token": SECRET}}},
    "auth-provider as text": {"auth-provider": SECRET},
    "oidc with an expired token": {"auth-provider": {"name": "oidc", "config": {"id-token": f"a.{_EXPIRED}.{SECRET}"}}},
    "oidc with a broken token": {"auth-provider": {"name": "oidc", "config": {"id-token": SECRET}}},
    "oidc with lists": {"auth-provider": {"name": "oidc", "config": {"refresh-token": [SECRET]}}},
    "oidc and exec": {"exec": EXEC, "auth-provider": {"name": "oidc", "config": {"refresh-token": SECRET}}},
    "groups without a user": {"token": SECRET, "as-groups": [SECRET]},
    "impersonation with a line break": {"token": SECRET, "as": f"x\n{SECRET}"},
    "extra of a wrong type": {"token": SECRET, "as": "x", "as-user-extra": {SECRET: SECRET}},
}


def _all_of(error: BaseException) -> str:
    """Everything that a log or a crash report could hold of it, local variables apart."""
    parts: list[str] = []
    seen: BaseException | None = error
    while seen is not None:
        parts += [str(seen), repr(seen), repr(seen.args), repr(vars(seen))]
        seen = seen.__cause__ or seen.__context__
    return "".join([*parts, *traceback.format_exception(error)])


async def _use(home: Path, user: Any) -> None:
    """Do with the entry what ktui does, up to the first request."""
    credentials = Credentials(target(home, {}, user), environ={"PATH": "/nowhere"})
    await credentials.headers()
    await credentials.ssl_context()
    await credentials.on_unauthorized(await credentials.headers())


@pytest.mark.parametrize("name", BROKEN_USERS)
async def test_12_danger_k03_broken_users_keep_their_secrets(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    with pytest.raises(KtuiError) as caught:
        await _use(tmp_path, BROKEN_USERS[name])
    told = _all_of(caught.value) + caplog.text + "".join(capfd.readouterr())
    for secret in (SECRET, ENCODED, PEM, _EXPIRED):
        assert secret not in told
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500 + len(str(tmp_path))


async def test_12_missing_keys_name_the_entry_only(tmp_path: Path) -> None:
    content = document("c", user={"auth-provider": {"config": {"refresh-token": SECRET}}})
    with pytest.raises(KtuiError, match='user "c" in') as caught:
        load_files(tmp_path, write(tmp_path / "a", content)).resolve()
    assert SECRET not in _all_of(caught.value)


@pytest.mark.parametrize("cut", range(0, 200, 7))
def test_10_yaml_that_ends_too_early(tmp_path: Path, cut: int) -> None:
    text = yaml.safe_dump(document("c", user={"token": f"'{SECRET}'", "password": f"{SECRET}: [{SECRET}"}))
    file = write(tmp_path / "a", text[: len(text) - cut] + "\n  - : [" + SECRET)
    with pytest.raises(KtuiError) as caught:
        load_files(tmp_path, file)
    assert SECRET not in _all_of(caught.value)


@pytest.mark.parametrize(
    ("stdout", "stderr", "code"),
    [
        (SECRET, "", 0),
        (reply(SECRET)[:-5], "", 0),
        (reply(SECRET, "client.authentication.k8s.io/v1beta1"), "", 0),
        (reply(SECRET + "\n" + SECRET), "", 0),
        (reply(SECRET, clientCertificateData=SECRET), "", 0),
        (reply(clientCertificateData=SECRET, clientKeyData=SECRET), "", 0),
        (reply(SECRET, expirationTimestamp=SECRET), "", 0),
        ("", f"sending Authorization: Bearer {SECRET}\n", 1),
        ("", f"bad option --client-secret={SECRET}\n", 1),
    ],
)
async def test_k03_plugins_keep_their_secrets(tmp_path: Path, stdout: str, stderr: str, code: int) -> None:
    plugin = FakePlugin(tmp_path / "bin").install(stdout, stderr=stderr, exit=code)
    section = plugin.section(args=[f"--client-secret={SECRET}"])
    with pytest.raises(KtuiError) as caught:
        await _use(tmp_path, {"exec": section})
    assert SECRET not in _all_of(caught.value)
    assert isinstance(caught.value, NeedsLogin) or "certificate" in str(caught.value)


def test_reprs(tmp_path: Path) -> None:
    user = {"token": SECRET, "exec": EXEC, "client-certificate-data": PEM, "client-key-data": PEM}
    file = write(tmp_path / "a", document("c", {"server": "https://a", "proxy-url": f"http://u:{SECRET}@p"}, user))
    config = load_files(tmp_path, file)
    assert SECRET not in repr(config) + repr(config.resolve()) + repr(Fields({"token": SECRET}, "x"))

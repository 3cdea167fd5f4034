"""Credentials over time: rows 26, 36 to 38, 40 to 52, 58 to 64 of the kubeconfig cases, K02, K04, K09 to K11, W33."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trustme

from ktui.errors import KtuiError
from ktui.kube.credentials import Credentials, NeedsLogin
from ktui.kube.execplugin import PluginCredential
from ktui.kube.kubeconfig import in_cluster
from tests.unit.kube.fakeplugin import FakePlugin, reply
from tests.unit.kube.kubeconfigbuilder import target, write
from tests.unit.kube.tlsserver import connect, tls_server

CA = trustme.CA()
SERVER = CA.issue_cert("127.0.0.1")


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def plugin(tmp_path: Path) -> FakePlugin:
    return FakePlugin(tmp_path / "bin")


def _credentials(home: Path, user: Any, cluster: Any = None, **more: Any) -> Credentials:
    return Credentials(target(home, cluster or {}, user), **more)


def _certificate(directory: Path, name: str, authority: trustme.CA = CA) -> dict[str, str]:
    """The user entry for a new client certificate in files, which replace those that are there."""
    directory.mkdir(exist_ok=True)
    certificate = authority.issue_cert(name)
    certificate.cert_chain_pems[0].write_to_path(directory / "me.pem")
    certificate.private_key_pem.write_to_path(directory / "me.key")
    return {"client-certificate": str(directory / "me.pem"), "client-key": str(directory / "me.key")}


def _pem_reply(name: str, authority: trustme.CA = CA, token: str = "", **status: Any) -> str:
    issued = authority.issue_cert(name)
    return reply(
        token,
        clientCertificateData=issued.cert_chain_pems[0].bytes().decode(),
        clientKeyData=issued.private_key_pem.bytes().decode(),
        **status,
    )


async def _context(credentials: Credentials) -> ssl.SSLContext:
    context = await credentials.ssl_context()
    assert context is not None
    return context


# Headers


@pytest.mark.parametrize("user", [{"token": "SECRET"}, {"username": "a", "password": "SECRET"}, {"tokenFile": "t"}])
async def test_26_danger_k04_no_authorization_over_plain_http(tmp_path: Path, user: Any) -> None:
    write(tmp_path / "t", "SECRET")
    credentials = _credentials(tmp_path, user | {"as": "bob"}, {"server": "http://127.0.0.1:8080"})
    assert dict(await credentials.headers()) == {"Impersonate-User": "bob"}
    assert await credentials.ssl_context() is None
    with pytest.raises(NeedsLogin, match="not sent over plain http"):
        await credentials.on_unauthorized({})


async def test_26_the_plugin_is_not_run_for_plain_http(tmp_path: Path, plugin: FakePlugin) -> None:
    plugin.install(reply("SECRET"))
    credentials = _credentials(tmp_path, {"exec": plugin.section()}, {"server": "http://127.0.0.1:8080"})
    assert dict(await credentials.headers()) == {}
    assert plugin.runs() == []


async def test_38_danger_k02_impersonation_is_on_every_request(tmp_path: Path) -> None:
    user = {"token": "t", "as": "viewer", "as-groups": ["a", "b"], "as-user-extra": {"x/y": ["1"]}}
    credentials = _credentials(tmp_path, user)
    for _ in range(2):
        headers = await credentials.headers()
        assert list(headers.items()) == [
            ("Authorization", "Bearer t"),
            ("Impersonate-User", "viewer"),
            ("Impersonate-Group", "a"),
            ("Impersonate-Group", "b"),
            ("Impersonate-Extra-x%2Fy", "1"),
        ]


async def test_39_anonymous(tmp_path: Path) -> None:
    credentials = _credentials(tmp_path, {})
    assert dict(await credentials.headers()) == {}
    with pytest.raises(NeedsLogin, match="does not take anonymous requests"):
        await credentials.on_unauthorized({})


async def test_49_basic(tmp_path: Path) -> None:
    credentials = _credentials(tmp_path, {"username": "me", "password": "pässword"})
    headers = await credentials.headers()
    assert base64.b64decode(headers["Authorization"].removeprefix("Basic ")) == "me:pässword".encode()
    assert credentials.redact(f"x pässword {headers['Authorization']}") == "x [redacted] Basic [redacted]"


async def test_a_refused_token_needs_a_new_one(tmp_path: Path) -> None:
    credentials = _credentials(tmp_path, {"token": "SECRET"})
    with pytest.raises(NeedsLogin, match="the server does not accept the token") as caught:
        await credentials.on_unauthorized(await credentials.headers())
    assert (caught.value.command, caught.value.exit_code) == ("", 1)


# Token files


async def test_43_44_k09_token_file_is_read_again_each_minute(tmp_path: Path, clock: Clock) -> None:
    file = write(tmp_path / "t", "one\n")
    credentials = _credentials(tmp_path, {"tokenFile": "t", "token": "fallback"}, clock=clock)

    async def authorization() -> str:
        return (await credentials.headers())["Authorization"]

    assert await authorization() == "Bearer one"
    file.write_text(" two \n")
    clock.now += 59
    assert await authorization() == "Bearer one"
    clock.now += 1
    assert await authorization() == "Bearer two"
    clock.now += 60
    for broken in ("", "in\nside", "nül"):
        file.write_text(broken)
        assert await authorization() == "Bearer two"
        assert "tokenFile of the user" in credentials.problem
        clock.now += 5
    file.unlink()
    assert await authorization() == "Bearer two"
    file.symlink_to(tmp_path / "nowhere")
    clock.now += 5
    assert await authorization() == "Bearer two"
    clock.now += 5
    (tmp_path / "nowhere").write_text("three")
    assert await authorization() == "Bearer three"
    assert credentials.problem == ""


async def test_43_token_is_used_until_the_file_can_be_read(tmp_path: Path, clock: Clock) -> None:
    credentials = _credentials(tmp_path, {"tokenFile": "t", "token": "fallback"}, clock=clock)
    assert (await credentials.headers())["Authorization"] == "Bearer fallback"
    write(tmp_path / "t", "new")
    clock.now += 60
    assert (await credentials.headers())["Authorization"] == "Bearer new"


async def test_43_without_any_token_a_person_is_needed(tmp_path: Path) -> None:
    credentials = _credentials(tmp_path, {"tokenFile": "SECRET-pasted-here"})
    with pytest.raises(NeedsLogin, match="tokenFile of the user cannot be read: no such file") as caught:
        await credentials.headers()
    assert "SECRET" not in str(caught.value)


async def test_43_a_fifo_as_token_file_does_not_block(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "t")
    with pytest.raises(NeedsLogin, match="not a regular file"):
        await _credentials(tmp_path, {"tokenFile": "t"}).headers()


async def test_k09_token_file_is_read_at_once_after_a_401(tmp_path: Path, clock: Clock) -> None:
    file = write(tmp_path / "t", "first-token")
    credentials = _credentials(tmp_path, {"tokenFile": "t"}, clock=clock)
    used = await credentials.headers()
    file.write_text("second-token")
    assert await credentials.on_unauthorized(used)
    assert (await credentials.headers())["Authorization"] == "Bearer second-token"
    with pytest.raises(NeedsLogin, match="does not accept the token file"):
        await credentials.on_unauthorized(await credentials.headers())
    assert credentials.redact("first-token second-token") == "[redacted] [redacted]"


async def test_50_in_cluster_token(tmp_path: Path) -> None:
    write(tmp_path / "token", "tok\n")
    environ = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}
    found = in_cluster(environ, tmp_path)
    assert found is not None
    assert (await Credentials(found).headers())["Authorization"] == "Bearer tok"


# OIDC


def _jwt(**claims: Any) -> str:
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"eyJhbGciOiJSUzI1NiJ9.{body}.c2ln-_"


def _oidc(**config: str) -> dict[str, Any]:
    return {
        "auth-provider": {"name": "oidc", "config": {"refresh-token": "REFRESH", "client-secret": "CLIENT"} | config}
    }


async def test_47_danger_id_token_is_used_while_valid_and_never_refreshed(tmp_path: Path, clock: Clock) -> None:
    token = _jwt(exp=clock.now + 100, name="???>>>~~~")
    assert "-" in token or "_" in token
    credentials = _credentials(tmp_path, _oidc(**{"id-token": token}), clock=clock)
    assert (await credentials.headers())["Authorization"] == f"Bearer {token}"
    clock.now += 95
    with pytest.raises(NeedsLogin, match="id-token has expired, and only kubectl may renew it") as caught:
        await credentials.headers()
    assert caught.value.command == "kubectl --context c auth whoami"
    assert credentials.redact(f"REFRESH CLIENT {token}") == "[redacted] [redacted] [redacted]"


@pytest.mark.parametrize("token", ["", "SECRET", "a.SECRET.c", f"a.{base64.b64encode(b'{}').decode()}.c", "a.é.c"])
async def test_47_id_tokens_that_cannot_be_read(tmp_path: Path, token: str) -> None:
    with pytest.raises(NeedsLogin, match="id-token") as caught:
        await _credentials(tmp_path, _oidc(**{"id-token": token})).headers()
    assert "SECRET" not in str(caught.value)


# Certificates


async def test_40_42_k11_client_certificate_rotated_on_disk(tmp_path: Path, clock: Clock) -> None:
    user = _certificate(tmp_path / "pki", "first@example.com")
    credentials = _credentials(tmp_path, user, {"certificate-authority": str(tmp_path / "ca")}, clock=clock)
    CA.cert_pem.write_to_path(tmp_path / "ca")
    async with tls_server(SERVER, CA) as server:
        first = await _context(credentials)
        await connect(server.port, first)
        assert await _context(credentials) is first
        assert credentials.generation == 0
        _certificate(tmp_path / "pki", "second@example.com")
        await credentials.headers()
        assert credentials.generation == 0
        clock.now += 60
        await credentials.headers()
        assert credentials.generation == 1
        await connect(server.port, await _context(credentials))
        assert server.clients == ["first@example.com", "second@example.com"]


async def test_42_half_of_a_rotation_is_not_taken(tmp_path: Path, clock: Clock) -> None:
    user = _certificate(tmp_path / "pki", "first@example.com")
    credentials = _credentials(tmp_path, user, clock=clock)
    first = await _context(credentials)
    key = (tmp_path / "pki" / "me.key").read_bytes()
    _certificate(tmp_path / "pki", "second@example.com")
    (tmp_path / "pki" / "me.key").write_bytes(key)
    clock.now += 60
    await credentials.headers()
    assert await _context(credentials) is first
    assert "do not belong together" in credentials.problem
    _certificate(tmp_path / "pki", "third@example.com")
    clock.now += 60
    await credentials.headers()
    assert await _context(credentials) is not first
    assert (credentials.generation, credentials.problem) == (1, "")


async def test_42_a_refused_certificate_is_read_again_at_once(tmp_path: Path, clock: Clock) -> None:
    user = _certificate(tmp_path / "pki", "first@example.com")
    credentials = _credentials(tmp_path, user, clock=clock)
    await _context(credentials)
    with pytest.raises(NeedsLogin, match="does not accept the client certificate"):
        await credentials.on_unauthorized(await credentials.headers())
    _certificate(tmp_path / "pki", "second@example.com")
    assert await credentials.on_unauthorized(await credentials.headers())
    assert credentials.generation == 1


async def test_37_authority_rotated_on_disk(tmp_path: Path, clock: Clock) -> None:
    old = trustme.CA()
    old.cert_pem.write_to_path(tmp_path / "ca")
    credentials = _credentials(tmp_path, {"token": "t"}, {"certificate-authority": "ca"}, clock=clock)
    async with tls_server(SERVER) as server:
        with pytest.raises(ssl.SSLCertVerificationError):
            await connect(server.port, await _context(credentials))
        assert not await credentials.on_tls_failure()
        CA.cert_pem.write_to_path(tmp_path / "ca")
        assert not await credentials.on_tls_failure()  # once a minute
        clock.now += 60
        assert await credentials.on_tls_failure()
        assert await connect(server.port, await _context(credentials)) == b"hello\n"
    assert credentials.generation == 1


async def test_28_a_missing_authority_is_an_error_with_its_path(tmp_path: Path) -> None:
    credentials = _credentials(tmp_path, {}, {"certificate-authority": "absent.pem"})
    with pytest.raises(KtuiError, match=f"certificate-authority {tmp_path}/absent.pem: no such file"):
        await credentials.ssl_context()


# Exec plug-ins


async def test_59_token_and_certificate_of_a_plugin_are_both_used(tmp_path: Path, plugin: FakePlugin) -> None:
    plugin.install(_pem_reply("plugin@example.com", token="tok"))
    authority = {"certificate-authority-data": base64.b64encode(CA.cert_pem.bytes()).decode()}
    credentials = _credentials(tmp_path, {"exec": plugin.section()}, authority)
    async with tls_server(SERVER, CA) as server:
        await connect(server.port, await _context(credentials))
        assert server.clients == ["plugin@example.com"]
    assert (await credentials.headers())["Authorization"] == "Bearer tok"
    assert len(plugin.runs()) == 1


async def test_60_k11_a_plugin_that_gives_only_certificates(tmp_path: Path, plugin: FakePlugin, clock: Clock) -> None:
    plugin.install(_pem_reply("first@example.com", expirationTimestamp="1970-01-12T13:56:40Z"))  # in 600 s
    authority = {"certificate-authority-data": base64.b64encode(CA.cert_pem.bytes()).decode()}
    credentials = _credentials(tmp_path, {"exec": plugin.section()}, authority, clock=clock)
    async with tls_server(SERVER, CA) as server:
        await connect(server.port, await _context(credentials))
        assert "Authorization" not in await credentials.headers()
        plugin.install(_pem_reply("second@example.com"))
        clock.now += 550
        await credentials.headers()
        assert credentials.generation == 1
        await connect(server.port, await _context(credentials))
        assert server.clients == ["first@example.com", "second@example.com"]


async def test_k10_w33_one_run_for_25_streams(tmp_path: Path, plugin: FakePlugin) -> None:
    plugin.install(reply("first-token"), sleep=0.2)
    credentials = _credentials(tmp_path, {"exec": plugin.section()})
    headers = await asyncio.gather(*(credentials.headers() for _ in range(25)))
    assert {h["Authorization"] for h in headers} == {"Bearer first-token"}
    plugin.install(reply("second-token"), sleep=0.2)
    assert all(await asyncio.gather(*(credentials.on_unauthorized(used) for used in headers)))
    assert (await credentials.headers())["Authorization"] == "Bearer second-token"
    assert len(plugin.runs()) == 2
    assert credentials.redact("first-token second-token") == "[redacted] [redacted]"


async def test_58_cluster_info_has_the_authority_from_the_file(tmp_path: Path, plugin: FakePlugin) -> None:
    CA.cert_pem.write_to_path(tmp_path / "ca")
    plugin.install(reply("tok"))
    cluster = {
        "server": "https://h/path/",
        "certificate-authority": "ca",
        "tls-server-name": "sni",
        "proxy-url": "http://me:pw@proxy:1",
        "disable-compression": True,
        "extensions": [{"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}],
    }
    await _credentials(tmp_path, {"exec": plugin.section(provideClusterInfo=True)}, cluster).headers()
    assert plugin.runs()[0]["info"]["spec"]["cluster"] == {
        "server": "https://h/path",
        "tls-server-name": "sni",
        "certificate-authority-data": base64.b64encode(CA.cert_pem.bytes()).decode(),
        "proxy-url": "http://me:pw@proxy:1",
        "disable-compression": True,
        "config": {"audience": "x"},
    }


async def test_58_cluster_info_only_when_asked_for(tmp_path: Path, plugin: FakePlugin) -> None:
    plugin.install(reply("tok"))
    await _credentials(tmp_path, {"exec": plugin.section()}).headers()
    assert "cluster" not in plugin.runs()[0]["info"]["spec"]


async def test_51_always_needs_the_hook(tmp_path: Path, plugin: FakePlugin) -> None:
    plugin.install(reply("tok"))
    user = {"exec": plugin.section(interactiveMode="Always")}
    with pytest.raises(NeedsLogin, match="wants to ask something on a terminal; run: kubectl --context c auth whoami"):
        await _credentials(tmp_path, user).headers()
    assert plugin.runs() == []
    order: list[str] = []

    async def interactive(run: Callable[[], Awaitable[PluginCredential]]) -> PluginCredential:
        order.append("suspend")
        try:
            return await run()
        finally:
            order.append("resume")

    credentials = _credentials(tmp_path, user, interactive=interactive)
    assert (await credentials.headers())["Authorization"] == "Bearer tok"
    assert order == ["suspend", "resume"]
    assert plugin.runs()[0]["info"]["spec"]["interactive"] is True


@pytest.mark.parametrize("mode", ["Never", "IfAvailable"])
async def test_51_other_modes_leave_the_terminal_alone(tmp_path: Path, plugin: FakePlugin, mode: str) -> None:
    async def interactive(run: Callable[[], Awaitable[PluginCredential]]) -> PluginCredential:
        raise AssertionError

    plugin.install(reply("tok"))
    await _credentials(tmp_path, {"exec": plugin.section(interactiveMode=mode)}, interactive=interactive).headers()
    assert plugin.runs()[0]["info"]["spec"]["interactive"] is False


async def test_52_63_a_failing_plugin_needs_login(tmp_path: Path, plugin: FakePlugin, clock: Clock) -> None:
    plugin.install(
        stderr="\x1b[1mThe SSO session is over.\nBearer SECRETSECRET\nRun aws sso login SECRET-VALUE\n", exit=255
    )
    section = plugin.section(env=[{"name": "MY_TOKEN", "value": "SECRET-VALUE"}])
    credentials = _credentials(tmp_path, {"exec": section}, clock=clock)
    for _ in range(5):
        with pytest.raises(NeedsLogin) as caught:
            await credentials.headers()
    assert len(plugin.runs()) == 1
    assert caught.value.reason.endswith("failed with exit code 255: Run aws sso login [redacted]")
    assert caught.value.output.splitlines()[:2] == ["The SSO session is over.", "Bearer [redacted]"]
    assert "SECRET" not in str(caught.value) + caught.value.output
    plugin.install(reply("tok"))
    credentials.allow_login()
    assert (await credentials.headers())["Authorization"] == "Bearer tok"


async def test_63_a_secret_of_any_length_is_masked_before_a_plugins_words_are_cut(
    tmp_path: Path, plugin: FakePlugin
) -> None:
    secret = "SECRET-" * 100
    plugin.install(stderr=f"no luck with {secret} and {'more ' * 200}\n", exit=1)
    section = plugin.section(env=[{"name": "MY_TOKEN", "value": secret}])
    with pytest.raises(NeedsLogin) as caught:
        await _credentials(tmp_path, {"exec": section}).headers()
    assert "no luck with [redacted] and more" in caught.value.reason
    assert "SECRET" not in str(caught.value) + caught.value.output
    assert len(caught.value.reason) <= 400


async def test_22_a_denied_plugin_needs_login(tmp_path: Path, plugin: FakePlugin) -> None:
    write(tmp_path / ".kube" / "kuberc", "credentialPluginPolicy: DenyAll\n")
    plugin.install(reply("tok"))
    with pytest.raises(NeedsLogin, match="is not allowed"):
        await _credentials(tmp_path, {"exec": plugin.section()}).headers()
    assert plugin.runs() == []


async def test_54_a_person_stops_waiting(tmp_path: Path, plugin: FakePlugin) -> None:
    plugin.install(reply("tok"), sleep=600)
    credentials = _credentials(tmp_path, {"exec": plugin.section()})
    caller = asyncio.create_task(credentials.headers())
    async with asyncio.timeout(20):
        while not plugin.runs():
            await asyncio.sleep(0.01)
    awaited = credentials.plugin_awaited
    assert awaited is not None
    assert awaited[0] == "fake-plugin"
    credentials.cancel_plugin()
    with pytest.raises(NeedsLogin, match="cancelled"):
        await caller
    assert credentials.plugin_awaited is None


async def test_repr_has_no_secret(tmp_path: Path) -> None:
    credentials = _credentials(tmp_path, {"token": "SECRET"})
    await credentials.headers()
    assert "SECRET" not in repr(credentials) + repr(credentials.target) + repr(vars(credentials))

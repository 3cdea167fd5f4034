"""Running exec plug-ins: rows 51 to 67 of the kubeconfig cases, K07."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from ktui.errors import UsageError
from ktui.kube.execplugin import PluginError, find_command, parse_reply, run_plugin
from ktui.kube.pluginpolicy import PluginPolicy, load_policy
from ktui.kube.target import ExecSettings
from tests.unit.kube.fakeplugin import FakePlugin, reply
from tests.unit.kube.kubeconfigbuilder import write

ENVIRON = {"PATH": os.environ["PATH"], "KTUI_SETTING": "x", "AWS_PROFILE": "outer", "LC_ALL": "C"}


@pytest.fixture
def plugin(tmp_path: Path) -> FakePlugin:
    return FakePlugin(tmp_path / "bin")


def _alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


async def _until_gone(pid: int) -> None:
    async with asyncio.timeout(20):
        while _alive(pid):
            await asyncio.sleep(0.01)


async def test_51_no_terminal_no_input(plugin: FakePlugin) -> None:
    plugin.install(reply("tok"), reads=True)
    credential = await run_plugin(plugin.settings(), environ=ENVIRON)
    (run,) = plugin.runs()
    assert credential.token == "tok"
    assert run["stdin"] == ""
    assert run["tty"] is False
    assert run["info"]["spec"] == {"interactive": False}


async def test_52_53_k07_two_megabytes_of_stderr(plugin: FakePlugin) -> None:
    plugin.install(reply("tok"), stderr="\x1b[31mnoise\x1b[0m\n", times=140_000)
    assert (await run_plugin(plugin.settings(), environ=ENVIRON)).token == "tok"
    plugin.install(stderr="\x1b[31mno\x07ise\x1b[0m\n", times=140_000, exit=3)
    with pytest.raises(PluginError, match=r'exec plug-in "fake-plugin" failed with exit code 3: noise$') as caught:
        await run_plugin(plugin.settings(), environ=ENVIRON)
    assert len(caught.value.output) <= 64 * 1024
    assert set(caught.value.output) == set("noise\n")


async def test_54_k07_a_hanging_plugin_goes_with_its_group(plugin: FakePlugin) -> None:
    plugin.install(stderr="open this page\n", sleep=600)
    with pytest.raises(PluginError, match="gave no answer in 1 s") as caught:
        await run_plugin(plugin.settings(), environ=ENVIRON, time_limit=1.0)
    assert caught.value.output == "open this page"
    await _until_gone(plugin.runs()[0]["pid"])


async def test_54_cancelling_ends_the_plugin(plugin: FakePlugin) -> None:
    plugin.install(sleep=600)
    task = asyncio.create_task(run_plugin(plugin.settings(), environ=ENVIRON))
    async with asyncio.timeout(20):
        while not plugin.runs():
            await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await _until_gone(plugin.runs()[0]["pid"])


async def test_54_the_group_of_a_killed_plugin_goes_too(tmp_path: Path) -> None:
    script = write(tmp_path / "p", f"#!/bin/sh\nsleep 600 & echo $! > {tmp_path}/child\nwait\n")
    script.chmod(0o700)
    with pytest.raises(PluginError, match="gave no answer"):
        await run_plugin(ExecSettings(str(script)), environ=ENVIRON, time_limit=1.0)
    await _until_gone(int((tmp_path / "child").read_text()))


async def test_k07_a_grandchild_that_keeps_the_pipes_open(plugin: FakePlugin) -> None:
    plugin.install(reply("tok"), grandchild=30)
    async with asyncio.timeout(20):
        assert (await run_plugin(plugin.settings(), environ=ENVIRON)).token == "tok"


def test_55_missing_plugin_shows_the_hint(tmp_path: Path) -> None:
    hint = "Install it:\n  brew install \x1b[1mplugin"
    settings = ExecSettings("no-such-plugin-anywhere", install_hint=hint)
    with pytest.raises(PluginError, match='"no-such-plugin-anywhere" is not installed: brew install') as caught:
        find_command(settings, ENVIRON)
    assert "\n" not in str(caught.value)
    with pytest.raises(PluginError, match=r"is not installed$"):
        find_command(ExecSettings(str(tmp_path / "absent")), ENVIRON)


def test_55_a_file_that_is_not_a_program(tmp_path: Path) -> None:
    with pytest.raises(PluginError, match="is not installed"):
        find_command(ExecSettings(str(write(tmp_path / "p", "x"))), ENVIRON)
    with pytest.raises(PluginError, match="is not installed"):
        find_command(ExecSettings(str(tmp_path)), ENVIRON)


async def test_55_a_program_that_cannot_start(tmp_path: Path) -> None:
    script = write(tmp_path / "p", "#!/no/such/interpreter\n")
    script.chmod(0o700)
    with pytest.raises(PluginError, match='"p" cannot be run: No such file or directory'):
        await run_plugin(ExecSettings(str(script)), environ=ENVIRON)


def test_56_relative_entries_of_path_are_not_followed(plugin: FakePlugin, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin.install()
    monkeypatch.chdir(plugin.directory)
    with pytest.raises(PluginError, match="relative entry of PATH"):
        find_command(ExecSettings(plugin.name), {"PATH": ".:/usr/bin"})
    assert find_command(ExecSettings(plugin.name), {"PATH": str(plugin.directory)}) == str(plugin.path)


async def test_58_67_what_the_plugin_is_told(plugin: FakePlugin) -> None:
    plugin.install(reply("tok"))
    settings = plugin.settings(args=("get", "--x=1"), env=(("AWS_PROFILE", "oncall"), ("NEW", "1")))
    await run_plugin(settings, environ=ENVIRON, cluster={"server": "https://a", "config": {"n": 1}})
    (run,) = plugin.runs()
    assert run["args"] == ["get", "--x=1"]
    assert run["info"] == {
        "kind": "ExecCredential",
        "apiVersion": "client.authentication.k8s.io/v1",
        "spec": {"interactive": False, "cluster": {"server": "https://a", "config": {"n": 1}}},
    }
    assert (run["env"]["AWS_PROFILE"], run["env"]["NEW"], run["env"]["LC_ALL"]) == ("oncall", "1", "C")
    assert run["env"]["PATH"] == ENVIRON["PATH"]
    assert "KTUI_SETTING" not in run["env"]


SETTINGS = ExecSettings("/bin/p")


def test_59_60_62_good_replies() -> None:
    both = parse_reply(reply("t", clientCertificateData="C", clientKeyData="K").encode(), SETTINGS)
    assert (both.token, both.certificate, both.key, both.expires) == ("t", b"C", b"K", None)
    certificate = parse_reply(reply("", clientCertificateData="C", clientKeyData="K").encode(), SETTINGS)
    assert (certificate.token, certificate.certificate) == ("", b"C")
    dated = parse_reply(reply(" t\n", expirationTimestamp="1970-01-01T01:00:10+01:00").encode(), SETTINGS)
    assert (dated.token, dated.expires) == ("t", 10.0)
    assert parse_reply(reply("t", clientCertificateData=None, more=1).encode(), SETTINGS).token == "t"
    assert "SECRET" not in repr(
        parse_reply(reply("SECRET", clientCertificateData="C", clientKeyData="K").encode(), SETTINGS)
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "not JSON"),
        ("SECRET", "not JSON"),
        ('{"kind": "ExecCredential", "status": {"token": "SECRET', "not JSON"),
        ("[]", "unusable ExecCredential"),
        (reply(), "neither a token nor a certificate"),
        (reply(""), "neither a token nor a certificate"),
        ('{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":null}', "without a status"),
        ('{"kind":"Secret","status":{"token":"SECRET"}}', "not an ExecCredential"),
        (reply("SECRET", "client.authentication.k8s.io/v1beta1"), "another API version"),  # row 66
        (reply("SECRET", clientCertificateData="C"), "only one of certificate and key"),
        (reply("SECRET", clientKeyData="SECRET"), "only one of certificate and key"),
        (reply("SEC\nRET"), "characters that no header can carry"),
        (reply("SECRET\u00e9"), "characters that no header can carry"),
        (reply("SECRET", expirationTimestamp="tomorrow"), "unusable ExecCredential"),
        (reply("SECRET", expirationTimestamp="2026-11-30T00:00:00"), "without a time zone"),
        (json.dumps({"kind": "ExecCredential", "status": {"token": 1}}), r"Expected `str \| null`, got `int`"),
        ("\ud800", "not JSON"),
        pytest.param('{"status": {"x": ' + "[" * 100_000, "not JSON", id="brackets without end"),
    ],
)
def test_61_k07_bad_replies(data: str, message: str) -> None:
    with pytest.raises(PluginError, match=message) as caught:
        parse_reply(data.encode("utf-8", "surrogatepass"), SETTINGS)
    assert "SEC" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_61_ten_megabytes_of_reply(plugin: FakePlugin) -> None:
    plugin.install("x" * 1000, repeat=10_000, sleep=0)
    with pytest.raises(PluginError, match="wrote more than 1048576 bytes"):
        await run_plugin(plugin.settings(), environ=ENVIRON)


def _policy(home: Path, content: str, **environ: str) -> PluginPolicy:
    write(home / ".kube" / "kuberc", content)
    return load_policy(environ, home)


async def test_22_kuberc_denies_all(tmp_path: Path, plugin: FakePlugin) -> None:
    policy = _policy(tmp_path, "credentialPluginPolicy: DenyAll\n")
    plugin.install(reply("t"))
    with pytest.raises(UsageError, match=r"fake-plugin\" is not allowed: .*kuberc says DenyAll"):
        await run_plugin(plugin.settings(policy=policy), environ=ENVIRON)
    assert plugin.runs() == []


@pytest.mark.parametrize(
    ("allowed", "runs"), [("{path}", True), ("fake-plugin", True), ("other", False), ("/elsewhere/fake-plugin", False)]
)
async def test_22_kuberc_allowlist(tmp_path: Path, plugin: FakePlugin, allowed: str, runs: bool) -> None:
    entry = allowed.format(path=plugin.path)
    policy = _policy(
        tmp_path, f"credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{{command: {entry}}}]\n"
    )
    plugin.install(reply("t"))
    environ = {"PATH": f"{plugin.directory}:{ENVIRON['PATH']}"}
    for settings in (plugin.settings(policy=policy), ExecSettings("fake-plugin", policy=policy)):
        if runs:
            assert (await run_plugin(settings, environ=environ)).token == "t"
        else:
            with pytest.raises(UsageError, match="is not allowed"):
                await run_plugin(settings, environ=environ)


@pytest.mark.parametrize(
    "content",
    [
        "credentialPluginPolicy: Allowlist\n",
        "credentialPluginPolicy: allowlist\n",
        "credentialPluginAllowlist: [{command: a}]\n",
        "credentialPluginPolicy: Allowlist\ncredentialPluginAllowlist: [{}]\n",
    ],
)
def test_22_kuberc_that_says_half_of_something(tmp_path: Path, content: str) -> None:
    with pytest.raises(UsageError, match="credentialPlugin"):
        _policy(tmp_path, content)


def test_22_kuberc_is_chosen_by_the_environment(tmp_path: Path) -> None:
    deny = "credentialPluginPolicy: DenyAll\n"
    assert _policy(tmp_path, deny).type == "DenyAll"
    assert _policy(tmp_path, deny, KUBERC="off").type == "AllowAll"
    other = write(tmp_path / "other", "kind: Preference\n")
    assert _policy(tmp_path, deny, KUBERC=str(other)).type == "AllowAll"
    with pytest.raises(UsageError, match="no such file"):
        _policy(tmp_path, deny, KUBERC=str(tmp_path / "absent"))


@pytest.mark.parametrize("settings", [{"args": ("SECRET",)}, {"env": (("T", "SECRET"),)}, {"config": {"a": "SECRET"}}])
def test_settings_keep_arguments_and_environment_out_of_their_repr(settings: Any) -> None:
    assert "SECRET" not in repr(ExecSettings("p", **settings))

"""What clusters and users resolve to: rows 23 to 32, 35, 38, 39, 43, 45 to 49 of the kubeconfig cases."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ktui.errors import UsageError
from ktui.kube.impersonation import escape_key, impersonation_headers
from ktui.kube.target import Impersonation
from tests.unit.kube.kubeconfigbuilder import document, load_files, target, write

PEM = base64.b64encode(b"-----BEGIN").decode()


def test_23_server_without_a_scheme(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r'cluster "c" in .*: server must start with https://: write https://10.0.0.1:6443'
    ):
        target(tmp_path, {"server": "10.0.0.1:6443"})


@pytest.mark.parametrize(
    ("server", "url", "host"),
    [
        ("HTTPS://Host.Example:6443", "https://host.example:6443", "host.example:6443"),  # row 24
        ("https://rancher/k8s/clusters/c-1/?q=1#f", "https://rancher/k8s/clusters/c-1", "rancher"),
        ("https://h:443/", "https://h:443", "h:443"),
        ("https://[FD00::1]:6443", "https://[fd00::1]:6443", "[fd00::1]:6443"),
        ("https://h//a/../b/", "https://h//a/../b", "h"),
    ],
)
def test_24_25_server_urls(tmp_path: Path, server: str, url: str, host: str) -> None:
    result = target(tmp_path, {"server": server, "certificate-authority-data": PEM})
    assert (result.server, result.host) == (url, host)
    assert result.tls is not None
    assert result.tls.ca_data == b"-----BEGIN"


@pytest.mark.parametrize(
    "server", ["https://", "https://h:x", "ftp://h", "https://h y", "https://h\n", "https://[::1", "https://h:99999"]
)
def test_25_servers_that_are_no_url(tmp_path: Path, server: str) -> None:
    with pytest.raises(UsageError, match=r'cluster "c" in .*: server'):
        target(tmp_path, {"server": server})


def test_25_credentials_in_the_server_are_refused_and_not_shown(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="credentials") as caught:
        target(tmp_path, {"server": "https://me:SECRET@h"})
    assert "SECRET" not in str(caught.value)


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "127.9.9.9:1", "[::1]:8080"])
def test_26_danger_plain_http_to_loopback_has_no_credentials(tmp_path: Path, host: str) -> None:
    user = {"token": "SECRET", "as": "bob"}
    result = target(tmp_path, {"server": f"http://{host}"}, user)
    assert result.tls is None
    assert result.auth.method == "anonymous"
    assert result.auth.token == ""
    assert result.impersonate == Impersonation("bob")
    assert result.insecure
    assert any("plain http" in notice for notice in result.notices)


def test_26_plain_http_beyond_loopback_needs_a_flag(tmp_path: Path) -> None:
    cluster, user = {"server": "http://10.0.0.1"}, {"token": "SECRET"}
    with pytest.raises(UsageError, match="plain http, which is only allowed for localhost"):
        target(tmp_path, cluster, user)
    assert target(tmp_path, cluster, user, allow_plain_http=True).auth.token == ""


def test_27_empty_authority_data_does_not_hide_the_file(tmp_path: Path) -> None:
    result = target(tmp_path, {"certificate-authority-data": "", "certificate-authority": "/ca"})
    assert result.tls is not None
    assert result.tls.ca_file == Path("/ca")


def test_27_authority_file_and_data(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="are both given"):
        target(tmp_path, {"certificate-authority-data": PEM, "certificate-authority": "/ca"})


@pytest.mark.parametrize("key", ["certificate-authority-data"])
def test_27_data_that_is_not_base64(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match=f"{key} is not base64"):
        target(tmp_path, {key: "-----BEGIN CERTIFICATE-----"})


def test_29_k12_skip_verify_is_marked(tmp_path: Path) -> None:
    result = target(tmp_path, {"insecure-skip-tls-verify": True})
    assert result.insecure
    assert any("not verified" in notice for notice in result.notices)
    with pytest.raises(UsageError, match="insecure-skip-tls-verify and a certificate authority"):
        target(tmp_path, {"insecure-skip-tls-verify": True, "certificate-authority": "/ca"})


@pytest.mark.parametrize("value", ["true", "yes", 1, [True]])
def test_29_skip_verify_must_be_a_boolean(tmp_path: Path, value: Any) -> None:
    with pytest.raises(UsageError, match="insecure-skip-tls-verify must be true or false"):
        target(tmp_path, {"insecure-skip-tls-verify": value})


def test_30_tls_server_name(tmp_path: Path) -> None:
    assert target(tmp_path, {"tls-server-name": "kubernetes"}).server_name == "kubernetes"
    assert target(tmp_path, {}).server_name is None


def test_35_disable_compression(tmp_path: Path) -> None:
    assert target(tmp_path, {"disable-compression": True}).disable_compression
    assert not target(tmp_path, {}).disable_compression


def test_38_danger_impersonation_of_the_user_entry(tmp_path: Path) -> None:
    user = {
        "token": "t",
        "as": "viewer",
        "as-uid": "u1",
        "as-groups": ["g1", "g2"],
        "as-user-extra": {"example.com/Scope": ["a", "b"], "ü%": ["c"]},
    }
    impersonate = target(tmp_path, {}, user).impersonate
    assert impersonate is not None
    assert list(impersonation_headers(impersonate)) == [
        ("Impersonate-User", "viewer"),
        ("Impersonate-Uid", "u1"),
        ("Impersonate-Group", "g1"),
        ("Impersonate-Group", "g2"),
        ("Impersonate-Extra-example.com%2FScope", "a"),
        ("Impersonate-Extra-example.com%2FScope", "b"),
        ("Impersonate-Extra-%C3%BC%25", "c"),
    ]


@pytest.mark.parametrize(
    ("user", "flags", "expected"),
    [
        ({}, {"as_user": "bob"}, Impersonation("bob")),
        ({"as": "amy", "as-groups": ["g"]}, {"as_user": "bob"}, Impersonation("bob", groups=("g",))),  # as kubectl
        ({"as": "amy", "as-groups": ["g"]}, {"as_groups": ("x", "y")}, Impersonation("amy", groups=("x", "y"))),
        ({"as": "amy"}, {"as_uid": "7"}, Impersonation("amy", uid="7")),
        ({"as": "amy"}, {}, Impersonation("amy")),
        ({"as": ""}, {}, None),
    ],
)
def test_38_flags_over_the_user_entry(tmp_path: Path, user: Any, flags: Any, expected: Impersonation | None) -> None:
    assert target(tmp_path, {}, user, **flags).impersonate == expected


@pytest.mark.parametrize("user", [{"as-groups": ["g"]}, {"as-uid": "u"}, {"as-user-extra": {"k": ["v"]}}])
def test_38_groups_without_a_user(tmp_path: Path, user: Any) -> None:
    with pytest.raises(UsageError, match="without a user to impersonate"):
        target(tmp_path, {}, user)


@pytest.mark.parametrize("user", [{"as": "a\nImpersonate-Group: system:masters"}, {"as": "a", "as-groups": ["a\r\nb"]}])
def test_38_identities_cannot_add_headers(tmp_path: Path, user: Any) -> None:
    with pytest.raises(UsageError, match="control characters"):
        target(tmp_path, {}, user)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_38_extra_keys_survive_the_escape(key: str) -> None:
    from urllib.parse import unquote

    escaped = escape_key(key)
    assert unquote(escaped) == key
    assert escaped.isascii()
    assert not set(escaped) & set(' ()<>@,;:\\"/[]?={}\t\r\n')


def test_39_user_and_cluster_must_exist(tmp_path: Path) -> None:
    content = document("c")
    content["contexts"] += [
        {"name": "no-user", "context": {"cluster": "c"}},
        {"name": "null-user", "context": {"cluster": "c", "user": None}},
        {"name": "lost-user", "context": {"cluster": "c", "user": "gone"}},
        {"name": "lost-cluster", "context": {"cluster": "gone", "user": "c"}},
        {"name": "empty", "context": None},
    ]
    config = load_files(tmp_path, write(tmp_path / "a", content))
    for name, message in {
        "no-user": "no user is given",
        "null-user": "no user is given",
        "lost-user": 'its user "gone" does not exist',
        "lost-cluster": 'its cluster "gone" does not exist',
        "empty": "no cluster is given",
    }.items():
        with pytest.raises(UsageError, match=f'context "{name}" in .*: {message}'):
            config.resolve(name)


@pytest.mark.parametrize("user", [{}, {"username": ""}])
def test_39_anonymous_has_a_notice(tmp_path: Path, user: Any) -> None:
    result = target(tmp_path, {}, user)
    assert result.auth.method == "anonymous"
    assert any("anonymous" in notice for notice in result.notices)


@pytest.mark.parametrize(
    ("user", "message"),
    [
        ({"client-certificate": "c"}, "without client-key"),
        ({"client-certificate": "c", "client-certificate-data": PEM, "client-key": "k"}, "are both given"),
        ({"client-certificate": "c", "client-key": "k", "client-key-data": PEM}, "are both given"),
    ],
)
def test_40_client_certificates(tmp_path: Path, user: Any, message: str) -> None:
    with pytest.raises(UsageError, match=f'user "c" in .*: .*{message}'):
        target(tmp_path, {}, user)


def test_43_empty_token_does_not_hide_the_file(tmp_path: Path) -> None:
    auth = target(tmp_path, {}, {"token": "", "tokenFile": "/t"}).auth
    assert (auth.method, auth.token_file) == ("token file", Path("/t"))


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "plugin", "interactiveMode": "Never"}


@pytest.mark.parametrize(
    "other",
    [
        {"token": "t"},
        {"tokenFile": "/t"},
        {"username": "u", "password": "p"},
        {"client-certificate-data": PEM, "client-key-data": PEM},
    ],
)
def test_45_the_plugin_is_not_run_beside_another_credential(tmp_path: Path, other: Any) -> None:
    auth = target(tmp_path, {}, {"exec": EXEC} | other).auth
    assert auth.exec is not None
    assert auth.plugin is None


@pytest.mark.parametrize("token", [{"token": "t"}, {"tokenFile": "/t"}])
def test_46_token_and_password(tmp_path: Path, token: Any) -> None:
    with pytest.raises(UsageError, match="both a token and a username or password"):
        target(tmp_path, {}, {"username": "u", "password": "p"} | token)


@pytest.mark.parametrize(
    ("name", "hint"), [("gcp", "gke-gcloud-auth-plugin"), ("azure", "kubelogin"), ("x", "removed")]
)
def test_48_removed_auth_providers(tmp_path: Path, name: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        target(tmp_path, {}, {"auth-provider": {"name": name}})


def test_48_auth_provider_and_exec(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="both exec and auth-provider"):
        target(tmp_path, {}, {"auth-provider": {"name": "oidc"}, "exec": EXEC})


def test_49_basic_has_a_notice(tmp_path: Path) -> None:
    result = target(tmp_path, {}, {"username": "u", "password": "p"})
    assert result.auth.method == "basic"
    assert any("basic" in notice for notice in result.notices)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"interactiveMode": None}, "interactiveMode must be one of Never, IfAvailable, Always"),  # row 51
        ({"interactiveMode": "never"}, "interactiveMode must be one of"),
        ({"command": ""}, "command is missing"),
        ({"args": ["a", ["b"]]}, "args must be a list of text"),  # row 57
        ({"args": "a"}, "args must be a list"),
        ({"args": [None]}, "args must be a list of text"),
        ({"env": [None]}, "must be a mapping"),
        ({"env": [{"value": "v"}]}, "not an environment variable"),
        ({"env": [{"name": "A=B", "value": "v"}]}, "not an environment variable"),
        ({"env": {"A": "B"}}, "env must be a list"),
        ({"apiVersion": "client.authentication.k8s.io/v1alpha1"}, "v1alpha1 was removed"),  # row 65
        ({"apiVersion": None}, "apiVersion must be"),
        ({"provideClusterInfo": "yes"}, "provideClusterInfo must be true or false"),
    ],
)
def test_51_57_65_exec_sections(tmp_path: Path, change: Any, message: str) -> None:
    with pytest.raises(UsageError, match=f'user "c" in .*exec.*: .*{message}'):
        target(tmp_path, {}, {"exec": EXEC | change})


def test_51_v1beta1_defaults_to_if_available(tmp_path: Path) -> None:
    section = EXEC | {"apiVersion": "client.authentication.k8s.io/v1beta1", "interactiveMode": None}
    plugin = target(tmp_path, {}, {"exec": section}).auth.plugin
    assert plugin is not None
    assert plugin.interactive_mode == "IfAvailable"


@pytest.mark.parametrize(
    ("command", "resolved"), [("plugin", "plugin"), ("/x/plugin", "/x/plugin"), ("./bin/p", "bin/p")]
)
def test_56_a_command_with_a_slash_is_relative_to_the_kubeconfig(tmp_path: Path, command: str, resolved: str) -> None:
    plugin = target(tmp_path, {}, {"exec": EXEC | {"command": command}}).auth.plugin
    assert plugin is not None
    assert plugin.command == (str(tmp_path / resolved) if resolved == "bin/p" else resolved)


def test_58_exec_extension_of_the_cluster_keeps_its_types(tmp_path: Path) -> None:
    config = {"audience": "x", "port": 8443, "on": True, "list": [1.5, None, "7"]}
    extensions = [
        {"name": "other", "extension": {"a": 1}},
        {"name": "client.authentication.k8s.io/exec", "extension": config},
    ]
    plugin = target(tmp_path, {"extensions": extensions}, {"exec": EXEC}).auth.plugin
    assert plugin is not None
    assert plugin.config == config


@pytest.mark.parametrize("namespace", ["../../nodes", "UPPER", "a.b", "a" * 64, "-a", "a\n"])
def test_namespaces_are_labels(tmp_path: Path, namespace: str) -> None:
    with pytest.raises(UsageError, match="namespace is not a DNS label"):
        target(tmp_path, {}, {}, {"namespace": namespace})
    with pytest.raises(UsageError, match="namespace is not a DNS label"):
        target(tmp_path, {}, {}, namespace=namespace)


def test_namespace_of_the_flag_the_context_and_by_default(tmp_path: Path) -> None:
    assert target(tmp_path, {}, {}, {"namespace": "ml"}, namespace="ml2").namespace == "ml2"
    assert target(tmp_path, {}, {}, {"namespace": "ml"}).namespace == "ml"
    assert target(tmp_path, {}, {}).namespace == "default"


def test_a_broken_user_does_not_hurt_other_contexts(tmp_path: Path) -> None:
    content = document("good")
    content["users"].append({"name": "bad", "user": {"token": ["x"]}})
    content["contexts"].append({"name": "bad", "context": {"cluster": "good", "user": "bad"}})
    config = load_files(tmp_path, write(tmp_path / "a", content))
    assert config.resolve().context == "good"
    with pytest.raises(UsageError, match=r'user "bad" in .*: token must be text'):
        config.resolve("bad")

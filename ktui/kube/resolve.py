"""One context, its cluster and its user, checked and turned into a `Target`. Rules: client-go clientcmd, validation.go.

Where client-go is silent about a mistake that would send requests to the wrong place, or credentials in clear, this raises.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, get_args
from urllib.parse import urlsplit

from ktui.kube.fields import Fields
from ktui.kube.pluginpolicy import ALLOW_ALL, PluginPolicy
from ktui.kube.printable import plain_text
from ktui.kube.proxy import bracketed, is_loopback, parse_proxy
from ktui.kube.target import (
    AuthSettings,
    ClientCertificate,
    ExecSettings,
    Impersonation,
    InteractiveMode,
    Target,
    TlsSettings,
)
from ktui.kube.yamlfile import Tree, typed

_EXEC_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"
_MODES: Final[tuple[InteractiveMode, ...]] = get_args(InteractiveMode)
_REPLACED_BY: Final = {"gcp": "gke-gcloud-auth-plugin", "azure": "kubelogin"}
_DNS_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")  # RFC 1123


class Origin(Protocol):
    """Where an entry is from; paths in it are relative to that file's directory."""

    @property
    def name(self) -> str: ...
    @property
    def origin(self) -> Path: ...


@dataclass(frozen=True, slots=True)
class Overrides:
    """What flags put over the files. As in kubectl, an empty one leaves the file's value, each on its own."""

    as_user: str = ""
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    namespace: str = ""
    allow_plain_http: bool = False
    kubeconfig: str = ""
    policy: PluginPolicy = ALLOW_ALL


def is_namespace(name: str) -> bool:
    """A DNS label, so safe as a part of a URL's path."""
    return _DNS_LABEL.fullmatch(name) is not None


def resolve(
    name: str, context: Fields, cluster: tuple[Fields, Origin], user: tuple[Fields, Origin], overrides: Overrides
) -> Target:
    """Raises UsageError. Reads no file."""
    fields, origin = cluster
    server, host = _server(fields)
    plain_http = server.startswith("http://")
    tls = None if plain_http else _tls(fields, origin.origin.parent)
    if plain_http:
        _check_plain_http(fields, server, overrides)
    identity, who = user
    auth = _auth(identity, who.origin, _exec_config(fields), overrides)
    impersonate = _impersonation(identity, overrides)
    proxy_url = fields.line("proxy-url")
    return Target(
        context=name,
        cluster=origin.name,
        user=who.name,
        namespace=_namespace(context, overrides),
        server=server,
        host=host,
        tls=tls,
        # As in client-go, nothing of the user but the impersonation is used on plain http.
        auth=AuthSettings() if plain_http else auth,
        proxy=parse_proxy(proxy_url, f"{fields.where}: proxy-url") if proxy_url else None,
        impersonate=impersonate,
        disable_compression=fields.flag("disable-compression"),
        notices=tuple(_notices(tls, auth, plain_http)),
        login_command=_login_command(name, overrides),
    )


def _server(cluster: Fields) -> tuple[str, str]:
    """(normalised URL, host for display). Query and fragment are dropped, the path is kept."""
    url = cluster.text("server")
    if not url:
        raise cluster.error("no server is given")
    if any(c <= " " or c == "\x7f" for c in url):
        raise cluster.error("server has spaces or control characters in it")
    if "://" not in url:
        proposal = "" if "@" in url else f": write https://{url}"
        raise cluster.error(f"server must start with https://{proposal}")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise cluster.error("server is not a URL with a host and a numeric port") from None
    if parts.scheme not in {"http", "https"} or not host:
        raise cluster.error("server must be https://HOST[:PORT][/PATH]")
    if parts.username is not None or parts.password is not None:
        raise cluster.error("server has credentials in it: they belong into a user entry")
    shown = bracketed(host) + (f":{port}" if port else "")
    return f"{parts.scheme}://{shown}{parts.path.rstrip('/')}", shown


def _check_plain_http(cluster: Fields, server: str, overrides: Overrides) -> None:
    if not overrides.allow_plain_http and not is_loopback(urlsplit(server).hostname or ""):
        raise cluster.error(
            "server is plain http, which is only allowed for localhost: anyone on the way could act as you"
        )


def _tls(cluster: Fields, base: Path) -> TlsSettings:
    settings = TlsSettings(
        ca_file=cluster.file("certificate-authority", base),
        ca_data=cluster.data("certificate-authority-data"),
        server_name=cluster.line("tls-server-name"),
        insecure=cluster.flag("insecure-skip-tls-verify"),
    )
    if settings.ca_file and settings.ca_data:
        raise cluster.error("certificate-authority and certificate-authority-data are both given")
    if settings.insecure and (settings.ca_file or settings.ca_data):
        raise cluster.error("insecure-skip-tls-verify and a certificate authority are both given")
    return settings


def _exec_config(cluster: Fields) -> object:
    """The cluster's extension for plug-ins (case-sensitive reserved name), as JSON values."""
    found: Tree = None
    for extension in cluster.mappings("extensions"):
        if extension.text("name") == _EXEC_EXTENSION:
            found = extension.raw("extension")
    try:
        return typed(found)
    except ValueError:
        raise cluster.error(f"extension {_EXEC_EXTENSION} is too large") from None


def _auth(user: Fields, origin: Path, exec_config: object, overrides: Overrides) -> AuthSettings:
    settings = AuthSettings(
        token=user.line("token").strip(),
        token_file=user.file("tokenFile", origin.parent),
        username=user.line("username"),
        password=user.line("password"),
        certificate=_certificate(user, origin.parent),
        exec=_exec(user, origin, exec_config, overrides),
        oidc=_oidc(user),
    )
    has_basic = bool(settings.username or settings.password)
    if has_basic and (settings.token or settings.token_file):
        raise user.error("both a token and a username or password are given")
    if has_basic and ":" in settings.username:
        raise user.error("username has a colon in it, which basic authentication cannot carry")
    if settings.exec and settings.oidc is not None:
        raise user.error("both exec and auth-provider are given")
    return settings


def _certificate(user: Fields, base: Path) -> ClientCertificate | None:
    certificate = ClientCertificate(
        cert_file=user.file("client-certificate", base),
        cert_data=user.data("client-certificate-data"),
        key_file=user.file("client-key", base),
        key_data=user.data("client-key-data"),
    )
    if not certificate.cert_file and not certificate.cert_data:
        return None
    if certificate.cert_file and certificate.cert_data:
        raise user.error("client-certificate and client-certificate-data are both given")
    if certificate.key_file and certificate.key_data:
        raise user.error("client-key and client-key-data are both given")
    if not certificate.key_file and not certificate.key_data:
        raise user.error("a client certificate is given without client-key or client-key-data")
    return certificate


def _exec(user: Fields, origin: Path, config: object, overrides: Overrides) -> ExecSettings | None:
    section = user.mapping("exec")
    if section is None:
        return None
    command = section.line("command")
    if not command or "\0" in command:
        raise section.error("command is missing")
    return ExecSettings(
        command=str(origin.parent / command) if "/" in command else command,
        args=section.texts("args"),
        env=tuple(_variable(variable) for variable in section.mappings("env")),
        api_version=_exec_version(section),
        interactive_mode=_interactive_mode(section),
        install_hint=plain_text(section.text("installHint").encode()),
        provide_cluster_info=section.flag("provideClusterInfo"),
        config=config,
        origin=origin,
        policy=overrides.policy,
    )


def _exec_version(section: Fields) -> str:
    version = section.text("apiVersion")
    if version not in _EXEC_VERSIONS:
        raise section.error(
            f"apiVersion must be {_EXEC_VERSIONS[0]} or v1beta1: v1alpha1 was removed in Kubernetes 1.24;"
            " update the plug-in and write the kubeconfig anew with it"
        )
    return version


def _interactive_mode(section: Fields) -> InteractiveMode:
    value = section.text("interactiveMode")
    if not value and section.text("apiVersion").endswith("/v1beta1"):
        return "IfAvailable"
    mode = next((mode for mode in _MODES if mode == value), None)
    if mode is None:
        raise section.error(f"interactiveMode must be one of {', '.join(_MODES)}")
    return mode


def _variable(variable: Fields) -> tuple[str, str]:
    name, value = variable.text("name"), variable.text("value")
    if not name or "=" in name or "\0" in name + value:
        raise variable.error("not an environment variable's name and value")
    return name, value


def _oidc(user: Fields) -> tuple[tuple[str, str], ...] | None:
    provider = user.mapping("auth-provider")
    if provider is None:
        return None
    name = provider.text("name")
    if name == "oidc":
        return provider.pairs("config")
    hint = f": use an exec section with {_REPLACED_BY[name]}" if name in _REPLACED_BY else ""
    raise provider.error(f"this kind of auth-provider was removed from Kubernetes clients{hint}")


def _impersonation(user: Fields, overrides: Overrides) -> Impersonation | None:
    groups = overrides.as_groups or user.texts("as-groups")
    impersonation = Impersonation(
        user=overrides.as_user or user.line("as"),
        uid=overrides.as_uid or user.line("as-uid"),
        groups=groups,
        extra=user.lists("as-user-extra"),
    )
    values = (impersonation.user, impersonation.uid, *groups, *(v for _, values in impersonation.extra for v in values))
    if any(c < " " or c == "\x7f" for value in values for c in value):
        raise user.error("an identity to impersonate has control characters in it")
    if impersonation.user:
        return impersonation
    if impersonation.uid or groups or impersonation.extra:
        raise user.error("a uid, groups or extra to impersonate are given without a user to impersonate (as, --as)")
    return None


def _namespace(context: Fields, overrides: Overrides) -> str:
    name = overrides.namespace or context.text("namespace") or "default"
    if not is_namespace(name):
        raise context.error("namespace is not a DNS label (RFC 1123)")
    return name


def _notices(tls: TlsSettings | None, auth: AuthSettings, plain_http: bool) -> list[str]:
    notices = []
    if plain_http:
        notices.append("the server is reached over plain http: no credentials are sent")
    if tls is not None and tls.insecure:
        notices.append("the server's certificate is not verified (insecure-skip-tls-verify)")
    if auth.method == "anonymous":
        notices.append("no credentials are given for this user: requests are anonymous")
    if auth.username or auth.password:
        notices.append("basic authentication: no Kubernetes since 1.19 accepts it by itself")
    return notices


def _login_command(context: str, overrides: Overrides) -> str:
    file = ["--kubeconfig", overrides.kubeconfig] if overrides.kubeconfig else []
    return shlex.join(["kubectl", *file, "--context", context, "auth", "whoami"])

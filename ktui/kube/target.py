"""What one context resolves to: plain values, checked, with absolute paths. Secrets are kept out of every repr."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ktui.kube.pluginpolicy import ALLOW_ALL, PluginPolicy

InteractiveMode = Literal["Never", "IfAvailable", "Always"]
"""client.authentication.k8s.io: the plug-in's wish for standard input."""


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """How the server proves who it is. Neither CA file nor data: the system's certificate authorities."""

    ca_file: Path | None = None
    ca_data: bytes = field(default=b"", repr=False)  # PEM
    server_name: str = ""  # SNI and the name to verify; "" for the host of the URL
    insecure: bool = False


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """An HTTP proxy. `url` has no credentials in it; `authorization` is a Proxy-Authorization header's value or "".

    `full_url` is as it was given, for the exec plug-ins that ask for it.
    """

    url: str
    full_url: str = field(default="", repr=False)
    authorization: str = field(default="", repr=False)
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    @property
    def headers(self) -> dict[str, str]:
        """What the proxy, and only the proxy, is to be sent."""
        return {"Proxy-Authorization": self.authorization} if self.authorization else {}


@dataclass(frozen=True, slots=True)
class Impersonation:
    """Whose rights the requests use instead of the person's own (`as`, `as-uid`, `as-groups`, `as-user-extra`)."""

    user: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate with its key, each from a file or as PEM."""

    cert_file: Path | None = None
    cert_data: bytes = field(default=b"", repr=False)
    key_file: Path | None = None
    key_data: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ExecSettings:
    """The `exec` section of a user. A `command` with a slash is already an absolute path."""

    command: str
    args: tuple[str, ...] = field(default=(), repr=False)
    env: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    api_version: str = "client.authentication.k8s.io/v1"
    interactive_mode: InteractiveMode = "Never"
    install_hint: str = ""
    provide_cluster_info: bool = False
    config: object = field(default=None, repr=False)  # the cluster's exec extension, as JSON values
    origin: Path = Path()
    policy: PluginPolicy = ALLOW_ALL


@dataclass(frozen=True, slots=True)
class AuthSettings:
    """One user's credentials, at most one kind of bearer or basic authorization among them. All unset: anonymous."""

    token: str = field(default="", repr=False)
    token_file: Path | None = None
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    certificate: ClientCertificate | None = None
    exec: ExecSettings | None = None
    oidc: tuple[tuple[str, str], ...] | None = field(default=None, repr=False)  # auth-provider's config

    @property
    def plugin(self) -> ExecSettings | None:
        """The plug-in to run: none if the entry has any other credential (client-go exec.UpdateTransportConfig)."""
        other = self.token or self.token_file or self.username or self.password or self.certificate
        return None if other else self.exec

    @property
    def method(self) -> str:
        """In words, for the header and `ktui doctor`; first match is what client-go uses."""
        certificate = "client certificate" if self.certificate else ""
        if self.token_file:
            bearer = "token file"
        elif self.token:
            bearer = "token"
        elif self.username or self.password:
            bearer = "basic"
        elif self.oidc is not None:
            bearer = "OIDC id-token"
        elif self.plugin:
            bearer = "exec plug-in"
        else:
            bearer = ""
        return " and ".join(word for word in (certificate, bearer) if word) or "anonymous"


@dataclass(frozen=True, slots=True)
class Target:
    """One cluster as one user.

    `server` is the normalised URL without a trailing slash, its path kept. `host` is "name" or "name:port", for the header.
    `notices` are lines that a person should see once. `login_command` makes kubectl go through the same sign-in.
    """

    context: str
    cluster: str
    user: str
    namespace: str
    server: str
    host: str
    tls: TlsSettings | None  # None: plain http, on which no credential is ever sent
    auth: AuthSettings = AuthSettings()
    proxy: ProxySettings | None = None  # from proxy-url; the environment is `ktui.kube.proxy`'s
    impersonate: Impersonation | None = None
    disable_compression: bool = False
    notices: tuple[str, ...] = ()
    login_command: str = ""

    @property
    def insecure(self) -> bool:
        """Nothing proves that the server is the right one."""
        return self.tls is None or self.tls.insecure

    @property
    def server_name(self) -> str | None:
        """`tls-server-name`, as aiohttp's `server_hostname` wants it."""
        return (self.tls.server_name if self.tls else "") or None

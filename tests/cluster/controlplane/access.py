"""Who may do what on the test cluster, and the kubeconfig file that says how each of them gets in.

admin       everything, by token
admin-cert  everything, by client certificate
viewer      reads all that ktui shows, cluster-wide; writes nothing
tenant      reads the namespaced part of it, in one namespace; sees no node, device or rule
"""

from __future__ import annotations

import json
import secrets
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.cluster.controlplane.api import Api, Json
from tests.cluster.controlplane.pki import Authority, KeyPair

TENANT_NAMESPACE: Final = "ml2"
_SUPERUSERS: Final = "system:masters"
_READ: Final = ["get", "list", "watch"]

# No default aggregate role covers slices, classes, rules and nodes: a cluster's owner must write such a role for ktui.
_NAMESPACED_RULES: Final[list[Json]] = [
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": _READ},
    {"apiGroups": ["scheduling.k8s.io"], "resources": ["podgroups", "workloads", "compositepodgroups"], "verbs": _READ},
    {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims", "resourceclaimtemplates"], "verbs": _READ},
    {"apiGroups": ["metrics.k8s.io"], "resources": ["pods"], "verbs": ["get", "list"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": _READ},
    {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": _READ},
    {"apiGroups": ["autoscaling"], "resources": ["horizontalpodautoscalers"], "verbs": _READ},
    {"apiGroups": ["kueue.x-k8s.io"], "resources": ["workloads", "localqueues"], "verbs": _READ},
    {"apiGroups": ["scheduling.volcano.sh"], "resources": ["podgroups"], "verbs": _READ},
]
_CLUSTER_RULES: Final[list[Json]] = [
    {"apiGroups": [""], "resources": ["nodes", "namespaces"], "verbs": _READ},
    {"apiGroups": ["metrics.k8s.io"], "resources": ["nodes"], "verbs": ["get", "list"]},
    {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["resourceslices", "deviceclasses", "devicetaintrules"],
        "verbs": _READ,
    },
    {
        "apiGroups": ["kueue.x-k8s.io"],
        "resources": ["clusterqueues", "resourceflavors", "admissionchecks"],
        "verbs": _READ,
    },
    {"apiGroups": ["scheduling.volcano.sh"], "resources": ["queues"], "verbs": _READ},
]


def rbac_objects() -> list[Json]:
    """The roles of viewer and tenant and their bindings; the tenant's namespace must exist."""
    rbac = "rbac.authorization.k8s.io"

    def binding(kind: str, role_kind: str, user: str) -> Json:
        namespace = {"namespace": TENANT_NAMESPACE} if kind == "RoleBinding" else {}
        return {
            "apiVersion": f"{rbac}/v1",
            "kind": kind,
            "metadata": {"name": f"ktui-{user}", **namespace},
            "roleRef": {"apiGroup": rbac, "kind": role_kind, "name": f"ktui-{user}"},
            "subjects": [{"apiGroup": rbac, "kind": "User", "name": user}],
        }

    return [
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "ClusterRole",
            "metadata": {"name": "ktui-viewer"},
            "rules": _NAMESPACED_RULES + _CLUSTER_RULES,
        },
        binding("ClusterRoleBinding", "ClusterRole", "viewer"),
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "Role",
            "metadata": {"name": "ktui-tenant", "namespace": TENANT_NAMESPACE},
            "rules": _NAMESPACED_RULES,
        },
        binding("RoleBinding", "Role", "tenant"),
    ]


@dataclass(frozen=True)
class Access:
    """The credentials of one control plane; the files are in `directory`."""

    directory: Path
    authority: Authority
    client_authority: Authority
    serving: KeyPair
    admin: KeyPair
    tokens: dict[str, str] = field(repr=False)

    @classmethod
    def generate(cls, directory: Path) -> Access:
        authority = Authority(directory, "serving-ca")
        client_authority = Authority(directory, "client-ca")
        tokens = {user: secrets.token_urlsafe(24) for user in ("admin", "viewer", "tenant")}
        access = cls(
            directory,
            authority,
            client_authority,
            authority.serving("kube-apiserver", ["127.0.0.1", "localhost"]),
            client_authority.client("admin-cert", [_SUPERUSERS]),
            tokens,
        )
        _write_secret(access.token_file, "".join(_token_line(user, token) for user, token in tokens.items()))
        return access

    @property
    def token_file(self) -> Path:
        """For kube-apiserver's --token-auth-file: token,user,uid,groups."""
        return self.directory / "tokens.csv"

    def api(self, url: str, user: str = "admin") -> Api:
        """The API as one of the four users."""
        # The default context checks the host name and the certificate chain.
        tls = ssl.create_default_context(cafile=str(self.authority.certificate))
        tls.verify_flags |= ssl.VERIFY_X509_STRICT
        if user == "admin-cert":
            tls.load_cert_chain(self.admin.public, self.admin.private)
            return Api(url, tls)
        return Api(url, tls, self.tokens[user])

    def write_kubeconfig(self, url: str) -> Path:
        """A kubeconfig with one context a user, named after the user; the current one is admin."""
        users: dict[str, Json] = {user: {"token": token} for user, token in self.tokens.items()}
        users["admin-cert"] = {"client-certificate": str(self.admin.public), "client-key": str(self.admin.private)}
        cluster = {"server": url, "certificate-authority": str(self.authority.certificate)}
        contexts: dict[str, Json] = {user: {"cluster": "test", "user": user} for user in users}
        contexts["tenant"]["namespace"] = TENANT_NAMESPACE
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "admin",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": name, "user": user} for name, user in users.items()],
            "contexts": [{"name": name, "context": context} for name, context in contexts.items()],
        }
        path = self.directory / "kubeconfig"
        # JSON is YAML; kubeconfig files may be either.
        _write_secret(path, json.dumps(config, indent=2))
        return path


def _token_line(user: str, token: str) -> str:
    groups = f',"{_SUPERUSERS}"' if user == "admin" else ""
    return f"{token},{user},{user}{groups}\n"


def _write_secret(path: Path, text: str) -> None:
    path.touch(mode=0o600)
    path.write_text(text)
